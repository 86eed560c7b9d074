"""Batched positions: N games as a struct of arrays, with one row per game.

Shapes: N games, P players, F fields per side. A row of `squares` holds 8 bytes for each side, so that a side is
one 64-bit word (little-endian: byte k is bits 8k to 8k+7) and a sowing adds one row of words:

    byte     0   1   2   3   4        5              6             7
           +---+---+---+---+---+--------------+-------------+---------------+
    side p | fields, seeds     | its mandarin | always zero | its mandarin  |
           | (unused: zero)    | square: seeds|             | stone, 0 or 1 |
           +---+---+---+---+---+--------------+-------------+---------------+

The ring runs side 0, side 1, ... through bytes 0 .. F-1 and then 5 of each:

          North's right                 North's left          ring index of (side, field f): p * (F + 1) + f
             10    9    8    7    6                           ring index of its mandarin square: p * (F + 1) + F
       (11)                             (5)
              0    1    2    3    4                           +1 is anticlockwise (A), -1 clockwise (C)
          South's left          South's right
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Bytes, Index, Ints, Mask, Points, Words
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.errors import UsageError

SIDE_BYTES = 8
MANDARIN_BYTE = 5
ZERO_BYTE = 6
STONE_BYTE = 7


class Termination(IntEnum):
    """The reason why a game is over; `RUNNING` means that it is not.

    Finished games with codes from `MAX_PLIES` on are truncated, and all others are terminated.
    After `ENDLESS_RELAY` and `TOO_MANY_SEEDS` the board is as it was before the move, which could not be completed.
    Moves never set `RESIGNED`, which means that the player to move gave up a round of a match.
    """

    RUNNING = 0
    STONES_CAPTURED = 1
    SQUARES_EMPTY = 2
    FORFEIT = 3
    RESIGNED = 4
    MAX_PLIES = 5
    ENDLESS_RELAY = 6
    TOO_MANY_SEEDS = 7

    def __str__(self) -> str:
        return self.name.lower()


class TurnEnd(StrEnum):
    """The reason why sowing and capturing ended; `notation.WORDS` has the texts."""

    NO_FURTHER_GAP = auto()
    NOTHING_BEHIND = auto()
    UNRIPE_MANDARIN = auto()
    SEEDS_STAY = auto()
    ONE_CAPTURE = auto()
    MANDARIN_AHEAD = auto()
    EMPTY_MANDARIN_AHEAD = auto()
    NOT_COMPLETED = auto()


@dataclass(frozen=True)
class Outcome:
    """The result of a finished game.

    Attributes:
        scores: final points of each player, leftovers included.
        winner: the player with the most points; None for a tie at the top.
        termination: why the game is over.
    """

    scores: tuple[int, ...]
    winner: int | None
    termination: Termination

    @property
    def result(self) -> str:
        """The scores as they are written in game records, such as `42-28`."""
        return "-".join(map(str, self.scores))


OWN, PAWNED, SOLD = 0, 1, 2
"""Codes of field owners in match play: the field is the player's own, or pawned or sold to the other player."""

RUNNING = np.uint8(Termination.RUNNING)  # NumPy takes ten microseconds to convert an IntEnum
_MAX_PLIES = np.uint8(Termination.MAX_PLIES)


