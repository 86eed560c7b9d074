"""Compiled max^n and paranoid search for three and four players; see `oanquan_env.players.full_width` for both aims.

They find what `FullWidthSearch` finds. Max^n sees every move, as its choices need the exact points of all players; of
equal moves the one of the lowest action goes up. Paranoid is alpha-beta between the player at the root and all others.
There is no table of positions: it would save about one move in a hundred at depth 7, and took more time.

Points are counted from the root on, in parts of a point with a net, the mover's first at each position. *Worth* is a
player's margin times the number of the others, in the same parts: a whole number.
"""

from collections.abc import MutableSequence
from dataclasses import replace
from typing import Any, Protocol

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from agents.search.compiled import Int64s, compiled, compiled_recursion, record, zeros
from agents.search.limits import Limits, SearchResult, Workers, plies_left
from agents.search.many import RULES, ManyRules, Numbers, add_expected, compile_many, mover_first, play
from agents.search.memory import MAX_ACTIONS, MAX_DEPTH, UNLIMITED, next_child
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.move import RUNNING, SEATS, can_play
from oanquan_env.engine.positions import turn_places
from oanquan_env.players.full_width import Aim
from oanquan_env.players.value_net import ValueNet

INFINITY = 1 << 40
UNKNOWN = -INFINITY


class Child(Protocol):
    """A position on the stack, after `action`."""

    sides: Numbers
    points: Numbers
    state: int
    action: int
    order: int  # the greatest is tried first, where there is an order


class ManyMemory(Protocol):
    """The state of a search; for `stop` see `agents.search.memory.Memory`."""

    nodes: int
    node_limit: int
    stop: int
    paranoid: int
    every_move: int
    plies_left: int  # at the root
    children: MutableSequence[MutableSequence[Child]]  # by ply; the root is the first of ply 0
    best: Any  # by ply: the points at the end of the line that goes up, its mover's first; exact for max^n alone
    depths: Any  # by the root's action: the plies of its last search
    worths: Any  # and the worth found by that search
    points: Any  # and the points, as `best`


class Found(Protocol):
    """The result at the root."""

    nodes: int
    depth: int  # the last that counts
    worths: Any  # by the action: its worth at that depth, or UNKNOWN
    points: Any  # and what all players win, the root's first; exact for max^n alone


CHILD = record(Child, sides=(np.int64, SEATS), points=(np.int64, SEATS))
_MOVES = {"worths": (np.int64, MAX_ACTIONS), "points": (np.int64, (MAX_ACTIONS, SEATS))}
MEMORY = record(
    ManyMemory,
    children=(CHILD, (MAX_DEPTH + 1, MAX_ACTIONS + 1)),
    best=(np.int64, (MAX_DEPTH + 1, SEATS)),
    depths=(np.int64, MAX_ACTIONS),
    **_MOVES,
)
FOUND = record(Found, **_MOVES)


@compiled
def worth(rules: ManyRules, points: Numbers, place: int) -> int:
    """The worth of points to the player at a place."""
    return rules.players * points[place] - (points[0] + points[1] + points[2] + points[3])


@compiled
def expand(rules: ManyRules, memory: ManyMemory, ply: int, place: int, wanting: int, sign: int) -> int:
    """Play every move of the position at `place` of `ply` onto the stack's next part; returns their number.

    They are ordered by what they win the player at place `wanting` after the move, times `sign`; at the root, by what
    they were worth before.
    """
    here, children, count = memory.children[ply][place], memory.children[ply + 1], 0
    for action in range(2 * rules.fields):
        if can_play(rules, here.sides[0], action):
            child = children[count]
            for seat in range(SEATS):
                child.sides[seat], child.points[seat] = here.sides[seat], here.points[seat]
            child.state = play(rules, child.sides, child.points, action, memory.plies_left - ply - 1)
            child.action = action
            if ply == 0 and memory.depths[action] > 0:
                child.order = memory.worths[action]
            elif ply == 0 or memory.paranoid:
                child.order = sign * worth(rules, child.points, wanting)
            count += 1
    memory.nodes += count
    return count


