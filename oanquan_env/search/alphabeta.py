"""Compiled alpha-beta: principal variation search with a transposition table.

A *value* is the mover's future margin in points for play to a fixed depth, plus a net's evaluation of the leaf if there
is a net. A *result* is `2 * value + open`, where `open` is 1 if the value may depend on the horizon, and 0 if it holds
at all greater depths because every line ends in a finished game. If the horizon is the ply limit (`to_the_end`), games
that end there are open, although their values are exact.
"""

from typing import NamedTuple, Protocol

import numba
from numba import types

from oanquan_env.engine.compiled import compiled, compiled_recursion, record
from oanquan_env.engine.move import RUNNING, can_play
from oanquan_env.search.keys import KEY_MASK, marked, side_key, table_place
from oanquan_env.search.leaf import horizon
from oanquan_env.search.search_state import (
    ENTRIES,
    INFINITY,
    MAX_DEPTH,
    MEMORY,
    NO_ACTION,
    TWO_PLAYER_RULES,
    Children,
    Memory,
    SearchRules,
    Table,
    apply_move,
    next_child,
    play_all,
)

LOWER, UPPER, EXACT = 1, 2, 3
"""Kinds of entries: the stored value is a lower bound of the position's value, an upper bound, or the value itself."""
GUESS_MARGIN, GUESS_MARGIN_A_PLY = 16, 4
"""A net's value of a move replaces a search of one ply if it lies GUESS_MARGIN points or more outside the window.
Each further ply of the search adds GUESS_MARGIN_A_PLY points."""
DEFAULT_GUESS_DEPTH = 4
"""Maximum plies of a search that a net's guess may replace. It was chosen by regret at a fixed number of nodes."""
_VALUE_OFFSET = 16_384


class Slot(Protocol):
    """A table entry: one bound of a position's value at one depth. Four entries fill a cache line."""

    head: int  # mover's side (49 bits) | depth (7) | open (1) | kind (2) | action + 1 (4)
    tail: int  # rest of the other side's key (at most 41 bits) | value + 16384 (15) | generation (8)


SLOT = record(Slot)


class TableEntry(NamedTuple):
    """A bound of a position's value, as read from the table or to be stored in it."""

    kind: int  # 0 if the position was not found
    value: int
    depth: int
    is_open: int
    action: int


@compiled
def probe(memory: Memory, table: Table, own: int, other: int) -> TableEntry:
    """Return the table's entry for a position; its kind is 0 if there is none."""
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    for place in range(ENTRIES):
        head, tail = table[bucket, place].head, table[bucket, place].tail
        if (head >> 14) & KEY_MASK == own_key and (tail >> 23) & KEY_MASK == rest and tail & 255 == memory.generation:
            value = ((tail >> 8) & 32_767) - _VALUE_OFFSET
            return TableEntry((head >> 4) & 3, value, (head >> 7) & MAX_DEPTH, (head >> 6) & 1, (head & 15) - 1)
    return TableEntry(0, 0, 0, 0, NO_ACTION)


@compiled
def store(memory: Memory, table: Table, own: int, other: int, bound: TableEntry) -> None:
    """Store a bound, replacing the position's own entry, an outdated entry, or the shallowest entry in the bucket."""
    if memory.bucket_bits == 0:
        return
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    chosen, least = 0, 1 << 20
    for place in range(ENTRIES):
        head, tail = table[bucket, place].head, table[bucket, place].tail
        worth = (head >> 7) & MAX_DEPTH
        if tail & 255 != memory.generation:
            worth = -1
        elif (head >> 14) & KEY_MASK == own_key and (tail >> 23) & KEY_MASK == rest:
            worth = -2
        if worth < least:
            chosen, least = place, worth
    entry = table[bucket, chosen]
    entry.head = own_key << 14 | bound.depth << 7 | bound.is_open << 6 | bound.kind << 4 | (bound.action + 1)
    entry.tail = rest << 23 | (bound.value + _VALUE_OFFSET) << 8 | memory.generation


@compiled
def as_result(value: int, is_open: int) -> int:
    """Return the result that encodes a value and its `open` bit (see the top of this module)."""
    return 2 * value + is_open


