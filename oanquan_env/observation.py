"""Observations of a position from the view of one player, in three layouts: `counts`, `planes` and `moves`.

Layout of `counts`, int32 (P players, F fields per side; the viewer's side comes first, the others in ring order):

    name     length     meaning                                                     bounds
    seeds    P * (F+1)  seeds of each square, a side's mandarin square last         0 .. 255
    stones   P          stone on each side's mandarin square                        0 .. 1
    scores   P          points: captures minus refills (debts are negative)         see `Encoder.low`
    turn     1          seats from the viewer to the mover, 0 if the viewer moves   0 .. P-1
    plies    1          plies left before the game is truncated                     0 .. max_plies

Layout of `planes`, float32, mostly 0 to 1. Networks learn faster from it, because one seed can change a whole move:

    counts   P * (F+1) * 16  one-hot number of seeds in each square: 0 .. 14, or 15 or more
    seeds    P * (F+1)       seeds of each square, divided by 10
    stones   P               stone on each side's mandarin square
    scores   P               points, divided by all points of the game
    plies    1               plies left before the game is truncated, divided by max_plies

Layout of `moves`, float32: `planes`, then two parts with one value per action, zero if the action is illegal or the
viewer is not to move:

    wins     2F  the viewer's immediate gain in points minus the others' mean gain, with leftovers, divided by 10
    remains  2F  the same difference after the next player's most profitable reply, divided by 10

`moves` looks two plies ahead, so compare an agent that uses it only with players that also look ahead.

In an environment with a list of rule sets, every layout is float32 and ends with the rules, or with zeros if they are
not visible:

    rules    `oanquan_env.rule_sets.LENGTH`  `oanquan_env.rule_sets.vector`
"""

import copy
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.observe import COUNTS, SCALE, row_type
from oanquan_env.engine.positions import Positions, score_bounds
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.errors import UsageError
from oanquan_env.rule_sets import LENGTH, vector

Observation: TypeAlias = npt.NDArray[Any]
"""An array of observations: int32 in the layout `counts` under one rule set, otherwise float32."""
OBSERVATIONS = "counts", "planes", "moves"


def slices(**lengths: int) -> dict[str, slice]:
    """Return a dict of consecutive slices, one for each name, with the given lengths."""
    ends = np.cumsum(list(lengths.values())).tolist()
    return {name: slice(end - length, end) for (name, length), end in zip(lengths.items(), ends, strict=True)}


class Encoder:
    """An encoder that turns positions of one `Core` into observations, from the view of the mover or any other player.

    Args:
        core: the core of the rules.
        observation: one of `OBSERVATIONS`.
        rule_sets: R rule sets with the same players and fields, the core's first; observations then end with the rules.
            Without any, they do not.
        rules_visible: if False, these numbers are zero.

    Attributes:
        dtype: int32 for `counts` without `rule_sets`, otherwise float32.
        vectors: (R, 20) float32, the numbers with which observations under each rule set end.
        low, high: (D,) of `dtype`, bounds for every reachable position; see `engine.positions.score_bounds`.
        layout: the slice of each part of an observation, by the names at the top of this module.

    Raises `UsageError` for an unknown observation.
    """

    def __init__(
        self,
        core: Core,
        observation: str = "counts",
        rule_sets: Sequence[Rules] = (),
        *,
        rules_visible: bool = True,
    ) -> None:
        if observation not in OBSERVATIONS:
            raise UsageError(f"observation must be one of {', '.join(OBSERVATIONS)}; got {observation!r}")
        self.core, self.observation, self.rule_sets, self.rules_visible = core, observation, rule_sets, rules_visible
        rules, players, everything = core.rules, core.rules.players, rule_sets or (core.rules,)
        self.vectors = np.array(list(map(vector, rule_sets)), np.float32).reshape(-1, LENGTH) * rules_visible
        self._index = 0
        least, greatest = zip(*(score_bounds(rule_set, rule_set.max_plies) for rule_set in everything), strict=True)
        # name -> length, minimum, maximum
        parts: dict[str, tuple[int, Any, Any]] = {
            "seeds": (rules.squares, 0, MAX_SEEDS),
            "stones": (players, 0, 1),
            "scores": (players, min(least), max(greatest)),
            "turn": (1, 0, players - 1),
            "plies": (1, 0, max(rule_set.max_plies for rule_set in everything)),
        }
        if observation != "counts":
            parts = {
                "counts": (rules.squares * COUNTS, 0, 1),
                "seeds": (rules.squares, 0, MAX_SEEDS / SCALE),
                "stones": (players, 0, 1),
                "scores": (
                    players,
                    min(score / rule_set.total for score, rule_set in zip(least, everything, strict=True)),
                    max(score / rule_set.total for score, rule_set in zip(greatest, everything, strict=True)),
                ),
                "plies": (1, 0, 1),
            }
        if observation == "moves":  # a ply wins at most the points on the board and the seeds that refills add
            stone = max(rule_set.stone_value for rule_set in everything)
            most = (MAX_SEEDS + players * (stone + 4 * rules.fields)) / SCALE
            parts |= dict.fromkeys(("wins", "remains"), (rules.actions, -most, most))
        if rule_sets:
            parts["rules"] = LENGTH, self.vectors.min(axis=0), self.vectors.max(axis=0)
        self.dtype: Any = np.int32 if observation == "counts" and not rule_sets else np.float32
        self.layout = slices(**{name: length for name, (length, *_) in parts.items()})
        self.low, self.high = (
            np.concatenate([np.full(part[0], part[side], self.dtype) for part in parts.values()]) for side in (1, 2)
        )

    @property
    def size(self) -> int:
        """The length D of an observation."""
        return len(self.low)

    @property
    def row_type(self) -> np.dtype[Any]:
        """The data type of a record that holds an observation, for the loops."""
        return row_type(self.dtype, self.size, LENGTH if len(self.vectors) else 0)

    def under(self, core: Core, index: int) -> Self:
        """Return an encoder with the same bounds for the rule set with this index, whose core is `core`."""
        other = copy.copy(self)
        other.core, other._index = core, index
        return other

    def encode(self, positions: Positions, viewer: Ints | int | None = None) -> Observation:
        """Return (N, D) observations from the view of `viewer`: (N,) seats, or one seat for all positions.

        `viewer` defaults to the mover of each position.
        """
        n = len(positions)
        seats = positions.mover if viewer is None else np.broadcast_to(np.asarray(viewer, dtype=np.intp), n).copy()
        observations = np.empty(n, self.row_type)
        loops, rules, arrays = self.core.loops(positions)
        if self.observation == "counts":
            loops.observe(rules, arrays, seats, observations)
        else:
            loops.observe_planes(rules, arrays, seats, self.observation == "moves", observations)
        rows: Observation = observations["row"]
        if "rules" in self.layout:
            rows[:, self.layout["rules"]] = self.vectors[self._index]
        return rows
