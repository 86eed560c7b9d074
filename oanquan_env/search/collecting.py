"""Positions of a strategy that keeps a proved bound, by moves with ever shorter proofs or that do not lead back.

See `oanquan_env.search.certify`.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from oanquan_env.arrays import Ints, Points
from oanquan_env.engine.compiled import Int64s
from oanquan_env.engine.core import Core
from oanquan_env.engine.keys import canonical_keys
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UsageError
from oanquan_env.search.certificates import CHUNK, margin, replies, unpack
from oanquan_env.search.compiled import mover_first
from oanquan_env.search.proof import PROVED, UNPROVED, LimitReachedError, ProofTable

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
NEVER = 1 << 20  # above all points and ranks

Tell: TypeAlias = Callable[[str], None]
"""Hears of the progress, a line at a time."""
Goals: TypeAlias = dict[bytes, int]
"""Points that the prover must win from each position on, by the position's key."""


class NoStrategyError(UsageError):
    """A proved bound for which no strategy was found whose moves depend on the position alone; says why not."""


class Prover:
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


def running_goals(core: Core, positions: Positions, goals: Ints | Points) -> Iterator[tuple[bytes, int]]:
    """Key and goal of each running one of N positions."""
    running = (~positions.over).nonzero()[0]
    return zip(canonical_keys(core, positions[running]).tolist(), goals[running].tolist(), strict=True)


def highest(wanted: Iterator[tuple[bytes, int]]) -> Goals:
    """The highest goal of each position."""
    goals = Goals()
    for key, goal in wanted:
        goals[key] = max(goal, goals.get(key, goal))
    return goals


class Tries(NamedTuple):
    """All moves of the prover in some positions, and all replies. K moves, E replies."""

    begin: int  # number of the first position
    rows: Ints  # (K,) the position that each move is made in, ascending from 0
    actions: Ints  # (K,) the moves
    moves: Ints  # (E,) the move that each reply answers, ascending; a move that ends the game has one "reply"
    reached: Positions  # E positions
    needed: Ints | Points  # (E,) points that the prover must still win there


def tries_of(core: Core, goals: Goals) -> Iterator[Tries]:
    """What can be tried in positions, some after others."""
    for begin in range(0, len(goals), CHUNK):
        chunk = dict(itertools.islice(goals.items(), begin, begin + CHUNK))
        moved, rows, actions = core.expand(unpack(list(chunk)))
        moves, reached = replies(core, moved)
        needed = np.array(list(chunk.values()))[rows[moves]] - margin(core, reached)
        yield Tries(begin, rows, actions, moves, reached, needed)


def collect(core: Core, prover: Prover, wanted: Goals) -> Goals:
    """The positions wanted and all others that the prover meets if it makes the moves collected."""
    goals = Goals()
    while wanted := {key: goal for key, goal in wanted.items() if goal > goals.get(key, -NEVER)}:
        goals |= wanted
        wanted = highest(_next(core, prover, wanted, goals))
    return goals


def _next(core: Core, prover: Prover, wanted: Goals, goals: Goals) -> Iterator[tuple[bytes, int]]:
    """Positions and goals after the moves that keep the goals wanted, by ever shorter proofs and few new positions."""
    most = prover.plies(unpack(list(wanted)), np.array(list(wanted.values())), 0)
    for tries in tries_of(core, wanted):
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
        new[running] = [goals.get(key, -NEVER) < goal for key, goal in running_goals(core, tries.reached, tries.needed)]
        rising = np.where(longest < own, 0, longest)
        order = np.lexsort((np.bincount(tries.moves, new), rising, tries.rows))
        best = np.zeros(len(longest), dtype=np.bool_)
        best[order[np.diff(tries.rows[order], prepend=-1) > 0]] = True
        taken = best[tries.moves]
        yield from running_goals(core, tries.reached[taken], tries.needed[taken])


class Detours:
    """Collects what follows moves that do not lead back, position by position, for positions without a rank.

    Attributes:
        goals: of the positions with a rank, and of those collected.
    """

    def __init__(self, core: Core, prover: Prover, tell: Tell, goals: Goals, known: Goals) -> None:
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
        if self.goals.get(key, -NEVER) >= goal:
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
        (tries,) = tries_of(self._core, {key: goal})
        running = ~tries.reached.over
        kept, tried, back = ~running & (tries.needed <= 0), set[int](), set[bytes]()
        replied: list[Goals] = [Goals() for _ in tries.rows]
        for move, (reply, needed) in zip(
            tries.moves[running].tolist(), running_goals(self._core, tries.reached, tries.needed), strict=True
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
        return sum(self.goals.get(key, -NEVER) < goal for key, goal in goals.items()), len(goals)
