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
    person.waits_for("The game is over. North wins (South 22, North 46).")
    assert "North wins" not in page.locator("aside").inner_text()  # it is told once
    page.locator("#review").click()
    worst = page.locator("#mistakes button", has_text="1. South 5A −36")
    worst.wait_for()
    assert "turns a win into a loss, lets North take a mandarin with 3A. Best was" in worst.inner_text()
    assert page.locator("#graph .mistake").count() == 1
    worst.click()
    assert person.said.startswith("Move 1 of 2: 5A. Gives away 36 points")
    page.locator("#bar output", has_text="North +24").wait_for()
    page.locator("#moves button", has_text="−36").wait_for()
    person.press("last")
    person.waits_for("One move gave away three points or more.")
    person.press("after")
    person.waits_for("Move 1 of 2")
    person.press("first")
    page.locator("#bar output", has_text="South +12").wait_for()
    page.locator("#from-here").click()
    person.wait_for_turn()
    assert person.moves == []
    page.locator("#evaluate").check()
    page.reload()  # its tick is remembered
    page.locator("#bar output", has_text="South +12").wait_for()


@pytest.mark.usefixtures("hints")
def test_a_review_on_a_phone_shows_board_and_words_and_is_of_one_game(visit: Visit, persons: PlayServer) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    person = visit(persons.address, locale="en-GB", **phone)
    person.play("5A", "3A")
    page = person.page
    page.locator("#review").tap()
    page.locator("#mistakes button").tap()
    person.waits_for("Gives away 36 points")
    for shown in (person.board.locator(".floor"), person.board.locator(".say")):
        expect_in_sight = """nodes => new Promise(done => setTimeout(() => done(nodes.every(node => {
            const box = node.getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight;
        })), 1000))"""  # the page scrolls smoothly
        assert shown.evaluate_all(expect_in_sight)
    page.locator("#rematch").tap()
    person.wait_for_turn()
    assert page.locator("#bar").is_hidden()
    assert not page.locator("#evaluate").is_checked()


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
