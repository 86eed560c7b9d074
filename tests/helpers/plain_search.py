"""Plain searches with which the tests compare the fast ones: full-width minimax and max^n in NumPy, without pruning."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions, Rules
from oanquan_env.engine.core import relative_points
from oanquan_env.search.maxn import NET_UNIT
from oanquan_env.search.value_net import ValueNet

Leaf: TypeAlias = Callable[[Positions], npt.NDArray[np.floating]]


def endless(rules: Rules | str) -> Core:
    """Return a core for `rules` with a ply limit that no test reaches."""
    rules = Rules.parse(rules) if isinstance(rules, str) else rules
    return Core(rules.replace(max_plies=1_000_000))


def plain_values(
    core: Core, positions: Positions, depth: int, horizon: float = 0.0, leaf: Leaf | None = None
) -> npt.NDArray[np.float64]:
    """Return the (N, A) margins that moves of N running positions gain in `depth` plies; illegal moves get -inf.

    By default, a game that is still running at the horizon is worth `horizon` to the mover of `positions`. If `leaf` is
    given, it is called with the positions at the horizon and returns the value of each for the player to move there.
    """
    values = np.full((len(positions), core.rules.actions), -np.inf)
    children, rows, actions = core.expand(positions)
    movers, each = positions.mover[rows], np.arange(len(rows))
    won = core.standings(children) - positions.scores[rows]
    gains = (won[each, movers] - won[each, 1 - movers]).astype(np.float64)
    running = (~children.over).nonzero()[0]
    if depth == 1:
        gains[running] += horizon if leaf is None else -leaf(children[running])
    elif running.size:
        gains[running] -= plain_values(core, children[running], depth - 1, -horizon, leaf).max(axis=1)
    values[rows, actions] = gains
    return values


def plain_maxn(core: Core, positions: Positions, depth: int, net: ValueNet | None = None) -> npt.NDArray[np.float64]:
    """Return the (N, A, P) relative points that moves gain each player in `depth` plies of max^n; -inf if illegal."""
    values = np.full((len(positions), core.rules.actions, core.rules.players), -np.inf)
    rows, actions, points = _final_points(core, positions, depth, net)
    values[rows, actions] = relative_points(points - NET_UNIT * positions.scores[rows]) / NET_UNIT
    return values


def _final_points(
    core: Core, positions: Positions, depth: int, net: ValueNet | None
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Return (M,) position indices, (M,) actions and (M, P) final points, in 1 / NET_UNIT points, of M legal moves."""
    children, rows, actions = core.expand(positions)
    points, running = NET_UNIT * core.standings(children).astype(np.int64), (~children.over).nonzero()[0]
    if depth > 1:
        parents, _, deeper = _final_points(core, children[running], depth - 1, net)
        own = deeper[np.arange(len(deeper)), children.mover[running][parents]]
        worth = core.rules.players * own - deeper.sum(axis=1)
        begins = np.searchsorted(parents, np.arange(len(running) + 1)).tolist()
        for child, begin, end in zip(running, begins, begins[1:], strict=False):
            points[child] = deeper[begin + worth[begin:end].argmax()]  # the first of equal moves
    elif net is not None:
        share = NET_UNIT * (core.rules.players - 1) / core.rules.players  # so that the points sum to zero
        points[running] += np.rint(net.margins(children[running]) * np.float32(share)).astype(np.int64)
    return rows, actions, points


def plain_bounds(core: Core, position: Positions, depth: int) -> list[tuple[float, float]]:
    """Return the (lower, upper) bounds that plain minimax proves for a position at each depth from 1 to `depth`.

    The lower bound counts unfinished lines as -inf for the mover of `position`, the upper bound as inf.
    """
    levels: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.bool_]]] = []
    for _ in range(depth):
        children, rows, _ = core.expand(position)
        movers, each = position.mover[rows], np.arange(len(rows))
        won = core.standings(children) - position.scores[rows]
        first = np.diff(rows, prepend=-1).nonzero()[0]  # index of each parent's first move; every parent has one
        levels.append((first, (won[each, movers] - won[each, 1 - movers]).astype(np.float64), ~children.over))
        position = children[~children.over]
    bounds = []
    for last in range(1, depth + 1):
        found = []
        for horizon in (-np.inf, np.inf):
            best = np.full(levels[last - 1][2].sum(), -horizon if last % 2 else horizon)  # for the mover at the horizon
            for first, gains, running in reversed(levels[:last]):
                values = gains.copy()
                values[running] -= best
                best = np.maximum.reduceat(values, first) if len(first) else np.zeros(0)
            found.append(float(best[0]))
        bounds.append((found[0], found[1]))
    return bounds


def sides(positions: Positions, row: int = 0) -> tuple[int, int]:
    """Return the sides of the mover and the opponent in position `row` as the integers that compiled functions take."""
    words = positions.sides.view(np.int64)[row].tolist()
    mover = int(positions.mover[row])
    return words[mover], words[1 - mover]
