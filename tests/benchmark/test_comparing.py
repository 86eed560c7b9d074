"""Test comparisons of two players and of several runs, and suites of one's own."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Core, compare, compare_runs, evaluate, read_suite, regret, write_suite
from oanquan_env.array_types import Ints, Mask
from oanquan_env.benchmark.curves import learning_curve
from oanquan_env.benchmark.regret import Suite
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.errors import UsageError
from oanquan_env.observation import Observation
from oanquan_env.rollouts import random_openings

RULES = "tonkin seeds=4"  # the package has no suite for them


@pytest.fixture(scope="module")
def own() -> Suite:
    """Return 40 positions of `RULES`; the value of a move is its number of seeds, for lack of a search."""
    core = Core(RULES)
    positions = random_openings(core, 40, 6, np.random.default_rng(0))
    seeds = positions.squares.reshape(40, 2, 8)[np.arange(40), positions.mover, :5].repeat(2, axis=1)
    values = np.where(core.legal_mask(positions), seeds, np.nan).astype(np.float64)
    return Suite.searched("own", core, positions, values, np.zeros(values.shape, dtype=np.bool_), {"seeds": 1})


def first_legal(observations: Observation, masks: Mask) -> Ints:
    return masks.argmax(axis=1)


def test_a_suite_of_ones_own_is_used_by_every_measure(own: Suite, tmp_path: Path) -> None:
    write_suite(tmp_path / "own.json.gz", own)
    best = np.nanmax(own.values, axis=1)
    by_hand = (best - own.values[np.arange(40), first_legal(best, own.core.legal_mask(own.positions))]).tolist()
    for suite in (own, tmp_path / "own.json.gz", str(tmp_path / "own.json.gz")):
        result = evaluate(first_legal, RULES, (), suite=suite, part="all")
        assert result.losses == by_hand
        assert (result.suite and result.suite.digest) == own.digest()
    assert regret(first_legal, read_suite(tmp_path / "own.json.gz")).losses == by_hand
    assert learning_curve([1], [[first_legal]], RULES, suite=own, part="all").regret[0].mean == np.mean(by_hand)
    assert compare(first_legal, "greedy", RULES, (), suite=own).regret is not None
    perfect = regret(lambda _, masks: (own.values == best[:, None]).argmax(axis=1), own)
    assert (perfect.mean, perfect.optimal.mean) == (0, 1)


def test_a_missing_or_wrong_suite_says_what_to_do(own: Suite) -> None:
    result = evaluate("greedy", RULES, ["random"], pairs=2)
    make = f"python -m agents.suites regret --rules '{RULES}' --output suite.json"
    with pytest.raises(UsageError, match=f"regret was not measured: there is no regret suite .*: {make}"):
        assert result.regret
    with pytest.raises(UsageError, match=f"nothing to measure: there are no opponents, .*: {make}"):
        evaluate("greedy", RULES, ())
    with pytest.raises(UsageError, match=f"the regret suite 'own' is for the rules '{RULES}', not 'ludii'"):
        evaluate("greedy", "ludii", (), suite=own)
    with pytest.raises(UsageError, match=r"suite must be a Suite, as read_suite.* got 'suite.json'"):
        regret("greedy", "suite.json")  # type: ignore[arg-type]
    assert result.losses == []


def test_differences_of_players_are_paired() -> None:
    """Equal players differ by 0; the interval of a difference is narrower than both players' intervals together."""
    suite, names = load_suite("mancala-world").take(np.arange(0, 2400, 8)), ("maxn:depth=2", "maxn:depth=1")
    twin = compare(names[0], names[0], opponents=["random"], pairs=10, suite=suite)
    assert twin.regret
    assert twin.score
    assert (twin.regret.mean, twin.score.mean) == (0, 0)
    assert np.isnan(twin.regret.low)
    assert re.search(r"regret, points *\| *\+0 \|\n\| score, % *\| *\+0 \|\n\nMade by `", str(twin))
    assert "Players: `maxn:depth=2` and `maxn:depth=2`. If" in str(twin)
    near = compare(*names, opponents=(), suite=suite).regret
    one, other = (evaluate(name, opponents=(), suite=suite) for name in names)
    assert near
    assert near.mean == pytest.approx(one.regret.mean - other.regret.mean)
    assert near.mean == pytest.approx(np.mean(one.losses) - np.mean(other.losses))
    assert near.high - near.low < one.regret.high - one.regret.low + other.regret.high - other.regret.low


def test_methods_are_compared_over_runs_and_positions() -> None:
    suite = load_suite("mancala-world").take(np.arange(0, 2400, 8))
    runs = {
        "greedy": [f"greedy:epsilon=0.{seed}" for seed in range(1, 6)],
        "random": ["random"] * 6,
        "few": ["maxn:depth=1", "random"],
    }
    found = compare_runs(runs, opponents=["random"], pairs=6, suite=suite, runs=1)
    means = [evaluate(name, opponents=(), suite=suite, runs=1).regret.mean for name in runs["greedy"]]
    greedy, random, few = found.regret.values()
    assert greedy.values == pytest.approx(means)
    assert greedy.mean.mean == pytest.approx(np.mean(sorted(means)[1:4]))
    assert random.difference.mean == pytest.approx(random.mean.mean - greedy.mean.mean)
    assert random.difference.low < random.difference.mean < random.difference.high
    assert (random.improvement.mean, found.score["random"].improvement.mean) == (0, 0)  # more regret is worse
    assert random.improvement.high < 0.5
    table, note = str(found).split("\n\n")
    assert [line.split(" | ")[1] for line in table.splitlines()[2:]] == ["5", "6", "2"]
    assert f"| `few` | 2 | {few.mean.mean:.4g}; 2 runs, {min(few.values):.4g} to {max(few.values):.4g} |" in table
    assert "Opponents: `random`. Every pairing plays 6 openings" in note
    assert dataclasses.replace(found, score={}) == compare_runs(runs, opponents=(), suite=suite, runs=1)
    for wrong in ({"A": ["greedy"]}, {"A": ["greedy"], "B": "greedy"}, {"A": ["greedy"], "B": []}):
        with pytest.raises(UsageError, match="two or more methods to lists of players"):
            compare_runs(wrong)
