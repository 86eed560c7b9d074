"""Certificates out of proofs: a strategy of few positions for each bound that a solver has proved.

A table of proofs holds bounds of many positions, but no strategy: moves that each keep a bound may together lead round
in cycles, as the table keeps a position's best bound, whose proof may be longer than that of the one needed. So a
strategy is made in two steps. *Collecting* goes from the first position on through all replies. It takes a move that
keeps the prover's goal with a shorter proof than before; of these, the one with the fewest new positions after it.
*Choosing* forgets these moves. It ranks the positions collected from the ends of games upwards, by the moves that the
prover needs at most, and allows only moves that lead to lower ranks.

Cycles leave positions without a rank. If the first is one of them, these are collected again, one after the other, by
moves that do not lead back; and then all of them once more, with the goals known by then, as a position with a higher
goal may need another move and close another cycle. That search is exponential at worst, so it has a budget.
"""

import functools
import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from oanquan_env.arrays import Ints, Points
from oanquan_env.engine.compiled import Int64s
from oanquan_env.engine.core import Core, RunawayGameError
from oanquan_env.engine.keys import canonical_keys
from oanquan_env.engine.notation import format_position
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UsageError
from oanquan_env.search.certificates import (
    CHUNK,
    END,
    Certificate,
    Strategy,
    beginnings,
    follow,
    margin,
    replies,
    unpack,
)
from oanquan_env.search.compiled import mover_first
from oanquan_env.search.proof import PROVED, UNPROVED, LimitReachedError, ProofTable
from oanquan_env.search.solver import Solver

ATTEMPTS = 30
"""How often positions are collected before a bound is given up."""
EFFORTS = (0, *(1 << bits for bits in range(10, 30, 4)))
"""Node limits for the proof of a move, tried in ascending order."""
DETOUR = 1 << 14
"""Nodes for a move that does not lead back."""
TRIES = 100_000
"""Positions tried for moves that do not lead back before a bound is given up."""
LUMP = 1 << 20
"""Most nodes between two looks at the clock."""
LONGEST = 100
"""Most moves of the prover in a game; a strategy of more would pass the ply limit of the presets."""
_NEVER = 1 << 20  # above all points and ranks

Tell: TypeAlias = Callable[[str], None]
"""Hears of the progress, a line at a time."""
Goals: TypeAlias = dict[bytes, int]
"""Points that the prover must win from each position on, by the position's key."""


class NoStrategyError(UsageError):
    """A proved bound for which no strategy was found whose moves depend on the position alone; says why not."""


def certify(solver: Solver, deadline: float = math.inf, tell: Tell = lambda line: None) -> Certificate:
    """A certificate of the bounds that the solver has proved, as far as strategies are found for them.

    `tell` hears of the progress, and of a bound that is left out. The deadline is one of `time.monotonic()`.
    Raises `NoStrategyError` if no strategy is found for any bound.
    """
    core, progress = solver.core, solver.progress
    claims, prover = Certificate(core.rules, format_position(core, solver.position)), _Prover(solver.table, deadline)
    found: dict[str, Strategy] = {}
    errors = []
    for name, bound in (("lower", progress.lower), ("upper", progress.upper)):
        if bound is None:
            continue
        begins = f"{name} bound {bound:+d}: "
        tell(f"{begins}looking for a strategy")
        try:
            found[name] = _strategy(claims, prover, bound, name == "lower", tell)
        except NoStrategyError as error:
            errors.append(f"{begins}no strategy found whose moves depend on the position alone: {error}")
        except LimitReachedError:
            errors.append(f"{begins}no strategy found in time")
        except RunawayGameError as error:
            errors.append(f"{begins}a move has no end: {error}")
    if errors and not found:
        raise NoStrategyError("; ".join(errors))
    for line in errors:
        tell(line)
    return Certificate(claims.rules, claims.position, **found)


