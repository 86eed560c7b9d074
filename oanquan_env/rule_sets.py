"""Rule sets as data: sampling, equivalence, numbers for networks, and fixed splits for training and tests.

Two rule sets are *equivalent* if every game from the set-up has the same moves and results under both, perhaps on the
mirrored board. `canonical` finds the equivalences that follow from the words of the rules. It misses a few others: for
example, it keeps `first_move_captures_mandarin` even if no first move can capture a mandarin stone. With the values in
`VALUES`, two players have 1,327,104 combinations. 552,960 of them are playable rules, and 204,288 of these are
distinct, 68,096 with five fields.

The splits never change. If they had to, `VERSION` would increase. Rule sets of all splits are canonical and distinct:

| split | rule sets | distance from `train` | content |
|---|---:|---:|---|
| `train` | 16,384 | | values from `VALUES`, without any of `NEW_COMBINATIONS` |
| `development` | 24 | 1.00 | the same distribution |
| `test: interpolation` | 48 | 1.04 | the same distribution |
| `test: new combinations` | 48 | 1.35 | values from `VALUES`, 12 rule sets for each of `NEW_COMBINATIONS` |
| `test: new values` | 48 | 1.67 | 12 rule sets for each of `NEW_VALUES`, which no rule set of `train` has |
| `presets` | 5 | 1.00 | the presets for two players |

The distance is the mean number of fields in which a rule set differs from the most similar rule set of `train`.

    >>> from oanquan_env import Rules
    >>> canonical(Rules(stones=False, mandarin_seeds=10, end="squares_empty", stone_value=5)).stone_value
    10
    >>> vector(Rules(seeds=4))[layout["seeds"]]
    array([0.8], dtype=float32)
"""

import functools
import itertools
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.rules import CHOICES, FIELD_NAMES, PRESETS, Rules, RulesError, as_rules
from oanquan_env.errors import UsageError

VERSION = 1
"""Version of the splits and of `VALUES`. A new field of `Rules` also lengthens `layout`, without a new version."""

VALUES: dict[str, tuple[Any, ...]] = {
    "fields": (2, 3, 5, 5),
    "seeds": (3, 4, 5, 5, 6),
    "stones": (True, True, True, True, False),
    "stone_value": (3, 5, 10, 10, 15),
    "mandarin_seeds": (0, 0, 5, 10),
    "sowing": ("either", "either", "counterclockwise", "clockwise"),
    "mandarin_ahead": ("stop", "take_one"),
    "empty_mandarin": ("stop", "gap"),
    "capture": ("chain", "single"),
    "quan_non": (0, 0, 0, 3, 5),
    "first_move_captures_mandarin": (True, True, True, True, False),
    "mandarin_seeds_capturable": (True, True, True, True, False),
    "refill_when": ("turn", "at_once"),
    "end": ("stones_captured", "squares_empty"),
    "leftovers": ("owner", "split"),
    "mandarin_leftovers": ("nobody", "split"),
}
"""The values that `sample` draws for each field. A repeated value is more likely; other fields have their defaults."""

NEW_COMBINATIONS: tuple[dict[str, Any], ...] = (
    {"capture": "single", "mandarin_ahead": "take_one"},
    {"refill_when": "at_once", "leftovers": "split"},
    {"stone_value": 15, "quan_non": 5},
    {"fields": 3, "seeds": 6},
)
"""Pairs of values that no rule set of `train`, `development` and `test: interpolation` has together."""

NEW_VALUES: tuple[dict[str, tuple[Any, ...]], ...] = (
    {"fields": (4,)},
    {"seeds": (2, 7, 8)},
    {"stones": (True,), "stone_value": (1, 7, 20, 30)},
    {"fields": (4,), "seeds": (2, 7, 8), "stones": (True,), "stone_value": (1, 7, 20, 30)},
)
"""The values that replace values of `VALUES` in the quarters of `test: new values`."""

