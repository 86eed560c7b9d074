"""The values of all moves, for any number of players: compiled alpha-beta for two, NumPy's max^n for more."""

from __future__ import annotations

import numpy as np

from agents.search.deepening import Search
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import ValueNet


class MoveValues:
    """Searches the moves of positions of one `Rules` to a fixed depth with a value net at the leaves.

    Args:
        core: of the rules to play.
        depth: plies, the move itself counted.
        net: the value net; `use` takes another one.
        threads: positions searched at once, two players.
    """

    def __init__(self, core: Core, depth: int, net: ValueNet, threads: int = 1) -> None:
        self.core = core
        self.depth = depth
        self._alphabeta = Search(core, threads=threads, net=net) if core.rules.players == 2 else None
        self.use(net)

    def use(self, net: ValueNet) -> None:
        """Take another net from here on."""
        if self._alphabeta:
            self._alphabeta.use(net)
        else:
            self._maxn = FullWidthSearch(self.core, self.depth, net=net)

    def values(self, positions: Positions) -> Floats:
        """(N, A, P) future margins in points of all players, by seat, after each legal move; -inf for illegal ones."""
        if not self._alphabeta:
            return self._maxn.values(positions)
        mover = np.nan_to_num(self._alphabeta.values(positions, self.depth), nan=-np.inf)
        values = np.where(np.isfinite(mover), -mover, -np.inf)[:, :, None].repeat(2, axis=2)
        values[np.arange(len(positions)), :, positions.mover] = mover
        return values
