"""Tables of a proof-number search (see `oanquan_env.search.proof`): proof numbers of questions, and proofs."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from oanquan_env.engine.compiled import compiled, record
from oanquan_env.search.compiled import SearchRules
from oanquan_env.search.memory import ENTRIES, INFINITY, MAX_ACTIONS, MAX_DEPTH, Memory, Table, side_key, table_place


class Numbers(Protocol):
    """How far a question is from being settled: an entry of a table."""

    own: int  # the mover's side; 0 where nothing is kept, as who can move has seeds
    other: int
    question: int  # see `question_number`
    phi: int
    delta: int
    work: int  # moves played for it; the least is replaced first
    generation: int  # number of the search; disproofs of earlier searches are ignored


class Proofs(Protocol):
    """Proved bounds of a position's value: an entry of a table. They hold in any search."""

    own: int
    other: int
    lower: int  # points that the mover can win
    upper: int
    lower_plies: int  # at most so many until all games of the proof are over
    upper_plies: int


class Stack(Protocol):
    """The line that is searched: the questions of its positions, and the numbers of all their moves."""

    own: Any
    other: Any
    goal: Any
    phi: Any
    delta: Any
    plies: Any


class State(NamedTuple):
    """The rules, the stack and the tables of a search."""

    rules: SearchRules
    memory: Memory
    stack: Stack
    numbers: Table
    bounds: Table


NUMBERS = record(Numbers, **dict.fromkeys(("question", "phi", "delta", "work", "generation"), (np.int32,)))
BOUNDS = record(Proofs, **dict.fromkeys(("lower", "upper", "lower_plies", "upper_plies"), (np.int16,)))
_LINE, _MOVES = (np.int64, MAX_DEPTH + 1), (np.int64, (MAX_DEPTH + 1, MAX_ACTIONS))
STACK = record(
    Stack,
    **dict.fromkeys(("own", "other", "goal"), _LINE),
    **dict.fromkeys(("phi", "delta", "plies"), _MOVES),
)

SETTLED = 1 << 30
"""Above all efforts: the other number of a settled position, which is 0 itself."""
NOT_FOUND = -1
"""Place of a missing entry."""


@compiled
def question_number(goal: int, is_prover: int) -> int:
    """A question of a position in one number, never 0: does its mover win `goal` points, and is it the prover?"""
    return 2 * (goal + INFINITY) + is_prover


@compiled
def find_numbers(state: State, own: int, other: int, question: int) -> tuple[int, int]:
    """Bucket of a question, and the place of its entry there, or NOT_FOUND."""
    bucket, _ = table_place(state.memory, side_key(own) ^ question << 16, other)
    for place in range(ENTRIES):
        entry = state.numbers[bucket, place]
        if entry.own == own and entry.other == other and entry.question == question:
            return bucket, place
    return bucket, NOT_FOUND


@compiled
def keep_numbers(state: State, own: int, other: int, question: int, phi: int, delta: int, work: int) -> None:
    """Keep the numbers of a question."""
    table = state.numbers
    bucket, place = find_numbers(state, own, other, question)
    if place == NOT_FOUND:
        place = 0
        for rival in range(ENTRIES):
            if table[bucket, rival].work < table[bucket, place].work:
                place = rival
    entry = table[bucket, place]
    entry.own, entry.other, entry.question, entry.generation = own, other, question, state.memory.generation
    entry.phi, entry.delta, entry.work = phi, delta, min(work, SETTLED)


@compiled
def find_bounds(state: State, own: int, other: int) -> tuple[int, int]:
    """Bucket of a position, and the place of its entry there, or NOT_FOUND."""
    bucket, _ = table_place(state.memory, side_key(own), other)
    for place in range(ENTRIES):
        entry = state.bounds[bucket, place]
        if entry.own == own and entry.other == other:
            return bucket, place
    return bucket, NOT_FOUND


@compiled
def keep_bound(state: State, own: int, other: int, bound: int, is_lower: int, plies: int) -> None:
    """Keep a proved bound, where none is kept that says more; of a full bucket the shortest proof is replaced."""
    table = state.bounds
    bucket, place = find_bounds(state, own, other)
    if place == NOT_FOUND:
        place, least = 0, INFINITY
        for rival in range(ENTRIES):
            entry = table[bucket, rival]
            longest = max(entry.lower_plies, entry.upper_plies) if entry.own else NOT_FOUND
            if longest < least:
                place, least = rival, longest
        entry = table[bucket, place]
        entry.own, entry.other, entry.lower, entry.upper = own, other, -INFINITY, INFINITY
        entry.lower_plies = entry.upper_plies = 0
    entry, plies = table[bucket, place], min(plies, INFINITY)
    if is_lower and bound > entry.lower:
        entry.lower, entry.lower_plies = bound, plies
    if not is_lower and bound < entry.upper:
        entry.upper, entry.upper_plies = bound, plies
