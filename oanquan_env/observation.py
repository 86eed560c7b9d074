"""The one encoder: a player's observation of a position, without lookahead.

Layout of an observation, int32 (P players, F fields a side; the viewer's own side first, then ring order):

    name     length     meaning                                                     bounds
    seeds    P * (F+1)  seeds of each square, a side's mandarin square last         0 .. 255
    stones   P          stone on each side's mandarin square                        0 .. 1
    scores   P          points: captures less refills (debts go below zero)         see `Encoder.low`
    turn     1          seats from the viewer to the mover, 0 if the viewer moves   0 .. P-1
    plies    1          plies left before the game is truncated                     0 .. max_plies
"""

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.position_checks import score_bounds
from oanquan_env.engine.positions import SIDE_BYTES, Positions
from oanquan_env.engine.rules import MAX_SEEDS

Observation = npt.NDArray[np.int32]


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
        self._board_bytes = np.concatenate([core.tables.ring_bytes, core.tables.stone_bytes])
        turned = self._board_bytes + SIDE_BYTES * np.arange(players)[:, None]
        self._board_seen_from = list(turned % (SIDE_BYTES * players))
        self._seats = (np.arange(players)[:, None] + np.arange(players)) % players
        self._board, self._scores = slice(0, self.layout["stones"].stop), self.layout["scores"]

    @property
    def size(self) -> int:
        """Length D of an observation."""
        return len(self.low)

    def encode(self, positions: Positions, viewer: Ints | int | None = None) -> Observation:
        """(N, D) int32 observations; `viewer` is who looks, one for all or (N,), and each row's mover if left out."""
        n, players = positions.scores.shape
        if n == 1:
            return self._encode_one(positions, positions.mover.item() if viewer is None else np.asarray(viewer).item())
        seat: Ints = positions.mover if viewer is None else np.full(n, viewer, dtype=np.intp)
        own_first = self._seats.take(seat, axis=0)  # into the flat sides and scores: whole sides are turned at once
        own_first += np.arange(0, n * players, players)[:, None]
        sides = positions.sides.take(own_first)
        observation = np.empty((n, self.size), dtype=np.int32)
        observation[:, self._board] = sides.view(np.uint8).take(self._board_bytes, axis=1)
        observation[:, self._scores] = positions.scores.take(own_first)
        observation[:, -2] = (positions.mover - seat) % players
        observation[:, -1] = self.core.rules.max_plies - positions.ply
        return observation

    def _encode_one(self, positions: Positions, seat: int) -> Observation:
        """(1, D): `encode` for a batch of one, in fewer steps."""
        scores = positions.scores.tolist()[0]
        turn, plies = (positions.mover.item() - seat) % len(scores), self.core.rules.max_plies - positions.ply.item()
        observation = np.empty((1, self.size), dtype=np.int32)
        observation[0, self._board] = positions.squares.take(self._board_seen_from[seat])
        observation[0, self._board.stop :] = *scores[seat:], *scores[:seat], turn, plies
        return observation
