"""Looking back on the page: through a game, at its mistakes; previews, puzzles, seats, bowls, lost servers."""

import pytest

from oanquan_env.play.server import PlayServer
from tests.browsers import Visit

pytestmark = pytest.mark.slow  # a browser takes seconds


@pytest.mark.usefixtures("hints")
def test_a_game_is_reviewed_and_played_on_from_a_mistake(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    person.play("5A", "3A")
    page = person.page
    page.locator("#next:not([hidden])").wait_for()
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


def test_a_screen_reader_hears_no_loose_numbers(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    heard = person.board.aria_snapshot()
    assert '"South: 0 points"' in heard
    assert '"field 3 of South: 5 seeds. Enter chooses it"' in heard
    assert not [line for line in heard.splitlines() if line.strip(' -"').removeprefix("text: ").strip('"').isdecimal()]
