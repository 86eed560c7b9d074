"""Selective search with a value net: the strongest player with NumPy alone within a millisecond a move.

Full-width search plays all replies to all moves. This one keeps only the moves that the value net rates best. Widths
(5, 4, 3) mean: the five best moves of the player (of at most ten), the four best replies to each, the three best
answers to each of those, and then all moves, with the net at the leaves. Each level is one call of `Core.expand` and
one of the net for all positions, so a batch takes a fraction of the time a position: one alone takes some milliseconds.
"""

from typing import NamedTuple

import numpy as np

from oanquan_env.analysis import Analysis, check_analysable
from oanquan_env.arrays import Floats, Ints, Mask
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UnavailableError
from oanquan_env.players.policy import best_actions
from oanquan_env.players.value_net import ValueNet

WIDTHS = (5, 4, 3)
"""The least regret of those that take less than a millisecond a move in large batches."""
CHUNK = 256
"""Positions searched at once, which bounds the memory."""


class _Level(NamedTuple):
    """All M moves of the positions of one level."""

    rows: Ints  # (M,) the position that each move was made in, ascending
    actions: Ints  # (M,) the moves
    won: Floats  # (M,) points that each wins its mover at once, less those that it wins the opponent
    # (M,) what each is worth to its mover by the net, or by the lines after it once it was looked at
    values: Floats
    looked: Ints  # moves after which the next level goes on, in its order
    kept: Mask  # (M,) the moves that count: the best of each position by the net


class SelectivePolicy:
    """Plays the move that a selective search with a value net finds best, ties at random. For two players.

    Raises `UnavailableError` for more than two players; `ValueError` for a net of other rules, and for a width below 1.

    `widths` are the moves looked at in each position, ply by ply; one ply more is searched than there are widths.
    """

    def __init__(self, core: Core, net: ValueNet, widths: tuple[int, ...] = WIDTHS) -> None:
        if core.rules.players != 2:
            raise UnavailableError(f"a selective search is for two players; '{core.rules}' has {core.rules.players}")
        if not net.fits(core.rules):
            raise ValueError(f"the net is for the rules '{net.rules}', not '{core.rules}'")
        if any(width < 1 for width in widths):
            raise ValueError(f"widths must be 1 or more; got {widths}")
        self.core = core
        self.net = net
        self.widths = widths

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        return best_actions(self.values(positions), self.core.legal_mask(positions), rng)

    def values(self, positions: Positions) -> Floats:
        """(N, A) float64, the future margin of each move of N running positions, in points; -inf for what is not kept.

        A move is not kept where it is illegal, or where more moves than the first width look better at once.
        """
        values = np.full((len(positions), self.core.rules.actions), -np.inf)
        for begin in range(0, len(positions), CHUNK):
            first = self._levels(positions[begin : begin + CHUNK])[0]
            kept = first.kept
            values[begin + first.rows[kept], first.actions[kept]] = first.values[kept]
        return values

    def analyse(self, board: Board) -> Analysis:
        """The value of a board and of each of its moves, all of which are looked at, and the best line.

        Raises `ValueError` for a game that is over, and for a board of other rules.
        """
        check_analysable(board, self.core)
        all_moves = (self.core.rules.actions, *self.widths[1:])
        levels = SelectivePolicy(self.core, self.net, all_moves)._levels(board.positions)
        values = dict(zip(levels[0].actions.tolist(), levels[0].values.tolist(), strict=True))
        line, row = [], 0
        for level in levels:
            own = ((level.rows == row) & level.kept).nonzero()[0]
            best = own[level.values[own].argmax()]
            line.append(int(level.actions[best]))
            if best not in level.looked:
                break
            row = int(level.looked.searchsorted(best))
        return Analysis.of(board, values, line, len(all_moves) + 1)

    def _levels(self, positions: Positions) -> list[_Level]:
        """The search: every level with the values that go up from the last."""
        levels: list[_Level] = []
        for width in (*self.widths, None):
            level, positions = self._look(positions, width)
            levels.append(level)
            if not len(positions):
                break
        for above, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
            firsts = below.rows.searchsorted(np.arange(len(above.looked)))  # each position has a move
            best = np.maximum.reduceat(np.where(below.kept, below.values, -np.inf), firsts)
            above.values[above.looked] = above.won[above.looked] - best
        return levels

    def _look(self, positions: Positions, width: int | None) -> tuple[_Level, Positions]:
        """All moves of N running positions, and the positions after those that are looked at further."""
        children, rows, actions = self.core.expand(positions)
        gained = self.core.standings(children) - positions.scores[rows]
        mover, each = positions.mover[rows], np.arange(len(rows))
        won = (gained[each, mover] - gained[each, 1 - mover]).astype(np.float64)
        running, values = (children.ended == 0).nonzero()[0], won.copy()
        if running.size:
            values[running] -= self.net.values(children[running])
        kept = np.ones(len(rows), dtype=np.bool_)
        if width is None:
            return _Level(rows, actions, won, values, running[:0], kept), positions[:0]
        order = np.lexsort((-values, rows))
        kept[order] = each - np.searchsorted(rows, rows) < width  # rows are ascending: places within a position
        looked = running[kept[running]]
        return _Level(rows, actions, won, values, looked, kept), children[looked]
