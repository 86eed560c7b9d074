"""Compiled max^n search (Luckhardt and Irani 1986): all lines of play to a depth, for two to four players.

The value of a line is all players' points at its end, plus a net's estimate of their future points if there is a net.
A player's margin is its points minus the mean of the other players' points. Every player maximises its own margin, and
the points of all players on the mover's best line are backed up. With two players this is minimax. The search prunes
nothing, because its choices need the exact points of all players; among equal moves, the move with the lowest action is
backed up. There is no transposition table: one saved only about 1 % of the moves at depth 7, and took more time.

With a net, points are counted in fractions of a point. *Worth* is a player's margin times the number of other players
(`engine.scoring.margin`), in the same fractions, and therefore a whole number.

A position is seen from the mover: `sides` holds the players' sides as words, the mover's first and the others in the
order of play, and `scores` holds their points in the same order. Unused entries are zero.
"""

import functools
from collections.abc import MutableSequence, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats
from oanquan_env.engine import move
from oanquan_env.engine.compiled import SHAPES, compiled, inlined, record, rule_record, zeros
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.move import RUNNING, SEATS, Four, MoveResult, can_play
from oanquan_env.engine.positions import Positions, turn_order, turn_places
from oanquan_env.engine.scoring import margin
from oanquan_env.search.keys import canonical
from oanquan_env.search.leaf import add_net, evaluate
from oanquan_env.search.limits import Limits, SearchResult, Workers, plies_left
from oanquan_env.search.search_state import (
    MAX_ACTIONS,
    MAX_DEPTH,
    TWO_PLAYER_RULES,
    UNLIMITED,
    SearchRules,
    net_record,
    next_child,
)
from oanquan_env.search.value_net import MULTIPLAYER_HIDDEN, ValueNet

NET_UNIT = 64
"""A net's values are rounded to multiples of 1 / NET_UNIT point, because comparing integers is exact and faster."""
Numbers: TypeAlias = MutableSequence[int]


MULTIPLAYER_RULES = record(SearchRules, **SHAPES, net=(net_record(SEATS, MULTIPLAYER_HIDDEN, SEATS),))
"""Data type of the rules for three and four players, with a net whose outputs are points that sum to zero."""


def compile_multiplayer(core: Core, net: ValueNet | None = None) -> SearchRules:
    """Return the record of the rules for compiled functions, for any number of players, with or without a net."""
    rules = core.rules
    numbers = rule_record(rules, TWO_PLAYER_RULES if rules.players == 2 else MULTIPLAYER_RULES)
    numbers.unit = 1
    if net is not None:
        numbers.unit = NET_UNIT
        add_net(numbers, net, NET_UNIT * (rules.players - 1) / rules.players)  # points that sum to zero
    return cast(SearchRules, numbers)


@compiled
def play_and_rotate(rules: SearchRules, sides: Four, scores: Four, action: int, plies_left: int) -> MoveResult:
    """Play a legal action as `move.play` does, and rotate the position so that the next mover comes first.

    The scores of a finished game include the leftovers.
    """
    if rules.players == 2:
        return _play(rules, 2, sides, scores, action, plies_left)
    if rules.players == 3:
        return _play(rules, 3, sides, scores, action, plies_left)
    return _play(rules, 4, sides, scores, action, plies_left)


@inlined
def _play(rules: SearchRules, players: int, sides: Four, scores: Four, action: int, plies_left: int) -> MoveResult:
    moved = move.play(rules, players, sides, scores, plies_left, action, None)
    a, b, c, d = moved.scores
    if moved.ended != RUNNING:
        left = move.leftovers(rules, players, moved.sides, moved.ended)
        a, b, c, d = a + left[0], b + left[1], c + left[2], d + left[3]
    return MoveResult(
        _turn(players, moved.sides), _turn(players, (a, b, c, d)), moved.captured, moved.laps, moved.ended
    )


@inlined
def _turn(players: int, numbers: Four) -> Four:
    """Move the first player's number behind the other players' numbers. Unused numbers become zero."""
    a, b, c, d = numbers
    if players == 2:
        return b, a, 0, 0
    if players == 3:
        return b, c, a, 0
    return b, c, d, a


@compiled
def add_expected(rules: SearchRules, sides: Numbers, points: Numbers) -> None:
    """Add the net's estimate of each player's future margin to `points`, in units of 1 / `rules.unit` points."""
    own, other = sides[0], sides[1]
    if rules.players == 2:
        own, other = canonical(rules, own, other)
    expected: Sequence[float] = evaluate(rules, (own, other, sides[2], sides[3]))
    for seat in range(len(expected)):
        points[seat] += int(np.rint(expected[seat]))
    if len(expected) == 1:  # with two players the net gives only the mover's margin
        points[1] -= int(np.rint(expected[0]))


# ---- the search ------------------------------------------------------------------------------------------------------

UNKNOWN = -1 << 40