@compiled_recursion(types.int64(numba.from_dtype(RULES), numba.from_dtype(MEMORY), *5 * (types.int64,)))
def search(rules: ManyRules, memory: ManyMemory, depth: int, ply: int, place: int, alpha: int, beta: int) -> int:
    """Search the position at `place` of `ply` to `depth` >= 1 plies, and write `memory.best[ply]`.

    Returns, for paranoid search, the worth to the player at the root, or a bound beyond `alpha` or `beta`. Once
    `memory.stop` is set, nothing counts but what was written of the root's moves.
    """
    players = rules.players
    root = (players - ply % players) % players if memory.paranoid else 0  # the place of who wants, or must not get
    after = (root + players - 1) % players  # the same place, seen from the next mover
    sign = 1 if root == 0 else -1
    count = expand(rules, memory, ply, place, after, sign)
    if memory.nodes >= memory.node_limit:
        memory.stop = 1
    if memory.stop and depth > 1:
        return 0
    best, chosen = -INFINITY, MAX_ACTIONS
    for turn in range(count):
        if memory.paranoid or (ply == 0 and not memory.every_move):
            next_child(memory.children[ply + 1], turn, count)
        child, end = memory.children[ply + 1][turn], memory.best[ply + 1]
        if child.state == RUNNING and depth > 1:
            value = search(rules, memory, depth - 1, ply + 1, turn, alpha, beta)
            if memory.stop:
                return 0
            if not memory.paranoid:
                value = worth(rules, end, after)
        else:
            for seat in range(SEATS):
                end[seat] = child.points[seat]
            if rules.has_net and child.state == RUNNING:
                add_expected(rules, child.sides, end)
            value = worth(rules, end, after)
        value *= sign
        if ply == 0:
            memory.depths[child.action], memory.worths[child.action] = depth, value
            for seat in range(players):
                memory.points[child.action, (seat + 1) % players] = end[seat]
        if value > best or (value == best and child.action < chosen):
            best, chosen = value, child.action
            for seat in range(players):
                memory.best[ply, (seat + 1) % players] = end[seat]
        if memory.paranoid and not (ply == 0 and memory.every_move):
            if sign > 0:
                alpha = max(alpha, best - (ply == 0))  # later moves of the root are tested for being as good
            else:
                beta = min(beta, -best)
            if alpha >= beta:
                break
    return sign * best


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
    FOUND. A depth counts as far as it was searched, the best move of the one before first; unless every move is valued.
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
            search(rules, memory, reached, 0, 0, -INFINITY, INFINITY)
            if memory.stop and reached > 1 and (every_move or memory.depths.max() < reached):
                break
            found[row].depth = reached
            found[row].points[:] = memory.points
            for action in range(MAX_ACTIONS):
                known = memory.depths[action] == reached
                found[row].worths[action] = memory.worths[action] if known else UNKNOWN
            if memory.stop:
                break
        found[row].nodes = memory.nodes


class ManySearch:
    """Searches positions of one `Rules` for three or four players, each afresh. Threads may share it.

    `net` evaluates running positions at the horizon; without one their value is zero. `threads` positions of a batch
    are searched at once, one for each processor if left out. Raises `ValueError` for rules that `compile_many` refuses,
    and for a net of other rules.
    """

    def __init__(
        self, core: Core, aim: Aim = "maxn", *, net: ValueNet | None = None, threads: int | None = None
    ) -> None:
        self.core = core
        self.aim = aim
        self.use(net)
        self._workers = Workers(threads, lambda: (zeros(MEMORY, 1)[0],))

    def use(self, net: ValueNet | None) -> None:
        """Take another net from here on."""
        if net is not None and not net.fits(self.core.rules):
            raise ValueError(f"the net is for the rules '{net.rules}', not '{self.core.rules}'")
        self._rules = compile_many(self.core, net)

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """As `best_moves`, of a single position, and for max^n with the line behind the best move."""
        found = self.best_moves(positions, limits, every_move=every_move)[0]
        line, position = [found.action], positions.copy()
        while len(line) < found.depth and self.aim == "maxn":
            self.core.play(position, line[-1:])
            if position.over[0]:
                break
            line.append(self.best_moves(position, Limits(depth=found.depth - len(line)))[0].action)
        return replace(found, line=tuple(line))

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """The best moves of each of N running positions for its mover; raises `ValueError` if a game is over.

        Values are margins in points; none is called proved, as none can be forced. With `every_move` paranoid search
        values every legal move, which takes longer; max^n always does.
        """
        scale = (self.core.rules.players - 1) * self._rules.unit
        return [_result(row, scale) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> Floats:
        """(N, A, P) as `FullWidthSearch.values`: what each move of N running positions is worth to each player."""
        found, rules = self._search(positions, Limits(depth=depth), True), self.core.rules
        values = np.full((len(positions), rules.actions, rules.players), -np.inf)
        rows, actions = (found["worths"][:, : rules.actions] != UNKNOWN).nonzero()
        places = turn_places(positions.mover[rows], rules.players)
        points = np.take_along_axis(found["points"][rows, actions], places, axis=1)
        values[rows, actions] = relative_points(points) / self._rules.unit
        return values

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        """(N,) FOUND of N running positions."""
        left = plies_left(self.core, positions)
        sides, found = mover_first(positions), zeros(FOUND, len(positions))
        depth, nodes = min(limits.depth or MAX_DEPTH, MAX_DEPTH - 1), limits.nodes or UNLIMITED
        first = depth if limits.nodes is None and limits.milliseconds is None else 1

        def search_part(memory: ManyMemory, rows: slice) -> None:
            memory.paranoid = self.aim == "paranoid"
            search_rows(self._rules, memory, sides[rows], left[rows], first, depth, nodes, every_move, found[rows])

        self._workers.run(len(sides), search_part, limits.milliseconds)
        return found


def _result(found: Found, scale: int) -> SearchResult:
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
