"""Check the arguments that all environments take: rules, seats and seeds."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.rules import Rules, as_rules
from oanquan_env.engine.step import ANY_SEAT
from oanquan_env.envs.opponents import Opponent
from oanquan_env.errors import UsageError, as_whole

Seat: TypeAlias = int | Literal["random"]
RuleSets: TypeAlias = Rules | str | Sequence[Rules | str]
"""What environments take as `rules`: one rule set, or a list of them."""

MAX_SEED = 2**64 - 1


def as_rule_sets(rules: RuleSets) -> tuple[Rules, ...]:
    """Return one rule set or a list of them as a tuple.

    Raises `ValueError` for an empty list and unless all rule sets have the same numbers of players and fields;
    `RulesError` and `TypeError` as in `as_rules`.
    """
    rule_sets = (as_rules(rules),) if isinstance(rules, Rules | str) else tuple(map(as_rules, rules))
    if not rule_sets:
        raise UsageError("rules must be a rule set or a non-empty list of rule sets; got an empty list")
    first = rule_sets[0]
    for other in rule_sets:
        if (other.players, other.fields) != (first.players, first.fields):
            raise UsageError(
                f"all rule sets of a list need the same players and fields: '{first}' has {first.players} players with "
                f"{first.fields} fields each, '{other}' has {other.players} with {other.fields}"
            )
    return rule_sets


def check_seat(seat: Seat, rules: Rules, opponent: Opponent) -> int:
    """Return the seat as a number or `ANY_SEAT`; raise `ValueError` unless it is a seat, and without an opponent."""
    if seat == "random":
        return ANY_SEAT
    if opponent is None:
        raise ValueError(f"seat needs an opponent, as without one the agent plays every seat; got {seat!r}")
    return as_whole("seat", seat, 0, rules.players - 1, "random or ")


def check_seed(seed: object) -> int | None:
    """Return the seed of one game as an int, or None; raise `ValueError` unless it is an integer from 0 to 2^64 - 1."""
    return None if seed is None else as_whole("seed", seed, 0, MAX_SEED)


def check_seeds(seed: int | Sequence[int] | npt.NDArray[Any] | None, n: int) -> int | list[int] | None:
    """Return the seed of `n` games as an int, as a list of `n` integers, or as None.

    Raises `ValueError` unless all seeds are integers from 0 to 2^64 - 1, and for another number of seeds.
    """
    if isinstance(seed, str | bytes) or not isinstance(seed, Sequence | np.ndarray) or not np.ndim(seed):
        return check_seed(seed)
    if len(seed) != n:
        raise ValueError(f"seed must be one integer, or a list of {n} integers, one per game; got {len(seed)}")
    return [as_whole("seed", game_seed, 0, MAX_SEED) for game_seed in seed]