class MaxnChild(Protocol):
    """The position after `action`."""

    sides: Numbers
    scores: Numbers
    state: int  # RUNNING or another `Termination`
    action: int
    points: Numbers  # of all players at the end of the best line, once the move has been searched
    order: int  # at the root: moves with a greater order are tried first
    depth: int  # at the root: plies of the move's last search


class MaxnLevel(Protocol):
    """The moves of one position on the line being searched."""

    children: MutableSequence[MaxnChild]
    count: int
    turn: int  # index of the child being searched
    best: int  # index of the best child so far
    worth: int  # worth of the best child to the mover


class MaxnMemory(Protocol):
    """The state of a search; for `stop` see `oanquan_env.search.search_state.Memory`."""

    nodes: int
    node_limit: int
    stop: int
    every_move: int
    plies_left: int  # at the root
    levels: MutableSequence[MaxnLevel]  # by ply


class MaxnRoot(Protocol):
    """A running position to search, and its result."""

    sides: Numbers
    scores: Numbers
    plies_left: int  # to the ply limit, 1 or more
    nodes: int
    depth: int  # plies of the search that gave the result
    worths: Any  # the worth of each action at that depth, or UNKNOWN
    points: Any  # the points that each player wins by each action and its best line, the root's mover first


_FOUR: dict[str, Any] = dict.fromkeys(("sides", "scores"), (np.int64, SEATS))
MAXN_CHILD = record(MaxnChild, **_FOUR, points=(np.int64, SEATS))
MAXN_LEVEL = record(MaxnLevel, children=(MAXN_CHILD, MAX_ACTIONS + 1))
MAXN_MEMORY = record(MaxnMemory, levels=(MAXN_LEVEL, MAX_DEPTH + 1))
MAXN_ROOT = record(MaxnRoot, **_FOUR, worths=(np.int64, MAX_ACTIONS), points=(np.int64, (MAX_ACTIONS, SEATS)))


@compiled
def push_children(rules: SearchRules, memory: MaxnMemory, parent: MaxnChild | MaxnRoot, ply: int) -> None:
    """Play every move of a position, and store the children in the level of `ply`."""
    level, sides, scores = memory.levels[ply], parent.sides, parent.scores
    before, points = (sides[0], sides[1], sides[2], sides[3]), (scores[0], scores[1], scores[2], scores[3])
    level.count = level.turn = 0
    level.worth = UNKNOWN
    for action in range(2 * rules.fields):
        if can_play(rules, before[0], action):
            child = level.children[level.count]
            moved = play_and_rotate(rules, before, points, action, memory.plies_left - ply - 1)
            for seat in range(SEATS):
                child.sides[seat], child.scores[seat] = moved.sides[seat], moved.scores[seat]
            child.state, child.action = moved.ended, action
            level.count += 1
    memory.nodes += level.count
    if memory.nodes >= memory.node_limit:
        memory.stop = 1


@compiled
def search_to_depth(rules: SearchRules, memory: MaxnMemory, depth: int) -> None:
    """Search the moves of the root, which are in the first level, to `depth` >= 1 plies.

    A search of depth 1 always completes. A deeper search ends once `memory.stop` is set; the results of the moves
    searched before that are valid.
    """
    last, ply, level = rules.players - 1, 0, memory.levels[0]
    level.turn = 0
    while depth == 1 or not memory.stop:
        if level.turn < level.count:
            if ply == 0 and not memory.every_move:
                next_child(level.children, level.turn, level.count)
            child = level.children[level.turn]
            if child.state == RUNNING and ply + 1 < depth:
                ply += 1
                level = memory.levels[ply]
                push_children(rules, memory, child, ply)
                continue
            for seat in range(SEATS):
                child.points[seat] = rules.unit * child.scores[seat]
            if rules.has_net and child.state == RUNNING:
                add_expected(rules, child.sides, child.points)
        elif ply == 0:
            return
        else:
            best = level.children[level.best].points
            ply -= 1
            level = memory.levels[ply]
            child = level.children[level.turn]
            for seat in range(SEATS):
                child.points[(seat + 1) % rules.players if seat <= last else seat] = best[seat]
        value = margin(rules.players, child.points, last)  # worth to the mover of the level
        if ply == 0:
            child.order, child.depth = value, depth
        elif value > level.worth:
            level.worth, level.best = value, level.turn
        level.turn += 1


@compiled
def search_maxn(
    rules: SearchRules, memory: MaxnMemory, roots: Any, first_depth: int, depth: int, nodes: int, every_move: bool
) -> None:
    """Search each of M running positions to depths `first_depth`, ... `depth` or for `nodes` moves.

    `roots`, (M,) MAXN_ROOT, receives the results. A search to depth 1 always completes. A later depth starts with the
    best move of the previous depth; if it is interrupted, the moves searched so far count, unless every move is valued.
    """
    for row in range(len(roots)):
        root, level = roots[row], memory.levels[0]
        if row > 0:
            memory.stop = 0
        memory.every_move, memory.plies_left, memory.nodes, memory.node_limit = every_move, root.plies_left, 0, nodes
        push_children(rules, memory, root, 0)
        for place in range(level.count):
            child = level.children[place]
            child.order, child.depth = margin(rules.players, child.scores, rules.players - 1), 0
        deepest = min(depth, root.plies_left)
        for reached in range(min(first_depth, deepest), deepest + 1):
            if reached > 1 and memory.nodes >= nodes:
                break
            search_to_depth(rules, memory, reached)
            if memory.stop and reached > 1 and (every_move or level.turn == 0):
                break
            keep_points(rules, level, reached, root)
            if memory.stop:
                break
        root.nodes = memory.nodes


