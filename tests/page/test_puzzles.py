"""Test the page's puzzles: the log of solved and failed puzzles, the daily puzzle, its streak and its shared text."""

from __future__ import annotations

import datetime
import itertools
import json
import re
from typing import Any

import pytest

from tests.helpers.browsers import PHONE, Person, Visit
from tests.helpers.node import CALLS, run_node
from tools.write_page import BEGIN
from tools.write_puzzles import FOLDER

SET = "tonkin"
IDS = ["a", "b", "c", "d", "e"]


def logged(*calls: tuple[Any, ...], text: str | None = None) -> tuple[list[Any], dict[str, Any]]:
    """Run calls (name, *arguments) on the puzzle log stored as `text`; return their answers and the final log."""
    output = json.loads(run_node(CALLS / "puzzles.mjs", stdin=json.dumps([text, calls])))
    return output["answers"], output["kept"]


def puzzles_of(rules: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / f"puzzles-{rules}.json").read_text())
    return found


# ---- the log ---------------------------------------------------------------------------------------------------------


def test_a_rating_follows_first_tries_and_the_measured_difficulty() -> None:
    answers, log = logged(
        ("isNew", "app", "a"), ("finish", "app", "a", True), ("isNew", "app", "a"),
        ("finish", "app", "b", False), ("isNew", "app", "b"), ("rate", 0.5, True), ("rate", 0.5, False),
    )  # fmt: skip
    assert [answers[number] for number in (0, 2, 4)] == [True, False, False]
    second = 1020 - 40 / (1 + 10 ** (-20 / 400))  # the first puzzle is as strong as a beginner: 1000 + 40 / 2
    assert (log["rating"]["puzzles"], log["rating"]["points"]) == (2, pytest.approx(second))
    _, hard = logged(("rate", 0.002, True))
    assert hard["rating"]["points"] == pytest.approx(1040, abs=0.1)  # a puzzle that hardly anybody solves
    assert "rating" not in logged(text='{"rating": {"points": "x", "puzzles": 1}}')[1]


def test_a_failed_puzzle_comes_back_after_others_until_it_is_solved() -> None:
    ask, other = ("next", SET, IDS, 1), [("finish", SET, name, True) for name in "bcd"]
    answers, kept = logged(
        ("finish", SET, "a", False), ask, other[0], ask, other[1], ask, other[2], ask, ("solved", SET, IDS),
        ("finish", SET, "a", True), ask, ("finish", SET, "e", False), ask, ("solved", SET, IDS), ("solved", "app", IDS),
    )  # fmt: skip
    assert [answers[number] for number in (1, 3, 5, 7, 8)] == ["b", "c", "d", "a", 3]
    assert [answers[number] for number in (10, 12, 13, 14)] == ["e", "e", 4, 0]
    assert kept["sets"][SET]["failed"] == {"e": 9}


def test_no_puzzle_follows_if_all_are_solved() -> None:
    answers, _ = logged(*(("finish", SET, name, True) for name in IDS), ("next", SET, IDS, 3))
    assert answers[-1] is None


def test_the_daily_puzzle_counts_once_and_days_in_a_row_make_a_streak() -> None:
    answers, kept = logged(
        ("miss", 100, 3, 3), ("miss", 100, 3, 3), ("marks",), ("finishDay", 100, 3, True), ("finishDay", 100, 3, True),
        ("miss", 100, 3, 1), ("marks",), ("streakOn", 100), ("finishDay", 101, 2, True), ("marks",), ("streakOn", 101),
        ("streakOn", 102), ("streakOn", 103), ("finishDay", 102, 2, False), ("streakOn", 102),
        ("finishDay", 103, 2, True), ("streakOn", 103),
    )  # fmt: skip
    assert [answers[number] for number in (2, 6, 9)] == ["●●○", "●●○", "●●"]
    assert [answers[number] for number in (7, 10, 11, 12, 14, 16)] == [1, 2, 2, 0, 2, 1]
    assert kept["days"] == [100, 101, 103]


def test_a_clock_that_goes_back_or_ahead_costs_no_streak() -> None:
    month = [("finishDay", day, 1, True) for day in range(70, 101)]
    streak = [("streakOn", day) for day in (98, 99, 100, 101, 102)]
    answers, _ = logged(*month, *streak, ("finishDay", 99, 1, True), *streak, ("finishDay", 101, 1, True), *streak)
    assert [answers[at : at + 5] for at in (31, 37, 43)] == [[31] * 4 + [0]] * 2 + [[32] * 5]
    answers, _ = logged(*month, ("finishDay", 900, 1, True), ("streakOn", 900), ("finishDay", 3, 1, True), *streak[3:])
    assert [answers[32], answers[34]] == [1, 31]  # the clock was wrong by years for some time
    # a puzzle opened on day 100 may be solved after that of day 101
    answers, _ = logged(*month[:-1], ("finishDay", 101, 1, True), month[-1], ("streakOn", 101))
    assert answers[-1] == 32
    older = '{"streak": {"day": 100, "days": 31}}'
    answers, kept = logged(*streak, text=older)
    assert (answers, sorted(kept["days"])) == ([31] * 4 + [0], list(range(70, 101)))


