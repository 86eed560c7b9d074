"""Put the sides and scores of a game into the order of play from any seat, as tuples of four integers."""

from collections.abc import Callable
from typing import Any

from oanquan_env.engine.move import Four


def next_seat(players: int, seat: int) -> int:
    """Return the seat that moves after `seat`."""
    return seat + 1 if seat + 1 < players else 0


def in_turn(players: int, numbers: Any, first: int) -> Four:
    """Return the sides or scores of all players in the order of play from the seat `first`, padded with zeros."""
    second = next_seat(players, first)
    third = next_seat(players, second)
    # `+ 0` turns int32 into int64 under Numba, `int` turns NumPy's numbers into Python's
    a, b, c, d = int(numbers[first]) + 0, int(numbers[second]) + 0, 0, 0
    if players > 2:
        c = int(numbers[third]) + 0
    if players > 3:
        d = int(numbers[next_seat(players, third)]) + 0
    return a, b, c, d


def write_in_turn(players: int, numbers: Any, first: int, values: Four) -> None:
    """Write `values`, which are in the order of play from `first`, into `numbers`; the inverse of `in_turn`."""
    second = next_seat(players, first)
    third = next_seat(players, second)
    numbers[first], numbers[second] = values[0], values[1]
    if players > 2:
        numbers[third] = values[2]
    if players > 3:
        numbers[next_seat(players, third)] = values[3]


INLINED: tuple[Callable[..., Any], ...] = (next_seat, in_turn, write_in_turn)
"""Functions that Numba must inline into their callers."""
