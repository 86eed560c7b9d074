"""A search for any rules, and its values of moves and positions: alpha-beta where possible, otherwise max^n."""

import numpy as np

from oanquan_env.array_types import Floats, Mask
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.value_net import ValueNet


def search_for(core: Core, *, net: ValueNet | None = None, threads: int | None = None) -> Search | MaxnSearch:
    """Return the alpha-beta search if it supports the rules, else the max^n search; see `Search` for the arguments."""
    searching = Search if core.rules.players == 2 and core.rules.refill == "borrow" else MaxnSearch
    return searching(core, net=net, threads=threads)


class MoveValues:
    """A search to a fixed depth in plies, including the move itself. Values are future margins in points.

    `net` evaluates the leaves, and `threads` is as in `Search`.
    """

    def __init__(self, core: Core, depth: int, net: ValueNet | None = None, threads: int | None = None) -> None:
        self.core = core
        self.depth = depth
        self._search = search_for(core, net=net, threads=threads)

    def use(self, net: ValueNet) -> None:
        """Use another net from now on."""
        self._search.use(net)

    def values(self, positions: Positions) -> Floats:
        """Return the (N, A, P) value of each move for each player, by seat; -inf for illegal moves."""
        if isinstance(self._search, MaxnSearch):
            return self._search.values(positions, self.depth)
        mover = np.nan_to_num(self._search.values(positions, self.depth), nan=-np.inf)
        values = np.where(np.isfinite(mover), -mover, -np.inf)[:, :, None].repeat(2, axis=2)
        values[np.arange(len(positions)), :, positions.mover] = mover
        return values

    def movers_values(self, positions: Positions) -> tuple[Floats, Mask]:
        """Return the (N, A) value of each move for the mover, NaN if illegal, and (N, A) whether it is proved."""
        if isinstance(self._search, Search):
            return self._search.proved_values(positions, self.depth)
        own = self.values(positions)[np.arange(len(positions)), :, positions.mover]
        return np.where(np.isfinite(own), own, np.nan), np.zeros(own.shape, dtype=np.bool_)

    def position_values(self, positions: Positions) -> Floats:
        """Return the (N, P) value of the mover's best move for each player, by seat."""
        if isinstance(self._search, Search):
            margins = [result.value for result in self._search.best_moves(positions, Limits(depth=self.depth))]
            return np.array(margins)[:, None] * np.where(positions.mover[:, None] == np.arange(2), 1.0, -1.0)
        values, rows = self.values(positions), np.arange(len(positions))
        best: Floats = values[rows, values[rows, :, positions.mover].argmax(axis=1)]
        return best
