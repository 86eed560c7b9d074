"""Compiled alpha-beta: principal variation search with a transposition table, over `agents.compiled.play`.

A *value* is the future margin in points, seen by the mover, of play to some depth: nothing is counted beyond the
horizon. A *result* is `2 * value + open`, where `open` is 1 if the value may depend on the horizon and 0 if it holds
for all greater depths too, because every line that it rests on ends in a finished game.

`memory` is one array of int64: counters, move stacks, then the table (see `new_memory`).
"""

from __future__ import annotations

import numpy as np

from agents.compiled import FIELDS, OVER, RUNNING, Int64s, can_play, compiled, compiled_recursion, play

NODES, NODE_LIMIT, STOP, GENERATION, BUCKET_BITS, DIRTY_BITS = range(6)
"""Places in `memory`: moves played so far; how many may be; nonzero once the search is to stop; number of the search;
base-2 logarithm of the buckets in use; its maximum since the table was cleared."""
LAST_GENERATION = 255
HISTORY = 16
"""From HISTORY on, how often each action cut off a search, weighted by depth."""
STACK = 64
CHILD_WORDS = 6
CHILD_OWN, CHILD_OTHER, CHILD_GAIN, CHILD_STATE, CHILD_ACTION, CHILD_ORDER = range(CHILD_WORDS)
"""A move on the stack: the position it leads to, points won, RUNNING, OVER or RUNAWAY, action, urgency."""
PLY_WORDS = 10 * CHILD_WORDS
MAX_DEPTH = 127
TABLE = STACK + (MAX_DEPTH + 1) * PLY_WORDS
"""Where the table begins: after the stack, at a multiple of a bucket."""
BUCKET_ENTRIES = 4
ENTRY_WORDS = 2
BUCKET_WORDS = BUCKET_ENTRIES * ENTRY_WORDS
"""A bucket fills a cache line of 64 bytes."""

INFINITY = 16_000
"""Above every value, also of rules with stones of 1,000 points and of lines with debts."""
UNUSED = -32_768

AT_LEAST, AT_MOST, EXACT = 1, 2, 3
"""What an entry's value is to the position's value."""

# An entry is exact: no two positions share one. With a side as 49 bits (6 counts and the stone), its words are
#   own side (49 bits) | depth (7) | open (1) | kind (2) | action + 1 (4)
#   the other side, mixed, less the bits that name the bucket (at most 41) | value + 16384 (15) | generation (8)
_SIDE_BITS = 49
_SIDE = (1 << _SIDE_BITS) - 1
_COUNTS = (1 << 48) - 1
_MIX_A, _MIX_B = 0x1D8E4E27C47D1, 0x1A1B5A1F2C3E9
MIN_BUCKET_BITS = 8
_VALUE_OFFSET = 16_384


