"""Test the maker of rule pairs: its rule sets, how it balances positions, and that it continues from its parts."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.suites import make_rule_pairs
from agents.suites.__main__ import main
from agents.suites.make_rule_pairs import FIRST_MOVE, PairsRecipe, balanced, contrasts
from experiments import rule_pairs as experiment
from oanquan_env import Core, Positions, Rules
from oanquan_env.benchmark.rule_pairs import (
    SEVERAL,
    changed_field,
    check_rule_sets,
    follow_rules,
    load_rule_pairs,
    read_rule_pairs,
)
from oanquan_env.search.move_values import MoveValues
from tests.helpers import Patch
from tests.helpers.players import rng

TINY = ["--count", "4", "--depths", "6", "6", "6", "--nodes", "1000", "1000", "1000"]
TINY += ["--games", "20", "--cell", "2", "--jobs", "1"]


def test_rule_sets_mostly_differ_in_one_field_and_never_in_the_start() -> None:
    rule_sets = [(Rules.parse(first), Rules.parse(second)) for first, second in contrasts()]
    for first, second in rule_sets:
        check_rule_sets(first, second)
    fields = Counter(changed_field(*both) for both in rule_sets)
    assert len(set(contrasts())) == len(contrasts()) >= 12
    assert len(fields) == len(make_rule_pairs.CHANGES) + 1
    assert fields[SEVERAL] < len(rule_sets) / 10
    assert FIRST_MOVE.split("=")[0] in fields


@pytest.mark.parametrize(
    ("keys", "count", "expected"),
    [
        ({"a00": 3, "b00": 3}, 4, {"a00": 2, "b00": 2}),
        ({"a00": 3, "b00": 1}, 3, {"a00": 2, "b00": 1}),
        ({"a00": 9, "a10": 9, "b00": 9}, 8, {"a00": 2, "a10": 2, "b00": 4}),
        ({"a00": 9, "a01": 2, "a10": 1}, 6, {"a00": 3, "a01": 2, "a10": 1}),
        ({"a00": 3, "a01": 3, "a10": 3}, 4, {"a00": 1, "a01": 1, "a10": 2}),
        ({"a00": 1}, 5, {"a00": 1}),
    ],
)
def test_fields_then_phases_then_rule_sets_have_equal_numbers(keys: Any, count: int, expected: Any) -> None:
    """A key is a field, a phase and a rule set."""
    found = [tuple(key) for key in Counter(keys).elements()]
    chosen = balanced(found, count)
    assert chosen == sorted(set(chosen))
    assert Counter("".join(found[number]) for number in chosen) == expected


@pytest.mark.slow
def test_a_search_finds_pairs_of_a_phase_with_the_values_of_the_search_within_proved_bounds() -> None:
    names = "mancala-world fields=3", "app fields=3"
    recipe = PairsRecipe(depths=(6, 6, 8), nodes=(1000, 1000, 30_000), games=200, cell=2)
    for phase, depth in ((0, 6), (2, 8)):
        texts, numbers = make_rule_pairs.find_pairs(recipe, (*names, phase))
        assert len(texts) == 2
        for rules, (values, lower, upper) in zip(names, numbers, strict=True):
            core = Core(rules)
            positions = Positions.concatenate([make_rule_pairs.parse_position(core, str(text)) for text in texts])
            assert make_rule_pairs.seed_phases(core, positions).tolist() == [phase] * 2
            searched = MoveValues(core, depth, threads=1).movers_values(positions)[0]
            np.testing.assert_array_equal(values, np.clip(searched, lower, upper))
            assert phase == 0 or (lower == upper).any()


@pytest.mark.slow
def test_a_search_goes_on_from_its_parts(tmp_path: Path, monkeypatch: Patch, interrupt: Any) -> None:
    monkeypatch.setattr(
        make_rule_pairs, "CHANGES", {"capture=single": ("mancala-world fields=3", "mancala-world fields=4")}
    )
    monkeypatch.setattr(make_rule_pairs, "PRESET_PAIRS", ())
    whole, path = tmp_path / "whole.json", tmp_path / "pairs.json"
    assert main(["pairs", *TINY, "--output", str(whole)]) == 0
    read = read_rule_pairs(whole)
    assert sum(map(len, read)) == 4
    assert read[0].given.made["command"].startswith("python -m agents.suites pairs --count 4 --depths 6 6 6")
    calls = interrupt(make_rule_pairs, "possible", at=4)
    assert main(["pairs", *TINY, "--output", str(path)]) == 130
    assert not path.exists()
    assert main(["pairs", *TINY, "--output", str(path)]) == 0
    assert len(calls) == 4 + 3  # six cells, of which three were finished
    assert path.read_bytes() == whole.read_bytes()


def test_controls_revert_as_often_as_the_search_follows_and_the_parser_loses_nothing() -> None:
    small = [pairs for pairs in load_rule_pairs() if pairs.given.core.rules.fields == 3]
    few = tuple(pairs.take(np.arange(1)) for pairs in small[::2])
    results = {name: follow_rules(choose, few, rng()) for name, choose in experiment.players(1000).items()}
    search, other = results["search"], results["search for the other rules"]
    assert search.follows.mean == pytest.approx(other.reverts.mean, abs=0.2)  # they draw among equal moves
    assert min(search.follows.mean, other.reverts.mean) > 0.5 > max(other.follows.mean, search.reverts.mean)
    assert results["greedy"] == results["greedy, through prompt and parser"]
    followed = results["the same, with the other rules' vector"]
    assert followed.follows.mean > followed.random_follows
    tables = {"pairs": list(experiment.describe(few)), "results": {"a": asdict(search)}}
    *fields, whole = experiment.positions(tables)
    assert whole["positions"] == str(len(few)) == str(sum(int(row["positions"]) for row in fields))
    chance, row = experiment.shares(tables)
    assert row["follows, %"].startswith(f"{100 * search.follows.mean:.1f} (")
    assert chance["follows, %"] == f"{100 * search.random_follows:.1f}"
