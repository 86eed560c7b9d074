"""Inputs of the networks: the plain observation, or the positions that the core computes one and two plies ahead of it.

These belong to the agent. The environment's observation is the position alone.
"""

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints
from oanquan_env.observation import Encoder, slices

Features: TypeAlias = npt.NDArray[np.int16]


class FeatureEncoder(ABC):
    """Turns positions into rows of small integers."""

    core: Core
    layout: dict[str, slice]
    """Name -> slice of a row, the parts that a network takes apart."""

    @property
    def size(self) -> int:
        """Columns of a row."""
        return max(int(part.stop) for part in self.layout.values())

    @abstractmethod
    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""


class PlainFeatures(FeatureEncoder):
    """The environment's observation, clipped to 16 bits. Layout: see `oanquan_env.observation`."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.encoder = Encoder(core)
        self.layout = self.encoder.layout

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        return _as_int16(self.encoder.encode(positions))


class AfterstateFeatures(FeatureEncoder):
    """A position, the results of its moves and the gains of the replies to them. Illegal moves and replies read zero.

    The gain of a move is a margin: a player's points over the mean of the others'. It is given times P - 1, a whole
    number. The margins of all players sum to zero, so the last one's is left out.

    Columns (P players, A actions, B = squares + players board columns: seeds and stones, the mover's side first):

        board      B            the position, seen by its mover
        gains      (P - 1) * A  (P - 1) times the margin that each move wins the mover, then the players after it
                                in turn order without the last; leftovers of a finishing move included
        status     A            `NO_MOVE`, `GOES_ON` or `OVER`: whether the move is legal, and whether it ends the game
        after      A * B        the position after each move, seen by the next mover
        replies    A * A        P - 1 times the margin that each reply to each move wins the player who replies

    Attributes:
        per_point: the number for a margin of one point in these columns, P - 1.
    """

    NO_MOVE, GOES_ON, OVER = 0, 1, 2

    def __init__(self, core: Core) -> None:
        self.core = core
        self.encoder = Encoder(core)
        boards, actions, others = self.encoder.layout["stones"].stop, core.rules.actions, core.rules.players - 1
        self.layout = slices(
            board=boards, gains=others * actions, status=actions, after=actions * boards, replies=actions**2
        )
        self.board = self.layout["board"]
        self.per_point = others

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        features, after, rows, moves = self.expand(positions)
        replied, parents, replies = self.core.expand(after)
        actions = self.core.rules.actions
        gains = features[:, self.layout["replies"]].reshape(len(positions), actions, actions)
        gains[rows[parents], moves[parents], replies] = self._gains(after, replied, parents, 1)[:, 0]
        return features

    def expand(self, positions: Positions) -> tuple[Features, Positions, Ints, Ints]:
        """The features but for the replies, and the M positions after all moves with the row and action of each."""
        features = np.zeros((len(positions), self.size), dtype=np.int16)
        features[:, self.board] = self.encoder.encode(positions)[:, self.board]
        after, rows, moves = self.core.expand(positions)
        players, actions = self.core.rules.players, self.core.rules.actions
        gains = features[:, self.layout["gains"]].reshape(len(positions), players - 1, actions)
        gains[rows, :, moves] = self._gains(positions, after, rows, players - 1)
        features[:, self.layout["status"]][rows, moves] = np.where(after.over, self.OVER, self.GOES_ON)
        boards = features[:, self.layout["after"]].reshape(len(positions), actions, self.board.stop)
        boards[rows, moves] = self.encoder.encode(after)[:, self.board]
        return features, after, rows, moves

    def _gains(self, parents: Positions, children: Positions, rows: Ints, of: int) -> Features:
        """(M, of) P - 1 times the margins that the moves from `parents[rows]` to `children` won, the mover's first."""
        players, mover = self.core.rules.players, parents.mover.take(rows)
        won = self.core.standings(children) - parents.scores.take(rows, axis=0)
        together, seats = won[:, 0] + sum(won.T[1:]), np.arange(0, won.size, players)
        own = [won.take(seats + (mover + place) % players) for place in range(of)]
        return _as_int16(np.stack(own, axis=1) * players - together[:, None])


class TwoPlyFeatures(FeatureEncoder):
    """A position and its afterstates, each with its moves and their replies (`AfterstateFeatures`): two plies ahead.

    Columns (D = `AfterstateFeatures.size`):

        here       D      the position
        after      A * D  the position after each move, seen by the next mover; zero for illegal moves
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.moves = AfterstateFeatures(core)
        self.layout = slices(here=self.moves.size, after=core.rules.actions * self.moves.size)

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        actions = self.core.rules.actions
        features = np.zeros((len(positions), self.size), dtype=np.int16)
        here, after, rows, moves = self.moves.expand(positions)
        blocks = features[:, self.layout["after"]].reshape(len(positions), actions, self.moves.size)
        blocks[rows, moves] = self.moves.encode(after)
        replies = blocks[:, :, self.moves.layout["gains"]][:, :, :actions]  # what the next mover's moves win it
        here[:, self.moves.layout["replies"]] = replies.reshape(len(positions), actions**2)
        features[:, self.layout["here"]] = here
        return features


def _as_int16(values: npt.NDArray[np.integer]) -> Features:
    limits = np.iinfo(np.int16)
    return values.clip(limits.min, limits.max).astype(np.int16)
