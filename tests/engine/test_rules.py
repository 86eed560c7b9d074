"""Test rules as data: presets, their text form, and the errors of invalid rules."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import PRESETS, Rules, RulesError
from oanquan_env.engine.rules import FIELD_NAMES, RANGES
from tests.helpers import strategies


def test_rules_are_data_whose_text_names_a_preset_and_changes() -> None:
    """The presets' values are not tested here; the golden playthroughs record how each differs from the default."""
    rules: Any = Rules.parse("vietnamese quan_non=5 stone_value=5")
    assert (rules.quan_non, str(rules)) == (5, "vietnamese stone_value=5 quan_non=5")
    assert rules.replace(quan_non=0, stone_value=10) == PRESETS["vietnamese"].rules
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.seeds = 4
    assert PRESETS["mancala-world"].rules == Rules()
    assert [str(preset.rules) for preset in PRESETS.values()] == list(PRESETS)
    symmetric = {name for name, preset in PRESETS.items() if preset.rules.is_symmetric}
    assert symmetric == {"mancala-world", "vietnamese", "ludii", "app"}  # two players, and sowing in either direction


@given(strategies.rules())
def test_text_parses_back(rules: Rules) -> None:
    assert Rules.parse(str(rules)) == rules


def test_the_ply_limit_follows_the_players_unless_given_and_anticlockwise_is_counterclockwise() -> None:
    assert [Rules(players=n).max_plies for n in (2, 3, 4)] == [200, 1000, 1000]
    assert [rules.replace(players=3).max_plies for rules in (Rules(), Rules(max_plies=77))] == [1000, 77]
    assert Rules.parse("vietnamese players=3 max_plies=200").max_plies == 200
    assert Rules(sowing="anticlockwise").mirrored() == Rules(sowing="clockwise")
    assert str(PRESETS["tonkin"].rules.replace(sowing="anticlockwise")) == "tonkin"


def test_numbers_are_taken_up_to_their_bounds_and_no_further() -> None:
    for name, (low, high) in RANGES.items():
        for wrong in (low - 1, high + 1):
            with pytest.raises(RulesError, match=f"{name} must be a whole number from {low} to {high:,}; got {wrong}"):
                Rules.parse(f"{name}={wrong}")
    assert Rules(players=3, seeds=17).total_seeds == 255
    assert repr(Rules(fields=np.int64(4))) == repr(Rules(fields=4))  # a NumPy integer becomes Python's
    assert Rules(fields=2, stone_value=1000, quan_non=255, max_plies=1_000_000).total == 2020


@pytest.mark.parametrize("name", FIELD_NAMES)
def test_every_field_refuses_nonsense(name: str) -> None:
    for nonsense in ("sideways", -1, 2.5, None):
        with pytest.raises(RulesError, match=name):
            Rules(**{name: nonsense})
    with pytest.raises(RulesError, match=rf"unknown rules field '{name}s' \(did you mean {name}\?\)"):
        Rules().replace(**{f"{name}s": 1})


def test_unreadable_texts_and_impossible_combinations_are_refused_with_the_reason() -> None:
    for text, message in (
        *(("vietnamise", r"did you mean vietnamese\?"), ("stone_vaule=5", r"did you mean stone_value\?")),
        *(("vietnamese refill", "expected field=value"), ("seeds=five", "seeds must be a whole number")),
        *(("seeds=4 seeds=5", "seeds is given twice"), ("stones=maybe", "stones must be True or False")),
        ("players=3 mandarin_ahead=take_one", "mandarin_ahead=take_one needs players=2"),
        ("stones=False mandarin_seeds=5", "stones=False needs end=squares_empty"),
        ("tonkin mandarin_seeds_capturable=False", "stones=False needs mandarin_seeds_capturable=True"),
        ("tonkin first_move_captures_mandarin=False", "first_move_captures_mandarin=False needs stones=True"),
        ("vietnamese mandarin_seeds_capturable=False", "capturable=False needs end=stones_captured"),
        ("stones=False end=squares_empty", "mandarin_seeds=0 needs stones=True"),
        ("seeds=25 mandarin_seeds=3", "must be at most 255 seeds; got 256"),
    ):
        with pytest.raises(RulesError, match=message):
            Rules.parse(text)
