"""Test how the page's review computes losses from given values, without a search."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from oanquan_env.play.server import WEB
from tests.helpers.node import run_script

SCRIPT = """
import { readFileSync } from "node:fs";
const { Budget, isMistake, leads, losses, summary } = await import(process.argv[1]);
const { hints, played, final, spent, scores } = JSON.parse(readFileSync(0, "utf8"));
const end = scores ? leads(scores) : final === null ? null : [final, -final];
const found = losses(hints, played, end, scores?.length);
const budget = new Budget(spent.length), shares = [];
for (const nodes of spent) { shares.push(budget.share); budget.spend(nodes); }
console.log(JSON.stringify({
  found: found.map((one) => one && { ...one, lead: one.leads[0], listed: isMistake(one) }),
  summary: scores || final !== null ? summary(found, scores ?? [(70 + final) / 2, (70 - final) / 2]) : null,
  shares: shares.map((share) => share / new Budget(1).share), done: budget.number < 0,
}));
"""


def judge(
    hints: Sequence[dict[str, Any] | None],
    played: list[str],
    final: int | None = None,
    spent: tuple[int, ...] = (),
    scores: list[int] | None = None,
) -> Any:
    """Return losses by position (`found`), their `summary`, budget `shares`, and whether all are used (`done`)."""
    given = json.dumps({"hints": hints, "played": played, "final": final, "spent": spent, "scores": scores})
    return json.loads(run_script(SCRIPT, (WEB / "model/losses.js").as_uri(), stdin=given))


def hint(mover: int, exact: str = "", **values: int) -> dict[str, Any]:
    """Return a hint with values such as `_1A=4`, best move first; `exact` names the moves whose values are exact."""
    moves = {name[1:]: value for name, value in values.items()}
    return {
        "mover": mover,
        "best": next(iter(moves)),
        "values": moves,
        "exact": exact.split(),
        "search": {"proved": False, "depth": 9, "nodes": 100},
    }


def test_what_changes_the_winner_is_a_mistake_however_small() -> None:
    hints = [hint(0, _1A=1, _2A=-1), hint(1, _1A=5, _2A=3), hint(0, _1A=9, _2A=6), hint(1, _1A=1, _2A=0)]
    first, second, third, last, end = judge(hints, ["2A", "2A", "2A", "2A"])["found"]
    assert (first["price"], first["changed"], first["listed"]) == (2, True, True)
    assert (second["price"], second["changed"], second["listed"]) == (2, False, False)
    assert (third["price"], third["changed"], third["listed"]) == (3, False, True)
    assert (last["lead"], last["price"], last["listed"]) == (-1, 1, True)  # North's win becomes a draw
    assert end is None


def test_the_end_and_proved_values_take_the_place_of_searched_ones() -> None:
    hints = [hint(0, _1A=8, _2A=6), hint(1, "2A", _1A=-5, _2A=-7)]
    first, last, end = judge(hints, ["1A", "1A"], final=4)["found"]
    assert (last["lead"], last["price"], last["exact"]) == (4, 0, True)  # both moves are certain now
    assert (first["best"], first["lead"], first["price"]) == ("2A", 6, 2)  # 1A ended only 4 ahead
    assert (end["lead"], end["exact"]) == (4, True)
    better = judge([hint(0, _1A=2, _2A=1)], ["2A"], final=7)["found"][0]
    assert (better["best"], better["lead"], better["price"]) == ("2A", 7, 0)
    missing = judge([hint(0, _1A=2, _2A=1), None], ["2A", "1A"], final=7)["found"]
    assert (missing[0]["lead"], missing[0]["price"], missing[1]) == (2, 1, None)


def test_positions_share_what_later_ones_leave_of_the_budget() -> None:
    answer = judge([], [], spent=(0, 1_000_000, 9_000_000, 9_000_000))
    assert answer["shares"] == pytest.approx(
        [1 / 4, 1 / 3, 3 / 8, 3 / 8], abs=1e-6
    )  # a search that exceeds its share is charged only the share
    assert answer["done"]


def test_the_best_points_include_what_was_given_away() -> None:
    hints = [hint(0, _1A=10, _2A=-10), hint(1, _1A=10, _2A=4), hint(0, _1A=-4)]
    south, north = judge(hints, ["2A", "2A", "1A"], final=-4)["summary"]
    assert south == {"blunders": 1, "share": 77}  # 33 points, or 43 without the loss of the first move
    assert north == {"blunders": 1, "share": 93}  # 37 points, or 40 without a loss
    assert judge([None, hint(1, _1A=-4)], ["2A", "1A"], final=4)["summary"] is None


def test_of_three_players_each_is_judged_by_its_own_lead() -> None:
    hints = [hint(0, _1A=4, _2A=-1), hint(1, _1A=9, _2A=3), hint(2, _1A=6, _2A=2)]
    answer = judge(hints, ["2A", "1A", "1A"], scores=[20, 50, 20])
    first, second, last, end = answer["found"]
    assert (first["price"], first["changed"], first["listed"]) == (5, False, True)  # this lead does not tell who wins
    assert (second["price"], second["best"]) == (0, "1A")
    assert (last["values"]["1A"], last["best"], last["price"]) == (-15, "2A", 17)  # it ended 15 behind the others' mean
    assert end["leads"] == [-15, 30, -15]
    assert answer["summary"] == [
        {"blunders": 1, "share": 86},
        {"blunders": 0, "share": 100},
        {"blunders": 1, "share": 64},
    ]
