"""The protocol of players: a batch of positions in, actions out."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.core import check_whole
from oanquan_env.engine.positions import Positions


@runtime_checkable
class Policy(Protocol):
    """A player of one `Rules`."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """(N,) intp, a legal action for the mover of each of N running positions; all chance comes from `rng`."""


@runtime_checkable
class DrawingPolicy(Policy, Protocol):
    """A player that draws one of its tied moves, each with the same chance, and can name them all."""

    def tied_moves(self, positions: Positions) -> Mask:
        """(N, A) bool, the moves among which it draws in each of N running positions; one or more in each."""


def ask_players(players: Sequence[Policy], numbers: Ints, positions: Positions, rng: np.random.Generator) -> Ints:
    """(N,) intp, actions of N running positions: `players[numbers[n]]` chooses for row n, and each is asked once.

    Raises `IllegalActionError` for an answer of anything but a whole number for each of its positions.
    """
    actions = np.zeros(len(positions), dtype=np.intp)
    for number, player in enumerate(players):
        rows = (numbers == number).nonzero()[0]
        if rows.size:
            chosen = np.asarray(player.choose(positions[rows], rng))
            check_whole(chosen, len(rows))
            actions[rows] = chosen
    return actions
