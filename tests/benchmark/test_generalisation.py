"""Test the benchmark of generalisation over rules: its labels, its splits, its numbers, and the files of results."""

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Positions, Rules
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.generalisation import (
    CANARY,
    TEST_SPLITS,
    Generalisation,
    evaluate_rules,
    held_out,
    held_out_suites,
    percent_of_random,
    random_regret,
    read_generalisation,
)
from oanquan_env.benchmark.regret import Suite
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.rule_sets import canonical, split
from tests.helpers.referee import Referee

BUDGET = 300
"""Number of moves that the referee plays to solve a position."""


@cache  # reading takes a second
def suites() -> list[Suite]:
    return [suite for _, suite in held_out_suites()]


class ByValues:
    """A player that knows the suites, and always plays a move with the highest value, or with the lowest."""

    def __init__(self, rules: Rules, *, best: bool = True) -> None:
        self.suite, self.best = next(suite for suite in suites() if suite.core.rules == rules), best

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        losses = self.suite.move_losses()[: len(positions)]
        actions: Ints = np.nanargmin(losses, axis=1) if self.best else np.nanargmax(losses, axis=1)
        return actions


def test_no_held_out_rule_set_is_equivalent_to_one_for_training_or_to_another() -> None:
    known = {canonical(rules) for name in ("train", "development", "presets") for rules in split(name)}
    rule_sets = [rules for name in TEST_SPLITS for rules in held_out(name)]
    assert len({canonical(rules) for rules in rule_sets} - known) == len(rule_sets) == len(suites()) == 96
    assert [suite.core.rules for suite in suites()] == rule_sets


def test_five_held_out_rule_sets_differ_from_training_only_in_points_that_both_players_get() -> None:
    """`mandarin_leftovers=split` gives both players the same, so it changes no regret; the page names this limit."""
    known = {canonical(rules) for name in ("train", "development", "presets") for rules in split(name)}
    twins = [
        (number, canonical(suite.core.rules.replace(mandarin_leftovers=other)) in known)
        for number, suite in enumerate(suites())
        for other in ("nobody", "split")
        if suite.core.rules.mandarin_leftovers != other
    ]
    assert [number for number, known_twin in twins if known_twin] == [2, 17, 21, 29, 31]
    assert TEST_SPLITS[0] == "test: interpolation"
    assert held_out(TEST_SPLITS[0])[31] == suites()[31].core.rules


def test_the_suites_are_complete() -> None:
    for suite in suites():
        assert len(suite) >= 48 or suite.core.rules.fields == 2  # a small board has fewer positions
        assert (suite.core.legal_mask(suite.positions) == np.isfinite(suite.values)).all()
        assert (np.isfinite(suite.values).sum(axis=1) > 1).all()
        legal = np.isfinite(suite.values)
        assert ((suite.lower <= suite.values) & (suite.values <= suite.upper))[legal].all()
        assert suite.version == suites()[0].version
        assert suite.made["canary"] == CANARY
        assert "net" not in suite.made["command"]


def referee_of(suite: Suite, row: int) -> Referee:
    """Return the referee's game for a position of a suite."""
    board = Board.from_positions(suite.core, suite.positions, row)
    game = Referee(suite.core.rules)
    game.seeds, game.stones = list(board.seeds), [int(stone) for stone in board.stones]
    game.scores, game.mover, game.ply = list(board.scores), board.mover, board.ply
    return game


def won(before: Referee, after: Referee) -> int:
    """Return the points that the mover of `before` gains on its opponent by the move to `after`."""
    scores, mover = after.final_scores() if after.ended else after.scores, before.mover
    return scores[mover] - scores[1 - mover] - before.scores[mover] + before.scores[1 - mover]


def solved(game: Referee, alpha: int, beta: int, budget: list[int]) -> int | None:
    """Return the mover's future margin by alpha-beta with the referee; None if the budget of moves does not suffice."""
    best = -1000
    for action in game.legal_actions():
        budget[0] -= 1
        if budget[0] < 0:
            return None
        after = game.copy()
        after.play(action)
        gain = won(game, after)
        reply = 0 if after.ended else solved(after, gain - beta, gain - max(alpha, best), budget)
        if reply is None:
            return None
        best = max(best, gain - reply)
        if best >= beta:
            break
    return best


@pytest.mark.slow
def test_the_referee_agrees_with_legal_moves_and_proved_values() -> None:
    agreed = 0
    for suite in suites():
        fewest = np.argsort(suite.core.seeds(suite.positions).sum(axis=1), kind="stable")[:4]
        for row in fewest.tolist():
            game = referee_of(suite, row)
            assert game.legal_actions() == np.isfinite(suite.values[row]).nonzero()[0].tolist()
            for action in suite.proved[row].nonzero()[0].tolist():
                after = game.copy()
                after.play(action)
                reply = won(game, after) - int(suite.values[row, action])
                if after.ended:
                    assert reply == 0
                elif (found := solved(after, reply - 1, reply + 1, [BUDGET])) is not None:
                    assert found == reply
                    agreed += 1
    assert agreed > 100


