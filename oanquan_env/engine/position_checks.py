"""Check positions that were set up by hand, and define the error for impossible positions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.errors import UsageError

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
