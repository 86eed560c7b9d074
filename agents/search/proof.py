"""Compiled proofs about a position's value, over `agents.search.compiled.play`.

One question is asked again and again: can the mover reach a future margin of `goal` points or more? It is answered to
some depth, and nothing is estimated beyond: a line that is not finished by then counts as a success of the mover in an
*optimistic* question (`optimistic` 1), and as a failure in any other (`optimistic` 0). So a yes that is not optimistic
is a proof, and so is an optimistic no. The other two answers may be *open*, that is, rest on unfinished lines:
`2 * answer + open`.

A table entry keeps all bounds that were proved of a position, and the last question about it that stayed open:
    mover's side (49 bits) | depth (7) | optimistic (1) | used (2) | action + 1 (4)
    rest of the other side's key (at most 41 bits) | goal (20)
    lower bound (20) | upper bound (20)
"""

from __future__ import annotations

from agents.search.compiled import OVER, RUNNING, Int64s, compiled, compiled_recursion
from agents.search.memory import (
    CHILD_ACTION,
    CHILD_GAIN,
    CHILD_OTHER,
    CHILD_OWN,
    CHILD_STATE,
    CHILD_WORDS,
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
    drop_mirrored,
    expand,
    is_symmetric,
    next_child,
    side_key,
    table_place,
)

ENTRY_WORDS = 3
BUCKET_WORDS = 4 * ENTRY_WORDS
HEAD, TAIL, BOUNDS = range(ENTRY_WORDS)
_USED = 1 << 4
_POINTS = (1 << 20) - 1
_ZERO_POINTS = 1 << 19

NO, OPEN_NO, YES, OPEN_YES = 0, 1, 2, 3
"""Answers: proved, or open, as they rest on unfinished lines."""
NOT_FOUND = -1
"""Where a place in the table or a remembered answer is asked for and there is none."""


@compiled
def find(memory: Int64s, own: int, other: int) -> int:
    """Place of a position's entry, or NOT_FOUND."""
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    begin = TABLE + bucket * BUCKET_WORDS
    for place in range(begin, begin + BUCKET_WORDS, ENTRY_WORDS):
        head = memory[place + HEAD]
        if (head >> 14) & KEY == own_key and memory[place + TAIL] >> 20 == rest and head & _USED:
            return place
    return NOT_FOUND


@compiled
def claim(memory: Int64s, own: int, other: int) -> int:
    """Place of a position's entry; if it has none, a new one in place of the bucket's shallowest."""
    found = find(memory, own, other)
    if found != NOT_FOUND:
        return found
    own_key = side_key(own)
    bucket, rest = table_place(memory, own_key, other)
    begin = TABLE + bucket * BUCKET_WORDS
    chosen, least = begin, MAX_DEPTH + 1
    for place in range(begin, begin + BUCKET_WORDS, ENTRY_WORDS):
        head = memory[place + HEAD]
        depth = (head >> 7) & MAX_DEPTH if head & _USED else -1
        if depth < least:
            chosen, least = place, depth
    memory[chosen + HEAD] = own_key << 14 | _USED
    memory[chosen + TAIL] = rest << 20 | _ZERO_POINTS
    memory[chosen + BOUNDS] = as_bounds(-INFINITY, INFINITY)
    return chosen


@compiled
def as_bounds(lower: int, upper: int) -> int:
    """Both bounds as one word."""
    return (lower + _ZERO_POINTS) << 20 | (upper + _ZERO_POINTS)


@compiled
def bounds(memory: Int64s, place: int) -> tuple[int, int]:
    """The lower and the upper bound of the entry at `place`."""
    word = memory[place + BOUNDS]
    return (word >> 20) - _ZERO_POINTS, (word & _POINTS) - _ZERO_POINTS


@compiled
def remembered(memory: Int64s, place: int, goal: int, depth: int, optimistic: int) -> int:
    """The answer that the entry at `place` gives to the question, or NOT_FOUND."""
    lower, upper = bounds(memory, place)
    if lower >= goal:
        return YES
    if upper < goal:
        return NO
    head = memory[place + HEAD]
    if (head >> 7) & MAX_DEPTH >= depth and (head >> 5) & 1 == optimistic:
        asked = (memory[place + TAIL] & _POINTS) - _ZERO_POINTS
        if not optimistic and goal >= asked:
            return OPEN_NO
        if optimistic and goal <= asked:
            return OPEN_YES
    return NOT_FOUND


@compiled
def remember(
    memory: Int64s, own: int, other: int, goal: int, depth: int, optimistic: int, answer: int, action: int
) -> None:
    """Keep an answer, and the action that it rests on (or NO_ACTION)."""
    place = claim(memory, own, other)
    lower, upper = bounds(memory, place)
    head, tail = memory[place + HEAD], memory[place + TAIL]
    if answer == YES:
        lower = max(lower, goal)
    elif answer == NO:
        upper = min(upper, goal - 1)
    else:
        head = (head >> 14) << 14 | depth << 7 | optimistic << 5 | _USED | (head & 15)
        tail = (tail >> 20) << 20 | (goal + _ZERO_POINTS)
    if action != NO_ACTION:
        head = (head >> 4) << 4 | (action + 1)
    memory[place + HEAD], memory[place + TAIL], memory[place + BOUNDS] = head, tail, as_bounds(lower, upper)


@compiled_recursion("int64(int64[::1], int64[::1], int64, int64, int64, int64, int64, int64)")
def reaches(
    rules: Int64s, memory: Int64s, own: int, other: int, goal: int, depth: int, optimistic: int, ply: int
) -> int:
    """Whether the mover of a running position can reach `goal`; see the top of this module.

    Worthless once `memory[STOP]` is set; `ply` says which part of the stack is free, and is 0 for the root.
    """
    place, first = find(memory, own, other), NO_ACTION
    if place != NOT_FOUND:
        answer = remembered(memory, place, goal, depth, optimistic)
        if answer != NOT_FOUND:
            return answer
        first = (memory[place + HEAD] & 15) - 1
    if depth == 0:
        return OPEN_YES if optimistic else OPEN_NO
    begin = STACK + ply * PLY_WORDS
    end = expand(rules, memory, own, other, first, begin)
    if ply == 0 and is_symmetric(rules, own, other):
        end = drop_mirrored(rules, memory, end)
    if memory[NODES] >= memory[NODE_LIMIT]:
        memory[STOP] = 1
    if memory[STOP]:
        return OPEN_NO
    is_open = 0
    for child in range(begin, end, CHILD_WORDS):
        next_child(memory, child, end)
        gain, state = memory[child + CHILD_GAIN], memory[child + CHILD_STATE]
        answer = OPEN_YES if optimistic else OPEN_NO
        if state == OVER:
            answer = YES if gain >= goal else NO
        elif state == RUNNING:  # the mover reaches it unless the opponent can win too much
            child_own, child_other = memory[child + CHILD_OWN], memory[child + CHILD_OTHER]
            answer = reaches(rules, memory, child_own, child_other, gain - goal + 1, depth - 1, 1 - optimistic, ply + 1)
            if memory[STOP]:
                return OPEN_NO
            answer ^= YES
        if answer >= YES:
            action = memory[child + CHILD_ACTION]
            memory[HISTORY + action] += depth * depth
            remember(memory, own, other, goal, depth, optimistic, answer, action)
            return answer
        is_open |= answer
    remember(memory, own, other, goal, depth, optimistic, is_open, NO_ACTION)
    return OPEN_NO if is_open else NO
