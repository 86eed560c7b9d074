"""Proved bounds of a position's value: the mover's future margin in points under best play of both sides.

A lower bound is proved by finished games: whatever the opponent plays, the mover can force at least that margin. An
upper bound is proved in the same way for the opponent. If play can go on forever, the bounds may never meet.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, can_play
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.proof_search import LIMITED, PROVED, LimitReachedError, ProofTable
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.search_state import UNLIMITED, apply_move, mover_first

ESTIMATE_DEPTH = 16
"""Plies of the search that estimates the value. The proofs start from this estimate."""
FIRST_NODES = 1 << 20
"""Maximum moves per attempted proof in the solver's first round; every later round doubles the number."""


class BoundSearch:
    """A search that narrows the bounds of a running position's value, by proofs that end within `plies` plies.

    If the table holds a longer proof of a bound, the search does not look for a shorter one.

    Attributes:
        bounds: the bounds proved so far.
        limited: whether more nodes may prove more, because an attempt in the last `narrow` used up its nodes.
    """

    def __init__(self, table: ProofTable, own: int, other: int, bounds: Bounds, plies: int = UNLIMITED) -> None:
        self.bounds, self.limited = bounds, False
        self._table, self._root, self._plies = table, (own, other), plies
        self._span = 2 * table.total  # the greatest step

    def narrow(self, guess: int, nodes: int, deadline: float | None = None) -> None:
        """Try to prove both bounds, starting at `guess`. For `nodes` (per attempt) and `deadline`, see `ProofTable`."""
        self.limited = False
        guess = min(max(guess, -self._span), self._span)
        self._improve(1, guess, nodes, deadline)
        self._improve(-1, guess, nodes, deadline)
        lower, upper = self.bounds
        if lower < upper < guess and self._prove(1, int(upper), nodes, deadline):
            self.bounds = Bounds(upper, upper)

    def _improve(self, side: int, guess: int, nodes: int, deadline: float | None) -> None:
        """Try to prove the best lower (`side` 1) or upper (-1) bound; failures halve the nodes, down to an eighth.

        Points are multiplied by `side` here, so that greater is better. Starting from the guess, the steps double until
        one bound is proved and a better bound is not; then each step halves the distance between the two.
        """
        guess, step, fewest = side * guess, 1, nodes // 8
        lower, upper = self.bounds
        best, limit = (lower, upper) if side > 0 else (-upper, -lower)
        goal, failed = int(min(max(guess, best + 1), limit)), math.inf
        while best < min(limit, failed - 1) and step <= self._span:
            if self._prove(side, side * goal, nodes, deadline):
                best = goal
                self.bounds = Bounds(best, upper) if side > 0 else Bounds(lower, -best)
            else:
                failed, nodes = goal, max(nodes // 2, fewest)
            if -math.inf < best and failed < math.inf:
                goal = int(best + failed) // 2
            else:
                goal = int(failed - step if best == -math.inf else min(best + step, limit))
                step *= 2

    def _prove(self, side: int, bound: int, nodes: int, deadline: float | None) -> bool:
        answer = self._table.prove(*self._root, bound, is_lower=side > 0, nodes=nodes, deadline=deadline)
        self.limited |= answer == LIMITED
        if answer != PROVED:
            return False
        return self._table.plies(*self._root, bound, is_lower=side > 0) <= self._plies


@dataclass
class ProofState:
    """The bounds of a position's value proved so far, in points from the mover's view.

    Attributes:
        lower, upper: proved bounds; None for a bound that is not proved.
        line: principal variation as moves such as `5A`; proved if the bounds meet, otherwise an estimate; may be empty.
        nodes, seconds: moves played by the proofs, and time spent.
    """

    lower: int | None = None
    upper: int | None = None
    line: tuple[str, ...] = ()
    nodes: int = 0
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether the bounds meet."""
        return self.lower is not None and self.lower == self.upper


class Solver:
    """A prover of the value of one running position, given as a batch of one.

    `megabytes` limits its proof tables, in MiB. The rules' ply limit is ignored. Raises `ValueError` unless `position`
    is one running position, and in the same cases as `oanquan_env.proofs.proof_search.ProofTable`.
    """

    def __init__(self, core: Core, position: Positions, *, megabytes: float = 1024.0) -> None:
        self.core = core
        if len(position) != 1 or position.over[0]:
            raise ValueError("the solver takes one position of a running game")
        self.position = position.copy()
        self.progress = ProofState()
        self.table = ProofTable(core, megabytes)
        self._root: tuple[int, int] = tuple(mover_first(position)[0].tolist())
        self._bound_search = BoundSearch(self.table, *self._root, Bounds())

    def rounds(self, deadline: float = math.inf) -> Iterator[ProofState]:
        """Narrow the bounds in rounds, each with twice the nodes per attempt; yield the progress after each.

        The rounds end when the value and its principal variation are proved, or when more nodes cannot improve a bound.
        Raises `LimitReachedError` at `deadline`, a time of `time.monotonic()`; `progress` then holds the proved bounds.
        """
        bound_search, nodes, began = self._bound_search, FIRST_NODES, time.monotonic()
        left = None if deadline == math.inf else max(1000 * (deadline - began), 1)
        search = Search(self.core, table_megabytes=64, threads=1)
        guess = search.best(self.position, Limits(depth=ESTIMATE_DEPTH, milliseconds=left))
        self.progress.line = tuple(str(Move.from_action(action)) for action in guess.line)
        going_on = True
        while going_on:
            try:
                bound_search.narrow(int(guess.value), nodes, deadline)
                if bound_search.bounds.meet:
                    self.progress.line = ()  # drop the estimated line, because the next statement may be interrupted
                    self.progress.line = self.best_line(int(bound_search.bounds.lower), deadline)
            finally:
                bounds = bound_search.bounds
                self.progress.lower = None if bounds.lower == -math.inf else int(bounds.lower)
                self.progress.upper = None if bounds.upper == math.inf else int(bounds.upper)
                self.progress.nodes, self.progress.seconds = self.table.nodes, time.monotonic() - began
            yield self.progress
            going_on, nodes = bound_search.limited and not bounds.meet, 2 * nodes

    def best_line(self, value: int, deadline: float = math.inf) -> tuple[str, ...]:
        """Return the best line to the end of the game, as moves such as `5A`; `value` is the proved value."""
        (own, other), line = self._root, []
        for _ in range(self.core.rules.max_plies):
            action, gain, state = self._best_move(own, other, value, deadline)
            own, other, _, _ = apply_move(self.table.rules, own, other, action)
            line.append(str(Move.from_action(action)))
            value = gain - value
            if state != RUNNING:
                return tuple(line)
        raise LimitReachedError  # a proof that the table lost may be longer when it is found again

    def _best_move(self, own: int, other: int, value: int, deadline: float) -> tuple[int, int, int]:
        """Return the action, gain and state of a move that preserves `value` and is proved to end the game soonest."""
        rules, nodes = self.table.rules, 0
        actions = [action for action in range(self.core.rules.actions) if can_play(rules, own, action)]
        moves = [(action, *apply_move(rules, own, other, action)) for action in actions]
        while True:
            candidates = []
            for action, child_own, child_other, gain, state in moves:
                if state != RUNNING:
                    if gain == value:
                        return action, gain, state
                elif self._holds(child_own, child_other, gain - value, nodes, deadline):
                    plies = self.table.plies(child_own, child_other, gain - value, is_lower=False)
                    candidates.append((plies, action, gain, state))
            if candidates:
                return min(candidates)[1:]
            nodes = max(2 * nodes, 1000)

    def _holds(self, own: int, other: int, bound: int, nodes: int, deadline: float) -> bool:
        return self.table.prove(own, other, bound, is_lower=False, nodes=nodes, deadline=deadline) == PROVED
