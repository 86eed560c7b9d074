"""What a network is fed: the plain observation, or what the core computes one and two plies ahead of it.

This lookahead belongs to the agent. The environment's observation stays the position and no more.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints
from oanquan_env.core import relative_points
from oanquan_env.observation import Encoder

Features: TypeAlias = npt.NDArray[np.int16]


class FeatureEncoder(Protocol):
    """Turns positions into rows of small integers; `layout` names the columns that a network takes apart."""

    core: Core
    layout: dict[str, slice]

    @property
    def size(self) -> int:
        """Columns of a row."""

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""


class PlainFeatures:
    """The environment's observation, clipped to 16 bits. Layout: see `oanquan_env.observation`."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.encoder = Encoder(core)
        self.layout = self.encoder.layout

    @property
    def size(self) -> int:
        """Columns of a row."""
        return self.encoder.size

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        return _as_int16(self.encoder.encode(positions))


class AfterstateFeatures:
    """The position, the position that each move leaves to the next player, and the points that each move wins.

    Two plies deep: of the position and of each afterstate it also tells what each move available there would win.
    Illegal moves and what would follow them read zero, as do moves in finished games.

    Columns (A actions, B = squares + players board columns: seeds and stones, the mover's side first):

        board      B      the position, seen by its mover
        gains      A      points that each own move wins, over the opponent's; leftovers of a finishing move included
        over       A      1 where the move ends the game
        after      A * B  the position after each move, seen by the next mover
        replies    A * A  points that each reply to each move wins, likewise

    Raises:
        ValueError: for more than two players, of whom "the opponent's points" cannot be said.
    """

    def __init__(self, core: Core) -> None:
        _for_two(core)
        self.core = core
        self.encoder = Encoder(core)
        self.board = slice(0, self.encoder.layout["stones"].stop)
        boards, actions = self.board.stop, core.rules.actions
        self.layout = _layout(
            {
                "board": boards,
                "gains": actions,
                "over": actions,
                "after": actions * boards,
                "replies": actions * actions,
            }
        )

    @property
    def size(self) -> int:
        """Columns of a row."""
        return int(self.layout["replies"].stop)

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        n, actions = len(positions), self.core.rules.actions
        features = np.zeros((n, self.size), dtype=np.int16)
        features[:, self.layout["board"]] = self.encoder.encode(positions)[:, self.board]
        after, rows, moves = self.core.expand(positions)
        features[:, self.layout["gains"]][rows, moves] = _gains(self.core, positions, after, rows)
        features[:, self.layout["over"]][rows, moves] = after.over
        features[:, self.layout["after"]].reshape(n, actions, -1)[rows, moves] = self.encoder.encode(after)[
            :, self.board
        ]
        replied, after_rows, replies = self.core.expand(after)
        features[:, self.layout["replies"]].reshape(n, actions, actions)[
            rows[after_rows], moves[after_rows], replies
        ] = _gains(self.core, after, replied, after_rows)
        return features


class MoveFeatures:
    """A position and what each of its moves does: one ply ahead.

    Columns (A actions, B = squares + players board columns: seeds and stones, the mover's side first):

        board      B      the position, seen by its mover
        gains      A      points that each move wins, over the opponent's; leftovers of a finishing move included
        status     A      `NO_MOVE`, `GOES_ON` or `OVER`: whether the move is legal, and whether it ends the game
        after      A * B  the position after each move, seen by the next mover

    Raises:
        ValueError: for more than two players.
    """

    NO_MOVE, GOES_ON, OVER = 0, 1, 2

    def __init__(self, core: Core) -> None:
        _for_two(core)
        self.core = core
        self.encoder = Encoder(core)
        self.board = slice(0, self.encoder.layout["stones"].stop)
        boards, actions = self.board.stop, core.rules.actions
        self.layout = _layout({"board": boards, "gains": actions, "status": actions, "after": actions * boards})

    @property
    def size(self) -> int:
        """Columns of a row."""
        return int(self.layout["after"].stop)

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        return self.expand(positions)[0]

    def expand(self, positions: Positions) -> tuple[Features, Positions, Ints, Ints]:
        """The features, and the M positions after all moves with the row and the action that each comes from."""
        features = np.zeros((len(positions), self.size), dtype=np.int16)
        features[:, self.layout["board"]] = self.encoder.encode(positions)[:, self.board]
        after, rows, moves = self.core.expand(positions)
        features[:, self.layout["gains"]][rows, moves] = _gains(self.core, positions, after, rows)
        features[:, self.layout["status"]][rows, moves] = np.where(after.over, self.OVER, self.GOES_ON)
        boards = features[:, self.layout["after"]].reshape(len(positions), self.core.rules.actions, self.board.stop)
        boards[rows, moves] = self.encoder.encode(after)[:, self.board]
        return features, after, rows, moves


class LookaheadFeatures:
    """A position and its afterstates, each with what its moves do (see `MoveFeatures`): two plies ahead.

    Columns (D = `MoveFeatures.size`):

        here       D      the position
        after      A * D  the position after each move, seen by the next mover; zero for illegal moves

    Raises:
        ValueError: for more than two players.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.moves = MoveFeatures(core)
        self.layout = _layout({"here": self.moves.size, "after": core.rules.actions * self.moves.size})

    @property
    def size(self) -> int:
        """Columns of a row."""
        return int(self.layout["after"].stop)

    def encode(self, positions: Positions) -> Features:
        """(N, size) int16 features of N positions, seen by their movers."""
        features = np.zeros((len(positions), self.size), dtype=np.int16)
        features[:, self.layout["here"]], after, rows, moves = self.moves.expand(positions)
        blocks = features[:, self.layout["after"]].reshape(
            len(positions), self.moves.core.rules.actions, self.moves.size
        )
        blocks[rows, moves] = self.moves.encode(after)
        return features


def _for_two(core: Core) -> None:
    if core.rules.players != 2:
        raise ValueError(f"features that look ahead are made for two players, not {core.rules.players}")


def _layout(lengths: dict[str, int]) -> dict[str, slice]:
    ends = np.cumsum(list(lengths.values()))
    return {name: slice(int(end) - length, int(end)) for (name, length), end in zip(lengths.items(), ends, strict=True)}


def _gains(core: Core, parents: Positions, children: Positions, rows: Ints) -> Features:
    """(M,) points that the moves from `parents[rows]` to `children` won their movers."""
    won = relative_points(core.standings(children) - parents.scores[rows])
    return _as_int16(won[np.arange(len(rows)), parents.mover[rows]])


def _as_int16(values: npt.NDArray[np.int32] | npt.NDArray[np.float64]) -> Features:
    limits = np.iinfo(np.int16)
    return values.clip(limits.min, limits.max).astype(np.int16)
