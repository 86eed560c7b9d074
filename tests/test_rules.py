"""Rules as data: presets, text form, refusals."""

import dataclasses

import pytest
from hypothesis import find, given

from oanquan_env import PRESETS, Rules, RulesError
from oanquan_env.engine.rules import FIELD_NAMES, RANGES
from tests import strategies
from tests.strategies import PRESET_NAMES

PUBLISHED = {  # docs/RULES.md section 5: what each preset changes of the default
    "mancala-world": "",
    "tonkin": "stones=False mandarin_seeds=10 sowing=counterclockwise mandarin_ahead=take_one empty_mandarin=gap"
    " end=squares_empty leftovers=split",
    "vietnamese": "empty_mandarin=gap end=squares_empty",
    "ludii": "refill_when=at_once",
    "app": "capture=single",
    "three-player": "players=3",
    "four-player": "players=4",
}


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_presets_are_those_of_the_specification(name: str) -> None:
    assert PRESETS[name].rules == Rules.parse(f"mancala-world {PUBLISHED[name]}")
    assert PRESETS["mancala-world"].rules == Rules()
    assert str(PRESETS[name].rules) == name


@pytest.mark.parametrize("name", FIELD_NAMES)
def test_random_rules_differ_in_every_field(name: str) -> None:
    find(strategies.rules(), lambda rules: getattr(rules, name) != getattr(Rules(), name))


@given(strategies.rules())
def test_text_parses_back(rules: Rules) -> None:
    assert Rules.parse(str(rules)) == rules


def test_text_names_preset_and_changes() -> None:
    rules = Rules.parse("vietnamese stone_value=5 quan_non=5")
    assert rules == PRESETS["vietnamese"].rules.replace(stone_value=5, quan_non=5)
    assert str(rules) == "vietnamese stone_value=5 quan_non=5"
    assert Rules.parse("fields=3") == Rules(fields=3)


def test_ply_limit_follows_the_number_of_players_unless_given() -> None:
    assert [Rules(players=n).max_plies for n in (2, 3, 4)] == [200, 1000, 1000]
    assert Rules().replace(players=3).max_plies == 1000
    assert Rules(max_plies=77).replace(players=3).max_plies == 77
    with pytest.raises(RulesError, match=r"unknown rules field 'seed' \(did you mean seeds\?\)"):
        Rules().replace(seed=1)
    assert Rules.parse("vietnamese players=3 max_plies=200").max_plies == 200


def test_anticlockwise_is_another_word_for_counterclockwise() -> None:
    rules = Rules.parse("vietnamese sowing=anticlockwise")
    assert str(rules) == "vietnamese sowing=counterclockwise"
    assert Rules(sowing="anticlockwise").mirrored() == Rules(sowing="clockwise")
    assert Rules().replace(sowing="anticlockwise") == Rules(sowing="counterclockwise")
    assert str(PRESETS["tonkin"].rules.replace(sowing="anticlockwise")) == "tonkin"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": 3, "mandarin_ahead": "take_one"}, "mandarin_ahead=take_one needs players=2"),
        ({"stones": False, "mandarin_seeds": 5}, "stones=False needs end=squares_empty"),
        (
            {"stones": False, "mandarin_seeds": 5, "end": "squares_empty", "mandarin_seeds_capturable": False},
            "stones=False needs mandarin_seeds_capturable=True",
        ),
        (
            {"mandarin_seeds_capturable": False, "end": "squares_empty"},
            "mandarin_seeds_capturable=False needs end=stones_captured",
        ),
        ({"seeds": 25, "mandarin_seeds": 3}, "is 256 seeds; at most 255"),
        ({"stones": False, "end": "squares_empty"}, "stones=False needs mandarin_seeds >= 1"),
    ],
)
def test_impossible_combinations_are_refused_with_the_reason(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RulesError, match=message.replace("(", r"\(")):
        Rules(**changes)  # type: ignore[arg-type]


def test_numbers_are_taken_up_to_their_bounds_and_no_further() -> None:
    ranges = {
        "players": (2, 4),
        "fields": (2, 5),
        "seeds": (1, 255),
        "stone_value": (1, 1000),
        "mandarin_seeds": (0, 255),
    }
    assert ranges | {"quan_non": (0, 255), "max_plies": (1, 1_000_000)} == RANGES
    for name, (low, high) in RANGES.items():
        for wrong in (low - 1, high + 1):
            with pytest.raises(RulesError, match=f"{name} must be a whole number from {low} to {high}; got {wrong}"):
                Rules.parse(f"{name}={wrong}")
    assert Rules(players=3, seeds=17).total_seeds == 255
    assert Rules(fields=2, stone_value=1000, quan_non=255, max_plies=1_000_000).total == 2020


def test_a_mirror_changes_nothing_where_two_players_sow_in_both_directions() -> None:
    symmetric = {name for name in PRESETS if PRESETS[name].rules.is_symmetric}
    assert symmetric == {"mancala-world", "vietnamese", "ludii", "app"}


@pytest.mark.parametrize("name", FIELD_NAMES)
def test_every_field_refuses_nonsense_and_is_named(name: str) -> None:
    for nonsense in ("sideways", -1, 2.5, None):
        with pytest.raises(RulesError, match=name):
            Rules(**{name: nonsense})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vietnamise", r"did you mean vietnamese\?"),
        ("stone_vaule=5", r"did you mean stone_value\?"),
        ("vietnamese refill", "expected field=value"),
        ("seeds=five", "seeds must be a whole number"),
        ("seeds=4 seeds=5", "seeds is given twice"),
        ("stones=maybe", "stones must be True or False"),
        ("max_plies=0", "max_plies must be a whole number from 1"),
    ],
)
def test_unreadable_texts_are_refused_naming_the_word(text: str, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        Rules.parse(text)


def test_rules_cannot_be_changed_and_name_their_fields() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().seeds = 4  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        Rules(3)  # type: ignore[misc]
