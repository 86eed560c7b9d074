"""What makes a position set up by hand a possible one, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.positions import Mask
from oanquan_env.rules import MAX_SEEDS, Rules

Column = npt.NDArray[np.int64]


class PositionError(ValueError):
    """A position that cannot be; the message names the row of the batch and what is wrong."""


class Setup(NamedTuple):
    """Checked columns of N positions, int64."""

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
    """The columns of `Core.setup` as arrays of the right shapes; raises `PositionError` for what no game can show."""
    table = _whole("seeds", seeds)
    n = len(table) if table.ndim == 2 else -1
    _shape("seeds", table, (n if n >= 0 else "N", rules.squares))
    columns = Setup(
        seeds=table,
        stones=_whole("stones", stones),
        scores=_whole("scores", scores),
        mover=np.broadcast_to(_whole("mover", mover), (n,)),
        ply=np.broadcast_to(_whole("ply", ply), (n,)),
    )
    _shape("stones", columns.stones, (n, rules.players))
    _shape("scores", columns.scores, (n, rules.players))
    _within("seeds", columns.seeds, 0, MAX_SEEDS)
    _within("stones", columns.stones, 0, int(rules.stones))
    _within("mover", columns.mover[:, None], 0, rules.players - 1)
    _within("ply", columns.ply[:, None], 0, rules.max_plies)
    in_play = columns.seeds.sum(axis=1)
    _require(in_play <= MAX_SEEDS, lambda row: f"{in_play[row]} seeds are more than {MAX_SEEDS}")
    points = in_play + columns.stones.sum(axis=1) * rules.stone_value + columns.scores.sum(axis=1)
    _require(
        points == rules.total,
        lambda row: f"seeds, stones and scores make {points[row]} points, not the {rules.total} of the rules",
    )
    return columns


def check_ready(ready: Mask, mover: Column) -> None:
    """Raise `PositionError` where the mover has nothing to play, as his refill would be due first."""
    _require(ready, lambda row: f"the row of the mover, player {mover[row]}, is empty: not ready to move")


def _whole(name: str, values: npt.ArrayLike) -> Column:
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise PositionError(f"{name} must be whole numbers, got {array.dtype}")
    return array.astype(np.int64)


def _shape(name: str, array: Column, shape: tuple[int | str, ...]) -> None:
    if array.shape != shape:
        raise PositionError(f"{name} must have shape {shape}, got {array.shape}")


def _within(name: str, array: Column, low: int, high: int) -> None:
    _require(
        ((array >= low) & (array <= high)).all(axis=1),
        lambda row: f"{name} must be {low} to {high}, got {array[row].tolist()}",
    )


def _require(good: Mask | np.bool, message: Callable[[int], str]) -> None:
    if not good.all():
        row = int(good.argmin())
        raise PositionError(f"row {row}: {message(row)}")