def test_perfect_random_and_worst_play_are_0_100_and_more_percent() -> None:
    assert evaluate_rules(ByValues).mean.mean == 0
    worst = evaluate_rules(lambda rules: ByValues(rules, best=False))
    assert worst.mean.mean > 150
    assert worst.profile["50"] == 0
    uniform = np.array([[random_regret(suite) for suite in suites()]])
    np.testing.assert_allclose(percent_of_random(uniform), 100)
    by_hand = [float(np.mean([loss[~np.isnan(loss)].mean() for loss in suites()[0].move_losses()]))]
    assert random_regret(suites()[0]) == pytest.approx(by_hand[0])


def test_a_player_that_cannot_play_a_rule_set_is_refused() -> None:
    with pytest.raises(UsageError, match=r"under the held-out rules 'mancala-world .*': the project has no agent"):
        evaluate_rules("ppo:pretrained")
    with pytest.raises(UsageError, match="unknown player 'gredy'"):
        evaluate_rules("gredy")
    with pytest.raises(UsageError, match="one or more players"):
        evaluate_rules([])


@pytest.mark.parametrize("player", [3, lambda observations, masks: masks.argmax(axis=1)])
def test_what_is_not_a_function_of_rules_is_refused(player: Any) -> None:
    with pytest.raises(UsageError, match=r"takes Rules and returns a player; got .*`lambda rules: player`"):
        evaluate_rules(player)


def test_runs_have_two_intervals() -> None:
    rng = np.random.default_rng(0)
    of_rules = np.array([random_regret(suite) for suite in suites()])
    regrets = of_rules * (0.3 + 0.2 * rng.random(96) + 0.01 * rng.random((5, 1)))
    many, one = Generalisation.of(regrets), Generalisation.of(regrets[:1])
    assert many.over_runs.low < many.mean.mean < many.over_runs.high
    assert many.over_runs.high - many.over_runs.low < many.mean.high - many.mean.low
    near = Generalisation.of(of_rules * (0.3 + 0.001 * np.arange(5.0)[:, None])).over_runs  # 30 to 30.4 %
    half = 1.96 * (1 + 2.7 / 5) * 0.1 * (10 / 4 / 5) ** 0.5
    assert (near.mean, near.low, near.high) == pytest.approx((30.2, 30.2 - half, 30.2 + half))
    assert np.isnan(one.over_runs.low)
    assert np.isfinite(one.mean.low)
    assert list(many.splits) == list(TEST_SPLITS)
    assert many.mean.mean == pytest.approx(np.mean([part.mean for part in many.splits.values()]))


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    result = evaluate_rules(lambda rules: ByValues(rules, best=False))
    (tmp_path / "result.json").write_text(result.to_json())
    again = read_generalisation(tmp_path / "result.json")
    assert again.regret == result.regret
    assert dataclasses.astuple(again.mean) == dataclasses.astuple(result.mean)
    assert str(again) == str(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suites": "0" * 16}, "measured with other suites"),
        ({"format": 2}, "expected a result with format 1; got 2"),
        ({"regret": {}}, "it lacks rule set '.*'; expected the 96"),
        ({"regret": [1]}, "not a result"),
        ({"first": []}, r"a number for each run; got \[\]"),
        ({"first": "0"}, "a number for each run; got '0'"),
        ({"first": [0.0, True]}, r"a number for each run; got \[0.0, True\]"),
        ({"first": [0.0]}, r"the same number of runs under each rule set; got \[1, 2\]"),
        ({"add": -1.0}, "a regret must be 0 to"),
        ({"add": 1000.0}, "a regret must be 0 to"),
        ({"add": float("nan")}, "a regret must be 0 to"),
    ],
)
def test_an_impossible_result_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    result = json.loads(Generalisation.of(np.zeros((2, 96))).to_json())
    first = next(iter(result["regret"]))
    result["regret"][first][1] += change.get("add", 0.0)
    result["regret"][first] = change.get("first", result["regret"][first])
    (tmp_path / "result.json").write_text(json.dumps(result | change))
    with pytest.raises(FileError, match=message):
        read_generalisation(tmp_path / "result.json")


def test_an_unknown_rule_set_in_a_result_is_named(tmp_path: Path) -> None:
    result = json.loads(Generalisation.of(np.zeros((1, 96))).to_json())
    result["regret"]["mancala-world"] = [0.0]
    (tmp_path / "result.json").write_text(json.dumps(result))
    with pytest.raises(FileError, match="the unknown rule set 'mancala-world'"):
        read_generalisation(tmp_path / "result.json")
