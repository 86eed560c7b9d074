"""What people do on the page besides moving: undo, hints, files, links, rules, lessons, languages; what it refuses."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oanquan_env import Board, GameRecord, Rules, read_records
from oanquan_env.play.server import LARGEST_FILE, PlayServer
from oanquan_env.play.session import Session
from oanquan_env.records.games import format_records
from tests.browsers import Person, Visit, session_of
from tests.strategies import PRESET_NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Route


pytestmark = pytest.mark.slow  # a browser takes seconds


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
    assert "with best play you end" in person.said
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
        "#bar output", has_text=re.compile(r"(South \+\d+|Even) \((proved|seen \d+ moves deep)\)")
    ).wait_for()


def test_a_reload_keeps_the_game_and_another_tab_is_another_game(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    person.play("3A")
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.moves == ["3A"]
    other = Person(person.page.context.new_page()).open(persons.address)
    assert other.moves == []
    other.move("1C")
    person.play("4A")
    assert (person.moves, other.moves) == (["3A", "4A"], ["1C"])
    name = person.page.evaluate("sessionStorage.getItem('oanquan-tab')")
    copied = person.page.context.new_page()  # as a browser's "duplicate tab" does it
    copied.add_init_script(f"sessionStorage.setItem('oanquan-tab', sessionStorage.getItem('oanquan-tab') ?? '{name}')")
    assert Person(copied).open(persons.address).moves == []
    assert copied.evaluate("sessionStorage.getItem('oanquan-tab')") != name


def test_moves_are_jumped_to_and_played_on_from(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    person.play("3A", "4A", "1C")
    person.page.locator("#moves button").nth(1).click()
    assert person.said == "Move 1 of 3: 3A"
    assert person.page.locator("#story li").first.inner_text() == "South plays 3A."
    assert person.fields.count() == 0  # it is only looked at
    person.press("last")
    assert person.page.locator("#from-here").is_hidden()
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
    person.play("3A")
    person.page.locator("#share").click()
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
        (LARGEST_FILE, "no record of a game that can be opened. Line 1"),
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
    assert played.board.start().mover == 1
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
        const files = [await import("./words.js"), await import("./board-words.js")];
        return files.map(file => ["en", "vi"].map(language => paths(file.WORDS[language]).sort().join()));
    }"""
    for english, vietnamese in person.page.evaluate(keys):
        assert english == vietnamese
    words = person.page.evaluate("async () => JSON.parse(JSON.stringify((await import('./words.js')).WORDS.en))")
    assert set(words["presets"]) == set(PRESET_NAMES)
    assert {f".{name}" for name in words["fields"]} == {f".{name}" for name in vars(Rules())}


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "cannot be read"), ("vi-VN", "Không đọc được thế")])
def test_a_bad_position_in_the_link_is_explained(visit: Visit, server: PlayServer, locale: str, words: str) -> None:
    person = visit(f"{server.address}#rules=vietnamese&position=5,5,5,x,5,0*/5,5,5,5,5,0*%200,0%200%200", locale=locale)
    said = person.page.locator("#notice").inner_text()
    assert words in said
    assert "5,5,5,▸x,5,0*" in said
    assert person.fields.count() == 5  # and a new game stands there


def test_what_is_wrong_with_rules_is_told_in_vietnamese(visit: Visit, server: PlayServer) -> None:
    person = visit(f"{server.address}#rules=chess", locale="vi-VN")
    assert "Không đọc được luật trong liên kết. Không có luật" in person.page.locator("#notice").inner_text()
    person.page.locator("#new").click()
    person.page.locator("#more summary").click()
    person.page.locator("[data-field=seeds]").fill("0")
    person.page.locator("#begin").click()
    person.page.locator("#new-error", has_text="“Số dân mỗi ô” phải là số nguyên từ 1 đến 255, không phải 0").wait_for()
    assert person.page.locator("[aria-invalid]").get_attribute("data-field") == "seeds"
    person.page.locator("[data-field=seeds]").fill("5")
    person.page.locator("[data-field=stones]").select_option("False")
    person.page.locator("#begin").click()
    person.page.locator("#new-error", has_text="Không có quan thì phải chơi đến khi").wait_for()
    assert person.page.locator("[data-field=seeds][aria-invalid]").count() == 0
    seen = "([error, buttons]) => error.getBoundingClientRect().bottom <= buttons.getBoundingClientRect().top"
    assert person.page.locator("#new-error, #new-dialog .end").evaluate_all(seen)


def test_a_link_holds_the_position(visit: Visit, persons: PlayServer) -> None:
    person = visit(f"{persons.address}#rules=vietnamese&position=0,3,1,2,0,0*/5,0,4,3,6,0*%2011,15%201%2020")
    board = session_of(persons, person).game.board
    assert (str(board.rules), board.text()) == ("vietnamese", "0,3,1,2,0,0*/5,0,4,3,6,0* 11,15 1 20")
    assert person.points == [11, 15]
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.page.locator("#share").click()
    person.page.locator("#link").click()
    person.page.locator("#notice", has_text="copied").wait_for()
    link = person.page.evaluate("navigator.clipboard.readText()")
    other = visit(link)
    assert session_of(persons, other).game.board == board


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
    person.page.locator("#lost", has_text="does not answer").wait_for()
    person.page.locator("#moves button").nth(2).wait_for()
