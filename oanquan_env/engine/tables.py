"""Lookup tables of the core: every sowing as a row of increments, and every walk over a gap.

A *code* identifies a square and a direction: `code = 32 * direction + byte`, where the direction is 0
anticlockwise (A) or 1 clockwise (C), and the byte is as in `positions`. A mandarin square has two codes: one with byte
5, its seeds, for lifting and capturing; and one with byte 6, which is always zero, for the square after the last seed
of a sowing. The same test therefore stops a relay at mandarin squares and at empty fields.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

from oanquan_env.array_types import Bytes, Ints, Mask, Words
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE
from oanquan_env.engine.rules import MAX_SEEDS, Rules

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

DIRECTION_STRIDE = 32
BYTE_MASK = DIRECTION_STRIDE - 1
COUNT_STRIDE = MAX_SEEDS + 1
DIRECTIONS = ((0, +1), (1, -1))  # (direction index, step on the ring)


# ---- in integers, for Python and for compilers -----------------------------------------------------------------------


def inline(function: FunctionT) -> FunctionT:
    """Mark a function that Numba must inline into its callers, which would otherwise take twice as long.

    It stays a plain Python function. `compiled.inline_marked` tells Numba about the marked functions of a module.
    """
    function.__dict__["inline"] = True
    return function


@inline
def origin_code(action: int) -> int:
    """Return the code of the square that an action of player 0 lifts."""
    return DIRECTION_STRIDE * (action & 1) + (action >> 1)


@inline
def square_bytes(fields: int, square: int) -> tuple[int, int, int]:
    """Return the indices of three bytes of a square: its seeds, the byte tested after a last seed, and its stone."""
    begin, place = SIDE_BYTES * (square // (fields + 1)), square % (fields + 1)
    if place == fields:
        return begin + MANDARIN_BYTE, begin + ZERO_BYTE, begin + STONE_BYTE
    return begin + place, begin + place, ZERO_BYTE


def sowings(players: int, fields: int) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield each sowing: its key `code * COUNT_STRIDE + count`, the words added to four sides, the next square's code.

    The square at `code` has already been lifted, and it receives seeds like the others.
    """
    for direction, step in DIRECTIONS:
        base = DIRECTION_STRIDE * direction
        for lifted in range(players * (fields + 1)):
            key = COUNT_STRIDE * (base + square_bytes(fields, lifted)[0])
            side, place = divmod(lifted, fields + 1)
            a = b = c = d = 0
            for count in range(COUNT_STRIDE):
                place += step
                if place < 0 or place > fields:
                    side, place = (side + step) % players, place % (fields + 1)
                byte, met = (place, place) if place < fields else (MANDARIN_BYTE, ZERO_BYTE)
                yield key + count, a, b, c, d, base + SIDE_BYTES * side + met
                seed = 1 << 8 * byte
                a, b = a + seed * (side == 0), b + seed * (side == 1)
                c, d = c + seed * (side == 2), d + seed * (side == 3)


def walks(players: int, fields: int, empty_mandarin: int) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield each walk over a gap: the code of the gap, and its entries in the tables `gap_seeds` to `next_gap`.

    `empty_mandarin` is 1 if an empty mandarin square is a gap.
    """
    squares = players * (fields + 1)
    for direction, step in DIRECTIONS:
        base = DIRECTION_STRIDE * direction
        for square in range(squares):
            seeds, gap, stone = square_bytes(fields, square)
            behind_seeds, _, behind_stone = square_bytes(fields, (square + step) % squares)
            _, next_gap, _ = square_bytes(fields, (square + 2 * step) % squares)
            if gap % SIDE_BYTES == ZERO_BYTE and not empty_mandarin:
                yield base + gap, ZERO_BYTE, ZERO_BYTE, ZERO_BYTE, ZERO_BYTE, ZERO_BYTE
            else:
                yield base + gap, seeds, stone, behind_seeds, behind_stone, base + next_gap


@inline
def shift_of(code: int) -> int:
    """Return the bit offset of a code's byte in its side."""
    return (code & 7) << 3


@inline
def walk_numbers(
    gap_seeds: int, gap_stone: int, behind_seeds: int, behind_stone: int, next_gap: int
) -> tuple[int, int, int, int, int, int, int]:
    """Return the fields of a `move.Walk` from the bytes that `walks` yields."""
    seeds, seeds_side = 255 << shift_of(gap_seeds), gap_seeds >> 3
    stone, stone_side = 1 << shift_of(gap_stone), gap_stone >> 3
    return (
        seeds * (seeds_side == 0) | stone * (stone_side == 0),
        seeds * (seeds_side == 1) | stone * (stone_side == 1),
        seeds * (seeds_side == 2) | stone * (stone_side == 2),
        seeds * (seeds_side == 3) | stone * (stone_side == 3),
        behind_seeds,
        1 if behind_stone & 7 == STONE_BYTE else 0,
        next_gap,
    )


