"""Test how the page saves, links, opens and stores games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oanquan_env import Board, GameRecord, parse_records
from oanquan_env.records.games import format_records
from tests.helpers.boards import boards_of
from tests.helpers.browsers import Visit

pytestmark = pytest.mark.slow  # a browser takes seconds


def test_games_are_saved_linked_copied_filmed_and_opened(visit: Visit, tmp_path: Path) -> None:
    person = visit("#moves=5A3A&north=human")
    page, saved = person.page, {}
    page.evaluate("""() => {
        const { prototype } = XMLSerializer, { serializeToString } = prototype;
        prototype.serializeToString = (svg) => (window.drawn = serializeToString.call(new XMLSerializer(), svg));
    }""")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, begins in (("save", b"[Rules"), ("gif", b"GIF8"), ("card", b"\x89PNG")):
        if name != "card":
            page.locator("#share").click()
        with page.expect_download() as download:
            page.locator(f"#{name}").click()
        saved[name] = Path(download.value.path()).read_bytes()
        assert saved[name].startswith(begins)
    assert "North beat South 46–22" in page.evaluate("drawn")  # the card, which was drawn last
    (record,) = parse_records(saved["save"].decode())
    assert record.board() == boards_of("5A", "3A")[-1]
    page.locator("#share").click()
    page.locator("#link").click()
    page.locator("#notice", has_text="copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "moves=5A3A" in link
    for text in (link, saved["save"].decode()):
        other = visit()
        other.page.locator("#share").click()
        other.page.locator("#pasted").fill(text)
        other.page.locator("#paste").click()
        other.waits_for("The game is over.")
        assert other.moves == ["5A", "3A"]

    several = tmp_path / "several.txt"
    boards = Board(), boards_of("2A", rules="tonkin")[-1]
    several.write_text(format_records(GameRecord.from_board(board) for board in boards), encoding="utf-8")
    page.locator("#file").set_input_files(several)
    page.locator("#games button").nth(1).click()
    page.locator("#about-game", has_text="1944").wait_for()
    page.locator("#games-dialog").wait_for(state="hidden")  # a dialog that opens before would be closed, too
    assert person.moves == ["2A"]
    page.locator("#file").set_input_files(tmp_path / "several.txt")
    page.locator("#games button").nth(0).click()
    page.locator("#moves button").nth(1).wait_for(state="detached")
    page.locator("#games-dialog").wait_for(state="hidden")
    for text, words in ((b"nonsense", "isn’t a game record"), (bytes(1_000_001), "too large")):
        page.locator("#share").click()
        page.locator("#share-dialog[open]").wait_for()  # else a notice tells the error
        page.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": text})
        page.locator("#share-error", has_text=words).wait_for()
        page.keyboard.press("Escape")
    assert person.moves == []


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "isn’t a valid position"), ("vi-VN", "Không đọc được thế")])
def test_a_bad_position_in_the_link_is_explained(visit: Visit, locale: str, words: str) -> None:
    person = visit("#rules=vietnamese&from=5,5,5,x,5,0*/5,5,5,5,5,0*%200,0%200%200", locale=locale)
    notice = person.page.locator("#notice").inner_text()
    assert words in notice
    assert "5,5,5,▸x,5,0*" in notice
    assert person.fields.count() == 5  # those of a new game


def test_unfinished_games_are_kept_behind_a_button(visit: Visit) -> None:
    person = visit("#rules=tonkin&north=human")
    page, back = person.page, person.page.locator("#resume")
    address = page.url
    assert back.is_hidden()
    person.play("3A", "2A")
    page.goto("about:blank")
    person.open(f"{address}#moves=5A3A")  # a link to a finished game, opened as the page loads
    assert person.moves == ["5A", "3A"]
    assert back.inner_text() == "Back to the game"
    page.evaluate("location.hash = 'rules=vietnamese&moves=1A'")  # a link opened in the loaded page
    page.locator("#moves button").nth(1).wait_for()
    page.locator("#new").click()
    page.locator("#begin").click()
    page.locator("#new-dialog:not([open])").wait_for(state="attached")
    assert (person.moves, back.inner_text()) == ([], "Unfinished games (2)")
    page.reload()
    back.click()
    games = page.locator("#games button")
    assert "1 move" in games.nth(0).inner_text()
    games.filter(has_text="2 moves").click()
    page.locator("#games-dialog:not([open])").wait_for(state="attached")
    assert (person.state["rules"], person.moves) == ("tonkin", ["3A", "2A"])
    assert [seat["name"] for seat in person.state["seats"]] == ["human", "human"]
    back.click()  # opens the other game, of one move, and stores this one in its place
    page.locator("#moves button").nth(2).wait_for(state="detached")
    person.board.locator(".hit.legal").first.wait_for()
    assert (person.moves, back.inner_text()) == (["1A"], "Back to the game")
    back.click()
    page.locator("#moves button").nth(2).wait_for()
    assert person.moves == ["3A", "2A"]


DAMAGED = {
    "language": ["", "fr", "constructor", "__proto__", "null"],
    "speed": ["", "constructor", "9", "[object Object]"],
    "preview": ["yes", "1", ""],
    "loud": ["yes", "null", ""],
    "learned": ["no"],
    "evaluate": ["true"],
    "games": ["", "5", "[5, null]", '[{"text": "x", "seats": []}]'],
    "puzzles": ["[]", '{"sets": {"first": 3}}', '{"streak": {"day": 1e300, "days": 1e300}}'],
    "last": [
        "",
        "3",
        "[]",
        "null",
        '{"text": 5}',
        '{"text": "x", "seats": "human"}',
        '{"text": "", "seats": [5]}',
        '{"text": "[Rules", "seats": []}',
        '{"text": %s, "seats": ["human", "nobody"], "aim": {"bound": "x"}}',
        '{"text": %s, "seats": ["human", "easy"], "puzzle": {"puzzle": {"position": 5}}, "branch": 3, "aim": 7}',
        '{"text": %s, "seats": ["human", "easy"], "puzzle": {"rules": "", "puzzle": {"position": "", "line": []}}}',
        '{"text": %s, "seats": ["human", "easy"], "puzzle": {"rules": "tonkin", "level": "constructor", "number": -1}}',
    ],
}
"""Values that other pages of the host or older versions of this page may have stored, by storage key."""


def test_damaged_values_of_the_browser_are_left_out(visit: Visit) -> None:
    person = visit()
    address, page = person.page.url, person.page
    record = json.dumps(str(GameRecord.from_board(boards_of("3A", rules="vietnamese")[-1])))
    for number, last in enumerate(DAMAGED["last"]):
        values = {f"oanquan-{key}": texts[number % len(texts)].replace("%s", record) for key, texts in DAMAGED.items()}
        page.evaluate("values => { sessionStorage.clear(); Object.assign(localStorage, values); }", values)
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert (page.locator("#puzzles").inner_text(), person.state["rules"]) == ("Puzzles", "vietnamese"), values
        assert person.moves[:1] == (["3A"] if "%s" in last else []), values
        assert page.locator(".tools select").evaluate("select => select.value") == "none"  # reduced motion
        page.locator("#puzzles").click()
        page.locator("#daily").wait_for()
    gone = json.dumps({"text": json.loads(record), "seats": ["human", "nobody"]})
    page.evaluate("last => { sessionStorage.clear(); localStorage['oanquan-last'] = last; }", gone)
    page.goto("about:blank")
    person.open(f"{address}#rules=tonkin")  # a link still opens
    assert person.state["rules"] == "tonkin"


def test_three_losses_in_a_row_suggest_an_easier_opponent(visit: Visit) -> None:
    person = visit("#rules=mancala-world&from=2,3,1,0,0,4%2A/3,0,1,2,0,0+14,30+0+30&north=easy")
    person.page.evaluate("localStorage['oanquan-results'] = JSON.stringify({ easy: 'WLL' })")
    person.move("3A")  # loses 34 to 36
    person.page.locator("#suggest", has_text="Play Bống next").wait_for()


def test_results_suggest_the_next_opponent_and_all_data_moves_to_another_browser(visit: Visit, tmp_path: Path) -> None:
    person = visit("#rules=mancala-world&from=2,3,1,0,0,4%2A/3,0,1,2,0,0+22,22+0+30&north=beginner")
    page = person.page
    for game in range(2):
        person.move("3A")  # wins 42 to 28
        page.locator("#rematch").wait_for()
        if game == 0:
            assert page.locator("#suggest").is_hidden()
            page.wait_for_function("() => 'oanquan-results' in localStorage")  # the counting loads after the end
            page.reload()  # counts no game twice
            page.locator("#rematch").click()
            person.wait_for_turn()
    with page.expect_download() as download:
        page.locator("#share").click()
        page.locator("#export").click()
    data = Path(download.value.path())
    page.locator("#suggest", has_text="Play Tí next").click()
    page.locator("#about-game", has_text="You – Tí · easy").wait_for()
    other = visit(locale="vi-VN").page
    broken = tmp_path / "broken.json"
    broken.write_text('{"other": "data"}')
    other.locator("#share").click()
    other.locator("#link").wait_for()
    other.locator("#file").set_input_files(broken)
    other.locator("#notice", has_text="không có dữ liệu").wait_for()
    with other.expect_navigation():
        other.locator("#file").set_input_files(data)
    other.wait_for_selector("body[data-ready]")
    other.locator("#new").click()
    other.locator("#new-dialog[open]").wait_for()
    assert other.locator(".seat:nth-child(2) small").inner_text() == "You won 2 of 2 games"  # in English, as stored
