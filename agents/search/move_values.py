"""Values of moves and positions for any number of players: compiled alpha-beta for two, NumPy's max^n for more."""

from __future__ import annotations

import numpy as np

from agents.search.deepening import Limits, Search
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Mask
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import ValueNet


class MoveValues:
    """Searches running positions of one `Rules` to a fixed depth. Values are future margins in points.

    Args:
        core: of the rules to play.
        depth: plies, the move itself counted.
        net: values the leaves, which count nothing without one; `use` takes another one.
        threads: positions searched at once, two players; one for each processor if left out.
    """

    def __init__(self, core: Core, depth: int, net: ValueNet | None = None, threads: int | None = None) -> None:
        self.core = core
        self.depth = depth
        self._alphabeta = Search(core, threads=threads, net=net) if core.rules.players == 2 else None
        if not self._alphabeta:
            self._maxn = FullWidthSearch(core, depth, net=net)

    def use(self, net: ValueNet) -> None:
        """Take another net from here on."""
        if self._alphabeta:
            self._alphabeta.use(net)
        else:
            self._maxn = FullWidthSearch(self.core, self.depth, net=net)

    def values(self, positions: Positions) -> Floats:
        """(N, A, P) for all players, by seat, after each legal move; -inf for illegal ones."""
        if not self._alphabeta:
            return self._maxn.values(positions)
        mover = np.nan_to_num(self._alphabeta.values(positions, self.depth), nan=-np.inf)
        values = np.where(np.isfinite(mover), -mover, -np.inf)[:, :, None].repeat(2, axis=2)
        values[np.arange(len(positions)), :, positions.mover] = mover
        return values

    def movers_values(self, positions: Positions) -> tuple[Floats, Mask]:
        """(N, A) for the movers after each legal move, NaN for illegal ones, and (N, A) which are proved."""
        if self._alphabeta:
            return self._alphabeta.proved_values(positions, self.depth)
        own = self._maxn.movers_values(positions)
        return np.where(np.isfinite(own), own, np.nan), np.zeros(own.shape, dtype=np.bool_)

    def position_values(self, positions: Positions) -> Floats:
        """(N, P) for all players, by seat, after the mover's best move."""
        if not self._alphabeta:
            return self._maxn.position_values(positions)
        found = [result.value for result in self._alphabeta.best_moves(positions, Limits(depth=self.depth))]
        return np.array(found)[:, None] * np.where(positions.mover[:, None] == np.arange(2), 1.0, -1.0)
