"""What people do on the page besides moving: undo, hints, files, links, rules, lessons, languages; what it refuses."""

import re
from pathlib import Path

import pytest

from oanquan_env import Board, GameRecord, Rules
from oanquan_env.play.server import LARGEST_FILE, PlayServer
from oanquan_env.records.games import format_records
from tests.boards import boards_of
from tests.browsers import Visit, session_of
from tests.strategies import PRESET_NAMES

pytestmark = pytest.mark.slow  # a browser takes seconds


@pytest.mark.usefixtures("hints")
def test_undo_redo_and_hint(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    person.move("3A")
    person.page.locator("#moves button").nth(2).wait_for()
    person.wait_for_turn()
    after = session_of(server, person).game.board.text()
    person.press("undo")
    person.page.locator("#moves button").nth(1).wait_for(state="detached")
    assert session_of(server, person).game.board == Board()
    assert "plays" not in person.spoken  # nothing stale
    assert person.board.locator("[data-tool=first]").is_hidden()  # nothing to look through
    person.press("hint")
    person.waits_for("Try ")
    shown = person.board.locator(".hint text").all_text_contents()
    assert len(shown) == 10
    assert all(re.fullmatch(r"[+−]\d+", text) for text in shown)
    assert "with best play you end" in person.said
    assert person.board.locator(".hint.best").count() == 1
    assert "with best play" in person.spoken
    person.press("redo")
    person.page.locator("#moves button").nth(2).wait_for()
    assert session_of(server, person).game.board.text() == after
    assert person.board.locator(".hint").count() == 0


def test_games_are_saved_linked_copied_filmed_and_opened(visit: Visit, persons: PlayServer, tmp_path: Path) -> None:
    person = visit(persons.address)
    person.play("5A", "3A")
    page, saved, pasted = person.page, {}, {}
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, begins in (("save", b"[Rules"), ("svg", b"<svg"), ("gif", b"GIF8")):
        page.locator("#share").click()
        with page.expect_download() as download:
            page.locator(f"#{name}").click()
        saved[name] = Path(download.value.path()).read_bytes()
        assert saved[name].startswith(begins)
    for name in ("link", "copy"):
        page.locator("#share").click()
        page.locator(f"#{name}").click()
        page.locator("#notice", has_text="copied").wait_for()
        pasted[name] = page.evaluate("navigator.clipboard.readText()")
    assert "moves=5A3A" in pasted["link"]
    assert pasted["copy"].strip() == saved["save"].decode().strip()
    for text in pasted.values():
        other = visit(persons.address)
        other.page.locator("#share").click()
        other.page.locator("#pasted").fill(text)
        other.page.locator("#paste").click()
        other.page.locator("#next:not([hidden])").wait_for()
        assert other.moves == ["5A", "3A"]

    several = tmp_path / "several.txt"
    boards = Board(), boards_of("2A", rules="tonkin")[-1]
    several.write_text(format_records(GameRecord.from_board(board) for board in boards), encoding="utf-8")
    page.locator("#file").set_input_files(several)
    page.locator("#games button").nth(1).click()
    page.locator("#about-game", has_text="Tonkin").wait_for()
    assert person.moves == ["2A"]
    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "game.txt", { type: "text/plain" }));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, saved["save"].decode())
    page.locator("#about-game", has_text="Mancala World").wait_for()
    large = "\0" * LARGEST_FILE
    for text, words in (("nonsense", "no record"), (large, "can be opened. Line 1"), (f"{large}x", "too large")):
        page.evaluate(drop, text)
        page.locator("#notice", has_text=words).wait_for()
    assert person.moves == ["5A", "3A"]


def test_rules_and_levels_of_a_new_game(visit: Visit, server: PlayServer) -> None:
    person = visit(server.address, locale="en-GB")
    page = person.page
    page.locator("#new").click()
    page.locator("#preset").select_option("vietnamese")
    page.locator("#more summary").click()
    page.locator("[data-field=seeds]").fill("4")
    page.locator("[data-field=stones]").select_option("True")
    page.locator(".seat select").nth(1).select_option("beginner")
    page.locator("#starter").select_option("1")
    page.locator("#begin").click()
    page.locator("#about-game", has_text="Vietnamese seeds=4").wait_for()
    person.wait_for_turn()
    played = session_of(server, person).game
    begun = (str(played.board.rules), played.names, played.board.start().mover)
    assert begun == ("vietnamese seeds=4", ["human", "beginner"], 1)
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
    assert (set(words["presets"]), set(words["fields"])) == (set(PRESET_NAMES), set(vars(Rules())))


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "cannot be read"), ("vi-VN", "Không đọc được thế")])
def test_a_bad_position_in_the_link_is_explained(visit: Visit, server: PlayServer, locale: str, words: str) -> None:
    person = visit(f"{server.address}#rules=vietnamese&position=5,5,5,x,5,0*/5,5,5,5,5,0*%200,0%200%200", locale=locale)
    said = person.page.locator("#notice").inner_text()
    assert words in said
    assert "5,5,5,▸x,5,0*" in said
    assert person.fields.count() == 5  # and a new game stands there
