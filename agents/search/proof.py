"""Proofs about a position's value: a compiled search, over `agents.search.compiled.play`, and the table that it fills.

One question is asked again and again: can the mover reach a future margin of `goal` points or more? It is answered to
some depth, and nothing is estimated beyond: a line that is not finished by then counts as a success of the mover in an
*optimistic* question (`optimistic` 1), and as a failure in any other (`optimistic` 0). So a yes that is not optimistic
is a proof, and so is an optimistic no. The other two answers may be *open*, that is, rest on unfinished lines:
`2 * answer + open`.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from agents.search.compiled import (
    OVER,
    RULES,
    Int64s,
    SearchRules,
    compile_rules,
    compiled,
    compiled_recursion,
    mover_first,
    record,
)
from agents.search.memory import (
    ENTRIES,
    INFINITY,
    MAX_DEPTH,
    MEMORY,
    NO_ACTION,
    UNLIMITED,
    Memory,
    Table,
    drop_mirrored,
    expand,
    is_symmetric,
    new_memory,
    next_child,
    side_key,
    table_place,
)
from oanquan_env import Core, Positions
from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.scalar import RUNNING


class Entry(Protocol):
    """An entry of the table: all bounds that were proved of a position, and its last question that stayed open."""

    own: int  # the mover's side; 0 where nothing is kept, as who can move has seeds
    other: int
    lower: int
    upper: int  # proved bounds
    goal: int
    question: int  # the open question: its goal, and `2 * depth + optimistic`
    move: int  # `action + 1` of the move that the last proof rests on, 0 for none


ENTRY = record(
    Entry,
    **dict.fromkeys(("lower", "upper", "goal"), (np.int16,)),
    **dict.fromkeys(("question", "move"), (np.uint8,)),
)
ENTRY_WORDS = ENTRY.itemsize // 8

NO, OPEN_NO, YES, OPEN_YES = 0, 1, 2, 3
"""Answers: proved, or open, as they rest on unfinished lines."""
NOT_FOUND = -1
"""Where a place in the table or a remembered answer is asked for and there is none."""


@compiled
def find(memory: Memory, table: Table, own: int, other: int) -> tuple[int, int]:
    """Bucket of a position, and the place of its entry there, or NOT_FOUND."""
    bucket, _ = table_place(memory, side_key(own), other)
    for place in range(ENTRIES):
        entry = table[bucket, place]
        if entry.own == own and entry.other == other:
            return bucket, place
    return bucket, NOT_FOUND


@compiled
def claim(memory: Memory, table: Table, own: int, other: int) -> tuple[int, int]:
    """Bucket of a position, and the place of its entry there: of a new one for the shallowest, if it has none."""
    bucket, found = find(memory, table, own, other)
    if found != NOT_FOUND:
        return bucket, found
    chosen, least = 0, MAX_DEPTH + 1
    for place in range(ENTRIES):
        entry = table[bucket, place]
        depth = entry.question >> 1 if entry.own else -1
        if depth < least:
            chosen, least = place, depth
    entry = table[bucket, chosen]
    entry.own, entry.other, entry.lower, entry.upper = own, other, -INFINITY, INFINITY
    entry.goal = entry.question = entry.move = 0
    return bucket, chosen


@compiled
def remembered(entry: Entry, goal: int, depth: int, optimistic: int) -> int:
    """The answer that an entry gives to the question, or NOT_FOUND."""
    if entry.lower >= goal:
        return YES
    if entry.upper < goal:
        return NO
    if entry.question >> 1 >= depth and entry.question & 1 == optimistic:
        if not optimistic and goal >= entry.goal:
            return OPEN_NO
        if optimistic and goal <= entry.goal:
            return OPEN_YES
    return NOT_FOUND


@compiled
def remember(
    memory: Memory, table: Table, own: int, other: int, goal: int, depth: int, optimistic: int, answer: int, action: int
) -> None:
    """Keep an answer, and the action that it rests on (or NO_ACTION)."""
    bucket, place = claim(memory, table, own, other)
    entry = table[bucket, place]
    if answer == YES:
        entry.lower = max(entry.lower, goal)
    elif answer == NO:
        entry.upper = min(entry.upper, goal - 1)
    else:
        entry.goal, entry.question = goal, 2 * depth + optimistic
    if action != NO_ACTION:
        entry.move = action + 1


_NUMBERS = 6 * (types.int64,)
_TABLE = types.Array(numba.from_dtype(ENTRY), 2, "C")


@compiled_recursion(types.int64(numba.from_dtype(RULES), numba.from_dtype(MEMORY), _TABLE, *_NUMBERS))
def reaches(
    rules: SearchRules,
    memory: Memory,
    table: Table,
    own: int,
    other: int,
    goal: int,
    depth: int,
    optimistic: int,
    ply: int,
) -> int:
    """Whether the mover of a running position can reach `goal`; see the top of this module.

    Worthless once `memory.stop` is set; `ply` says which part of the stack is free, and is 0 for the root.
    """
    bucket, place = find(memory, table, own, other)
    first = NO_ACTION
    if place != NOT_FOUND:
        answer = remembered(table[bucket, place], goal, depth, optimistic)
        if answer != NOT_FOUND:
            return answer
        first = table[bucket, place].move - 1
    if depth == 0:
        return OPEN_YES if optimistic else OPEN_NO
    children = memory.children[ply]
    count = expand(rules, memory, own, other, first, ply)
    if ply == 0 and is_symmetric(rules, own, other):
        count = drop_mirrored(rules, children, count)
    if memory.nodes >= memory.node_limit:
        memory.stop = 1
    if memory.stop:
        return OPEN_NO
    is_open = 0
    for place in range(count):
        next_child(children, place, count)
        child = children[place]
        answer = OPEN_YES if optimistic else OPEN_NO
        if child.state == OVER:
            answer = YES if child.gain >= goal else NO
        elif child.state == RUNNING:  # the mover reaches it unless the opponent can win too much
            answer = reaches(
                rules, memory, table, child.own, child.other, child.gain - goal + 1, depth - 1, 1 - optimistic, ply + 1
            )
            if memory.stop:
                return OPEN_NO
            answer ^= YES
        if answer >= YES:
            memory.history[child.action] += depth * depth
            remember(memory, table, own, other, goal, depth, optimistic, answer, child.action)
            return answer
        is_open |= answer
    remember(memory, table, own, other, goal, depth, optimistic, is_open, NO_ACTION)
    return OPEN_NO if is_open else NO


@compiled
def forced(rules: SearchRules, memory: Memory, table: Table, sides: Int64s, goals: Int64s, depth: int) -> Mask:
    """(N,) whether `reaches` proves that the movers of N positions, (N, 2) sides, reach their goals."""
    found = np.zeros(len(goals), dtype=np.bool_)
    for row in range(len(goals)):
        found[row] = reaches(rules, memory, table, sides[row, 0], sides[row, 1], goals[row], depth, 0, 0) == YES
    return found


# ---- the table -------------------------------------------------------------------------------------------------------


class LimitReachedError(Exception):
    """The nodes or the time are used up before there is an answer. The table holds all proofs up to then."""


class ProofTable:
    """Answers questions about running positions of one `Rules`, and remembers the proofs.

    A position is given as two words, `own` and `other`: see `agents.search.compiled.mover_first`. `rules` are those of
    `compile_rules` there, which raises `ValueError` for rules that search refuses.
    """

    def __init__(self, core: Core, megabytes: float) -> None:
        self.rules = compile_rules(core)
        self._memory, self._table = new_memory(megabytes, ENTRY)
        self._memory.bucket_bits = (len(self._table) - 1).bit_length()
        self._entries: Int64s = self._table.reshape(-1).view(np.int64).reshape(-1, ENTRY_WORDS)
        self.allow(UNLIMITED)

    def __len__(self) -> int:
        """The number of entries that the table has room for."""
        return len(self._entries)

    @property
    def nodes(self) -> int:
        """Moves played by the questions since `allow` was called."""
        return int(self._memory.nodes)

    def allow(self, nodes: int) -> None:
        """Set how many moves all questions from now on may play together, and count from 0."""
        self._memory.nodes, self._memory.node_limit = 0, nodes

    def ask(
        self, own: int, other: int, goal: int, depth: int, *, optimistic: bool, deadline: float | None = None
    ) -> int:
        """Can the mover reach a future margin of `goal` points or more within `depth` plies?

        Unfinished lines count as reaching it if the question is `optimistic`. The answer is YES, NO, OPEN_YES or
        OPEN_NO. `LimitReachedError` is raised at the deadline, and when the nodes that `allow` set are used up.

        A deadline is one of `time.monotonic()`, `inf` for never. With it the search runs in a thread of its own, so
        Ctrl-C interrupts it too.
        """
        self._memory.stop = 0
        question = self.rules, self._memory, self._table, own, other, goal, depth, int(optimistic), 0
        if deadline is None:
            answer = reaches(*question)
        else:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(reaches, *question)
                try:
                    wait([asked], None if deadline == math.inf else max(deadline - time.monotonic(), 0.0))
                finally:
                    if not asked.done():
                        self._memory.stop = 1
            answer = asked.result()
        if self._memory.stop:
            raise LimitReachedError
        return int(answer)

    def forced(self, positions: Positions, goals: npt.NDArray[np.signedinteger], depth: int) -> Mask:
        """(N,) whether the movers of N running positions are proved to reach their goals, within `depth` plies.

        Earlier proofs count at any depth; depth 0 asks for them alone.
        """
        self._memory.stop = 0
        return forced(self.rules, self._memory, self._table, mover_first(positions), goals.astype(np.int64), depth)

    def action(self, own: int, other: int) -> int:
        """The action that the last proof about a position rests on, or NO_ACTION."""
        bucket, place = find(self._memory, self._table, own, other)
        return NO_ACTION if place == NOT_FOUND else int(self._table[bucket, place].move) - 1

    def entries(self) -> tuple[Ints, Int64s]:
        """(K,) places of the entries in use, ascending, and the (K, ENTRY_WORDS) entries."""
        places = cast(Ints, self._table.reshape(-1)["own"].nonzero()[0])
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
        self._memory.history[:] = 0
        self._entries[:] = 0
        self._entries[places] = entries
