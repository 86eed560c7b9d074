"""The protocol of players: a batch of positions in, actions out; and the choice among valued moves."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.core import check_whole
from oanquan_env.engine.positions import Positions


@runtime_checkable
class Policy(Protocol):
    """A player of one `Rules`."""

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """(N,) intp, a legal action for the mover of each of N running positions; all chance comes from `rng`."""


def best_actions(values: npt.NDArray[np.floating], mask: Mask, rng: np.random.Generator) -> Ints:
    """(N,) intp, the legal action of highest value in each row of `values` (N, A), ties broken at random."""
    if len(values) == 1:
        row = values[0].tolist()
        return best_of_one({action: row[action] for action in mask[0].nonzero()[0].tolist()}, len(row), rng)
    best = np.where(mask, values, -np.inf)
    tied = best == best.max(axis=1, keepdims=True)
    choice: Ints = np.where(tied & mask, rng.random(values.shape), -1.0).argmax(axis=1)
    return choice


def best_of_one(values: Mapping[int, float], actions: int, rng: np.random.Generator) -> Ints:
    """(1,) intp, `best_actions` of one position by its legal actions' values, with the same draws in fewer steps."""
    draws = rng.random(actions).tolist()
    return np.array([max(values, key=lambda action: (values[action], draws[action]), default=0)], dtype=np.intp)


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
