"""Hypothesis strategies shared by the tests: valid `Rules`, sold and pawned fields, and seeds of random games."""

import re
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import strategies as st

from oanquan_env import PRESETS, Rules, RulesError
from oanquan_env.engine.rules import RANGES
from oanquan_env.match.ownership import Ownership

PRESET_NAMES = sorted(PRESETS)
TWO_PLAYER_PRESETS = [name for name in PRESET_NAMES if PRESETS[name].rules.players == 2]
FOUR_PLAYER = pytest.param("four-player", marks=pytest.mark.slow)
"""The preset as a slow case: loops and searches for four players compile for seconds."""
PRESETS_TO_COMPILE = [*(name for name in PRESET_NAMES if name != "four-player"), FOUR_PLAYER]

_MOST = {"players": 3, "seeds": 7, "max_plies": 120}
"""Maximum values of some fields; others: 12. To save time, four players are not drawn."""


def _values(name: str, kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of the field `name` of `Rules`, whose type is `kind`."""
    if kind is bool:
        return st.booleans()
    if kind is int:
        low, high = RANGES[name]
        return st.integers(low, min(high, _MOST.get(name, 12)))
    return st.sampled_from(get_args(kind))


_FIELDS = {name: _values(name, kind) for name, kind in get_type_hints(Rules).items()}


@st.composite
def rules(draw: st.DrawFn, players: int | None = None, fields: int | None = None) -> Rules:
    """Draw valid `Rules`, with `players` and `fields` if given; change the fields that a refusal names."""
    values = {name: draw(strategy) for name, strategy in _FIELDS.items()}
    values |= {"players": players or values["players"], "fields": fields or values["fields"]}
    for _ in _FIELDS:
        try:
            return Rules(**values)
        except RulesError as error:
            needs = re.match(r"(\w+)=\w+ needs (\w+)=(\w+)", str(error))
            if needs is None:
                raise
            field, other, wanted = needs.groups()
            if other == "players":
                del values[field]
            else:
                values[other] = getattr(Rules.parse(f"{other}={wanted}"), other)
    return Rules(**values)


usual_size = rules(fields=5)
"""Rules with 5 fields, for environment tests: each size of observation requires another compilation."""
two_sizes = usual_size | rules(fields=2)


@st.composite
def ownerships(draw: st.DrawFn, fields: int) -> Ownership:
    """Draw an ownership in which any fields of both rows are sold or pawned, in any order."""
    sold, pawned = [], []
    for _ in range(2):
        row = tuple(draw(st.permutations(range(fields))))
        first, second = sorted(draw(st.tuples(st.integers(0, fields), st.integers(0, fields))))
        sold.append(row[:first])
        pawned.append(row[first:second])
    return Ownership(fields, (sold[0], sold[1]), (pawned[0], pawned[1]))


seeds = st.integers(0, 2**32 - 1)
