"""The two tables of a proof-number search (see `proof_search`): one of proof numbers, one of proofs."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from oanquan_env.engine.compiled import compiled, record
from oanquan_env.search.keys import side_key, table_place
from oanquan_env.search.search_state import ENTRIES, INFINITY, MAX_ACTIONS, MAX_DEPTH, Memory, SearchRules, Table


class Numbers(Protocol):
    """A table entry with the proof numbers of a question: whether the mover of a position can win its goal."""

    own: int  # the mover's side; 0 in an empty entry, because a mover always has seeds
    other: int
    question: int  # see `question_number`
    phi: int
    delta: int
    work: int  # moves played for the question; the entry with the least work is replaced first
    generation: int  # number of the search; disproofs of earlier searches are ignored


class Proof(Protocol):
    """A table entry: a proved bound of a position's value, which holds in every search.

    A position may have several proofs of each kind of bound, because the table also keeps a weaker bound if its proof
    is shorter. So the table keeps the proofs on which other proofs depend, and a strategy can be read from the table.
    """

    own: int  # 0 in an empty entry
    other: int
    bound: int  # the least or the most points that the mover wins
    plies: int  # maximum plies until all games of the proof are over
    is_lower: int


class Stack(Protocol):
    """The line being searched: the question of each position on it, and the proof numbers of that position's moves."""

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
    proofs: Table


NUMBERS = record(Numbers, **dict.fromkeys(("question", "phi", "delta", "work", "generation"), (np.int32,)))
PROOFS = record(Proof, **dict.fromkeys(("bound", "plies", "is_lower"), (np.int16,)))
PROOF_ENTRIES = 3 * ENTRIES
"""Maximum proofs per bucket. The entries of a bucket fill in order, so all entries after an empty one are empty."""
_LINE, _MOVES = (np.int64, MAX_DEPTH + 1), (np.int64, (MAX_DEPTH + 1, MAX_ACTIONS))
STACK = record(
    Stack,
    **dict.fromkeys(("own", "other", "goal"), _LINE),
    **dict.fromkeys(("phi", "delta", "plies"), _MOVES),
)

SETTLED = 1 << 30
"""A number greater than every effort. Of a settled position's two numbers, one is 0 and the other is SETTLED."""
NOT_FOUND = -1
"""Placeholder for the index of a missing entry, or the plies of a missing proof."""


@compiled
def question_number(goal: int, is_prover: int) -> int:
    """Return a nonzero code of the question whether the mover, as prover or opponent, can win `goal` points.

    The prover's question about 7 points is 2 * (7 + 16,000) + 1 = 32,015, and its opponent's question 32,014: the
    codes differ, because a repetition counts against the prover. Goals may be negative; -7 gives 31,987 and 31,986.
    """
    return 2 * (goal + INFINITY) + is_prover


@compiled
def probe_numbers(state: State, own: int, other: int, question: int) -> tuple[int, int]:
    """Return the bucket of a question, and the index of its entry there, or NOT_FOUND."""
    bucket, _ = table_place(state.memory, side_key(own) ^ question << 16, other)
    for place in range(ENTRIES):
        entry = state.numbers[bucket, place]
        if entry.own == own and entry.other == other and entry.question == question:
            return bucket, place
    return bucket, NOT_FOUND


@compiled
def store_numbers(state: State, own: int, other: int, question: int, phi: int, delta: int, work: int) -> None:
    """Store the proof numbers of a question, replacing its own entry or the entry with the least work."""
    table = state.numbers
    bucket, place = probe_numbers(state, own, other, question)
    if place == NOT_FOUND:
        place = 0
        for rival in range(ENTRIES):
            if table[bucket, rival].work < table[bucket, place].work:
                place = rival
    entry = table[bucket, place]
    entry.own, entry.other, entry.question, entry.generation = own, other, question, state.memory.generation
    entry.phi, entry.delta, entry.work = phi, delta, min(work, SETTLED)


@compiled
def probe_lower_bound(state: State, own: int, other: int, least: int, most: int) -> tuple[int, int]:
    """Return the best lower bound proved within `most` plies, and the plies of its shortest proof.

    If no bound of at least `least` is proved, the plies are NOT_FOUND.
    """
    bucket, _ = table_place(state.memory, side_key(own), other)
    best, plies = least, NOT_FOUND
    for place in range(PROOF_ENTRIES):
        proof = state.proofs[bucket, place]
        if not proof.own:
            break
        fits = proof.own == own and proof.other == other and proof.is_lower and proof.plies <= most
        shorter = proof.bound == best and (plies == NOT_FOUND or proof.plies < plies)
        if fits and (proof.bound > best or shorter):
            best, plies = proof.bound, proof.plies
    return best, plies


@compiled
def probe_proofs(state: State, own: int, other: int, goal: int) -> tuple[int, int]:
    """Return the plies of the shortest proofs that the mover can, and cannot, win `goal` points; NOT_FOUND if none."""
    bucket, _ = table_place(state.memory, side_key(own), other)
    won = lost = NOT_FOUND
    for place in range(PROOF_ENTRIES):
        proof = state.proofs[bucket, place]
        if not proof.own:
            break
        if proof.own == own and proof.other == other:
            if proof.is_lower:
                if proof.bound >= goal and (won == NOT_FOUND or proof.plies < won):
                    won = proof.plies
            elif proof.bound < goal and (lost == NOT_FOUND or proof.plies < lost):
                lost = proof.plies
    return won, lost


@compiled
def store_proof(state: State, own: int, other: int, bound: int, is_lower: int, plies: int) -> None:
    """Store a proof, unless the bucket holds one that is at least as strong and at least as short.

    The new proof replaces a proof that it matches or beats in both respects. If there is no such proof and the bucket
    is full, the new proof replaces the proof with the fewest plies.
    """
    table, sign, plies = state.proofs, 1 if is_lower else -1, min(plies, INFINITY)
    bucket, _ = table_place(state.memory, side_key(own), other)
    place, least = 0, INFINITY + 1
    for rival in range(PROOF_ENTRIES):
        proof = table[bucket, rival]
        if not proof.own:
            if least != NOT_FOUND:
                place = rival
            break
        if proof.own == own and proof.other == other and proof.is_lower == is_lower:
            gain = sign * (bound - proof.bound)
            if gain <= 0 and proof.plies <= plies:
                return
            if gain >= 0 and proof.plies >= plies:
                place, least = rival, NOT_FOUND
        if proof.plies < least:
            place, least = rival, proof.plies
    proof = table[bucket, place]
    proof.own, proof.other, proof.bound, proof.is_lower, proof.plies = own, other, bound, is_lower, plies
