"""Compiled max^n search for three and four players, which finds what `oanquan_env.search.numpy_maxn.MaxnSearch` finds.

It sees every move, as its choices need the exact points of all players; of equal moves the one of the lowest action
goes up. There is no table of positions: it would save about one move in a hundred at depth 7, and took more time.

Points are counted from the root on, in parts of a point with a net, the mover's first at each position. *Worth* is a
player's margin times the number of the others, in the same parts: a whole number.
"""

import functools
from collections.abc import MutableSequence
from dataclasses import replace
from typing import Any, Protocol

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from oanquan_env.arrays import Floats
from oanquan_env.engine.compiled import Int64s, compiled, compiled_recursion, record, zeros
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.move import RUNNING, SEATS, can_play
from oanquan_env.engine.positions import Positions, turn_places
from oanquan_env.search.limits import Limits, SearchResult, Workers, plies_left
from oanquan_env.search.many import RULES, ManyRules, Numbers, add_expected, compile_many, mover_first, play
from oanquan_env.search.memory import MAX_ACTIONS, MAX_DEPTH, UNLIMITED, next_child
from oanquan_env.search.value_net import ValueNet

INFINITY = 1 << 40
UNKNOWN = -INFINITY


class ManyChild(Protocol):
    """A position on the stack, after `action`."""

    sides: Numbers
    points: Numbers
    state: int
    action: int
    order: int  # the greatest is tried first, where there is an order


class ManyMemory(Protocol):
    """The state of a search; for `stop` see `oanquan_env.search.memory.Memory`."""

    nodes: int
    node_limit: int
    stop: int
    every_move: int
    plies_left: int  # at the root
    children: MutableSequence[MutableSequence[ManyChild]]  # by ply; the root is the first of ply 0
    best: Any  # by ply: the points at the end of the line that goes up, its mover's first
    depths: Any  # by the root's action: the plies of its last search
    worths: Any  # and the worth found by that search
    points: Any  # and the points, as `best`


class ManyResult(Protocol):
    """The result at the root."""

    nodes: int
    depth: int  # the last that counts
    worths: Any  # by the action: its worth at that depth, or UNKNOWN
    points: Any  # and what all players win, the root's first


CHILD = record(ManyChild, sides=(np.int64, SEATS), points=(np.int64, SEATS))
_MOVES = {"worths": (np.int64, MAX_ACTIONS), "points": (np.int64, (MAX_ACTIONS, SEATS))}
MEMORY = record(
    ManyMemory,
    children=(CHILD, (MAX_DEPTH + 1, MAX_ACTIONS + 1)),
    best=(np.int64, (MAX_DEPTH + 1, SEATS)),
    depths=(np.int64, MAX_ACTIONS),
    **_MOVES,
)
MANY_RESULT = record(ManyResult, **_MOVES)


@compiled
def worth(rules: ManyRules, points: Numbers, place: int) -> int:
    """The worth of points to the player at a place."""
    return rules.players * points[place] - (points[0] + points[1] + points[2] + points[3])


@compiled
def expand(rules: ManyRules, memory: ManyMemory, ply: int, place: int) -> int:
    """Play every move of the position at `place` of `ply` onto the stack's next part; returns their number.

    Those of the root have an order: their worth as last searched, or else by the points that they win at once.
    """
    parent, children, count = memory.children[ply][place], memory.children[ply + 1], 0
    for action in range(2 * rules.fields):
        if can_play(rules, parent.sides[0], action):
            child = children[count]
            for seat in range(SEATS):
                child.sides[seat], child.points[seat] = parent.sides[seat], parent.points[seat]
            child.state = play(rules, child.sides, child.points, action, memory.plies_left - ply - 1)
            child.action = action
            if ply == 0:
                known = memory.depths[action] > 0
                child.order = memory.worths[action] if known else worth(rules, child.points, rules.players - 1)
            count += 1
    memory.nodes += count
    return count


@compiled_recursion(types.void(numba.from_dtype(RULES), numba.from_dtype(MEMORY), *3 * (types.int64,)))
def search(rules: ManyRules, memory: ManyMemory, depth: int, ply: int, place: int) -> None:
    """Search the position at `place` of `ply` to `depth` >= 1 plies, and write `memory.best[ply]`.

    Once `memory.stop` is set, nothing counts but what was written of the root's moves.
    """
    players = rules.players
    count = expand(rules, memory, ply, place)
    if memory.nodes >= memory.node_limit:
        memory.stop = 1
    if memory.stop and depth > 1:
        return
    best, chosen = -INFINITY, MAX_ACTIONS
    for turn in range(count):
        if ply == 0 and not memory.every_move:
            next_child(memory.children[ply + 1], turn, count)
        child, end = memory.children[ply + 1][turn], memory.best[ply + 1]
        if child.state == RUNNING and depth > 1:
            search(rules, memory, depth - 1, ply + 1, turn)
            if memory.stop:
                return
        else:
            for seat in range(SEATS):
                end[seat] = child.points[seat]
            if rules.has_net and child.state == RUNNING:
                add_expected(rules, child.sides, end)
        value = worth(rules, end, players - 1)  # the place of the mover, seen from the next
        if ply == 0:
            memory.depths[child.action], memory.worths[child.action] = depth, value
            for seat in range(players):
                memory.points[child.action, (seat + 1) % players] = end[seat]
        if value > best or (value == best and child.action < chosen):
            best, chosen = value, child.action
            for seat in range(players):
                memory.best[ply, (seat + 1) % players] = end[seat]


