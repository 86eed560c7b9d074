"""The protocol of players, which choose actions for a batch of positions."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import check_whole
from oanquan_env.engine.positions import Positions


@runtime_checkable
class Policy(Protocol):
    """A player for one `Rules`."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """Return (N,) intp, a legal action for the mover in each of N running positions; draw only from `rng`."""


@runtime_checkable
class DrawingPolicy(Policy, Protocol):
    """A player that draws uniformly from its tied moves and can list them all."""

    def tied_moves(self, positions: Positions) -> Mask:
        """Return (N, A) bool, the moves from which the player draws in N running positions, at least one in each."""


def ask_players(players: Sequence[Policy], numbers: Ints, positions: Positions, rng: np.random.Generator) -> Ints:
    """Return (N,) intp actions in N running positions: `players[numbers[n]]` chooses for row n, in one call per player.

    Raises `IllegalActionError` unless each player returns one integer for each position that it receives.
    """
    actions = np.zeros(len(positions), dtype=np.intp)
    for number, player in enumerate(players):
        rows = (numbers == number).nonzero()[0]
        if rows.size:
            chosen = np.asarray(player.choose(positions[rows], rng))
            check_whole(chosen, len(rows))
            actions[rows] = chosen
    return actions