Split: TypeAlias = Literal[
    "train", "development", "test: interpolation", "test: new combinations", "test: new values", "presets"
]
SPLITS: tuple[Split, ...] = get_args(Split)
TRAIN, DEVELOPMENT, TEST = 16_384, 24, 48
"""Number of rule sets in the splits `train` and `development`, and in each test split except `presets`."""
_PATIENCE = 2_000
"""Number of draws without a new rule set after which `sample` raises an error."""


# ---- equivalence -----------------------------------------------------------------------------------------------------


def canonical(rules: Rules | str) -> Rules:
    """Return the rule set that represents all equivalent ones; `sowing` is never `clockwise` for two players.

    Equivalent rule sets with the same `sowing` play the same on the same board. If two players sow clockwise, the
    result is for the mirrored board (see `oanquan_env.mirror`).
    """
    rules = simplified(rules)
    return rules.mirrored() if rules.players == 2 and rules.sowing == "clockwise" else rules


def simplified(rules: Rules | str) -> Rules:
    """Return rules in which each field without an effect on games from the set-up has its default value.

    - Without stones, `stone_value` and `quan_non` have no effect.
    - Under `mandarin_ahead=stop`, seeds leave a mandarin square only by a capture. So a `quan_non` of at most
      `mandarin_seeds` protects nothing.
    - If, besides, `mandarin_seeds_capturable` is False, seeds never leave a mandarin square. Then no mandarin square
      becomes empty if it begins with seeds or needs some for a capture, and `empty_mandarin` has no effect.
    - Under `end=squares_empty` and `refill=borrow`, nothing lies on the mandarin squares at the end of a game, and
      `mandarin_leftovers` has no effect.
    """
    rules = as_rules(rules)
    without_effect = []
    seeds_stay = rules.mandarin_ahead == "stop"
    if not rules.stones:
        without_effect += ["stone_value", "quan_non"]
    if seeds_stay and rules.quan_non <= rules.mandarin_seeds:
        without_effect.append("quan_non")
    if seeds_stay and not rules.mandarin_seeds_capturable and (rules.mandarin_seeds or rules.quan_non):
        without_effect.append("empty_mandarin")
    if rules.end == "squares_empty" and rules.refill == "borrow":
        without_effect.append("mandarin_leftovers")
    changes = {name: value for name in without_effect if getattr(rules, name) != (value := getattr(_DEFAULT, name))}
    return rules.replace(**changes) if changes else rules


_DEFAULT = Rules()


# ---- numbers for networks --------------------------------------------------------------------------------------------

UNITS = {
    "players": 4,
    "fields": 5,
    "seeds": 5,
    "stone_value": 10,
    "mandarin_seeds": 10,
    "quan_non": 5,
    "max_plies": 1000,
}
"""The divisors that bring common values of the numeric fields to the order of one."""
INDICATED = {
    name: tuple(choice for choice in choices if choice != "anticlockwise")[1:] for name, choices in CHOICES.items()
}
"""The values of each named field except the first. A number of `vector` is 1 if the field has this value, else 0."""


def _layout() -> dict[str, slice]:
    begin, parts = 0, {}
    for name in FIELD_NAMES:
        end = begin + len(INDICATED.get(name, (name,)))
        parts[name], begin = slice(begin, end), end
    return parts


layout: dict[str, slice] = _layout()
"""The place of each field of `Rules` in `vector`, in the order of the fields.

Numbers are divided by 4 (`players`), 5 (`fields`, `seeds`, `quan_non`), 10 (`stone_value`, `mandarin_seeds`) or 1,000
(`max_plies`). `stone_value` is 0 without stones. Flags are 0 or 1. A named field has an indicator, 0 or 1, for each
value in `oanquan_env.engine.rules.CHOICES` except the first: `sowing` has two, for `counterclockwise` and `clockwise`.
"""
LENGTH = layout["max_plies"].stop
"""The length of `vector`."""


def vector(rules: Rules | str) -> npt.NDArray[np.float32]:
    """Return the rules as (LENGTH,) float32 numbers of the order of one; `layout` says where each field is.

    Two rule sets have equal vectors if and only if they are equivalent on the same board, so not if they are only
    mirror images.
    """
    rules, numbers = simplified(rules), list[float]()
    for name in FIELD_NAMES:
        value = getattr(rules, name)
        if name in INDICATED:
            numbers += [float(value == choice) for choice in INDICATED[name]]
        else:
            numbers.append(value / UNITS.get(name, 1) if rules.stones or name != "stone_value" else 0.0)
    return np.array(numbers, dtype=np.float32)


