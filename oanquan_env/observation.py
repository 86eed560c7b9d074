"""The observation of a position by one of its players, without lookahead.

Layout of an observation, int32 (P players, F fields a side; the viewer's own side first, then ring order):

    name     length     meaning                                                     bounds
    seeds    P * (F+1)  seeds of each square, a side's mandarin square last         0 .. 255
    stones   P          stone on each side's mandarin square                        0 .. 1
    scores   P          points: captures less refills (debts go below zero)         see `Encoder.low`
    turn     1          seats from the viewer to the mover, 0 if the viewer moves   0 .. P-1
    plies    1          plies left before the game is truncated                     0 .. max_plies

`engine.step.observe` writes it, for batches and for environments.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.position_checks import score_bounds
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import MAX_SEEDS
from oanquan_env.engine.step import row_type

Observation = npt.NDArray[np.int32]
COUNTS = 16
"""`Encoder.features` tells 0 to COUNTS - 2 seeds apart; more differ only by their number."""


def slices(**lengths: int) -> dict[str, slice]:
    """Parts of these lengths, one after the other."""
    ends = np.cumsum(list(lengths.values())).tolist()
    return {name: slice(end - length, end) for (name, length), end in zip(lengths.items(), ends, strict=True)}


class Encoder:
    """Encodes positions of one `Core` as observations, seen by the mover or by any player.

    Attributes:
        low, high: (D,) int32, bounds that hold for every reachable position; see `position_checks.score_bounds`.
        layout: name -> slice of an observation, as drawn at the top of this module.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        rules = core.rules
        players = rules.players
        lengths = {"seeds": rules.squares, "stones": players, "scores": players, "turn": 1, "plies": 1}
        self.layout = slices(**lengths)
        bounds = {
            "seeds": (0, MAX_SEEDS),
            "stones": (0, 1),
            "scores": score_bounds(rules, rules.max_plies),
            "turn": (0, players - 1),
            "plies": (0, rules.max_plies),
        }
        self.low, self.high = (
            np.concatenate([np.full(length, bounds[name][side], dtype=np.int32) for name, length in lengths.items()])
            for side in (0, 1)
        )

    @property
    def size(self) -> int:
        """Length D of an observation."""
        return len(self.low)

    def encode(self, positions: Positions, viewer: Ints | int | None = None) -> Observation:
        """Return the (N, D) int32 observations of the players at `viewer`: (N,) seats, or one seat for all.

        By default the mover of each position looks.
        """
        n = len(positions)
        seats = positions.mover if viewer is None else np.broadcast_to(np.asarray(viewer, dtype=np.intp), n).copy()
        observations = np.empty(n, row_type(np.int32, self.size))
        loops, rules, arrays = self.core.loops(positions)
        loops.observe(rules, arrays, seats, observations)
        rows: Observation = observations["row"]
        return rows

    @property
    def feature_size(self) -> int:
        """Length M of `features`."""
        rules = self.core.rules
        return rules.squares * (COUNTS + 1) + rules.players + 1

    def features(self, observations: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return (N, M) float32 features of (N, D) observations for networks: the count of each square, one-hot.

        Sowing depends sharply on counts. Counts as numbers, stones and the plies left follow. Scores are left out:
        margins yet to come do not depend on them.
        """
        seeds, stones, plies = (observations[:, self.layout[name]] for name in ("seeds", "stones", "plies"))
        counts = (np.minimum(seeds, COUNTS - 1)[:, :, None] == np.arange(COUNTS)).reshape(len(seeds), -1)
        return np.concatenate([counts, seeds / 10, stones, plies / self.core.rules.max_plies], axis=1, dtype=np.float32)
