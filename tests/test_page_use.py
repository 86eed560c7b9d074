"""What people do on the page besides moving: undo, hints, files, links, rules, lessons, languages; what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oanquan_env import Board, GameRecord, Rules, read_records
from oanquan_env.play.server import LARGEST_FILE, PlayServer
from oanquan_env.records.games import format_records
from tests.browsers import Visit, session_of
from tests.strategies import PRESET_NAMES

if TYPE_CHECKING:
    pass


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
