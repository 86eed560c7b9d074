"""The player of max^n search with NumPy alone: `maxn:depth=3`."""

import numpy as np

from oanquan_env.analysis import Analysis, check_analysable
from oanquan_env.arrays import Ints, best_actions
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.search.numpy_maxn import MaxnSearch
from oanquan_env.search.value_net import ValueNet


class MaxnPolicy:
    """Plays the move of the best margin that a `MaxnSearch` finds for the mover, ties at random.

    Arguments and errors are those of the search.
    """

    def __init__(self, core: Core, depth: int, *, net: ValueNet | None = None) -> None:
        self.core = core
        self.search = MaxnSearch(core, depth, net=net)

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        mask = self.core.legal_mask(positions)
        values = np.zeros(mask.shape)
        rows = (mask.sum(axis=1) > 1).nonzero()[0]
        values[rows] = self.search.movers_values(positions[rows])
        return best_actions(values, mask, rng)

    def analyse(self, board: Board) -> Analysis:
        """The value of a board and of each of its moves, and the best line; never called proved.

        Raises `ValueError` for a game that is over, and for a board of other rules.
        """
        check_analysable(board, self.core)
        found = self.search.movers_values(board.positions)[0].tolist()
        values = {move.action: found[move.action] for move in board.legal_moves}
        line = self.search.line(board.positions, max(values, key=values.__getitem__))
        return Analysis.of(board, values, line, self.search.depth)