@compiled
def keep_points(rules: SearchRules, level: MaxnLevel, depth: int, root: MaxnRoot) -> None:
    """Store in `root` each move's worth after a search to `depth`, and the points that its line wins each player."""
    root.depth = depth
    root.worths[:] = UNKNOWN
    for place in range(level.count):
        child = level.children[place]
        if child.depth == depth:
            root.worths[child.action] = child.order - rules.unit * margin(rules.players, root.scores, 0)
            for seat in range(rules.players):
                before = root.scores[(seat + 1) % rules.players]
                root.points[child.action, (seat + 1) % rules.players] = child.points[seat] - rules.unit * before


class MaxnSearch:
    """A search of positions under one `Rules`, independent of earlier searches. Threads may share it.

    `net` evaluates running positions at the horizon; without it, their value is zero. `threads` is the number of
    positions of a batch searched at once, by default one per processor. Raises `ValueError` for a net for other rules.
    """

    def __init__(self, core: Core, *, net: ValueNet | None = None, threads: int | None = None) -> None:
        self.core = core
        self.use(net)
        self._workers = Workers(threads, functools.partial(zeros, MAXN_MEMORY, 1))

    def use(self, net: ValueNet | None) -> None:
        """Use another net from now on, or no net if None. Raises `ValueError` if the net is for other rules."""
        if net is not None:
            net.check_rules(self.core.rules)
        self._rules, self.net = compile_multiplayer(self.core, net), net

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """Return the result of `best_moves` for a single position, with its principal variation."""
        result = self.best_moves(positions, limits, every_move=every_move)[0]
        line, position = [result.action], positions.copy()
        while len(line) < result.depth:
            self.core.play(position, line[-1:])
            if position.over[0]:
                break
            line.append(self.best_moves(position, Limits(depth=result.depth - len(line)))[0].action)
        return replace(result, line=tuple(line))

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """Return the search results of N running positions; raise `ValueError` if a game among them is over.

        Values are margins in points. They are never marked as proved, because they assume that every player maximises
        its own margin. With `every_move`, the depth is the last depth at which every legal move was valued.
        """
        scale = (self.core.rules.players - 1) * self._rules.unit
        return [_result(row, scale) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> Floats:
        """Return the (N, A, P) value of each move of N running positions for each player, by seat; -inf if illegal.

        A value is a margin in points: the points that the player wins from here on, including leftovers of finished
        games, minus the mean of the other players' points. Raises `ValueError` if a game is over.
        """
        roots, rules = self._search(positions, Limits(depth=depth), True), self.core.rules
        values = np.full((len(positions), rules.actions, rules.players), -np.inf)
        rows, actions = (roots["worths"][:, : rules.actions] != UNKNOWN).nonzero()
        places = turn_places(positions.mover[rows], rules.players)
        points = np.take_along_axis(roots["points"][rows, actions], places, axis=1)
        values[rows, actions] = relative_points(points) / self._rules.unit
        return values

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        roots, players = zeros(MAXN_ROOT, len(positions)), self.core.rules.players
        roots["plies_left"] = plies_left(self.core, positions)
        roots["sides"][:, :players] = positions.sides_in_turn().view(np.int64)
        order = turn_order(positions.mover, players)
        roots["scores"][:, :players] = np.take_along_axis(positions.scores, order, axis=1)
        depth, nodes = min(limits.depth or MAX_DEPTH, MAX_DEPTH), limits.nodes or UNLIMITED
        first = depth if limits.nodes is None and limits.milliseconds is None else 1

        def search_part(memory: MaxnMemory, rows: slice) -> None:
            search_maxn(self._rules, memory, roots[rows], first, depth, nodes, every_move)

        self._workers.run(len(roots), search_part, limits)
        return roots


def _result(root: MaxnRoot, scale: int) -> SearchResult:
    valued = (root.worths != UNKNOWN).nonzero()[0]
    values = dict(zip(valued.tolist(), (root.worths[valued] / scale).tolist(), strict=True))
    best = root.worths.max()
    actions = tuple((root.worths == best).nonzero()[0].tolist())
    return SearchResult(
        action=actions[0],
        actions=actions,
        value=float(best / scale),
        depth=int(root.depth),
        proved=False,
        nodes=int(root.nodes),
        line=actions[:1],
        values=values,
    )
