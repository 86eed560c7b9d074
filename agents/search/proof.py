"""Proofs about a position's value: a compiled search, over `agents.search.compiled.play`, and the table that it fills.

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

import math
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import cast

import numpy as np

from agents.search.compiled import OVER, Int64s, compile_rules, compiled, compiled_recursion
from agents.search.memory import (
    BUCKET_BITS,
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
    UNLIMITED,
    drop_mirrored,
    expand,
    is_symmetric,
    new_memory,
    next_child,
    side_key,
    table_bits,
    table_place,
)
from oanquan_env import Core
from oanquan_env.arrays import Ints
from oanquan_env.engine.scalar import RUNNING

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


# ---- the table -------------------------------------------------------------------------------------------------------


class LimitReachedError(Exception):
    """The nodes or the time are used up before there is an answer. What was proved by then is in the table."""


class ProofTable:
    """Answers questions about running positions of one `Rules`, and remembers what was proved.

    A position is given as two words, `own` and `other`: see `agents.search.compiled.mover_first`. `rules` are those of
    `compile_rules` there, which raises `ValueError` for rules that search refuses.
    """

    def __init__(self, core: Core, megabytes: float) -> None:
        self.rules = compile_rules(core)
        self._memory = new_memory(megabytes, BUCKET_WORDS)
        self._memory[BUCKET_BITS] = table_bits(self._memory, BUCKET_WORDS)
        self._entries = self._memory[TABLE:].reshape(-1, ENTRY_WORDS)
        self.allow(UNLIMITED)

    def __len__(self) -> int:
        """The number of entries that the table has room for."""
        return len(self._entries)

    @property
    def nodes(self) -> int:
        """Moves played by the questions since `allow` was called."""
        return int(self._memory[NODES])

    def allow(self, nodes: int) -> None:
        """Set how many moves all questions from now on may play together, and count from 0."""
        self._memory[NODES], self._memory[NODE_LIMIT] = 0, nodes

    def ask(
        self, own: int, other: int, goal: int, depth: int, *, optimistic: bool, deadline: float | None = None
    ) -> int:
        """Can the mover reach a future margin of `goal` points or more within `depth` plies?

        Unfinished lines count as reaching it if the question is `optimistic`. The answer is YES, NO, OPEN_YES or
        OPEN_NO. `LimitReachedError` is raised at the deadline, and when the nodes that `allow` set are used up.

        A deadline is one of `time.monotonic()`, `inf` for never. With it the search runs in a thread of its own, so
        Ctrl-C interrupts it too.
        """
        self._memory[STOP] = 0
        question = self.rules, self._memory, own, other, goal, depth, int(optimistic), 0
        if deadline is None:
            answer = reaches(*question)
        else:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(reaches, *question)
                try:
                    wait([asked], None if deadline == math.inf else max(deadline - time.monotonic(), 0.0))
                finally:
                    if not asked.done():
                        self._memory[STOP] = 1
            answer = asked.result()
        if self._memory[STOP]:
            raise LimitReachedError
        return int(answer)

    def action(self, own: int, other: int) -> int:
        """The action that the last proof about a position rests on, or NO_ACTION."""
        place = find(self._memory, own, other)
        return NO_ACTION if place == NOT_FOUND else int(self._memory[place + HEAD] & 15) - 1

    def entries(self) -> tuple[Ints, Int64s]:
        """(K,) places of the entries in use, ascending, and the (K, ENTRY_WORDS) entries."""
        places = cast(Ints, self._entries[:, HEAD].nonzero()[0])
        return places, self._entries[places]

    def restore(self, places: Ints, entries: Int64s) -> None:
        """Replace what is remembered by what `entries` returned, of a table of the same size.

        Raises `ValueError` for arrays that `entries` never returns; the table is then unchanged.
        """
        shaped = places.ndim == 1 and entries.shape == (places.size, ENTRY_WORDS)
        if not shaped or entries.dtype != np.int64 or places.dtype != np.intp:
            raise ValueError(f"entries must be (K, {ENTRY_WORDS}) int64, and their places (K,) intp")
        if len(places) and not 0 <= places.min() <= places.max() < len(self):
            raise ValueError(f"places must be from 0 to {len(self) - 1}")
        self._memory[HISTORY:STACK] = 0
        self._entries[:] = 0
        self._entries[places] = entries