def test_the_daily_puzzle_depends_only_on_the_date() -> None:
    epoch = datetime.date(1970, 1, 1)
    dates = [datetime.date(2026, 11, 25) + datetime.timedelta(days) for days in range(120)]
    answers, _ = logged(*(("day", date.year, date.month, date.day) for date in dates))
    assert answers == [(date - epoch).days for date in dates]
    chosen, _ = logged(*(("daily", day, 120) for day in answers), ("date", answers[0]))
    assert sorted(chosen[:-1]) == list(range(120))  # each puzzle once
    assert chosen[-1] == {"year": 2026, "month": 11, "day": 25}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 90, 119, 120, 121, 360])
def test_daily_puzzles_meet_each_once_and_mix_the_levels(count: int) -> None:
    days = range(20_000, 20_000 + 2 * count)
    chosen, _ = logged(*(("daily", day, count) for day in days))
    assert sorted(chosen[:count]) == sorted(chosen[count:]) == list(range(count))
    if count < 90:
        return
    for one, other in itertools.pairwise(chosen):
        apart = (other - one) % count
        assert min(apart, count - apart) > count / 4  # consecutive days have distant puzzles
    levels = [3 * number // count for number in chosen]
    assert max(len(list(days)) for _, days in itertools.groupby(levels)) <= 2
    assert all(len(set(levels[at : at + 5])) == 3 for at in range(count))


DAMAGED = [
    None, "", "{", "3", "null", "[]", '{"sets": 3, "daily": [], "streak": {"day": "x"}}',
    '{"sets": {"app": null, "tonkin": {"solved": 5, "failed": {"a": "b", "c": -1}, "turn": 1.5}}, "daily": {"day": 3}}',
    '{"sets": {"tonkin": {"solved": [1, null, "a"], "failed": [2]}}, "streak": {"day": 1e99, "days": null}}',
]  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_texts_lose_no_more_than_what_is_damaged(text: str | None) -> None:
    answers, kept = logged(("next", SET, IDS, 0), ("streakOn", 5), ("finish", SET, "b", True), text=text)
    assert answers[:2] == ["b" if text and '"a"]' in text else "a", 0]
    assert "b" in kept["sets"][SET]["solved"]


# ---- the page --------------------------------------------------------------------------------------------------------


def kept_puzzle(person: Person) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the current puzzle in the page's state, and its entry in the puzzle file."""
    shown = person.state["puzzle"]
    return shown, puzzles_of(shown["rules"])[shown["level"]][shown["number"]]


def solve(person: Person, line: list[str]) -> None:
    """Play the solver's moves of `line`, waiting for the page's reply after each."""
    for ply in range(0, len(line), 2):
        person.waits_until(f"page.state.line.length === {ply}")
        person.fields.first.wait_for(state="attached")
        person.move(line[ply].split()[0])


def wrong_move(person: Person, right: str) -> str:
    legal: list[str] = person.state["legal"]
    return next(move for move in legal if move not in right.split())


@pytest.mark.slow
def test_solving_failing_and_coming_back(visit: Visit) -> None:
    person = visit(f"#rules={SET}&north=human", **PHONE, reduced_motion="reduce")
    page, medium = person.page, "#puzzle-list .kinds button:has-text('Medium')"
    assert not any(
        "puzzle" in address
        for address in page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    )
    page.locator("#puzzles").click()
    page.locator(medium).click()
    person.waits_for("Puzzle 1 of")  # its name appears below the board
    _, failed = kept_puzzle(person)
    assert person.state["previews"] == {}
    wrong = wrong_move(person, failed["line"][0])
    person.move(wrong)
    person.waits_for(f"{wrong} gives away the win (proved).")
    person.waits_for("Your opponent answers")
    answered = r" Your opponent answers \d[AC](, capturing .*)?\. Try again"
    assert re.search(answered, person.said)  # the best answer, and its arrow
    assert person.board.locator(".marks rect[stroke-dasharray]").count() == 1
    page.locator("#puzzle-about", has_text="You’ll see it again later.").wait_for()
    page.locator("#show-answer").click()
    person.waits_for("The answer, with the replies: " + " ".join(moves.replace(" ", "/") for moves in failed["line"]))
    assert person.moves == [moves.split()[0] for moves in failed["line"]]
    seen = []
    for _ in range(3):
        page.locator("#next-puzzle").click()
        person.waits_for("Find it.")
        shown, entry = kept_puzzle(person)
        seen.append(shown["id"])
        solve(person, entry["line"])
        person.waits_for("This wins by force.")
    assert failed["id"] not in seen
    assert len(set(seen)) == 3
    page.reload()
    person.waits_for("Find it.")  # the last puzzle again
    page.locator("#puzzles").click()
    page.locator(medium, has_text="3 of").wait_for()
    page.locator(medium).click()
    person.waits_until(f"page.state.puzzle.id === '{failed['id']}'")
    solve(person, failed["line"])
    person.waits_for("This wins by force.")
    page.locator("#resume").click()
    person.waits_for("South to move.")
    assert person.state["rules"] == SET
    page.locator("#puzzles").click()
    page.locator(medium, has_text="4 of").wait_for()


@pytest.mark.slow
def test_a_daily_puzzle_counts_for_the_day_on_which_it_was_opened(visit: Visit) -> None:
    person = visit()
    page, days = person.page, "JSON.parse(localStorage['oanquan-puzzles']).days"
    page.clock.set_fixed_time(datetime.datetime(2026, 3, 1, 23, 59))
    page.locator("#puzzles").click()
    page.clock.set_fixed_time(datetime.datetime(2026, 3, 2, 23, 58))  # the dialog was open all day
    page.locator("#daily").click()
    person.waits_for(" · ")
    page.clock.set_fixed_time(datetime.datetime(2026, 3, 3, 0, 1))
    page.reload()
    person.waits_for(" · ")
    solve(person, kept_puzzle(person)[1]["line"])
    page.locator("#share-day").wait_for()
    assert page.evaluate(days) == [(datetime.date(2026, 3, 2) - datetime.date(1970, 1, 1)).days]


@pytest.mark.slow
def test_the_daily_puzzle_is_the_same_for_all_and_shared_without_its_answer(visit: Visit) -> None:
    people = [visit("#rules=app&north=human"), visit(locale="vi-VN")]
    for person in people:
        person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        person.page.locator("#puzzles").click()
        person.page.locator("#daily").click()
        person.waits_for(" · ")
    shown, entry = kept_puzzle(people[0])
    assert (shown["rules"], shown["id"]) == (BEGIN, kept_puzzle(people[1])[0]["id"])
    person = people[0]
    person.move(wrong_move(person, entry["line"][0]))
    person.page.locator("#retry").click()
    for each in people:
        solve(each, entry["line"])
        each.page.locator("#share-day").click()
        each.page.locator("#notice", has_text="Ô Ăn Quan").wait_for()
    marks = "●" * (shown["steps"] - 1)
    date, ngay = (
        person.page.evaluate(f"new Date().toLocaleDateString('{name}', {{ dateStyle: 'medium' }})")
        for name in ("en-GB", "vi")
    )
    texts = [each.page.evaluate("navigator.clipboard.readText()") for each in people]
    address = people[1].page.url.split("#")[0]
    assert texts[-1] == f"Ô Ăn Quan · {ngay} · ●{marks} · 1 ngày liền\n{address}"
    assert f"Ô Ăn Quan · {date} · ○{marks} · 1-day streak" in person.page.locator("#notice").inner_text()
    person.page.locator("#puzzles").click()
    person.page.locator("#daily", has_text=f"○{marks} · 1-day streak").wait_for()


@pytest.mark.slow
def test_a_finished_set_does_not_begin_again_by_itself(visit: Visit) -> None:
    person = visit("#rules=mancala-world&north=human")
    page, first = person.page, person.page.locator("#puzzle-list .kinds button").first
    for again in (False, True):
        page.locator("#puzzles").click()
        first.filter(has_text="3 of 3" if again else "0 of 3").click()
        for number, move in enumerate(("1A", "3A", "3A"), 1):
            person.waits_for(f"Puzzle {number} of 3")
            solve(person, [move])
            if number < 3:
                page.locator("#next-puzzle").click()
        page.locator("#puzzle-about", has_text="You’ve solved all of these.").wait_for()
        assert page.locator("#next-puzzle").is_hidden()
        page.locator("#resume").click()


@pytest.mark.slow
def test_a_damaged_log_stops_nothing(visit: Visit) -> None:
    person = visit()
    person.page.evaluate("localStorage.setItem('oanquan-puzzles', '{\"sets\": [')")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-list .kinds button:has-text('First steps')").click()
    person.waits_for("Capture a mandarin in one move.")
    person.move("1A")
    person.waits_for("Correct – 1A!")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-list button", has_text="1 of 3 solved").wait_for()
    person.page.keyboard.press("Escape")
    person.page.locator("#next-puzzle").click()
    person.waits_for(
        "Puzzle 2 of 3 · First steps · Short game. Your opponent captured eleven points"
    )  # names the rules
    person.move("2A")
    person.waits_for("2A isn’t good enough. It misses a mandarin.")
    assert person.errors == []
