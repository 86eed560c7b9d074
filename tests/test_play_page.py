"""The page in a real browser: games by mouse and keyboard, in both languages, and what people do besides."""

from __future__ import annotations

import gc
import re
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oanquan_env import Board, GameRecord, Rules, read_records
from oanquan_env.move_trace import Frame
from oanquan_env.play.picture import drawing, frame_json, move_json
from oanquan_env.play.server import LARGEST_FILE, PlayServer
from oanquan_env.play.session import Session, shared_adviser
from oanquan_env.records import format_records
from tests.browsers import Person, launch, serve
from tests.strategies import PRESET_NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

Visit = Callable[..., Person]
HOT_SEAT = "#rules=mancala-world&position=5,5,5,5,5,0*/5,5,5,5,5,0*%200,0%200%200"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from launch()


@pytest.fixture(scope="module")
def server() -> Iterator[PlayServer]:
    yield from serve("human", "greedy")


@pytest.fixture(scope="module")
def persons() -> Iterator[PlayServer]:
    """A server of games between two persons."""
    yield from serve("human", "human")


@pytest.fixture(scope="module")
def hints() -> None:
    """Hints are those of the search, which is loaded before."""
    pytest.importorskip("numba")
    assert shared_adviser(Rules())[0].ready.wait(120)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens an address in a tab of a new window; no script may fail there."""
    opened: list[tuple[Any, Person]] = []

    def visited(address: str, speed: str = "none", **options: Any) -> Person:
        context = browser.new_context(**options)
        person = Person(context.new_page())
        opened.append((context, person))
        return person.open(address, speed)

    yield visited
    for context, person in opened:
        context.close()
        assert person.errors == []


def session_of(server: PlayServer, person: Person) -> Session:
    """The game that a page plays."""
    return server.tab(person.page.evaluate("sessionStorage.getItem('oanquan-tab')")).session


# ---- whole games -----------------------------------------------------------------------------------------------------


def test_a_whole_game_by_mouse(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    assert "Tap one of your fields, then an arrow" in person.said
    while person.wait_for_turn():
        person.move_anyhow()
    board = session_of(server, person).game.board
    assert board.outcome is not None
    assert person.points == list(board.outcome.scores)
    assert person.moves == [str(move) for move in board.history]
    assert "The game is over" in person.said


def test_a_whole_game_by_keyboard_in_vietnamese(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="vi-VN")
    press = person.page.keyboard.press
    assert "Chạm vào một ô" in person.said
    press("ArrowRight")  # to the first field
    assert person.page.evaluate("document.querySelector('#board').shadowRoot.activeElement.dataset.field") == "1"
    press("ArrowRight")
    press("Enter")
    press("ArrowLeft")
    press("Escape")
    press("Enter")
    press("ArrowRight")
    press("Enter")
    person.page.locator("#moves button").nth(2).wait_for()
    assert person.moves[0] == "2A"
    press("u")
    person.page.locator("#moves button").nth(1).wait_for(state="detached")
    turns = 0
    while person.wait_for_turn():
        press(["ArrowRight", "ArrowLeft"][turns % 2])
        press("Enter")
        press("Enter")
        turns += 1
        person.page.locator("#moves button").nth(2 * turns - 1).wait_for()
    board = session_of(server, person).game.board
    assert board.outcome is not None
    assert person.points == list(board.outcome.scores)
    assert "Ván đã kết thúc" in person.said


def test_a_game_of_three(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address)
    person.page.locator("#new").click()
    person.page.locator("#preset").select_option("three-player")
    assert person.page.locator(".seat select").count() == 3
    for seat in (1, 2):
        person.page.locator(".seat select").nth(seat).select_option("")
        person.page.locator(".seat input").nth(seat).fill("random")
    person.page.locator("#begin").click()
    person.page.locator(".plate").nth(2).wait_for()
    while person.wait_for_turn():
        person.move_anyhow()
    board = session_of(server, person).game.board
    assert board.rules.players == 3
    assert board.outcome is not None
    assert person.points == list(board.outcome.scores)


def test_a_whole_match(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    person.page.locator("#new").click()
    person.page.locator("#as-match").check()
    assert person.page.locator("#starter").is_disabled()
    person.page.locator("#begin").click()
    for number in (1, 2, 3):
        for move in ("5A", "3A"):  # North wins 46-22, and South sells a field for it
            person.move(move)
        person.page.locator("#next:not([hidden])").wait_for()
        if number < 3:
            assert person.page.locator("#rematch").is_hidden()
            person.page.locator("#next-round").click()
            person.page.locator(f"#match tr:nth-child({number + 2})").wait_for()
    assert "North wins the match" in person.page.locator("#next p").inner_text()
    assert person.page.locator("#match tr").last.inner_text().split()[-2:] == ["3", "0"]
    assert person.page.locator("#next-round").is_hidden()


# ---- what people do besides ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hints")
def test_undo_redo_and_hint(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    start = session_of(server, person).game.board.text()
    person.move("3A")
    person.page.locator("#moves button").nth(2).wait_for()
    person.wait_for_turn()
    after = session_of(server, person).game.board.text()
    person.press("undo")
    person.page.locator("#moves button").nth(1).wait_for(state="detached")
    assert session_of(server, person).game.board.text() == start
    person.press("hint")
    person.waits_for("Try ")
    shown = person.board.locator(".hint text").all_text_contents()
    assert len(shown) == 10
    assert all(re.fullmatch(r"[+−]\d+", text) for text in shown)
    assert person.board.locator(".hint.best").count() == 1
    person.press("redo")
    person.page.locator("#moves button").nth(2).wait_for()
    assert session_of(server, person).game.board.text() == after
    assert person.board.locator(".hint").count() == 0


@pytest.mark.usefixtures("hints")
def test_it_says_who_is_ahead(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    person.page.locator("#evaluate").check()
    person.page.locator(
        "#bar output", has_text=re.compile(r"(\+\d+|Even) \((proved|seen \d+ moves ahead)\)")
    ).wait_for()


def test_a_reload_keeps_the_game_and_another_tab_is_another_game(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    person.move("3A")
    person.page.locator("#moves button").nth(1).wait_for()
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.moves == ["3A"]
    other = Person(person.page.context.new_page()).open(persons.address)
    assert other.moves == []
    other.move("1C")
    person.move("4A")
    person.page.locator("#moves button").nth(2).wait_for()
    assert (person.moves, other.moves) == (["3A", "4A"], ["1C"])
    name = person.page.evaluate("sessionStorage.getItem('oanquan-tab')")
    copied = person.page.context.new_page()  # as a browser's "duplicate tab" does it
    copied.add_init_script(f"sessionStorage.setItem('oanquan-tab', sessionStorage.getItem('oanquan-tab') ?? '{name}')")
    assert Person(copied).open(persons.address).moves == []
    assert copied.evaluate("sessionStorage.getItem('oanquan-tab')") != name


def test_moves_are_jumped_to_and_played_on_from(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    for number, move in enumerate(("3A", "4A", "1C"), 1):
        person.move(move)
        person.page.locator("#moves button").nth(number).wait_for()
    person.page.locator("#moves button").nth(1).click()
    assert person.page.locator("#viewing").is_visible()
    assert person.page.locator("#story li").first.inner_text() == "South plays 3A."
    assert person.fields.count() == 0  # it is only looked at
    person.page.locator("#return").click()
    assert person.page.locator("#viewing").is_hidden()
    person.page.locator("#moves button").nth(1).click()
    person.page.locator("#from-here").click()
    person.page.locator("#moves button").nth(2).wait_for(state="detached")
    assert person.moves == ["3A"]
    person.press("redo")
    person.page.locator("#moves button").nth(3).wait_for()
    assert person.moves == ["3A", "4A", "1C"]


def test_a_person_resigns_after_being_asked(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address)
    person.page.locator("#resign").click()
    assert "once more" in person.page.locator("#notice").inner_text()
    assert session_of(server, person).game.resigned is None
    person.page.locator("#resign").click()
    person.page.locator("#next:not([hidden])").wait_for()
    assert session_of(server, person).game.resigned == 0
    assert "resigns" in person.said


def test_games_are_saved_and_opened(visit: Visit, persons: PlayServer, tmp_path: Path) -> None:
    person = visit(persons.address)
    person.move("3A")
    person.page.locator("#moves button").nth(1).wait_for()
    with person.page.expect_download() as download:
        person.page.locator("#save").click()
    saved = tmp_path / "saved.txt"
    download.value.save_as(saved)
    (record,) = read_records(saved)
    assert [str(move) for move in record.moves] == ["3A"]

    boards = [Board(), Board("tonkin")]
    boards[1].push("2A")
    several = tmp_path / "several.txt"
    several.write_text(format_records(GameRecord.from_board(board) for board in boards), encoding="utf-8")
    person.page.locator("#file").set_input_files(several)
    person.page.locator("#games button").nth(1).click()
    person.page.locator("#about-game", has_text="Tonkin").wait_for()
    assert person.moves == ["2A"]

    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "game.txt", { type: "text/plain" }));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    person.page.evaluate(drop, saved.read_text(encoding="utf-8"))
    person.page.locator("#about-game", has_text="Mancala World").wait_for()
    assert person.moves == ["3A"]
    person.page.evaluate(drop, "nonsense")
    person.page.locator("#notice", has_text="no record").wait_for()
    for count, words in (
        (LARGEST_FILE, "no record of a game that can be opened. line 1"),
        (LARGEST_FILE + 1, "too large"),
    ):
        person.page.evaluate(drop, "\0" * count)
        person.page.locator("#notice", has_text=words).wait_for()
    assert person.moves == ["3A"]


def test_rules_and_levels_of_a_new_game(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    page = person.page
    page.locator("#new").click()
    page.locator("#preset").select_option("vietnamese")
    page.locator("#more summary").click()
    page.locator("[data-field=seeds]").fill("0")
    page.locator("#begin").click()
    page.locator("#new-error", has_text="seeds must be a whole number from 1 to 255").wait_for()
    page.locator("[data-field=seeds]").fill("4")
    page.locator("[data-field=stone_value]").fill("5")
    page.locator("[data-field=stones]").select_option("True")
    page.locator(".seat select").nth(1).select_option("beginner")
    page.locator("#starter").select_option("1")
    page.locator("#begin").click()
    page.locator("#about-game", has_text="Vietnamese seeds=4 stone_value=5").wait_for()
    person.wait_for_turn()
    played = session_of(server, person).game
    assert str(played.board.rules) == "vietnamese seeds=4 stone_value=5"
    assert played.names == ["human", "beginner"]
    assert played.begin().mover == 1
    page.locator("#new").click()
    page.locator(".seat select").nth(1).select_option("")
    page.locator(".seat input").nth(1).fill("nobody")
    page.locator("#begin").click()
    page.locator("#new-error", has_text="no such player").wait_for()


def test_the_lessons_teach_in_both_languages(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    titles = {}
    for language in ("en", "vi"):
        person.page.locator("#learn").click()
        titles[language] = [person.page.locator("#learn-title").inner_text()]
        for number in range(2, 8):
            person.page.locator("#learn-next").click()
            person.page.locator("#learn-page", has_text=f"{number} / 7").wait_for()
            titles[language].append(person.page.locator("#learn-title").inner_text())
        person.page.locator("#learn-next").click()
        assert person.page.locator("#learn-dialog").is_hidden()
        person.page.locator("#language").click()
    assert len(set(titles["en"] + titles["vi"])) == 14
    assert titles["en"][3] == "Capturing"


def test_both_languages_have_all_words(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address)
    keys = """async () => {
        const paths = (value, at = "") => typeof value === "object" && !Array.isArray(value)
            ? Object.entries(value).flatMap(([key, inner]) => paths(inner, `${at}.${key}`)) : [at];
        const files = [await import("./words.js"), await import("./board.js")];
        return files.map(file => ["en", "vi"].map(language => paths(file.WORDS[language]).sort().join()));
    }"""
    for english, vietnamese in person.page.evaluate(keys):
        assert english == vietnamese
    words = person.page.evaluate("async () => JSON.parse(JSON.stringify((await import('./words.js')).WORDS.en))")
    assert set(words["presets"]) == set(PRESET_NAMES)
    assert {f".{name}" for name in words["fields"]} == {f".{name}" for name in vars(Rules())}


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "cannot be read"), ("vi-VN", "Không đọc được thế")])
def test_a_bad_position_in_the_link_is_explained(visit: Visit, server: PlayServer, locale: str, words: str) -> None:
    person = visit(f"{server.address}#rules=vietnamese&position=5,5,5,x,5,0*/5,5,5,5,5,0*%200,0%200%200", locale=locale)
    said = person.page.locator("#notice").inner_text()
    assert words in said
    assert "5,5,5,▸x,5,0*" in said
    assert person.fields.count() == 5  # and a new game stands there


def test_a_link_holds_the_position(visit: Visit, persons: PlayServer) -> None:
    person = visit(f"{persons.address}#rules=vietnamese&position=0,3,1,2,0,0*/5,0,4,3,6,0*%2011,15%201%2020")
    board = session_of(persons, person).game.board
    assert (str(board.rules), board.text()) == ("vietnamese", "0,3,1,2,0,0*/5,0,4,3,6,0* 11,15 1 20")
    assert person.points == [11, 15]
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.page.locator("#link").click()
    person.page.locator("#notice", has_text="copied").wait_for()
    link = person.page.evaluate("navigator.clipboard.readText()")
    other = visit(link)
    assert session_of(persons, other).game.board == board


def test_another_page_cannot_play_or_read(browser: Browser, server: PlayServer) -> None:
    page = browser.new_page()
    reply = page.goto(server.address.replace("127.0.0.1", "evil.example"))  # a name that leads to this machine
    assert reply is not None
    assert reply.status == 403
    page.goto(f"http://localhost:{server.server_port}/")  # another origin, without the token
    ask = """address => fetch(
        `${address}begin`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" },
    ).then(reply => reply.status, () => "refused")"""
    assert page.evaluate(ask, server.address) == "refused"
    page.close()


def test_the_page_asks_again_when_no_answer_came(
    visit: Visit, server: PlayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, answer = threading.Event(), Session.answer
    monkeypatch.setattr(Session, "answer", lambda played: lost.wait(60) and answer(played))
    person = visit(server.address, locale="en-GB")

    def lose(route: Route) -> None:
        if lost.is_set():
            route.continue_()
        else:
            lost.set()
            route.abort()

    person.page.route("**/wait", lose)
    person.move("3A")
    person.page.locator("#notice", has_text="does not answer").wait_for()
    person.page.locator("#moves button").nth(2).wait_for()


# ---- motion ----------------------------------------------------------------------------------------------------------

COMPARE = """async ([drawing, moves]) => {
    const { BoardView } = await import("./board.js");
    const host = document.body.appendChild(document.createElement("div")), view = new BoardView(host);
    view.speed = 1e9;  // every step is made, and none takes time
    view.setDrawing(drawing);
    const wrong = [];
    for (const [before, mover, move] of moves) {
        const reached = await view.play(move, { frame: before, mover }, { frame: move.after, mover: move.mover });
        const drawn = view.heaps.map(heap => heap.length), most = drawing.most_pebbles;
        const after = move.after, parts = ["seeds", "stones", "scores"];
        if (!parts.every(part => reached[part].join() === after[part].join())
            || drawn.join() !== after.seeds.map(seeds => Math.min(seeds, most)).join()) wrong.push(move.move);
    }
    view.destroy();
    host.remove();
    return wrong;
}"""


def random_moves(rules: str, count: int) -> list[Any]:
    """Board, mover and move, for `count` random moves of games by `rules`."""
    rng, board, moves = np.random.default_rng(7), Board(rules), []
    while len(moves) < count:
        board = Board(rules) if board.outcome else board
        before, mover = Frame(tuple(board.seeds), tuple(board.stones), tuple(board.scores)), board.mover
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        assert board.last_trace is not None
        assert board.last_mark is not None
        move = {"mover": board.mover, **move_json(board.last_trace, board.last_mark)}
        moves.append([frame_json(before), mover, move])
    return moves


def check_motion(person: Person, rules: str, count: int) -> None:
    assert person.page.evaluate(COMPARE, [drawing(Rules.parse(rules)), random_moves(rules, count)]) == [], rules


def test_the_motion_ends_in_the_position_of_the_core(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address)
    for rules in PRESET_NAMES:
        check_motion(person, rules, 30)


@pytest.mark.slow
@pytest.mark.parametrize("rules", PRESET_NAMES)
def test_the_motion_of_a_thousand_moves_does(visit: Visit, server: PlayServer, rules: str) -> None:
    check_motion(visit(server.address), rules, 1000)


def test_a_move_is_shown_told_skipped_and_watched_again(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="slow", reduced_motion="no-preference")
    person.move("3A")
    person.waits_for("Lift 5 seeds from field 3 of South")
    assert "South plays 3A. Lift 5 seeds" in person.board.locator("[aria-live]").inner_text()
    assert person.fields.count() == 0
    person.press("skip")
    person.page.locator("#moves button").nth(1).wait_for()
    assert person.points == [6, 0]
    person.press("again")
    person.waits_for("Lift 5 seeds from field 3 of South")
    person.page.keyboard.press("s")
    person.waits_for("North")
    assert person.fields.count() == 4


def test_an_undo_in_the_middle_of_a_move_ends_it(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="slow", reduced_motion="no-preference")
    person.move("3A")
    person.waits_for("Lift")
    person.press("undo")
    person.waits_for("South")
    person.fields.first.wait_for(state="attached")
    assert (person.moves, person.points) == ([], [0, 0])
    labels = [person.board.locator(f"[data-square='{square}']").get_attribute("aria-label") for square in (2, 5)]
    assert labels[0] == "field 3 of South: 5 seeds. Enter chooses it"
    assert labels[1] == "the mandarin square after South: a mandarin stone"


def test_who_wants_less_motion_gets_none(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="none", reduced_motion="reduce")
    person.page.evaluate("localStorage.clear()")
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.board.locator("select").input_value() == "none"


# ---- looks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(visit: Visit, persons: PlayServer, rules: str, scheme: str) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    person = visit(f"{persons.address}#rules={rules}", color_scheme=scheme, **phone)
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.fields.first.tap()
    for way in person.board.locator(".way circle").all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    sizes = """nodes => nodes.filter(node => node.textContent).map(
        node => parseFloat(getComputedStyle(node).fontSize) * node.ownerSVGElement.getScreenCTM().a
    )"""
    assert min(person.board.locator("text").evaluate_all(sizes)) >= 9.9  # pixels
    light = person.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light == {"light": "rgb(251, 248, 241)", "dark": "rgb(27, 25, 22)"}[scheme]


# ---- memory ----------------------------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of memory that this process, in which the server runs, holds; 0 where that cannot be read."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * resource.getpagesize() if statm.exists() else 0


@pytest.mark.slow
def test_memory_is_flat_over_two_hundred_games(browser: Browser) -> None:
    """What the page and the server hold after 200 games is what they hold after 20."""
    for server in serve("random", "random"):
        context = browser.new_context()
        person = Person(context.new_page()).open(server.address)
        protocol = context.new_cdp_session(person.page)
        held = []
        for number in range(1, 201):
            person.page.evaluate(
                "number => { location.hash = `rules=mancala-world max_plies=${number % 2 + 9}`; }", number
            )
            person.page.locator("#about-game", has_text=f"max_plies={number % 2 + 9}").wait_for()
            person.page.locator("#next:not([hidden])").wait_for()
            if number in (20, 200):
                gc.collect()
                protocol.send("HeapProfiler.collectGarbage")
                counters = protocol.send("Memory.getDOMCounters")
                heap = person.page.evaluate("performance.memory.usedJSHeapSize")
                held.append((counters["nodes"], counters["jsEventListeners"], heap, resident()))
        print(f"nodes, listeners, bytes of the page's scripts, bytes of the server: {held[0]}, then {held[1]}")
        assert held[1][0] < 1.5 * held[0][0]
        assert held[1][1] < 1.5 * held[0][1]
        assert held[1][2] < held[0][2] + 3_000_000
        assert held[1][3] < held[0][3] + 20_000_000
        assert person.errors == []
        context.close()