@compiled
def last_ply(rules: SearchRules, memory: Memory, own: int, other: int, beta: int, plies_left: int) -> tuple[int, int]:
    """Return the result and action of a depth-1 search: of the best move, or of the first move that reaches `beta`."""
    best, best_open, best_action = -INFINITY, 0, NO_ACTION
    for action in range(2 * rules.fields):
        if can_play(rules, own, action):
            next_own, next_other, gain, state = apply_move(rules, own, other, action, plies_left)
            memory.nodes += 1
            is_open = memory.to_the_end
            if state == RUNNING:
                gain -= horizon(rules, next_own, next_other)
                is_open = 1
            if gain >= beta:
                return as_result(gain, is_open), action
            best_open |= is_open
            if gain > best:
                best, best_action = gain, action
    return as_result(best, best_open), best_action


@compiled
def order_by_guess(rules: SearchRules, children: Children, count: int, first: int) -> None:
    """Set each move's `guess` from its gain and the net, and its `order` to the guess; action `first` stays first."""
    for place in range(count):
        child = children[place]
        child.guess = child.gain
        if child.state == RUNNING:
            child.guess -= horizon(rules, child.own, child.other)
        if child.action != first:
            child.order = child.guess


class Tree(NamedTuple):
    """The data shared by all nodes of a search."""

    rules: SearchRules
    memory: Memory
    table: Table


_TREE = types.NamedTuple(  # type: ignore[no-untyped-call]
    [numba.from_dtype(TWO_PLAYER_RULES), numba.from_dtype(MEMORY), types.Array(numba.from_dtype(SLOT), 2, "C")], Tree
)


@compiled_recursion(types.int64(_TREE, *6 * (types.int64,)))
def negamax(tree: Tree, own: int, other: int, alpha: int, beta: int, depth: int, ply: int) -> int:
    """Return the result of a search of `depth` >= 1 plies from an inner node, `ply` plies below the root.

    The value is exact if it lies between `alpha` and `beta`. A value of at most `alpha` is an upper bound of the true
    value; a value of at least `beta` is a lower bound (fail-soft). Once `memory.stop` is set, the result is invalid.
    """
    rules, memory, table = tree.rules, tree.memory, tree.table
    plies_left = memory.plies_left - ply - 1
    if depth == 1:
        return last_ply(rules, memory, own, other, beta, plies_left)[0]
    key = marked(rules, own, plies_left)
    known = probe(memory, table, key, other)
    if known.depth == depth or (known.depth < depth and known.is_open == 0):
        value, kind = known.value, known.kind
        if kind == EXACT or (kind == LOWER and value >= beta) or (kind == UPPER and value <= alpha):
            return as_result(value, known.is_open)
    children, margin = memory.children[ply], 0
    count = play_all(rules, memory, own, other, known.action, ply, plies_left)
    if memory.nodes >= memory.node_limit:
        memory.stop = 1
    if memory.stop:
        return 0
    if rules.has_net:
        order_by_guess(rules, children, count, known.action)
        if depth <= memory.guess_depth + 1 and not memory.to_the_end:
            margin = GUESS_MARGIN + GUESS_MARGIN_A_PLY * (depth - 2)
    best, best_open, best_action, floor = -INFINITY, 0, NO_ACTION, alpha
    for place in range(count):
        next_child(children, place, count)
        child = children[place]
        value, is_open = child.gain, 0
        if child.state == RUNNING:
            top = beta if place == 0 else min(beta, floor + 1)
            if margin and top == floor + 1 and not floor - margin < child.guess < top + margin:
                result = as_result(value - child.guess, 1)
            else:
                result = negamax(tree, child.own, child.other, value - top, value - floor, depth - 1, ply + 1)
            if top <= value - (result >> 1) < beta:  # better than the best so far: find its exact value
                result = negamax(tree, child.own, child.other, value - beta, value - floor, depth - 1, ply + 1)
            if memory.stop:
                return 0
            value -= result >> 1
            is_open = result & 1
        best_open |= is_open
        if value > best:
            best, best_action = value, child.action
            floor = max(floor, value)
        if value >= beta:
            memory.history[best_action] += depth * depth
            store(memory, table, key, other, TableEntry(LOWER, value, depth, is_open, best_action))
            return as_result(value, is_open)
    kind = EXACT if best > alpha else UPPER
    store(memory, table, key, other, TableEntry(kind, best, depth, best_open, best_action))
    return as_result(best, best_open)