class _Prover:
    """A table of proofs with a deadline."""

    def __init__(self, table: ProofTable, deadline: float) -> None:
        self._table, self._deadline = table, deadline

    def plies(self, positions: Positions, goals: Ints | Points, nodes: int) -> Int64s:
        """As `ProofTable.prove_each`; raises `LimitReachedError` at the deadline."""
        plies, step = np.full(len(goals), UNPROVED), max(LUMP // max(nodes, 1), 1)
        for begin in range(0, len(goals), step):
            if time.monotonic() >= self._deadline:
                raise LimitReachedError
            some = slice(begin, begin + step)
            if nodes <= LUMP:
                plies[some] = self._table.prove_each(positions[some], goals[some], nodes)
                continue
            own, other = mover_first(positions[some])[0].tolist()
            question = own, other, int(goals[begin])
            if self._table.prove(*question, is_lower=True, nodes=nodes, deadline=self._deadline) == PROVED:
                plies[begin] = self._table.plies(*question, is_lower=True)
        return plies


def _strategy(claims: Certificate, prover: _Prover, bound: int, is_lower: bool, tell: Tell) -> Strategy:
    """A strategy for a bound that is proved in the table."""
    core = claims.core
    begin = beginnings(core, claims.start(), is_lower)
    first = _highest(_running(core, begin, (bound if is_lower else -bound) - margin(core, begin)))
    if not first:  # every move ends the game
        return Strategy(bound, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    goals = _collect(core, prover, first)
    for attempt in range(ATTEMPTS):
        moves = _moves(core, goals)
        ranks = _ranks(len(goals), moves)
        ranked = {key: goal for (key, goal), rank in zip(goals.items(), ranks.tolist(), strict=False) if rank < _NEVER}
        tell(f"  {len(goals):,} positions collected, {len(ranked):,} of them without cycles")
        if first.keys() <= ranked.keys():
            chosen = _choose(list(goals), list(first), moves, ranks)
            graph = follow(core, begin, functools.partial(_actions, chosen))
            actions, left = np.array([chosen[key] for key in graph.numbers], dtype=np.uint8).reshape(-1, 2).T.copy()
            return Strategy(bound, actions, left)
        detours = _Detours(core, prover, tell, Goals() if attempt else ranked, goals)
        if detours.reach_all(first) is not None:  # the goals known are too high to be kept all at once
            detours = _Detours(core, prover, tell, Goals(), Goals())
            if detours.reach_all(first) is not None:
                raise NoStrategyError("all moves found lead back")
        goals = detours.goals
    raise NoStrategyError(f"positions were collected {ATTEMPTS} times")


def _actions(chosen: dict[bytes, tuple[int, int]], _: int, keys: Sequence[bytes]) -> Ints:
    """The actions chosen in the positions of these keys; see `follow`."""
    return np.array([chosen[key][0] for key in keys], dtype=np.intp)


def _running(core: Core, positions: Positions, goals: Ints | Points) -> Iterator[tuple[bytes, int]]:
    """Key and goal of each running one of N positions."""
    running = (~positions.over).nonzero()[0]
    return zip(canonical_keys(core, positions[running]).tolist(), goals[running].tolist(), strict=True)


def _highest(wanted: Iterator[tuple[bytes, int]]) -> Goals:
    goals = Goals()
    for key, goal in wanted:
        goals[key] = max(goal, goals.get(key, goal))
    return goals


class _Tries(NamedTuple):
    """All moves of the prover in some positions, and all replies. K moves, E replies."""

    begin: int  # number of the first position
    rows: Ints  # (K,) the position that each move is made in, ascending from 0
    actions: Ints  # (K,) the moves
    moves: Ints  # (E,) the move that each reply answers, ascending; a move that ends the game has one "reply"
    reached: Positions  # E positions
    needed: Ints | Points  # (E,) points that the prover must still win there


def _tries(core: Core, goals: Goals) -> Iterator[_Tries]:
    """What can be tried in positions, some after others."""
    for begin in range(0, len(goals), CHUNK):
        chunk = dict(itertools.islice(goals.items(), begin, begin + CHUNK))
        moved, rows, actions = core.expand(unpack(list(chunk)))
        moves, reached = replies(core, moved)
        needed = np.array(list(chunk.values()))[rows[moves]] - margin(core, reached)
        yield _Tries(begin, rows, actions, moves, reached, needed)


# ---- collecting ------------------------------------------------------------------------------------------------------


def _collect(core: Core, prover: _Prover, wanted: Goals) -> Goals:
    """The positions wanted and all others that the prover meets if it makes the moves collected."""
    goals = Goals()
    while wanted := {key: goal for key, goal in wanted.items() if goal > goals.get(key, -_NEVER)}:
        goals |= wanted
        wanted = _highest(_next(core, prover, wanted, goals))
    return goals


def _next(core: Core, prover: _Prover, wanted: Goals, goals: Goals) -> Iterator[tuple[bytes, int]]:
    """Positions and goals after the moves that keep the goals wanted, by ever shorter proofs and few new positions."""
    most = prover.plies(unpack(list(wanted)), np.array(list(wanted.values())), 0)
    for tries in _tries(core, wanted):
        running = ~tries.reached.over
        plies = np.where(~running & (tries.needed <= 0), 0, UNPROVED)
        begins, own = np.diff(tries.moves, prepend=-1).nonzero()[0], most[tries.begin :][tries.rows]
        unsettled = np.ones(tries.rows[-1] + 1, dtype=np.bool_)
        for nodes in EFFORTS:
            asked = (running & (plies == UNPROVED) & unsettled[tries.rows][tries.moves]).nonzero()[0]
            plies[asked] = prover.plies(tries.reached[asked], tries.needed[asked], nodes)
            longest = np.maximum.reduceat(plies, begins)
            unsettled[tries.rows[longest < (own if nodes < DETOUR else UNPROVED)]] = False
            if not unsettled.any():
                break
        new = np.zeros(len(running))
        new[running] = [goals.get(key, -_NEVER) < goal for key, goal in _running(core, tries.reached, tries.needed)]
        rising = np.where(longest < own, 0, longest)
        order = np.lexsort((np.bincount(tries.moves, new), rising, tries.rows))
        best = np.zeros(len(longest), dtype=np.bool_)
        best[order[np.diff(tries.rows[order], prepend=-1) > 0]] = True
        taken = best[tries.moves]
        yield from _running(core, tries.reached[taken], tries.needed[taken])


class _Detours:
    """Collects what follows moves that do not lead back, position by position, for positions without a rank.

    Attributes:
        goals: of the positions with a rank, and of those collected.
    """

    def __init__(self, core: Core, prover: _Prover, tell: Tell, goals: Goals, known: Goals) -> None:
        self._core, self._prover, self._tell, self.goals, self._known = core, prover, tell, goals, known
        self._before: set[bytes] = set()
        self._failed: dict[bytes, list[tuple[int, set[bytes]]]] = {}
        self._tries = 0

    def reach_all(self, wanted: Goals) -> set[bytes] | None:
        """`reach` for several positions, up to the first that fails."""
        for one in wanted.items():
            back_to = self.reach(*one)
            if back_to is not None:
                return back_to
        return None

    def reach(self, key: bytes, goal: int) -> set[bytes] | None:
        """Collect what follows a position; None if it is done.

        Where all moves found that keep the goal lead back, returns the positions before, to which they lead: as long as
        these come before, the goal is not tried again.
        """
        if self.goals.get(key, -_NEVER) >= goal:
            return None
        for failed, back in self._failed.get(key, ()):
            if failed <= goal and back <= self._before:
                return back
        if len(self._before) == LONGEST:
            return self._before.copy()
        self._tries += 1
        if self._tries % 10_000 == 0:
            self._tell(f"  {self._tries:,} positions tried for moves that do not lead back")
        if self._tries == TRIES:
            raise NoStrategyError(f"{TRIES:,} positions were tried")
        self._before.add(key)
        back_to = self._try(key, max(goal, self._known.get(key, goal)))
        self._before.discard(key)
        if back_to is not None:
            back_to.discard(key)
            self._failed.setdefault(key, []).append((goal, back_to))
        return back_to

    def _try(self, key: bytes, goal: int) -> set[bytes] | None:
        """`reach` for a position that is not collected yet."""
        (tries,) = _tries(self._core, {key: goal})
        running = ~tries.reached.over
        kept, tried, back = ~running & (tries.needed <= 0), set[int](), set[bytes]()
        replied: list[Goals] = [Goals() for _ in tries.rows]
        for move, (reply, needed) in zip(
            tries.moves[running].tolist(), _running(self._core, tries.reached, tries.needed), strict=True
        ):
            replied[move][reply] = max(needed, replied[move].get(reply, needed))
        for nodes in EFFORTS:
            asked = (running & ~kept).nonzero()[0]
            kept[asked] = self._prover.plies(tries.reached[asked], tries.needed[asked], nodes) < UNPROVED
            good = set((np.bincount(tries.moves, ~kept) == 0).nonzero()[0].tolist()) - tried
            for move in sorted(good, key=lambda move: self._cost(replied[move])):
                failed = (self._before & replied[move].keys()) or self.reach_all(replied[move])
                if failed is None:
                    self.goals[key] = goal
                    return None
                back |= failed
            tried |= good
            if tried and nodes >= DETOUR:
                break
        return back

    def _cost(self, goals: Goals) -> tuple[int, int]:
        """How many positions are new, or must win more; and how many there are."""
        return sum(self.goals.get(key, -_NEVER) < goal for key, goal in goals.items()), len(goals)


# ---- choosing --------------------------------------------------------------------------------------------------------


class _Moves(NamedTuple):
    """The moves that keep the goals of N positions, whose replies lead to some of these only. K moves, E replies."""

    rows: Ints  # (K,) the position that each move is made in, ascending
    actions: Ints  # (K,) the moves
    begins: Ints  # (K,) the first reply to each
    children: Ints  # (E,) the position after each reply, or END


def _moves(core: Core, goals: Goals) -> _Moves:
    numbers = {key: number for number, key in enumerate(goals)}
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    for begin, rows, actions, moves, reached, needed in _tries(core, goals):
        children, kept, running = np.full(len(moves), END), needed <= 0, ~reached.over
        after = list(_running(core, reached, needed))
        children[running] = [numbers.get(key, END) for key, _ in after]
        kept[running] = [goals.get(key, -_NEVER) >= goal for key, goal in after]
        good = np.bincount(moves, ~kept) == 0
        parts.append((begin + rows[good], actions[good], np.bincount(moves)[good], children[good[moves]]))
    rows, actions, counts, children = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Moves(rows, actions, np.cumsum(counts) - counts, children)


def _ranks(n: int, moves: _Moves) -> Ints:
    """(N + 1,) the most moves that the prover needs in each position, or _NEVER; 0 for the end, in the last place."""
    ranks = np.full(n + 1, _NEVER)
    ranks[END] = 0
    while True:
        worst = np.maximum.reduceat(ranks[moves.children], moves.begins)
        better = ranks.copy()
        np.minimum.at(better, moves.rows, worst + 1)
        if (better == ranks).all():
            return ranks
        ranks = better


def _choose(keys: list[bytes], begins: list[bytes], moves: _Moves, ranks: Ints) -> dict[bytes, tuple[int, int]]:
    """Action and rank in each position that a strategy can meet from where it begins."""
    options: list[list[tuple[int, set[int]]]] = [[] for _ in keys]
    after = np.split(moves.children, moves.begins[1:])
    worst = np.maximum.reduceat(ranks[moves.children], moves.begins)
    for move in (worst < ranks[moves.rows]).nonzero()[0].tolist():
        options[moves.rows[move]].append((int(moves.actions[move]), set(after[move].tolist())))
    numbers = {key: number for number, key in enumerate(keys)}
    met = {END, *(numbers[key] for key in begins)}
    waiting = [(-int(ranks[number]), number) for number in met - {END}]
    heapq.heapify(waiting)
    chosen = {}
    while waiting:  # the highest rank first: whatever leads there has been chosen
        rank, number = heapq.heappop(waiting)
        action, reached = min(options[number], key=lambda option: len(option[1] - met))
        chosen[keys[number]] = action, -rank
        for new in reached - met:
            heapq.heappush(waiting, (-int(ranks[new]), new))
        met |= reached
    return chosen
