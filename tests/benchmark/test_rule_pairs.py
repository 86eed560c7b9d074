"""Test rule pairs: the package's file, damaged files, which positions fit, and whose rules a player follows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.array_types import Ints
from oanquan_env.benchmark import rule_pairs
from oanquan_env.benchmark.regret import PROVED, Suite
from oanquan_env.benchmark.rule_pairs import (
    LEAST_LOSS,
    PATH,
    SEVERAL,
    RulePairs,
    are_possible,
    follow_rules,
    load_rule_pairs,
    read_rule_pairs,
)
from oanquan_env.benchmark.suites import format_suites
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import Policy
from oanquan_env.search.move_values import MoveValues

RULES = "mancala-world fields=2", "app fields=2"


def pair(values: list[list[float]], lower: list[list[float]] | None = None, upper: Any = None) -> RulePairs:
    """Return a pair with the set-up of two fields, and the values and bounds of its moves under both rule sets."""
    suites = []
    for side, rules in enumerate(RULES):
        core, own = Core(rules), np.array([values[side]])
        bounds = [own if given is None else np.array([given[side]]) for given in (lower, upper)]
        suites.append(Suite("", core, core.start(), own, *bounds, {}))
    return RulePairs(*suites)


def test_the_package_has_600_positions_that_are_small_balanced_and_pairwise_different() -> None:
    """The reader checks each position; here are the promises about their choice."""
    pairs = load_rule_pairs()
    fields = [one.field for one in pairs]
    counts = {name: sum(len(one) for one in pairs if one.field == name) for name in fields}
    assert PATH.stat().st_size <= 200_000
    assert sum(counts.values()) == 600
    assert len({(str(one.given.core.rules), str(one.other.core.rules)) for one in pairs}) == len(pairs) >= 12
    assert counts[SEVERAL] <= 600 / 5
    assert len(counts) == 12
    assert min(counts.values()) >= 20
    texts = [(number, row["position"]) for number, one in enumerate(pairs) for row in one.given.rows()]
    assert len(set(texts)) == 600


def test_the_values_are_those_of_the_search_within_the_proved_bounds() -> None:
    """On small boards; the depths are those of the command."""
    depths = [12, 14, 16]
    for pairs in load_rule_pairs():
        if pairs.given.core.rules.fields > 3:
            continue
        assert f"--depths {' '.join(map(str, depths))}" in pairs.given.made["command"]
        for suite in (pairs.given, pairs.other):
            phase = rule_pairs.seed_phases(suite.core, suite.positions)
            for number in np.unique(phase[:3]):
                part = suite.take(np.arange(len(suite))[:3][phase[:3] == number])
                values = MoveValues(suite.core, depths[number], threads=1).movers_values(part.positions)[0]
                np.testing.assert_array_equal(part.values, np.clip(values, part.lower, part.upper))


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([[5, 0, 2, 1], [0, 4, 1, 0]], True),
        ([[5, 0, 2, 1], [2, 4, 1, 0]], False),  # the first rules' best move loses only 2 points under the second
        ([[5, 3, 2, 1], [0, 4, 1, 0]], False),
        ([[5, 4, 2, 1], [0, 5, 1, 5]], False),  # one of two best moves loses only 1 point
        ([[5, np.nan, 2, 1], [0, 4, 1, 0]], False),  # the second rules' best move is illegal under the first
        ([[5, 0, 5, 1], [0, 4, 1, 0]], True),
    ],
)
def test_each_best_move_must_lose_three_points_under_the_other_rules(values: Any, holds: bool) -> None:
    assert pair(values).hold()[0] == holds
    assert pair(values).swapped().hold()[0] == holds


@pytest.mark.parametrize(
    ("lower", "upper", "proved"),
    [
        ([5, 0, 2, 1], [5, 0, 2, 1], True),
        ([5, -9, -np.inf, 0], [5, 2, 4, 4], True),
        ([5, -9, -np.inf, 0], [5, 3, 4, 4], False),  # the other rules' best move may lose only 2 points
        ([5, -9, -np.inf, 0], [5, 2, 5, 4], False),  # a third move may be as good as the best
        ([4, 0, 2, 1], [5, 0, 2, 1], False),
        ([5, 0, 2, 1], [np.inf, 0, 2, 1], False),
    ],
)
def test_bounds_prove_the_best_moves_and_the_losses(lower: Any, upper: Any, proved: bool) -> None:
    exact = [0.0, 4.0, 1.0, 0.0]
    found = pair([[5, 0, 2, 1], exact], [lower, exact], [upper, exact])
    assert found.proved()[0] == found.swapped().proved()[0] == proved


@pytest.mark.parametrize(
    ("rules", "other", "position", "possible"),
    [
        ("mancala-world", "ludii", "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", True),
        ("mancala-world", "mancala-world stone_value=3", "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", True),
        ("mancala-world", "mancala-world stone_value=3", "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1", False),
        ("ludii", "ludii first_move_captures_mandarin=False", "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1", True),
        ("ludii", "ludii first_move_captures_mandarin=False", "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 2", False),
        ("vietnamese", "mancala-world", "5,5,5,5,5,1/5,5,5,5,4,0 10,10 0 9", False),  # no stones: over under the second
        ("mancala-world", "ludii", "5,5,5,5,5,0*/0,0,0,0,0,0* 0,25 0 9", False),  # an empty row is refilled at once
    ],
)
def test_positions_must_be_possible_and_running_under_both_rule_sets(
    rules: str, other: str, position: str, possible: bool
) -> None:
    core = Core(rules)
    positions = Board.parse(position, rules).positions
    assert are_possible(core, Rules.parse(other), positions).tolist() == [possible]


class Fixed:
    """A player that plays the same action in every position."""

    def __init__(self, action: int) -> None:
        self.action = action

    def choose(self, positions: Positions, _: np.random.Generator) -> Ints:
        return np.full(len(positions), self.action)


def test_shares_count_both_rule_sets_and_leave_out_rules_that_a_player_cannot_play() -> None:
    """Move 0 is best under the first rules, 1 and 3 under the second; each side of the pair has half the weight."""
    pairs, rng = pair([[5, 0, 2, 1], [0, 4, 1, 4]]), np.random.default_rng(0)
    found = follow_rules(lambda _: Fixed(0), [pairs], rng)
    assert (found.follows.mean, found.reverts.mean, found.neither.mean) == (0.5, 0.5, 0)
    assert (found.random_follows, found.random_reverts) == (3 / 8, 3 / 8)
    assert list(found.groups) == ["capture", PROVED]

    def only(rules: str) -> rule_pairs.Chooser:
        def choose(asked: RulePairs) -> Policy:
            if str(asked.given.core.rules) != rules:
                raise UsageError("other rules")
            return Fixed(3)

        return choose

    second = follow_rules(only("app fields=2"), [pairs], rng)
    assert (second.follows.mean, second.reverts.mean, second.random_follows) == (1, 0, 0.5)
    first = follow_rules(only("mancala-world fields=2"), [pairs], rng, runs=3)
    assert (first.follows.mean, first.reverts.mean, first.positions) == (0, 1, 1)
    assert follow_rules(lambda _: Fixed(2), [pairs], rng).neither.mean == 1
    with pytest.raises(UsageError, match="cannot play any"):
        follow_rules(only("ludii"), [pairs], rng)


def test_random_moves_are_as_frequent_as_expected() -> None:
    pairs = load_rule_pairs()[:6]
    found = follow_rules(rule_pairs.named("random"), pairs, np.random.default_rng(0), runs=200)
    assert found.follows.mean == pytest.approx(found.random_follows, abs=0.02)
    assert found.reverts.mean == pytest.approx(found.random_reverts, abs=0.02)


def damaged(change: Any) -> list[dict[str, Any]]:
    """Return two valid suites as JSON after a change."""
    suites: list[dict[str, Any]] = json.loads(format_suites([*vars(pair([[5, 0, 2, 1], [0, 4, 1, 0]])).values()]))
    change(suites)
    return suites


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda suites: suites.pop(), "two suites for each pair of rule sets; got 1 suites"),
        (lambda suites: suites.clear(), "got 0 suites"),
        (lambda suites: suites[1].update(rules=RULES[0]), "are the same"),
        (lambda suites: suites[1].update(rules="mancala-world fields=2 max_plies=9"), "differ in max_plies"),
        (lambda suites: suites[1]["positions"].append(suites[1]["positions"][0]), "their positions differ"),
        (lambda suites: suites[0]["positions"][0][1].__setitem__(0, 3), "position 1: a value must lie between"),
        (lambda suites: suites[0]["positions"][0].__setitem__(1, [2, 0, 2, 1]), "a value must lie between"),
        (
            lambda suites: suites[0]["positions"][0].__setitem__(slice(1, 4), [[5, 3, 2, 1]] * 3),
            f"position 1 has best moves that do not lose {LEAST_LOSS} points",
        ),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(damaged(lambda _: None)))
    assert len(read_rule_pairs(path)) == 1
    path.write_text(json.dumps(damaged(change)))
    with pytest.raises(FileError, match=r"pairs\.json") as caught:
        read_rule_pairs(path)
    assert message in str(caught.value)
