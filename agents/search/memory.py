"""What compiled searches share: their memory, a stack of moves, and exact keys of positions for their tables.

`memory` is one array of int64: counters, the stack, then a table of buckets of entries. Compiled functions get one
array instead of many because each costs seven machine words at every call.
"""

from __future__ import annotations

import numpy as np

from agents.search.compiled import Int64s, compiled, play
from oanquan_env.engine.positions import MANDARIN_BYTE
from oanquan_env.engine.scalar import FIELDS, PLAYABLE, can_play

NODES, NODE_LIMIT, STOP, GENERATION, BUCKET_BITS, DIRTY_BITS, GUESS_DEPTH = range(7)
"""Places in `memory`: moves played so far; how many may be; nonzero once the search is to stop; number of the search;
base-2 logarithm of the buckets in use; its maximum since the table was cleared; plies of the deepest search that a
net's guess may stand for.

Who calls a search clears STOP before it: another thread may set STOP at any time from then on, and is heard."""
UNLIMITED = 1 << 62
"""More moves than any search plays."""
HISTORY = 16
"""From HISTORY on, how often each action cut off a search, weighted by depth."""
STACK = 64
CHILD_WORDS = 7
CHILD_OWN, CHILD_OTHER, CHILD_GAIN, CHILD_STATE, CHILD_ACTION, CHILD_ORDER, CHILD_GUESS = range(CHILD_WORDS)
"""A move on the stack: the position it leads to, points won, RUNNING, OVER or RUNAWAY, action, order: the
greatest is tried first; and what a net guesses that the move is worth, if one was asked."""
PLY_WORDS = 10 * CHILD_WORDS
MAX_DEPTH = 127
"""Plies for which the stack has room."""
TABLE = STACK + (MAX_DEPTH + 1) * PLY_WORDS
"""Where the table begins: after the stack, at a multiple of a cache line of 8 words."""
MIN_BUCKET_BITS = 8
NO_ACTION = -1
"""Where an action is asked for and none is known. Entries hold `action + 1`, so 0 there."""

INFINITY = 16_000
"""Above every value, also of rules with stones of 1,000 points and of lines with debts."""

# Keys are exact, so no two positions are ever taken for each other. A side is 49 bits (6 counts and the stone). An
# entry holds the mover's side; the other side is mixed by a permutation, which names the bucket by its upper bits, and
# the entry holds the rest of them.
KEY_BITS = 49
KEY = (1 << KEY_BITS) - 1
_COUNTS = (1 << 48) - 1
_MIX_A, _MIX_B = 0x1D8E4E27C47D1, 0x1A1B5A1F2C3E9


def new_memory(megabytes: float, bucket_words: int) -> Int64s:
    """Counters, stack and an empty table of at most that size (a power of two buckets), aligned to cache lines."""
    buckets = max(megabytes * 2**20 / (8 * bucket_words), 2**MIN_BUCKET_BITS)
    words = TABLE + 2 ** int(np.log2(buckets)) * bucket_words
    spare = np.zeros(words + 8, dtype=np.int64)
    begin = -(spare.ctypes.data // 8) % 8
    return spare[begin : begin + words]


def table_bits(memory: Int64s, bucket_words: int) -> int:
    """Base-2 logarithm of the buckets that `memory` has room for."""
    return ((len(memory) - TABLE) // bucket_words).bit_length() - 1


@compiled
def side_key(side: int) -> int:
    """The 49 bits of a side that carry something."""
    return (side & _COUNTS) | (side >> 56 << 48)


@compiled
def _mixed(key: int) -> int:
    """A permutation of 49-bit numbers that spreads every bit over the upper ones."""
    key = (key * _MIX_A) & KEY
    key ^= key >> 27
    key = (key * _MIX_B) & KEY
    return key ^ key >> 25


@compiled
def table_place(memory: Int64s, own_key: int, other: int) -> tuple[int, int]:
    """Number of a position's bucket, and what names the position there besides its own side's key."""
    mixed = _mixed(side_key(other) ^ _mixed(own_key))
    rest_bits = KEY_BITS - memory[BUCKET_BITS]
    return mixed >> rest_bits, mixed & ((1 << rest_bits) - 1)


@compiled
def expand(rules: Int64s, memory: Int64s, own: int, other: int, first: int, begin: int) -> int:
    """Play every move onto the stack from `begin` on; `first` is the action to try first. Returns the end."""
    place = begin
    for action in range(2 * rules[FIELDS]):
        if can_play(rules, own, action):
            next_own, next_other, gain, state = play(rules, own, other, action)
            memory[place + CHILD_OWN], memory[place + CHILD_OTHER] = next_own, next_other
            memory[place + CHILD_GAIN], memory[place + CHILD_STATE] = gain, state
            memory[place + CHILD_ACTION] = action
            memory[place + CHILD_ORDER] = INFINITY << 32 if action == first else (gain << 32) + memory[HISTORY + action]
            place += CHILD_WORDS
    memory[NODES] += (place - begin) // CHILD_WORDS
    return place


@compiled
def next_child(memory: Int64s, place: int, end: int) -> None:
    """Bring the child of the greatest order, of those from `place` on, to `place`."""
    chosen = place
    for other in range(place + CHILD_WORDS, end, CHILD_WORDS):
        if memory[other + CHILD_ORDER] > memory[chosen + CHILD_ORDER]:
            chosen = other
    if chosen != place:
        for word in range(CHILD_WORDS):
            memory[place + word], memory[chosen + word] = memory[chosen + word], memory[place + word]


@compiled
def is_symmetric(rules: Int64s, own: int, other: int) -> bool:
    """Whether a position, and the directions of sowing, look the same in a mirror (see `engine.symmetry`)."""
    fields = rules[FIELDS]
    for field in range(fields):
        partner = fields - 1 - field
        for side in (own, other):
            if (side >> 8 * field) & 255 != (side >> 8 * partner) & 255:
                return False
        if (rules[PLAYABLE] >> 2 * field) & 1 != (rules[PLAYABLE] >> 2 * partner + 1) & 1:
            return False
    return own >> 8 * MANDARIN_BYTE == other >> 8 * MANDARIN_BYTE


@compiled
def drop_mirrored(rules: Int64s, memory: Int64s, end: int) -> int:
    """Of a symmetric position's moves on the stack's first part keep one of each mirrored pair; returns the end."""
    kept = STACK
    for place in range(STACK, end, CHILD_WORDS):
        if memory[place + CHILD_ACTION] < rules[FIELDS]:
            for word in range(CHILD_WORDS):
                memory[kept + word] = memory[place + word]
            kept += CHILD_WORDS
    return kept