@inline
def side_masks(fields: int, end: int) -> tuple[int, int, int]:
    """Return three words: the field bytes of a side, the bytes that must be zero at the end, and one seed per field.

    `end` is 1 if the mandarin squares must also be empty.
    """
    field_bytes = (1 << 8 * fields) - 1
    return field_bytes, (1 << 8 * STONE_BYTE) | (255 * end << 8 * MANDARIN_BYTE), 0x0101010101 & field_bytes


@inline
def playable(fields: int, sowing: int) -> int:
    """Return the bit set of the actions that are legal if no field is empty; `sowing` is as in `Rules.numbers`."""
    anticlockwise, clockwise = sowing != 3, sowing in (0, 3)
    return (0x155 * anticlockwise | 0x2AA * clockwise) & ((1 << 2 * fields) - 1)


# ---- for NumPy -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tables:
    """Lookup tables of one `Rules`, with P players and F fields per side."""

    origin_code: Ints  # (P * 2F,) code of the square that `player * 2F + action` lifts
    increment: Words  # (2 * 32 * 256, P) words to add when `code * 256 + count` is sown (origin already lifted)
    after: Ints  # (2 * 32 * 256,) code of the square after the last seed of `code * 256 + count`
    # (64,) bytes of the seeds and the stone on a gap, by its code. A field has no stone: its stone byte is ZERO_BYTE.
    # Under `empty_mandarin = "stop"` a mandarin square is not a gap, and both of its bytes are ZERO_BYTE
    gap_seeds: Ints
    gap_stone: Ints
    behind_seeds: Ints  # (64,) the same for the square behind the gap, which may be captured
    behind_stone: Ints  # there is nothing behind a mandarin square that is not a gap
    next_gap: Ints  # (64,) code of a gap -> code of the square two further on, the next gap of a chain
    ring_bytes: Ints  # (P * (F + 1),) byte of each square's seeds in ring order
    stone_bytes: Ints  # (P,) byte of each stone
    legal: Mask  # (256, 2F) bit set of a player's occupied fields -> its legal actions
    initial: Bytes  # (8P,) the set-up

    def seeds(self, squares: Bytes) -> Bytes:
        """Return (N, P * (F + 1)) uint8, the seeds of all squares in ring order, from (N, 8P) `squares`."""
        return squares.take(self.ring_bytes, axis=1)


def build_tables(rules: Rules) -> Tables:
    """Return the tables of `rules`."""
    players, fields, numbers = rules.players, rules.fields, rules.numbers
    ring_bytes = np.array([square_bytes(fields, square)[0] for square in range(rules.squares)], dtype=np.intp)
    stone_bytes = SIDE_BYTES * np.arange(players, dtype=np.intp) + STONE_BYTE

    increment, after = sowing_tables(players, fields)
    around = np.zeros((5, 2 * DIRECTION_STRIDE), dtype=np.intp)
    for gap, *walk in walks(players, fields, numbers["empty_mandarin"]):
        around[:, gap] = walk
    initial = np.zeros(SIDE_BYTES * players, dtype=np.uint8)
    initial[ring_bytes] = rules.seeds
    initial[ring_bytes[fields :: fields + 1]] = rules.mandarin_seeds
    initial[stone_bytes] = rules.stones
    first = np.array([origin_code(action) for action in range(rules.actions)], dtype=np.intp)
    occupied = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, count=fields, bitorder="little") != 0
    full = playable(fields, numbers["sowing"])
    legal = occupied.repeat(2, axis=1) & np.array([full >> action & 1 for action in range(rules.actions)], dtype=bool)
    gap_seeds, gap_stone, behind_seeds, behind_stone, next_gap = around
    return Tables(
        origin_code=(SIDE_BYTES * np.arange(players)[:, None] + first).reshape(-1),
        increment=increment,
        after=after,
        gap_seeds=gap_seeds,
        gap_stone=gap_stone,
        behind_seeds=behind_seeds,
        behind_stone=behind_stone,
        next_gap=next_gap,
        ring_bytes=ring_bytes,
        stone_bytes=stone_bytes,
        legal=legal,
        initial=initial,
    )


@cache
def sowing_tables(players: int, fields: int) -> tuple[Words, Ints]:
    """Return `increment` and `after`, the largest tables. All rules with the same board share them."""
    keys, *sides, codes = np.array(list(sowings(players, fields)), dtype=np.int64).T
    increment = np.zeros((2 * DIRECTION_STRIDE * COUNT_STRIDE, players), dtype=np.uint64)
    after = np.zeros(len(increment), dtype=np.intp)
    increment[keys], after[keys] = np.array(sides[:players]).T, codes
    for table in (increment, after):
        table.flags.writeable = False
    return increment, after