@dataclass(slots=True, eq=False)
class Positions:
    """N positions under the same rules. The object owns its arrays, and `Core.play` changes them in place.

    The mover has seeds on its fields unless the game is over, or `Core.setup` made the position with `checked=False`.

    Attributes:
        squares: (N, 8P) uint8, C-contiguous; the layout is drawn at the top of this module.
        scores: (N, P) int32, points: captures minus refills, without leftovers; may be negative.
        mover: (N,) intp, the player to move; the last move of a game also passes the turn.
        ply: (N,) int32, number of moves played.
        ended: (N,) uint8, codes of `Termination`.
    """

    squares: Bytes
    scores: Points
    mover: Ints
    ply: npt.NDArray[np.int32]
    ended: Bytes

    def __len__(self) -> int:
        return len(self.mover)

    @property
    def sides(self) -> Words:
        """(N, P) uint64 view of `squares`, with one word per side."""
        return self.squares.view(np.uint64)

    @property
    def words(self) -> npt.NDArray[np.int64]:
        """(N, P) int64 view of `squares`, for compiled loops; no word is negative."""
        return self.squares.view(np.int64)

    @property
    def over(self) -> Mask:
        """(N,) bool, whether each game is terminated or truncated."""
        over: Mask = self.ended != RUNNING
        return over

    @property
    def terminated(self) -> Mask:
        """(N,) bool, whether each game is over and was not truncated."""
        return self.over & ~self.truncated

    @property
    def truncated(self) -> Mask:
        """(N,) bool, whether each game was ended by the ply limit or by a move that could not be completed."""
        truncated: Mask = self.ended >= _MAX_PLIES
        return truncated

    def row_starts(self) -> Ints:
        """Return (N,) indices of the first byte of each row in the flat `squares`."""
        return np.arange(0, self.squares.size, self.squares.shape[1])

    def seat_index(self, offset: int = 0) -> Ints:
        """Return (N,) indices into the flat `sides` or `scores`, of the players `offset` seats after the movers."""
        players = self.scores.shape[1]
        seat = self.mover if offset == 0 else (self.mover + offset) % players
        return np.arange(0, self.scores.size, players) + seat

    def sides_in_turn(self) -> Words:
        """Return the (N, P) sides as words in the order of play, the mover's first."""
        return np.take_along_axis(self.sides, turn_order(self.mover, self.scores.shape[1]), axis=1)

    def arrays(self) -> Iterator[npt.NDArray[Any]]:
        """Return an iterator over the five arrays, in the order of the attributes."""
        return iter((self.squares, self.scores, self.mover, self.ply, self.ended))

    def copy(self) -> Positions:
        """Return a copy that shares no memory with this object."""
        return Positions(self.squares.copy(), self.scores.copy(), self.mover.copy(), self.ply.copy(), self.ended.copy())

    def __getitem__(self, rows: Index) -> Positions:
        """Return a copy of the positions at `rows` (slice, index array or bool mask)."""
        if isinstance(rows, slice):
            rows = np.arange(len(self))[rows]
        elif rows.dtype == np.bool_:
            rows = rows.nonzero()[0]
        return Positions(
            self.squares.take(rows, axis=0),
            self.scores.take(rows, axis=0),
            self.mover.take(rows),
            self.ply.take(rows),
            self.ended.take(rows),
        )

    def at(self, rows: Ints) -> Positions:
        """Return the positions at ascending `rows`: a copy like `[rows]`, or this object if `rows` are all rows."""
        return self if len(rows) == len(self) else self[rows]

    def __setitem__(self, rows: Index, other: Positions) -> None:
        """Overwrite the positions at `rows`; a single position in `other` is broadcast."""
        for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
            mine[rows] = theirs

    def same(self, other: Positions) -> Mask:
        """Return (N,) bool, whether each row equals the same row of `other` in all arrays."""
        equal: Mask = (self.squares == other.squares).all(axis=1) & (self.scores == other.scores).all(axis=1)
        equal &= (self.mover == other.mover) & (self.ply == other.ply) & (self.ended == other.ended)
        return equal

    @staticmethod
    def concatenate(batches: Iterable[Positions]) -> Positions:
        """Return the positions of all `batches` as one batch; there must be at least one batch."""
        columns = zip(*(batch.arrays() for batch in batches), strict=True)
        squares, scores, mover, ply, ended = (np.concatenate(column) for column in columns)
        return Positions(squares, scores, mover, ply, ended)


def turn_order(mover: Ints, players: int) -> Ints:
    """Return (N, P) seats: for each `mover`, all seats in the order of play, the mover's first."""
    return (mover[:, None] + np.arange(players)) % players


def turn_places(mover: Ints, players: int) -> Ints:
    """Return the (N, P) index of each seat in `turn_order`: 0 for the mover, 1 for the next player."""
    return (np.arange(players) - mover[:, None]) % players


# ---- checks of positions that were set up by hand --------------------------------------------------------------------

Column = npt.NDArray[np.int64]


class PositionError(UsageError):
    """Raised for an impossible position; the message names the fault and, if known, the row of the batch.

    Attributes:
        reason: the message without the row.
        column: the faulty column: `seeds`, `stones`, `scores`, `mover`, `ply`, or `points` for their total.
        index: index of the wrong entry in the faulty row of that column; 0 if no single entry is wrong.
    """

    def __init__(self, message: str, *, column: str, row: int | None = None, index: int = 0) -> None:
        super().__init__(message if row is None else f"row {row}: {message}")
        self.reason = message
        self.column = column
        self.index = index


class Setup(NamedTuple):
    """The checked columns of N positions, int64."""

    seeds: Column
    stones: Column
    scores: Column
    mover: Column
    ply: Column


