"""Inputs of the networks: the plain observation, or also the positions one or two plies ahead, computed by the core.

Looking ahead is part of the agent. The environment's observation holds only the current position.
"""

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints
from oanquan_env.observation import Encoder, slices

Features: TypeAlias = npt.NDArray[np.int16]


class FeatureEncoder(ABC):
    """An encoder of positions as rows of small integers."""

    core: Core
    layout: dict[str, slice]
    """Slice of a row for each named part of the features."""

    @property
    def size(self) -> int:
        """Number of columns of a row."""
        return max(int(part.stop) for part in self.layout.values())

    @abstractmethod
    def encode(self, positions: Positions) -> Features:
        """Return (N, size) int16 features of N positions, each as its mover sees it."""


class PlainFeatures(FeatureEncoder):
    """The environment's observation, clipped to 16 bits; see `oanquan_env.observation` for the layout."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.encoder = Encoder(core)
        self.layout = self.encoder.layout

    def encode(self, positions: Positions) -> Features:
        """Return (N, size) int16 features of N positions, each as its mover sees it."""
        return _as_int16(self.encoder.encode(positions))


class AfterstateFeatures(FeatureEncoder):
    """A position, the results of its moves, and the gains of the replies. Columns of illegal moves and replies are 0.

    A player's gain from a move is the points that it wins minus the mean of the points that the others win. It is
    stored multiplied by P - 1, as a whole number. All players' gains sum to zero, so the last player's gain is omitted.

    Columns (P players, A actions, B = squares + players board columns: seeds and stones, the mover's side first):

        board      B            the position, as its mover sees it
        gains      (P - 1) * A  P - 1 times each move's gain for the mover, then for the players after it in turn order,
                                omitting the last; the gains of a move that ends the game include the leftovers
        status     A            `NO_MOVE`, `GOES_ON` or `OVER`: whether the move is legal, and whether it ends the game
        after      A * B        the position after each move, as the next mover sees it
        replies    A * A        P - 1 times the gain of each reply to each move for the replying player

    Attributes:
        per_point: the scale of the gains: a gain of one point is stored as P - 1.
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
        """Return (N, size) int16 features of N positions, each as its mover sees it."""
        features, after, rows, moves = self.expand(positions)
        replied, parents, replies = self.core.expand(after)
        actions = self.core.rules.actions
        gains = features[:, self.layout["replies"]].reshape(len(positions), actions, actions)
        gains[rows[parents], moves[parents], replies] = self._gains(after, replied, parents, 1)[:, 0]
        return features

    def expand(self, positions: Positions) -> tuple[Features, Positions, Ints, Ints]:
        """Return features without replies, M positions after all moves, and (M,) rows and (M,) actions of the moves."""
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

    def _gains(self, parents: Positions, children: Positions, rows: Ints, count: int) -> Features:
        """Return (M, `count`) stored gains of the first players in turn order, after moves from `parents[rows]`."""
        players, mover = self.core.rules.players, parents.mover.take(rows)
        won = self.core.standings(children) - parents.scores.take(rows, axis=0)
        together, seats = won[:, 0] + sum(won.T[1:]), np.arange(0, won.size, players)
        gained = [won.take(seats + (mover + place) % players) for place in range(count)]
        return _as_int16(np.stack(gained, axis=1) * players - together[:, None])


class TwoPlyFeatures(FeatureEncoder):
    """Features that look two plies ahead: the `AfterstateFeatures` of a position and of each of its afterstates.

    Columns (D = `AfterstateFeatures.size`):

        here       D      the position
        after      A * D  the position after each move, as the next mover sees it; zero for illegal moves
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.moves = AfterstateFeatures(core)
        self.layout = slices(here=self.moves.size, after=core.rules.actions * self.moves.size)

    def encode(self, positions: Positions) -> Features:
        """Return (N, size) int16 features of N positions, each as its mover sees it."""
        actions = self.core.rules.actions
        features = np.zeros((len(positions), self.size), dtype=np.int16)
        here, after, rows, moves = self.moves.expand(positions)
        blocks = features[:, self.layout["after"]].reshape(len(positions), actions, self.moves.size)
        blocks[rows, moves] = self.moves.encode(after)
        replies = blocks[:, :, self.moves.layout["gains"]][:, :, :actions]  # the next mover's gains from its own moves
        here[:, self.moves.layout["replies"]] = replies.reshape(len(positions), actions**2)
        features[:, self.layout["here"]] = here
        return features


def _as_int16(values: npt.NDArray[np.integer]) -> Features:
    limits = np.iinfo(np.int16)
    return values.clip(limits.min, limits.max).astype(np.int16)
