"""Looking back on the page: through a game, at its mistakes; previews, puzzles, seats, bowls, lost servers."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oanquan_env import parse_records
from oanquan_env.play import server as servers
from oanquan_env.play.server import PlayServer
from tests.boards import boards_of
from tests.browsers import Person, Visit, session_of

pytestmark = pytest.mark.slow  # a browser takes seconds

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SIZES = {
    "phone": PHONE,
    "small phone": {**PHONE, "viewport": {"width": 360, "height": 640}},
    "landscape": {**PHONE, "viewport": {"width": 844, "height": 390}},
    "desktop at 200 %": {"viewport": {"width": 640, "height": 400}},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "1920": {"viewport": {"width": 1920, "height": 1080}},
}
INSIDE = """nodes => nodes.map(node => node.getBoundingClientRect()).filter(box => box.width).every(
    box => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)"""


def end(person: Person) -> None:
    """One of the shortest games: South takes a mandarin with its first move, and North the other one."""
    person.play("5A", "3A")
    person.page.locator("#next:not([hidden])").wait_for()


@pytest.mark.parametrize("size", SIZES)
def test_board_and_buttons_are_in_sight(visit: Visit, persons: PlayServer, size: str) -> None:
    person = visit(persons.address, **SIZES[size])
    assert person.board.locator(".tools button:not([hidden]), .tools summary, .say").evaluate_all(INSIDE)
    assert person.board.locator(".hit").evaluate_all(INSIDE)
    field = person.fields.first.bounding_box()
    assert field is not None
    assert min(field["width"], field["height"]) >= {"1920": 150, "desktop": 100}.get(size, 56)


@pytest.mark.usefixtures("hints")
@pytest.mark.parametrize("locale", ["en-GB", "vi-VN"])
@pytest.mark.parametrize("size", SIZES)
def test_no_words_lie_under_buttons(visit: Visit, persons: PlayServer, size: str, locale: str) -> None:
    person = visit(persons.address, locale=locale, **SIZES[size])
    person.press("hint")
    person.board.locator(".hint").first.wait_for(state="attached")
    above = "([words, buttons]) => words.getBoundingClientRect().bottom <= buttons.getBoundingClientRect().top + 1"
    assert person.board.locator(".say, .tools").evaluate_all(above)
    person.page.locator("#learn").click()
    person.page.locator("#learn-dialog[open] .end").wait_for()
    assert person.page.locator("#learn-words, #learn-dialog .end").evaluate_all(above)


@pytest.mark.usefixtures("hints")
def test_a_game_is_reviewed_and_played_on_from_a_mistake(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    end(person)
    page = person.page
    assert page.locator("#next h2").inner_text() == "North wins"
    page.locator("#review").click()
    worst = page.locator("#mistakes button", has_text="1. South 5A −36")
    worst.wait_for()
    assert "turns a win into a loss, lets North take a mandarin with 3A. Best was" in worst.inner_text()
    assert page.locator("#graph .mistake").count() == 1
    worst.click()
    assert person.said == "Move 1 of 2: 5A"
    page.locator("#bar output", has_text="North +24").wait_for()
    page.locator("#moves button", has_text="−36").wait_for()
    page.reload()  # its tick is remembered
    page.locator("#bar output", has_text="North +24").wait_for()
    person.press("first")
    page.locator("#bar output", has_text="South +12").wait_for()
    page.locator("#from-here").click()
    person.wait_for_turn()
    assert person.moves == []


def test_a_game_is_looked_through_by_buttons_and_keys(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    end(person)
    top = person.board.locator(".hit").first.bounding_box()
    said = []
    for tool in ("first", "next", "last", "previous"):
        person.press(tool)
        said.append(person.said)
    assert said[:2] == ["Start", "Move 1 of 2: 5A"]
    assert "North wins" in said[2]
    assert said[3] == "Move 1 of 2: 5A"
    for key, words in (
        ("ArrowLeft", "Start"),
        ("ArrowRight", "Move 1 of 2: 5A"),
        ("Home", "Start"),
        (".", "Move 1 of 2"),
    ):
        person.page.keyboard.press(key)
        assert words in person.said
    assert person.page.locator("#story li", has_text="South plays 5A.").count() == 1  # it is told once
    assert person.board.locator(".hit").first.bounding_box() == top  # and nothing jumps
    person.page.keyboard.press("Home")
    person.press("tour")
    person.board.locator("[data-tool=again]:visible").wait_for()
    person.waits_for("North wins")


def test_a_move_is_seen_before_it_is_made(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, **PHONE)
    marked = person.board.locator(".way-on, .way-last, .way-taken")
    person.fields.nth(4).tap()
    way = person.board.locator(".way[data-move='5A']")
    way.dispatch_event("pointerdown", {"pointerType": "touch"})  # a finger that stays
    assert person.board.locator(".way-taken").get_attribute("data-square") == "5"
    assert person.board.locator(".gain text").text_content() == "+11"
    assert "captures 11" in (way.get_attribute("aria-label") or "")
    person.page.wait_for_timeout(600)
    way.dispatch_event("click")
    assert session_of(persons, person).game.board.history == []
    person.board.locator("summary").tap()
    person.board.locator("label", has_text="Preview").locator("input").uncheck()
    person.board.locator("summary").tap()
    person.fields.nth(4).tap()
    person.board.locator(".way[data-move='5A']").hover()
    assert marked.count() == 0
    person.board.locator(".way[data-move='5A']").tap()
    person.page.locator("#moves button").nth(1).wait_for()


def test_sides_are_changed_and_the_person_sits_at_the_bottom(visit: Visit, server: PlayServer) -> None:
    person = visit(f"{server.address}#moves=5A", locale="en-GB")
    person.page.locator("#next:not([hidden])").wait_for()
    assert person.board.locator(".bowl").nth(0).locator("circle").count() == 12  # beside a mandarin
    assert person.board.locator(".bowl g").count() == 2
    person.page.locator("#swap").click()
    person.fields.first.wait_for(state="attached")  # the buttons of the finished game are still shown for a moment
    assert session_of(server, person).game.names == ["greedy", "human"]
    assert len(person.moves) == 1  # greedy has begun
    south, north = (person.board.locator(f"[data-square='{square}']").bounding_box() for square in (0, 6))
    assert south is not None
    assert north is not None
    assert north["y"] > south["y"]


def test_puzzles_tell_right_from_wrong(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="vi-VN")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-levels button").first.click()
    person.waits_for("Hãy ăn quan trong một nước.")
    person.move("4A")
    person.waits_for("4↺ chưa được")
    person.page.locator("#retry").click()
    person.fields.first.wait_for(state="attached")
    person.move("1A")
    person.waits_for("Đúng rồi: 1↺.")
    person.page.locator("#next-puzzle").click()
    person.waits_for("Vì sao nước ấy thua?")
    person.page.reload()
    person.waits_for("Vì sao nước ấy thua?")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-levels button", has_text="đã giải 1").wait_for()


def test_a_game_is_linked_copied_pasted_and_filmed(visit: Visit, persons: PlayServer, tmp_path: Path) -> None:
    person = visit(persons.address)
    end(person)
    page = person.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pasted = {}
    for name in ("link", "copy"):
        page.locator("#share").click()
        page.locator(f"#{name}").click()
        page.locator("#notice", has_text="copied").wait_for()
        pasted[name] = page.evaluate("navigator.clipboard.readText()")
    assert "moves=5A3A" in pasted["link"]
    assert [str(move) for move in parse_records(pasted["copy"])[0].moves] == ["5A", "3A"]
    for text in pasted.values():
        other = visit(persons.address)
        other.page.locator("#share").click()
        other.page.locator("#pasted").fill(text)
        other.page.locator("#paste").click()
        other.page.locator("#next:not([hidden])").wait_for()
        assert other.moves == ["5A", "3A"]
    for kind, begins in (("svg", b"<svg"), ("gif", b"GIF8")):
        page.locator("#share").click()
        with page.expect_download() as download:
            page.locator(f"#{kind}").click()
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begins)


def test_a_screen_reader_hears_no_loose_numbers(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    heard = person.board.aria_snapshot()
    assert '"South: 0 points"' in heard
    assert '"field 3 of South: 5 seeds. Enter chooses it"' in heard
    assert not [line for line in heard.splitlines() if line.strip(' -"').removeprefix("text: ").strip('"').isdecimal()]


def test_a_game_outlives_many_other_tabs(visit: Visit, persons: PlayServer, monkeypatch: pytest.MonkeyPatch) -> None:
    person = visit(persons.address)
    person.play("3A")
    monkeypatch.setattr(servers, "MOST_TABS", 1)
    persons.begin()
    person.play("4A")
    assert session_of(persons, person).game.board == boards_of("3A", "4A")[-1]


@contextlib.contextmanager
def running(port: int) -> Iterator[str]:
    """The address of a page that the command serves at that port, until its process is killed."""
    command = [sys.executable, "-m", "oanquan_env", "play", "--browser", "--opponent", "human", "--port", str(port)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "BROWSER": "true"}
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.kill()


def test_a_game_goes_on_when_the_server_runs_again(visit: Visit) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with running(port) as address:
        person = visit(address, locale="en-GB")
        person.play("3A")
    person.waits_for("does not answer")  # and no more "to move"
    assert person.fields.count() == 0
    with running(port) as address:
        person.page.locator("#lost", has_text="started anew").wait_for()
        Person(person.page.context.new_page()).open(address)  # the command opens it by itself
        person.waits_for("North to move.")
        assert (person.page.url, person.moves) == (address, ["3A"])
        person.play("4A")