def check_setup(
    rules: Rules,
    seeds: npt.ArrayLike,
    stones: npt.ArrayLike,
    scores: npt.ArrayLike,
    mover: npt.ArrayLike,
    ply: npt.ArrayLike,
) -> Setup:
    """Return the arguments of `Core.setup` as int64; raise `PositionError` if a shape, dtype or number is wrong."""
    table = _whole("seeds", seeds)
    n = len(table) if table.ndim == 2 else -1
    _shape("seeds", table, (n if n >= 0 else "N", rules.squares))
    columns = Setup(
        seeds=table,
        stones=_whole("stones", stones),
        scores=_whole("scores", scores),
        mover=_one_each("mover", mover, n),
        ply=_one_each("ply", ply, n),
    )
    _shape("stones", columns.stones, (n, rules.players))
    _shape("scores", columns.scores, (n, rules.players))
    _within("seeds", columns.seeds, 0, MAX_SEEDS)
    _within("stones", columns.stones, 0, int(rules.stones))
    _within("mover", columns.mover[:, None], 0, rules.players - 1)
    _within("ply", columns.ply[:, None], 0, rules.max_plies)
    _within("scores", columns.scores, *score_bounds(rules, -(-rules.max_plies // rules.players)))
    in_play = columns.seeds.sum(axis=1)
    _require(
        "seeds",
        in_play <= MAX_SEEDS,
        lambda row: f"there are {in_play[row]} seeds; at most {MAX_SEEDS} are allowed",
    )
    return columns


def score_bounds(rules: Rules, refills: int) -> tuple[int, int]:
    """Return the lowest and highest possible score if each player refills at most `refills` times; both fit int32.

    A refill may cost F points on credit, so no score falls below -F * refills or rises above the total plus the others'
    deepest debts. With `refill_when=turn` a player refills only before its own moves: at most ceil(max_plies / P) times
    in a game. `check_setup` allows this number; `Encoder` allows max_plies refills, to cover later play as well.
    """
    debt = rules.fields * refills
    return -debt, rules.total + (rules.players - 1) * debt


def check_points(rules: Rules, columns: Setup) -> None:
    """Raise `PositionError` if seeds, stones and scores do not add up to the total of the rules."""
    points = columns.seeds.sum(axis=1) + columns.stones.sum(axis=1) * rules.stone_value + columns.scores.sum(axis=1)
    _require(
        "points",
        points == rules.total,
        lambda row: f"seeds, stones and scores make {points[row]} points, not the {rules.total} of the rules",
    )


def check_ready(ready: Mask, mover: Column) -> None:
    """Raise `PositionError` unless all positions are `ready`: either over, or with a legal move for the mover."""
    _require("mover", ready, lambda row: f"the row of the mover, player {mover[row]}, is empty, so it cannot move")


def _whole(name: str, values: npt.ArrayLike) -> Column:
    try:
        array = np.asarray(values)
    except ValueError:
        raise PositionError(f"{name} must be rows of equal length", column=name) from None
    if array.dtype.kind not in "iub":
        raise PositionError(f"{name} must be whole numbers of at most 64 bits; got {array.dtype}", column=name)
    if array.dtype == np.uint64:  # its largest values would be negative as int64
        array = np.minimum(array, np.iinfo(np.int64).max)
    return array.astype(np.int64)


def _one_each(name: str, values: npt.ArrayLike, n: int) -> Column:
    array = _whole(name, values)
    if array.shape not in ((), (1,), (n,)):
        raise PositionError(f"{name} must be one number or {n} numbers; got shape {array.shape}", column=name)
    return np.broadcast_to(array, (n,))


def _shape(name: str, array: Column, shape: tuple[int | str, ...]) -> None:
    if array.shape != shape:
        raise PositionError(f"{name} must have shape {shape}; got {array.shape}", column=name)


def _within(name: str, array: Column, low: int, high: int) -> None:
    inside = (array >= low) & (array <= high)
    _require(
        name,
        inside.all(axis=1),
        lambda row: f"the {name} must be {low} to {high}, got {array[row].tolist()}",
        lambda row: int(inside[row].argmin()),
    )


def _require(
    column: str, good: Mask | np.bool_, message: Callable[[int], str], index: Callable[[int], int] = lambda row: 0
) -> None:
    if not good.all():
        row = int(good.argmin())
        raise PositionError(message(row), column=column, row=row, index=index(row))
