"""Players that search: `minimax:depth=6`, `minimax:ms=50,net=pretrained`, `maxn:nodes=20000,net=pretrained`."""

import numpy as np

from oanquan_env.analysis import Analysis, check_analysable
from oanquan_env.array_types import Ints, Mask, best_actions
from oanquan_env.board import Board
from oanquan_env.engine.positions import Positions
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.maxn import MaxnSearch


class SearchPlayer:
    """A player that plays the best move that a search finds within its limits.

    If several moves have the best value at the depth reached, and the search has their exact values, the player draws
    one of them at random.
    """

    def __init__(self, search: Search | MaxnSearch, limits: Limits) -> None:
        self.core = search.core
        self.search = search
        self.limits = limits
        self._compiled = limits.milliseconds is None

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        best = self.tied_moves(positions)
        return best_actions(np.zeros(best.shape), best, rng)

    def tied_moves(self, positions: Positions) -> Mask:
        """See `oanquan_env.players.DrawingPolicy.tied_moves`."""
        best = self.core.legal_mask(positions)
        rows = (best.sum(axis=1) > 1).nonzero()[0]
        self._compile(positions[rows])
        results = self.search.best_moves(positions[rows], self.limits)
        best[rows] = False
        for row, result in zip(rows, results, strict=True):
            best[row, result.actions] = True
        return best

    def analyse(self, board: Board) -> Analysis:
        """Return the values of a board and of each legal move, and the best line, searched within the player's limits.

        Raises `ValueError` if the game is over or the board has other rules.
        """
        check_analysable(board, self.core)
        self._compile(board.positions)
        result = self.search.best(board.positions, self.limits, every_move=True)
        return Analysis.of(board, result.values, result.line, result.depth, proved=result.proved)

    def _compile(self, positions: Positions) -> None:
        if not self._compiled and len(positions):
            self.search.best_moves(positions[:1], Limits(depth=1))
            self._compiled = True
