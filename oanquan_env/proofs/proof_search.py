"""Proofs of bounds by depth-first proof-number search, df-pn (Nagai 2002).

A *prover*, the mover or the opponent, claims that it can reach a *goal*: a margin in points over the other side from
here on. If the prover is to move, one of its moves must preserve the claim; if the other side is to move, all
moves must. Only finished games prove a claim, so a proof holds at any depth. Two numbers estimate the work left to
settle a position: *phi* is the effort needed to show that its mover reaches the goal, and *delta* is the effort needed
to show that it does not. At a leaf, phi is 1 and delta is the number of moves. Elsewhere phi is the smallest delta of
the children, because one move is enough, and delta is the sum of their phi values, because all moves must be refuted.
The search always expands the child that is closest to being settled.

A line counts against the prover if it repeats a position without progress, or is longer than `MAX_DEPTH` plies. A
proved claim is therefore true, but a claim without a proof may be true or false, or may never be decided.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import cast

import numba
import numpy as np
from numba import types

from oanquan_env.array_types import Ints, Points
from oanquan_env.engine.compiled import Int64s, compiled, compiled_recursion, zeros
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, can_play
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UnavailableError
from oanquan_env.proofs.proof_tables import (
    NOT_FOUND,
    NUMBERS,
    PROOF_ENTRIES,
    PROOFS,
    SETTLED,
    STACK,
    Stack,
    State,
    probe_lower_bound,
    probe_numbers,
    probe_proofs,
    question_number,
    store_numbers,
    store_proof,
)
from oanquan_env.search.keys import canonical, is_symmetric
from oanquan_env.search.search_state import (
    ENTRIES,
    INFINITY,
    MAX_DEPTH,
    MEMORY,
    NO_ACTION,
    TWO_PLAYER_RULES,
    Memory,
    bucket_bits,
    compile_rules,
    drop_mirrored,
    mover_first,
    play_all,
)

FAILED, PROVED, LIMITED = 0, 1, 2
"""Outcomes: the search ended without a proof, found a proof, or used up its nodes without an answer."""
UNPROVED = 1 << 20
"""Placeholder for the plies of a missing proof."""


# ---- the search ------------------------------------------------------------------------------------------------------


@compiled
def initial_numbers(state: State, own: int, other: int, goal: int, is_prover: int) -> tuple[int, int, int]:
    """Return phi, delta and the proof's plies (0 if none) of a running position: from the tables, or as for a leaf."""
    won, lost = probe_proofs(state, own, other, goal)
    if won != NOT_FOUND:
        return 0, SETTLED, won
    if lost != NOT_FOUND:
        return SETTLED, 0, lost
    bucket, place = probe_numbers(state, own, other, question_number(goal, is_prover))
    if place != NOT_FOUND:
        entry = state.numbers[bucket, place]
        if entry.generation == state.memory.generation or (entry.phi and entry.delta):
            return int(entry.phi), int(entry.delta), 0
    moves = 0
    for action in range(2 * state.rules.fields):
        moves += can_play(state.rules, own, action)
    return 1, moves, 0


@compiled
def repeats(stack: Stack, ply: int, own: int, other: int, goal: int, is_prover: int) -> bool:
    """Return whether a move at `ply` repeats a position of the line without any gain for the prover since then."""
    for before in range(ply - 1, -1, -2):
        progress = goal < stack.goal[before] if is_prover else goal > stack.goal[before]
        if stack.own[before] == own and stack.other[before] == other and not progress:
            return True
    return False


@compiled
def push_children(state: State, own: int, other: int, goal: int, is_prover: int, ply: int) -> int:
    """Push the moves of a position with their proof numbers onto the stack at `ply`, and return the number of moves."""
    rules, stack, children = state.rules, state.stack, state.memory.children[ply]
    phis, deltas, plies = stack.phi[ply], stack.delta[ply], stack.plies[ply]
    stack.own[ply], stack.other[ply], stack.goal[ply] = own, other, goal
    count = play_all(rules, state.memory, own, other, NO_ACTION, ply)
    if ply == 0 and is_symmetric(rules, own, other):
        count = drop_mirrored(rules, children, count)
    for move in range(count):
        child = children[move]
        child.own, child.other = canonical(rules, child.own, child.other)
        needed = child.gain - goal + 1  # points that the opponent needs to refute the move
        if child.state != RUNNING:
            phis[move], deltas[move], plies[move] = (SETTLED, 0, 0) if needed > 0 else (0, SETTLED, 0)
        elif ply == MAX_DEPTH or repeats(stack, ply, child.own, child.other, needed, 1 - is_prover):
            phis[move], deltas[move], plies[move] = (0, SETTLED, 0) if is_prover else (SETTLED, 0, 0)
        else:
            numbers = initial_numbers(state, child.own, child.other, needed, 1 - is_prover)
            phis[move], deltas[move], plies[move] = numbers
    return count