@compiled
def search_rows(
    rules: ManyRules,
    memory: ManyMemory,
    sides: Int64s,
    plies_left: Int64s,
    first_depth: int,
    depth: int,
    nodes: int,
    every_move: bool,
    found: Any,
) -> None:
    """Search M running positions, each afresh, to depths `first_depth`, ... `depth` or for `nodes` moves.

    Arguments are those of `root.search_rows`, but for `first_depth`, which is completed if it is 1, and `found`, (M,)
    MANY_RESULT. A depth counts as far as it was searched, the best move of the one before first; unless every
    move is valued.
    """
    for row in range(len(sides)):
        if row > 0:
            memory.stop = 0
        memory.every_move, memory.plies_left = every_move, plies_left[row]
        memory.nodes, memory.node_limit = 0, nodes
        memory.depths[:] = 0
        root = memory.children[0][0]
        for seat in range(SEATS):
            root.sides[seat], root.points[seat] = sides[row, seat], 0
        deepest = min(depth, plies_left[row])
        for reached in range(min(first_depth, deepest), deepest + 1):
            if reached > 1 and memory.nodes >= nodes:
                break
            search(rules, memory, reached, 0, 0)
            deepest_known = 0
            for action in range(MAX_ACTIONS):
                deepest_known = max(deepest_known, memory.depths[action])
            if memory.stop and reached > 1 and (every_move or deepest_known < reached):
                break
            found[row].depth = reached
            for action in range(MAX_ACTIONS):
                known = memory.depths[action] == reached
                found[row].worths[action] = memory.worths[action] if known else UNKNOWN
                for seat in range(SEATS):
                    found[row].points[action, seat] = memory.points[action, seat]
            if memory.stop:
                break
        found[row].nodes = memory.nodes


class ManySearch:
    """Searches positions of one `Rules` for three or four players, each afresh. Threads may share it.

    `net` evaluates running positions at the horizon; without one their value is zero. `threads` positions of a batch
    are searched at once, one for each processor if left out. Raises `ValueError` for rules that `compile_many` refuses,
    and for a net of other rules.
    """

    def __init__(self, core: Core, *, net: ValueNet | None = None, threads: int | None = None) -> None:
        self.core = core
        self.use(net)
        self._workers = Workers(threads, functools.partial(zeros, MEMORY, 1))

    def use(self, net: ValueNet | None) -> None:
        """Take another net from here on."""
        if net is not None and not net.fits(self.core.rules):
            raise ValueError(f"the net is for the rules '{net.rules}', not '{self.core.rules}'")
        self._rules = compile_many(self.core, net)

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """As `best_moves`, of a single position, with the line behind the best move."""
        found = self.best_moves(positions, limits, every_move=every_move)[0]
        line, position = [found.action], positions.copy()
        while len(line) < found.depth:
            self.core.play(position, line[-1:])
            if position.over[0]:
                break
            line.append(self.best_moves(position, Limits(depth=found.depth - len(line)))[0].action)
        return replace(found, line=tuple(line))

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """The best moves of each of N running positions for its mover; raises `ValueError` if a game is over.

        Values are margins in points; none is called proved, as none can be forced. With `every_move` the last
        depth is one at which every legal move was valued.
        """
        scale = (self.core.rules.players - 1) * self._rules.unit
        return [_result(row, scale) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> Floats:
        """(N, A, P) as `MaxnSearch.values`: what each move of N running positions is worth to each player."""
        found, rules = self._search(positions, Limits(depth=depth), True), self.core.rules
        values = np.full((len(positions), rules.actions, rules.players), -np.inf)
        rows, actions = (found["worths"][:, : rules.actions] != UNKNOWN).nonzero()
        places = turn_places(positions.mover[rows], rules.players)
        points = np.take_along_axis(found["points"][rows, actions], places, axis=1)
        values[rows, actions] = relative_points(points) / self._rules.unit
        return values

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        """(N,) MANY_RESULT of N running positions."""
        left = plies_left(self.core, positions)
        sides, found = mover_first(positions), zeros(MANY_RESULT, len(positions))
        depth, nodes = min(limits.depth or MAX_DEPTH, MAX_DEPTH - 1), limits.nodes or UNLIMITED
        first = depth if limits.nodes is None and limits.milliseconds is None else 1

        def search_part(memory: ManyMemory, rows: slice) -> None:
            search_rows(self._rules, memory, sides[rows], left[rows], first, depth, nodes, every_move, found[rows])

        self._workers.run(len(sides), search_part, limits.milliseconds)
        return found


def _result(found: ManyResult, scale: int) -> SearchResult:
    known = (found.worths != UNKNOWN).nonzero()[0]
    values = dict(zip(known.tolist(), (found.worths[known] / scale).tolist(), strict=True))
    best = found.worths.max()
    actions = tuple((found.worths == best).nonzero()[0].tolist())
    return SearchResult(
        action=actions[0],
        actions=actions,
        value=float(best / scale),
        depth=int(found.depth),
        proved=False,
        nodes=int(found.nodes),
        line=actions[:1],
        values=values,
    )
