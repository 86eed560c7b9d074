"""Compiled alpha-beta: principal variation search with a transposition table, over `agents.search.compiled.play`.

A *value* is the future margin in points, seen by the mover, of play to some depth: nothing is counted beyond the
horizon. A *result* is `2 * value + open`, where `open` is 1 if the value may depend on the horizon and 0 if it holds
for all greater depths too, because every line that it rests on ends in a finished game.

A table entry knows one bound of a position's value, at one depth. Its words are
    mover's side (49 bits) | depth (7) | open (1) | kind (2) | action + 1 (4)
    rest of the other side's key (at most 41 bits) | value + 16384 (15) | generation (8)
"""

from __future__ import annotations

from agents.search.compiled import OVER, Int64s, compiled, compiled_recursion, play
from agents.search.leaf import NET, horizon
from agents.search.memory import (
    BUCKET_BITS,
    CHILD_ACTION,
    CHILD_GAIN,
    CHILD_GUESS,
    CHILD_ORDER,
    CHILD_OTHER,
    CHILD_OWN,
    CHILD_STATE,
    CHILD_WORDS,
    GENERATION,
    GUESS_DEPTH,
    HISTORY,
    INFINITY,
    KEY,
    MAX_DEPTH,
    NO_ACTION,
    NODE_LIMIT,
    NODES,
    PLY_WORDS,
    STACK,
    STOP,
    TABLE,
    expand,
    next_child,
    side_key,
    table_place,
)
from oanquan_env.engine.scalar import FIELDS, RUNNING, can_play

ENTRY_WORDS = 2
BUCKET_WORDS = 4 * ENTRY_WORDS
"""A bucket of four entries fills a cache line."""
LOWER, UPPER, EXACT = 1, 2, 3
"""Kinds of entries: their value is a lower bound of the position's value, an upper bound, or the value itself."""
GUESS_MARGIN, GUESS_MARGIN_A_PLY = 16, 4
"""A net's guess of a move stands for a search of one ply where it is more than so many points from what is asked;
for each further ply that the search would look, so many more."""
DEFAULT_GUESS_DEPTH = 4
"""Plies of the deepest searches that a guess stands for; chosen by regret at fixed nodes."""
_VALUE_OFFSET = 16_384


@compiled
def probe(memory: Int64s, own: int, other: int) -> tuple[int, int, int, int, int]:
    """Look a position up: kind (0 if it is not there), value, depth, open, action (or NO_ACTION)."""
    if memory[BUCKET_BITS] == 0:
        return 0, 0, 0, 0, NO_ACTION
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    begin = TABLE + bucket * BUCKET_WORDS
    generation = memory[GENERATION]
    for place in range(begin, begin + BUCKET_WORDS, ENTRY_WORDS):
        head, tail = memory[place], memory[place + 1]
        if (head >> 14) & KEY == own_key and (tail >> 23) & KEY == rest and tail & 255 == generation:
            value = ((tail >> 8) & 32_767) - _VALUE_OFFSET
            return (head >> 4) & 3, value, (head >> 7) & MAX_DEPTH, (head >> 6) & 1, (head & 15) - 1
    return 0, 0, 0, 0, NO_ACTION


@compiled
def store(memory: Int64s, own: int, other: int, kind: int, value: int, depth: int, is_open: int, action: int) -> None:
    """Remember a position, in place of its own entry or else of the bucket's shallowest one."""
    if memory[BUCKET_BITS] == 0:
        return
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    begin = TABLE + bucket * BUCKET_WORDS
    generation = memory[GENERATION]
    chosen, least = begin, 1 << 20
    for place in range(begin, begin + BUCKET_WORDS, ENTRY_WORDS):
        head, tail = memory[place], memory[place + 1]
        worth = (head >> 7) & MAX_DEPTH
        if tail & 255 != generation:
            worth = -1
        elif (head >> 14) & KEY == own_key and (tail >> 23) & KEY == rest:
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
            next_own, next_other, gain, state = play(rules, own, other, action)
            memory[NODES] += 1
            is_open = 1 if state != OVER else 0
            if state == RUNNING:
                gain -= horizon(rules, next_own, next_other)
            if gain >= beta:
                return as_result(gain, is_open)
            best_open |= is_open
            best = max(best, gain)
    return as_result(best, best_open)


@compiled
def order_by_guess(rules: Int64s, memory: Int64s, first: int, begin: int, end: int) -> None:
    """Let a net say what each move on the stack is worth, and order the moves by it; action `first` stays first."""
    for place in range(begin, end, CHILD_WORDS):
        guess = memory[place + CHILD_GAIN]
        if memory[place + CHILD_STATE] == RUNNING:
            guess -= horizon(rules, memory[place + CHILD_OWN], memory[place + CHILD_OTHER])
        memory[place + CHILD_GUESS] = guess
        if memory[place + CHILD_ACTION] != first:
            memory[place + CHILD_ORDER] = guess


@compiled_recursion("int64(int64[::1], int64[::1], int64, int64, int64, int64, int64, int64)")
def negamax(rules: Int64s, memory: Int64s, own: int, other: int, alpha: int, beta: int, depth: int, ply: int) -> int:
    """The result of a search of `depth` >= 1 plies, or a bound beyond `alpha` or `beta` (fail-soft).

    Worthless once `memory[STOP]` is set; `ply` says which part of the stack is free.
    """
    if depth == 1:
        return last_ply(rules, memory, own, other, beta)
    kind, value, known_depth, is_open, first = probe(memory, own, other)
    holds = known_depth == depth or (known_depth < depth and is_open == 0)
    if holds and (kind == EXACT or (kind == LOWER and value >= beta) or (kind == UPPER and value <= alpha)):
        return as_result(value, is_open)
    begin = STACK + ply * PLY_WORDS
    end = expand(rules, memory, own, other, first, begin)
    if memory[NODES] >= memory[NODE_LIMIT]:
        memory[STOP] = 1
    if memory[STOP]:
        return 0
    margin = 0
    if rules[NET]:
        order_by_guess(rules, memory, first, begin, end)
        margin = GUESS_MARGIN + GUESS_MARGIN_A_PLY * (depth - 2) if depth <= memory[GUESS_DEPTH] + 1 else 0
    best, best_open, best_action, floor = -INFINITY, 0, NO_ACTION, alpha
    for place in range(begin, end, CHILD_WORDS):
        next_child(memory, place, end)
        value, is_open = memory[place + CHILD_GAIN], 1
        if memory[place + CHILD_STATE] == OVER:
            is_open = 0
        elif memory[place + CHILD_STATE] == RUNNING:
            child_own, child_other = memory[place + CHILD_OWN], memory[place + CHILD_OTHER]
            top = beta if place == begin else min(beta, floor + 1)
            guess = memory[place + CHILD_GUESS]
            if margin and top == floor + 1 and not floor - margin < guess < top + margin:
                result = as_result(value - guess, 1)
            else:
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
            store(memory, own, other, LOWER, value, depth, is_open, best_action)
            return as_result(value, is_open)
    store(memory, own, other, EXACT if best > alpha else UPPER, best, depth, best_open, best_action)
    return as_result(best, best_open)