def new_memory(megabytes: float) -> Int64s:
    """Counters, stacks and an empty table of at most that size (a power of two buckets), aligned to cache lines."""
    buckets = max(megabytes * 2**20 / (8 * BUCKET_WORDS), 2**MIN_BUCKET_BITS)
    words = TABLE + 2 ** int(np.log2(buckets)) * BUCKET_WORDS
    spare = np.zeros(words + BUCKET_WORDS, dtype=np.int64)
    begin = -(spare.ctypes.data // 8) % BUCKET_WORDS
    return spare[begin : begin + words]


def table_bits(memory: Int64s) -> int:
    """Base-2 logarithm of the buckets that `memory` has room for."""
    return ((len(memory) - TABLE) // BUCKET_WORDS).bit_length() - 1


@compiled
def _side_key(side: int) -> int:
    """The 49 bits of a side that carry something."""
    return (side & _COUNTS) | (side >> 56 << 48)


@compiled
def _mixed(key: int) -> int:
    """A permutation of 49-bit numbers that spreads every bit over the upper ones."""
    key = (key * _MIX_A) & _SIDE
    key ^= key >> 27
    key = (key * _MIX_B) & _SIDE
    return key ^ key >> 25


@compiled
def _address(memory: Int64s, own_key: int, other: int) -> tuple[int, int]:
    """Place of a position's bucket, and what names the position there besides its own side."""
    mixed = _mixed(_side_key(other) ^ _mixed(own_key))
    rest_bits = _SIDE_BITS - memory[BUCKET_BITS]
    return TABLE + (mixed >> rest_bits) * BUCKET_WORDS, mixed & ((1 << rest_bits) - 1)


@compiled
def probe(memory: Int64s, own: int, other: int) -> tuple[int, int, int, int, int]:
    """Look a position up: kind (0 if it is not there), value, depth, open, action (-1 if none)."""
    own_key = _side_key(own)
    bucket, rest = _address(memory, own_key, other)
    generation = memory[GENERATION]
    for place in range(bucket, bucket + BUCKET_WORDS, ENTRY_WORDS):
        head, tail = memory[place], memory[place + 1]
        if (head >> 14) & _SIDE == own_key and (tail >> 23) & _SIDE == rest and tail & 255 == generation:
            value = ((tail >> 8) & 32_767) - _VALUE_OFFSET
            return (head >> 4) & 3, value, (head >> 7) & MAX_DEPTH, (head >> 6) & 1, (head & 15) - 1
    return 0, 0, 0, 0, -1


@compiled
def store(memory: Int64s, own: int, other: int, kind: int, value: int, depth: int, is_open: int, action: int) -> None:
    """Remember a position, in place of what is known of it or else of the bucket's shallowest entry."""
    own_key = _side_key(own)
    bucket, rest = _address(memory, own_key, other)
    generation = memory[GENERATION]
    chosen, least = bucket, 1 << 20
    for place in range(bucket, bucket + BUCKET_WORDS, ENTRY_WORDS):
        head, tail = memory[place], memory[place + 1]
        worth = (head >> 7) & MAX_DEPTH
        if tail & 255 != generation:
            worth = -1
        elif (head >> 14) & _SIDE == own_key and (tail >> 23) & _SIDE == rest:
            worth = -2
        if worth < least:
            chosen, least = place, worth
    memory[chosen] = own_key << 14 | depth << 7 | is_open << 6 | kind << 4 | (action + 1)
    memory[chosen + 1] = rest << 23 | (value + _VALUE_OFFSET) << 8 | generation


@compiled
def as_result(value: int, is_open: int) -> int:
    """See the top of this module."""
    return 2 * value + is_open


@compiled
def last_ply(rules: Int64s, memory: Int64s, own: int, other: int, beta: int) -> int:
    """The result of a search of depth 1: the most that a move wins at once, or the first that wins `beta`."""
    best, best_open = -INFINITY, 0
    for action in range(2 * rules[FIELDS]):
        if can_play(rules, own, action):
            _, _, gain, state = play(rules, own, other, action)
            memory[NODES] += 1
            is_open = 1 if state != OVER else 0
            if gain >= beta:
                return as_result(gain, is_open)
            best_open |= is_open
            best = max(best, gain)
    return as_result(best, best_open)


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
    """Bring the most urgent of the children from `place` on to `place`."""
    chosen = place
    for other in range(place + CHILD_WORDS, end, CHILD_WORDS):
        if memory[other + CHILD_ORDER] > memory[chosen + CHILD_ORDER]:
            chosen = other
    if chosen != place:
        for word in range(CHILD_WORDS):
            memory[place + word], memory[chosen + word] = memory[chosen + word], memory[place + word]


@compiled_recursion("int64(int64[::1], int64[::1], int64, int64, int64, int64, int64, int64)")
def negamax(rules: Int64s, memory: Int64s, own: int, other: int, alpha: int, beta: int, depth: int, ply: int) -> int:
    """The result of a search of `depth` >= 1 plies, or a bound beyond `alpha` or `beta` (fail-soft).

    Worthless once `memory[STOP]` is set; `ply` says which part of the stack is free.
    """
    if depth == 1:
        return last_ply(rules, memory, own, other, beta)
    kind, value, known_depth, is_open, first = probe(memory, own, other)
    holds = known_depth == depth or (known_depth < depth and is_open == 0)
    if holds and (kind == EXACT or (kind == AT_LEAST and value >= beta) or (kind == AT_MOST and value <= alpha)):
        return as_result(value, is_open)
    begin = STACK + ply * PLY_WORDS
    end = expand(rules, memory, own, other, first, begin)
    if memory[NODES] >= memory[NODE_LIMIT]:
        memory[STOP] = 1
    if memory[STOP]:
        return 0
    best, best_open, best_action, floor = -INFINITY, 0, -1, alpha
    result = 0
    for place in range(begin, end, CHILD_WORDS):
        next_child(memory, place, end)
        value, is_open = memory[place + CHILD_GAIN], 1
        if memory[place + CHILD_STATE] == OVER:
            is_open = 0
        elif memory[place + CHILD_STATE] == RUNNING:
            child_own, child_other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
            top = beta if place == begin else min(beta, floor + 1)
            result = negamax(rules, memory, child_own, child_other, value - top, value - floor, depth - 1, ply + 1)
            if top < beta and top <= value - (result >> 1) < beta:  # better than the best so far: by how much?
                result = negamax(rules, memory, child_own, child_other, value - beta, value - floor, depth - 1, ply + 1)
            if memory[STOP]:
                return 0
            value -= result >> 1
            is_open = result & 1
        best_open |= is_open
        if value > best:
            best, best_action = value, memory[place + CHILD_ACTION]
            floor = max(floor, value)
        if value >= beta:
            memory[HISTORY + best_action] += depth * depth
            store(memory, own, other, AT_LEAST, value, depth, is_open, best_action)
            return as_result(value, is_open)
    store(memory, own, other, EXACT if best > alpha else AT_MOST, best, depth, best_open, best_action)
    return as_result(best, best_open)


# ---- the root --------------------------------------------------------------------------------------------------------

ROOT_DEPTH, ROOT_VALUE, ROOT_OPEN, ROOT_BEST, ROOT_NODES, ROOT_LINE = range(6)
ROOT_WORDS = ROOT_LINE + MAX_DEPTH
"""What is found at the root: depth completed, value, open, best actions as bits, moves played, then the best line as
`action + 1`, as far as the table remembers it."""


@compiled
def search_rows(rules: Int64s, memory: Int64s, sides: Int64s, depth: int, nodes: int, bits: int, found: Int64s) -> None:
    """Search M running positions, each afresh, to depths 1, 2, ... `depth` or for `nodes` moves.

    Args:
        rules: see `compile_rules`.
        memory: see `new_memory`.
        sides: (M, 2) the movers' sides and the others'.
        depth: 1 .. MAX_DEPTH; a search ends sooner where its value is proved.
        nodes: moves played after which a search stops; depth 1 is always completed.
        bits: base-2 logarithm of the buckets to use.
        found: (M, ROOT_WORDS), zeros; what was found at the last completed depth is written to it.
    """
    for row in range(len(sides)):
        begin_search(memory, nodes, bits)
        own, other = sides[row]
        end = expand(rules, memory, own, other, -1, STACK)
        for reached in range(1, depth + 1):
            value, is_open, best = search_root(rules, memory, end, reached)
            if memory[STOP] and reached > 1:
                break
            found[row, ROOT_DEPTH], found[row, ROOT_VALUE] = reached, value
            found[row, ROOT_OPEN], found[row, ROOT_BEST] = is_open, best
            if is_open == 0 or memory[STOP]:
                break
        found[row, ROOT_NODES] = memory[NODES]
        recall_line(rules, memory, own, other, found[row])


@compiled
def begin_search(memory: Int64s, nodes: int, bits: int) -> None:
    """Forget earlier searches (their entries carry other generations) and set the limit of the next."""
    if memory[GENERATION] == LAST_GENERATION:
        memory[TABLE : TABLE + (BUCKET_WORDS << memory[DIRTY_BITS])] = 0
        memory[GENERATION] = memory[DIRTY_BITS] = 0
    memory[GENERATION] += 1
    memory[BUCKET_BITS] = bits
    memory[DIRTY_BITS] = max(memory[DIRTY_BITS], bits)
    memory[NODES] = memory[STOP] = 0
    memory[NODE_LIMIT] = nodes
    memory[HISTORY:STACK] = 0


@compiled
def search_root(rules: Int64s, memory: Int64s, end: int, depth: int) -> tuple[int, int, int]:
    """Value, open and set of best actions (bits) of the position whose moves lie on the stack's first part.

    Each later move is tested for being as good as the best so far, not better, so the whole set is proved.
    """
    best, best_open, actions = -INFINITY, 0, 0
    for place in range(STACK, end, CHILD_WORDS):
        next_child(memory, place, end)
        value, is_open = memory[place + CHILD_GAIN], 1
        if memory[place + CHILD_STATE] == OVER:
            is_open = 0
        elif memory[place + CHILD_STATE] == RUNNING and depth > 1:
            own, other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
            floor = -INFINITY if place == STACK else best - 1
            top = INFINITY if place == STACK else best
            result = negamax(rules, memory, own, other, value - top, value - floor, depth - 1, 1)
            if top == best and value - (result >> 1) >= best:
                result = negamax(rules, memory, own, other, value - INFINITY, value - floor, depth - 1, 1)
            if memory[STOP]:
                return 0, 1, 0
            value -= result >> 1
            is_open = result & 1
        best_open |= is_open
        memory[place + CHILD_ORDER] = value
        action = 1 << memory[place + CHILD_ACTION]
        if value > best:
            best, actions = value, action
        elif value == best:
            actions |= action
    return best, best_open, actions


@compiled
def recall_line(rules: Int64s, memory: Int64s, own: int, other: int, found: Int64s) -> None:
    """Write the best line: the first of the best moves, then the moves of exact entries of the right depth."""
    action, depth, place = 0, found[ROOT_DEPTH], ROOT_LINE
    while (found[ROOT_BEST] >> action) & 1 == 0:
        action += 1
    while True:
        found[place] = action + 1
        place += 1
        depth -= 1
        own, other, _, state = play(rules, own, other, action)
        if state != RUNNING or depth == 0:
            return
        if depth == 1:
            action = greediest(rules, own, other)
        else:
            kind, _, known_depth, is_open, action = probe(memory, own, other)
            if kind != EXACT or (known_depth != depth and (is_open or known_depth > depth)):
                return


@compiled
def greediest(rules: Int64s, own: int, other: int) -> int:
    """The first of the actions that win most at once."""
    best, chosen = -INFINITY, -1
    for action in range(2 * rules[FIELDS]):
        if can_play(rules, own, action):
            gain = play(rules, own, other, action)[2]
            if gain > best:
                best, chosen = gain, action
    return chosen


@compiled
def value_rows(
    rules: Int64s, memory: Int64s, sides: Int64s, depth: int, bits: int, values: Int64s, is_open: Int64s
) -> None:
    """The value of every legal move of M running positions, each searched to `depth` (or proved sooner).

    Args:
        rules: see `compile_rules`.
        memory: see `new_memory`.
        sides: (M, 2) the movers' sides and the others'.
        depth: 1 .. MAX_DEPTH, the move itself counted.
        bits: base-2 logarithm of the buckets to use.
        values: (M, A), overwritten where a move is legal.
        is_open: (M, A), set to 1 where the value may depend on the depth.
    """
    for row in range(len(sides)):
        begin_search(memory, 1 << 62, bits)
        end = expand(rules, memory, sides[row, 0], sides[row, 1], -1, STACK)
        for reached in range(1, depth + 1):  # the shallow searches leave good first moves in the table
            for place in range(STACK, end, CHILD_WORDS):
                action, gain = memory[place + CHILD_ACTION], memory[place + CHILD_GAIN]
                result = 1
                if memory[place + CHILD_STATE] == OVER:
                    result = 0
                elif memory[place + CHILD_STATE] == RUNNING and reached > 1:
                    own, other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
                    result = negamax(rules, memory, own, other, -INFINITY, INFINITY, reached - 1, 1)
                values[row, action] = gain - (result >> 1)
                is_open[row, action] = result & 1
