"""Test the position of the day: best play by both sides reaches its par, and the page shows any shortfall."""

from __future__ import annotations

import json

import pytest

from oanquan_env import Board, Core, Rules
from oanquan_env.engine.notation import parse_position
from oanquan_env.players import RandomPolicy
from oanquan_env.players.book import BookPolicy, with_book
from tests.helpers.browsers import Person, Visit
from tools.write_page import FOLDER, PAR
from tools.write_par import NAMES, after, pars

PARS = json.loads((FOLDER / PAR).read_text())


def book_of(rules: str) -> BookPolicy:
    core = Core(Rules.parse(rules))
    book = with_book(RandomPolicy(core), core.rules)
    assert isinstance(book, BookPolicy)
    return book


def best(book: BookPolicy, board: Board) -> int:
    (action,) = book.known(board.positions)
    return int(action)


@pytest.mark.parametrize("rules", NAMES)
def test_best_play_of_both_sides_leads_to_par(rules: str) -> None:
    book, checked = book_of(rules), 0
    for entry in PARS:
        if entry["rules"] == rules:
            board = Board.parse(entry["position"], rules=rules)
            seat = board.mover
            while board.outcome is None:
                board = after(board, best(book, board))
            assert board.outcome.scores[seat] - board.outcome.scores[1 - seat] == entry["par"]
            checked += 1
    assert checked >= 4


@pytest.mark.slow  # plays all games against a strategy
def test_pars_are_those_of_all_games_against_a_strategy() -> None:
    found = {**pars(book_of("tonkin"), 0), **pars(book_of("tonkin"), 1)}
    entries = {entry["position"]: entry["par"] for entry in PARS if entry["rules"] == "tonkin"}
    assert entries.items() <= found.items()


def begin(visit: Visit) -> Person:
    person = visit()
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.page.locator("#puzzles").click()
    person.page.locator("#par").click()
    person.waits_for("Your goal is par")
    assert person.board.locator("[data-tool=hint]").is_disabled()
    return person


def finish(person: Person, *, well: bool) -> str:
    """Play out the game with the person's best moves if `well`, else the first legal ones; return the text to share."""
    rules = person.state["rules"]
    core, book = Core(Rules.parse(rules)), book_of(rules)
    while person.wait_for_turn():
        state = person.state
        board = Board.from_positions(core, parse_position(core, state["position"]))
        right = str(next(move for move in board.legal_moves if move.action == best(book, board))) if well else ""
        person.move(right or state["legal"][0])
        person.waits_until(f"page.state.ply > {state['ply']}")
    person.page.locator("#share-day").click()
    person.page.locator("#notice", has_text="Ô Ăn Quan").wait_for()
    return str(person.page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.slow  # a browser takes seconds
def test_the_page_keeps_and_shares_how_far_off_par_the_first_game_was(visit: Visit) -> None:
    person = begin(visit)
    person.page.reload()
    person.waits_for("Your goal is par")  # the game continues
    text = finish(person, well=True)
    person.waits_for("Par! Nobody can do better.")
    assert " · par\n" in text
    person.page.locator("#puzzles").click()
    assert person.page.locator("#par small").inner_text() == "par"
    person.page.keyboard.press("Escape")

    other = begin(visit)
    rules, start = other.state["rules"], other.state["position"]
    seat = int(start.split()[2])
    text = finish(other, well=False)
    (par,) = {entry["par"] for entry in PARS if (entry["rules"], entry["position"]) == (rules, start)}
    scores = other.state["outcome"]["scores"]
    short = par - scores[seat] + scores[1 - seat]
    assert short >= 0  # nobody can do better
    assert f" · {short} short of par\n" in text or (short == 0 and " · par\n" in text)


@pytest.mark.slow  # a browser takes seconds
@pytest.mark.parametrize(
    ("locale", "goal", "result"), [("en-GB", "Your goal is par", "resigned"), ("vi-VN", "Mục tiêu", "xin thua")]
)
def test_the_status_shows_the_goal_and_a_resigned_game_is_the_result_of_the_day(
    visit: Visit, locale: str, goal: str, result: str
) -> None:
    person = visit(locale=locale)
    page, par = person.page, person.page.locator("#par")
    page.locator("#puzzles").click()
    par.click()
    person.waits_for(goal)
    assert not any(words in person.said for words in ("capture more", "nhiều điểm hơn"))
    page.locator("#puzzles").click()
    page.locator("#puzzle-dialog[open]").wait_for()
    assert result not in par.inner_text()  # the first game goes on
    if locale == "en-GB":
        page.keyboard.press("Escape")
        page.locator("#puzzle-dialog:not([open])").wait_for(state="attached")
        page.locator("#resign").click()
        page.locator("#resign").click()
        page.locator("#share-day").wait_for()
        assert page.locator("#review").is_hidden()  # there is no move to review
    else:  # a game that was left counts
        page.locator("#puzzle-list .kinds button").first.click()
        page.locator("#resume").wait_for()
        page.evaluate("location.hash = 'moves=5A'")
        person.waits_until("page.state.line.length === 1")
    page.locator("#puzzles").click()
    par.filter(has_text=result).wait_for()
    par.click()  # another game of the same day changes nothing
    person.waits_for(goal)
    page.locator("#puzzles").click()
    par.filter(has_text=result).wait_for()
