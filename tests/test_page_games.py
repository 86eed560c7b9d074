"""Whole games on the page in a real browser: by mouse, by keyboard, of three, a match."""

import re

import pytest

from oanquan_env.play.server import PlayServer
from tests.browsers import Visit, session_of

pytestmark = pytest.mark.slow  # a browser takes seconds


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
    for key in ("ArrowRight", "Enter", "ArrowLeft", "Escape", "Enter", "ArrowRight", "Enter"):
        press(key)
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
    assert "Ván đã kết thúc" in person.said
    assert person.page.evaluate("document.activeElement.closest('#next button') !== null")  # the keyboard goes on there


def test_a_person_is_told_who_won(visit: Visit, server: PlayServer) -> None:
    person = visit(f"{server.address}#position=2,3,1,0,0,4*/3,0,1,2,0,0%2022,22%200%2030", locale="en-GB")
    person.move("3A")
    person.waits_for("The game is over. You win (South 42, North 28).")
    person.page.locator("#story li", has_text="The game is over: all mandarin stones are captured.").wait_for()
    person = visit(server.address, locale="vi-VN")
    person.move("5A")  # greedy takes the other stone
    person.waits_for("Ván đã kết thúc. Bạn thua (bạn 22, máy 46).")
    assert not re.search("Nam|Bắc", person.page.locator("body").inner_text() + person.board.aria_snapshot())


def test_a_whole_match_with_a_resigned_round(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address)
    person.page.locator("#new").click()
    person.page.locator("#as-match").check()
    assert person.page.locator("#starter").is_disabled()
    person.page.locator("#begin").click()
    person.play("5A", "3A")  # North wins 46-22, and South sells a field for it
    assert person.page.locator("#rematch").is_hidden()
    person.page.locator("#next-round").click()
    person.page.locator("#match tr:nth-child(3)", has_text="Round 2").wait_for()
    person.page.locator(
        "#match", has_text="South is 13 points short of half: it sells a field. Ten points sell"
    ).wait_for()
    person.play("3A", "4A")
    person.page.locator("#resign").click()
    person.page.locator("#notice", has_text="goes to the other player").wait_for()
    person.page.locator("#resign").click()
    person.waits_for("South resigns: North wins. South 6, North 64.")
    assert "North wins the match" in person.page.locator("#next h2").inner_text()
    assert person.page.locator("#match tr").last.inner_text().split("\t")[1:] == ["3 + 1 pawned", "0"]
    assert person.page.locator("#next-round").is_hidden()