_STATE = types.NamedTuple(  # type: ignore[no-untyped-call]
    [
        *map(numba.from_dtype, (TWO_PLAYER_RULES, MEMORY, STACK)),
        *(numba.from_dtype(kind)[:, ::1] for kind in (NUMBERS, PROOFS)),
    ],
    State,
)
_ANSWER = types.UniTuple(types.int64, 3)  # type: ignore[no-untyped-call]


@compiled_recursion(_ANSWER(_STATE, *7 * (types.int64,)))
def mid(
    state: State, own: int, other: int, goal: int, is_prover: int, phi_threshold: int, delta_threshold: int, ply: int
) -> tuple[int, int, int]:
    """Search for a proof that the mover of a running position can win `goal` points, or that it cannot: df-pn's MID.

    Return phi, delta and the proof's plies (0 without a proof). The search also ends if phi or delta reaches its
    threshold, and at the node limit. `is_prover` is 1 if the mover is the prover; `ply` is 0 at the root.

    For example, a mover asks whether it can win 7 points, and each of its three moves wins 3 points. After a move, the
    opponent must win at least 3 - 7 + 1 = -3 points to refute it. If the moves leave 4, 2 and 5 replies, and the tables
    know nothing, the children's phi is 1 and their delta is 4, 2 and 5. So the position's phi is 2 and its delta is
    1 + 1 + 1 = 3. The second move is searched until its delta reaches 4 + 4 // 4 + 1 = 6, and the numbers are
    computed again.
    """
    memory, children = state.memory, state.memory.children[ply]
    phis, deltas, plies = state.stack.phi[ply], state.stack.delta[ply], state.stack.plies[ply]
    began = memory.nodes
    count = push_children(state, own, other, goal, is_prover, ply)
    while True:
        phi = second = SETTLED
        best, delta, longest, shortest = 0, 0, 0, INFINITY
        for move in range(count):
            if deltas[move] < phi:
                best, second, phi = move, phi, deltas[move]
            elif deltas[move] < second:
                second = deltas[move]
            delta = SETTLED if phis[move] == SETTLED or delta == SETTLED else min(delta + phis[move], SETTLED - 1)
            longest = max(longest, plies[move])
            if deltas[move] == 0:
                shortest = min(shortest, plies[move])
        if memory.nodes >= memory.node_limit:
            memory.stop = 1
        if phi == 0 and is_prover:
            store_proof(state, own, other, goal, 1, shortest + 1)
            return 0, SETTLED, shortest + 1
        if delta == 0 and not is_prover:
            store_proof(state, own, other, goal - 1, 0, longest + 1)
            return SETTLED, 0, longest + 1
        if phi >= phi_threshold or delta >= delta_threshold or phi == 0 or delta == 0 or memory.stop:
            phi, delta = SETTLED if delta == 0 else phi, SETTLED if phi == 0 else delta
            store_numbers(state, own, other, question_number(goal, is_prover), phi, delta, memory.nodes - began)
            return phi, delta, 0
        child = children[best]
        # The child is searched until its delta exceeds the delta of the second best child by a quarter, so that the
        # search switches between children less often (Pawlewicz and Lew 2007).
        phis[best], deltas[best], plies[best] = mid(
            state,
            child.own,
            child.other,
            child.gain - goal + 1,
            1 - is_prover,
            delta_threshold - (delta - phis[best]),
            min(phi_threshold, second + second // 4 + 1),
            ply + 1,
        )


@compiled
def probe_plies(state: State, own: int, other: int, bound: int, is_lower: int) -> int:
    """Return the plies of the table's shortest proof of a bound, or UNPROVED."""
    own, other = canonical(state.rules, own, other)
    won, lost = probe_proofs(state, own, other, bound if is_lower else bound + 1)
    plies = won if is_lower else lost
    return UNPROVED if plies == NOT_FOUND else plies


@compiled
def prove(state: State, own: int, other: int, bound: int, is_lower: int, nodes: int) -> int:
    """Try to prove a bound of a running position's value in up to `nodes` moves; return PROVED, FAILED or LIMITED."""
    memory = state.memory
    memory.generation += 1
    memory.node_limit = memory.nodes + nodes
    if probe_plies(state, own, other, bound, is_lower) != UNPROVED:
        return PROVED
    if nodes == 0:
        return LIMITED
    own, other = canonical(state.rules, own, other)
    phi, delta, _ = mid(state, own, other, bound if is_lower else bound + 1, is_lower, SETTLED, SETTLED, 0)
    if (phi if is_lower else delta) == 0:
        return PROVED
    return LIMITED if memory.stop else FAILED


@compiled
def prove_each(state: State, sides: Int64s, lower: Int64s, most: Int64s, nodes: int) -> Int64s:
    """Return (N, 2) lower bounds and plies of their proofs for (N, 2) `sides`; see `ProofTable.prove_each`."""
    bounds = np.empty((len(lower), 2), dtype=np.int64)
    for row in range(len(lower)):
        own, other = canonical(state.rules, sides[row, 0], sides[row, 1])
        bound, plies = probe_lower_bound(state, own, other, lower[row], most[row])
        if plies == NOT_FOUND and nodes:
            state.memory.stop = 0
            prove(state, own, other, lower[row], 1, nodes)
            bound, plies = probe_lower_bound(state, own, other, lower[row], most[row])
        bounds[row, 0], bounds[row, 1] = bound, UNPROVED if plies == NOT_FOUND else plies  # a row would compile for 2 s
    return bounds


# ---- questions -------------------------------------------------------------------------------------------------------


class LimitReachedError(Exception):
    """Raised when time runs out before there is an answer. The tables keep the proofs that were found."""

    def __init__(self) -> None:
        super().__init__("no answer in time")


class ProofTable:
    """A prover of bounds on the values of running positions under one `Rules`, with tables of up to `megabytes` MiB.

    A position is two words, `own` and `other`: see `oanquan_env.search.search_state.mover_first`. `rules` is the record
    that `compile_rules` returns. Raises `ValueError` for rules that cannot be searched, and for rules under which first
    moves capture no mandarin, because positions here have no ply.
    """

    def __init__(self, core: Core, megabytes: float) -> None:
        self.rules, self.total = compile_rules(core), core.rules.total
        if not core.rules.first_move_captures_mandarin:
            raise UnavailableError("proofs leave out the ply, so they need first_move_captures_mandarin=True")
        memory, stack = zeros(MEMORY, 1)[0], zeros(STACK, 1)[0]
        sizes = {NUMBERS: ENTRIES, PROOFS: PROOF_ENTRIES}
        share = NUMBERS.itemsize * ENTRIES / sum(kind.itemsize * entries for kind, entries in sizes.items())
        memory.bucket_bits = bucket_bits(share * megabytes, NUMBERS)
        tables = (zeros(kind, n << memory.bucket_bits).reshape(-1, n) for kind, n in sizes.items())
        self._state = State(self.rules, cast(Memory, memory), cast(Stack, stack), *tables)

    @property
    def nodes(self) -> int:
        """Moves played so far."""
        return int(self._state.memory.nodes)

    def prove(
        self,
        own: int,
        other: int,
        bound: int,
        *,
        is_lower: bool,
        nodes: int,
        deadline: float | None = None,
    ) -> int:
        """Try to prove that `bound` is a lower bound (`is_lower`) or an upper bound of the mover's future margin.

        Returns PROVED, FAILED or LIMITED after at most `nodes` more moves; a later call continues the search. Raises
        `ValueError` if `bound` is out of range.

        `deadline` is a time of `time.monotonic()` at which the search raises `LimitReachedError`. With a deadline,
        which may be `inf`, the search runs in its own thread, so that Ctrl-C can interrupt it.
        """
        if abs(bound) >= INFINITY:
            raise ValueError(f"a bound must be within {INFINITY} points; got {bound}")
        memory = self._state.memory
        memory.stop = 0
        question = self._state, own, other, bound, int(is_lower), nodes
        if deadline is None:
            return int(prove(*question))
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(prove, *question)
            try:
                done, _ = wait([future], None if deadline == math.inf else max(deadline - time.monotonic(), 0.0))
            finally:
                if not future.done():
                    memory.stop = 1
        if not done and future.result() != PROVED:
            raise LimitReachedError
        return int(future.result())

    def prove_each(self, positions: Positions, lower: Points, most: Ints, nodes: int) -> tuple[Int64s, Int64s]:
        """Return (N,) best lower bounds that have proofs of at most `most` plies, and (N,) plies of these proofs.

        If the table has no such bound of at least `lower`, a search plays up to `nodes` moves to prove one. If this
        also fails, the plies are UNPROVED.
        """
        questions = lower.astype(np.int64), most.astype(np.int64)
        bounds, plies = prove_each(self._state, mover_first(positions), *questions, nodes).T
        return bounds, plies

    def plies(self, own: int, other: int, bound: int, *, is_lower: bool) -> int:
        """Return the plies of the longest game in a bound's proof; UNPROVED if there is no proof."""
        return int(probe_plies(self._state, own, other, bound, int(is_lower)))