# ---- sampling and splits ---------------------------------------------------------------------------------------------


def sample(n: int, seed: int, **fixed: Any) -> list[Rules]:
    """Return `n` distinct playable rule sets in canonical form, with fields drawn from `VALUES`.

    `fixed` gives the value of further or other fields, such as `players=3`; the canonical form replaces a fixed value
    that has no effect. The result depends only on the arguments and not on the version of NumPy, and a greater `n`
    only appends rule sets. Raises `UsageError` if there are hardly `n` such rule sets.
    """
    draws = _distinct(seed, VALUES | {name: (value,) for name, value in fixed.items()})
    return [next(draws) for _ in range(n)]


def _distinct(seed: int, values: dict[str, tuple[Any, ...]]) -> Iterator[Rules]:
    """Yield distinct canonical rule sets for ever; raise `UsageError` after `_PATIENCE` draws without a new one."""
    generator = np.random.PCG64(seed)  # the one part of NumPy's random module whose numbers never change
    found, fruitless, reason = set[Rules](), 0, "all were equivalent to earlier ones"
    while True:
        numbers = generator.random_raw(len(values)).tolist()
        chosen = {name: own[number % len(own)] for (name, own), number in zip(values.items(), numbers, strict=True)}
        try:
            rules = canonical(Rules(**chosen))
        except RulesError as error:
            rules, reason = None, str(error)
        fruitless = 0 if rules and rules not in found else fruitless + 1
        if fruitless > _PATIENCE:
            raise UsageError(f"found only {len(found):,} such rule sets in many draws; the last problem: {reason}")
        if rules and not fruitless:
            found.add(rules)
            yield rules


@functools.cache
def split(name: Split) -> tuple[Rules, ...]:
    """Return the rule sets of a split. Making `train` takes seconds, once. Raises `UsageError` for an unknown name."""
    if name not in SPLITS:
        raise UsageError(f"unknown split {name!r}; known: {', '.join(SPLITS)}")
    if name == "presets":
        return tuple(preset.rules for preset in PRESETS.values() if preset.rules.players == 2)
    if name == "test: new combinations":
        pairs = enumerate(NEW_COMBINATIONS)
        return tuple(rules for number, pair in pairs for rules in _kept(TEST // 4, 10 + number, VALUES, [pair]))
    if name == "test: new values":
        replaced = enumerate(NEW_VALUES)
        return tuple(rules for number, new in replaced for rules in _kept(TEST // 4, 20 + number, VALUES | new, []))
    begin, end = {"development": (0, DEVELOPMENT), "test: interpolation": (DEVELOPMENT, _HELD_OUT)}.get(
        name, (_HELD_OUT, _HELD_OUT + TRAIN)
    )
    return _familiar(end)[begin:]


_HELD_OUT = DEVELOPMENT + TEST


@functools.cache
def _familiar(n: int) -> tuple[Rules, ...]:
    return tuple(_kept(n, 0, VALUES, []))


def _kept(n: int, seed: int, values: dict[str, tuple[Any, ...]], pairs: list[dict[str, Any]]) -> Iterator[Rules]:
    """Yield `n` rule sets that are no presets and, of `NEW_COMBINATIONS`, have exactly the `pairs`."""
    presets = {canonical(preset.rules) for preset in PRESETS.values()}
    fixed = {name: (value,) for pair in pairs for name, value in pair.items()}
    fitting = (
        rules
        for rules in _distinct(seed, values | fixed)
        if rules not in presets and [pair for pair in NEW_COMBINATIONS if has_values(rules, pair)] == pairs
    )
    return itertools.islice(fitting, n)


def has_values(rules: Rules, values: dict[str, Any]) -> bool:
    """Return whether fields of the rules have these values."""
    return all(getattr(rules, name) == value for name, value in values.items())
