"""Test games between two people who play on two devices and send each other links with the moves."""

from __future__ import annotations

import pytest

from tests.helpers.boards import boards_of
from tests.helpers.browsers import Person, Visit

pytestmark = pytest.mark.slow  # a browser takes seconds

RULES = "vietnamese quan_non=250 max_plies=12"
"""Rules under which no mandarin is captured, so every game has 12 plies."""


def link_of(person: Person, *, copied: bool) -> str:
    """Return the fragment of the link for the friend; if `copied`, also copy it with the page's button and check it."""
    link: str = person.state["friend"]["link"]
    if copied:
        person.page.locator("#send").click()
        person.waits_until("navigator.clipboard.readText().then(text => text.endsWith(arg))", link)
    return link


def opens(person: Person, fragment: str) -> None:
    person.page.evaluate("fragment => { location.hash = fragment; }", fragment)


def test_two_browsers_finish_a_game_of_12_plies_by_sending_links(visit: Visit) -> None:
    people = [visit(), visit()]
    for person in people:
        person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, moves = people[0].page, list[str]()
    page.locator("#new").click()
    page.locator(".seat select").nth(1).select_option("friend")
    page.locator("#more summary").click()
    page.locator("[data-field=quan_non]").fill("250")
    page.locator("[data-field=max_plies]").fill("12")
    page.locator("#begin").click()
    page.locator("#about-game", has_text="You – Your friend").wait_for()
    for ply in range(12):
        person, other = people[ply % 2], people[1 - ply % 2]
        person.fields.first.wait_for(state="attached")
        moves.append(person.state["legal"][ply % 3 - 1])
        person.move(moves[-1])
        person.waits_for("Send the link to your friend" if ply < 11 else "The game is over.")
        opens(other, link_of(person, copied=ply < 4 or ply == 11))
        other.page.locator("#moves button").nth(ply + 1).wait_for()
    board = boards_of(*moves, rules=RULES)[-1]
    assert board.outcome is not None
    for person in people:
        assert person.moves == moves
        assert person.state["outcome"]["scores"] == list(board.outcome.scores)
        assert person.page.locator("#resume").is_hidden()  # the links have left no unfinished games behind
    assert page.locator("#send").is_hidden()  # the last move was the friend's


def test_a_game_that_went_on_elsewhere_is_not_replaced_unasked(visit: Visit) -> None:
    person = visit("#rules=vietnamese&moves=3A&south=friend&game=a1")
    page, versions = person.page, person.page.locator("#games button")
    person.move("1A")
    person.waits_for("Send the link")
    for moves, length in (("3A", "1 move"), ("3A2A5A", "3 moves")):
        opens(person, f"rules=vietnamese&moves={moves}&south=friend&game=a1")
        page.locator("#games-title", has_text="has continued elsewhere").wait_for()
        assert versions.all_inner_texts() == ["The one here (2 moves)", f"The one in the link ({length})"]
        assert person.moves == ["3A", "1A"]
        if moves == "3A":
            versions.nth(0).click()
            page.locator("#games-dialog:not([open])").wait_for(state="attached")
            assert person.moves == ["3A", "1A"]
    versions.nth(1).click()
    page.locator("#moves button").nth(3).wait_for()
    assert person.moves == ["3A", "2A", "5A"]
    page.locator("#share").click()
    page.locator("#pasted").fill(f"{page.url}#rules=vietnamese&moves=3A1A&south=friend&game=a1")
    page.locator("#paste").click()
    versions.nth(1).wait_for()
    page.reload()
    assert person.wait_for_turn()
    assert person.moves == ["3A", "2A", "5A"]
