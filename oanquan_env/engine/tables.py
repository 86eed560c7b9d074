"""The core's lookup tables: each sowing of a `Rules` as one row of increments, and each walk over a gap.

A *code* names a square and a direction: `code = 32 * direction + byte`, direction 0 anticlockwise (A) and 1
clockwise (C), byte as in `positions`. Two bytes stand for a mandarin square: its seeds (5) where it is looked at
as something to take from, and the byte that is always zero (6) where it is met after a sowing. So "is a mandarin
square, stop" and "is empty, stop" are one test.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from oanquan_env.arrays import Bytes, Ints, Mask, Words
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE
from oanquan_env.engine.rules import MAX_SEEDS, Rules

DIRECTION_STRIDE = 32
BYTE_MASK = DIRECTION_STRIDE - 1
COUNT_STRIDE = MAX_SEEDS + 1
DIRECTIONS = ((0, +1), (1, -1))  # (direction index, step on the ring)


@dataclass(frozen=True)
class Tables:
    """Lookup tables of one `Rules`; P players, F fields a side."""

    origin: Ints  # (P * 2F,) code of the square that `player * 2F + action` lifts
    increment: Words  # (2 * 32 * 256, P) words to add when `code * 256 + count` is sown (origin already lifted)
    after: Ints  # (2 * 32 * 256,) code of the square after the last seed of `code * 256 + count`
    # (64,) bytes of the seeds and of the stone on the square of a gap's code. The byte that is always zero stands for
    # the stone of a field, and for both on a mandarin square that is no gap (`empty_mandarin = "stop"`)
    gap_seeds: Ints
    gap_stone: Ints
    behind_seeds: Ints  # (64,) the same of the square behind the gap, where a capture may be
    behind_stone: Ints  # there is nothing behind a mandarin square that is no gap
    next_gap: Ints  # (64,) code of a gap -> code of the square two on, over which a chain captures next
    ring_bytes: Ints  # (P * (F + 1),) byte of each square's seeds in ring order
    stone_bytes: Ints  # (P,) byte of each stone
    legal: Mask  # (256, 2F) bit set of a player's occupied fields -> its legal actions
    legal_lists: list[list[int]]  # the same as lists
    initial: Bytes  # (8P,) the set-up


def build_tables(rules: Rules) -> Tables:
    """The tables of `rules`."""
    players, fields = rules.players, rules.fields
    ring_bytes, met_bytes = _ring(players, fields)
    stone_bytes = SIDE_BYTES * np.arange(players, dtype=np.intp) + STONE_BYTE

    increment, after = sowing_tables(players, fields)
    gap_seeds, gap_stone, behind_seeds, behind_stone, next_gap = _gap_walks(rules, ring_bytes, met_bytes)
    initial = np.zeros(SIDE_BYTES * players, dtype=np.uint8)
    initial[ring_bytes] = rules.seeds
    initial[ring_bytes[rules.fields :: rules.fields + 1]] = rules.mandarin_seeds
    initial[stone_bytes] = rules.stones
    origin = [
        DIRECTION_STRIDE * direction + SIDE_BYTES * player + field
        for player in range(players)
        for field in range(fields)
        for direction, _ in DIRECTIONS
    ]
    playable = {"either": [True, True], "counterclockwise": [True, False], "clockwise": [False, True]}[rules.sowing]
    occupied = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, count=fields, bitorder="little") != 0
    legal = np.kron(occupied, np.array(playable))
    return Tables(
        origin=np.array(origin, dtype=np.intp),
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
        legal_lists=[row.nonzero()[0].tolist() for row in legal],
        initial=initial,
    )


def side_masks(rules: Rules) -> Words:
    """(3,) words for a side: the bytes of its fields, those that must be zero at the end, and one seed a field."""
    masks = np.zeros((3, SIDE_BYTES), dtype=np.uint8)
    masks[0, : rules.fields] = 255
    masks[1, STONE_BYTE] = 255
    masks[1, MANDARIN_BYTE] = 255 * (rules.end == "squares_empty")
    masks[2, : rules.fields] = 1
    return masks.view(np.uint64)[:, 0]


def _ring(players: int, fields: int) -> tuple[Ints, Ints]:
    """Bytes of the squares in ring order, and those that a sowing meets: the mandarin squares' are always zero."""
    ring_bytes = np.array(
        [SIDE_BYTES * p + b for p in range(players) for b in (*range(fields), MANDARIN_BYTE)], dtype=np.intp
    )
    on_mandarin = ring_bytes % SIDE_BYTES == MANDARIN_BYTE
    return ring_bytes, np.where(on_mandarin, ring_bytes + ZERO_BYTE - MANDARIN_BYTE, ring_bytes)


@cache
def sowing_tables(players: int, fields: int) -> tuple[Words, Ints]:
    """The tables `increment` and `after`, the largest, which all rules of one board share."""
    ring_bytes, met_bytes = _ring(players, fields)
    codes, squares = 2 * DIRECTION_STRIDE, len(ring_bytes)
    increment = np.zeros((codes * COUNT_STRIDE, SIDE_BYTES * players), dtype=np.uint8)
    after = np.zeros(codes * COUNT_STRIDE, dtype=np.intp)
    ring, counts = np.arange(squares), np.arange(COUNT_STRIDE)
    rounds, rest = np.divmod(counts[:, None], squares)
    for direction, step in DIRECTIONS:
        base = DIRECTION_STRIDE * direction
        passed = (step * (ring - ring[:, None, None]) - 1) % squares  # (from, 1, to) squares sown before that one
        keys = COUNT_STRIDE * (base + ring_bytes[:, None]) + counts  # (from, count)
        increment[keys[:, :, None], ring_bytes] = rounds + (passed < rest)  # the origin takes part
        after[keys] = base + met_bytes[(ring[:, None] + step * (counts + 1)) % squares]
    for table in (increment, after):
        table.flags.writeable = False
    return increment.view(np.uint64), after


def _gap_walks(rules: Rules, ring_bytes: Ints, met_bytes: Ints) -> Ints:
    """(5, 64) the tables `gap_seeds`, `gap_stone`, `behind_seeds`, `behind_stone` and `next_gap`."""
    walks = np.zeros((5, 2 * DIRECTION_STRIDE), dtype=np.intp)
    on_mandarin = ring_bytes != met_bytes
    stone_bytes = np.where(on_mandarin, ring_bytes + STONE_BYTE - MANDARIN_BYTE, ZERO_BYTE)
    for direction, step in DIRECTIONS:
        base = DIRECTION_STRIDE * direction
        for square in range(rules.squares):
            behind, two_on = (square + step) % rules.squares, (square + 2 * step) % rules.squares
            gap = base + met_bytes[square]
            if on_mandarin[square] and rules.empty_mandarin == "stop":
                walks[:, gap] = ZERO_BYTE
            else:
                walks[:4, gap] = ring_bytes[square], stone_bytes[square], ring_bytes[behind], stone_bytes[behind]
                walks[4, gap] = base + met_bytes[two_on]
    return walks
