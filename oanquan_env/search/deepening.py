"""Alpha-beta search for two players: the best moves of positions, and the value of every move.

A position's *value* is its future margin in points under best play within the depth: the mover's points from here on
minus the opponent's, including captures, refills and the leftovers of finished games. It does not depend on the scores
so far. A value is *proved* if every line that it depends on ends in a finished game; it then holds at every depth. The
ply limit also ends games: no search is deeper than the plies left, and a search to that depth proves every value.

    >>> from oanquan_env import Core
    >>> core = Core()
    >>> result = Search(core).best(core.start(), Limits(depth=8))
    >>> result.value, result.actions
    (12, (3, 6))
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Mask
from oanquan_env.engine.compiled import zeros
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.search import root
from oanquan_env.search.alphabeta import DEFAULT_GUESS_DEPTH, SLOT, Tree
from oanquan_env.search.leaf import with_net
from oanquan_env.search.limits import MOVES_PER_MILLISECOND, Limits, SearchResult, Workers, plies_left
from oanquan_env.search.search_state import (
    INFINITY,
    MAX_DEPTH,
    UNLIMITED,
    Memory,
    Table,
    bits_to_use,
    bucket_bits,
    new_memory,
)
from oanquan_env.search.two_player import compile_rules, mover_first
from oanquan_env.search.value_net import ValueNet

__all__ = ["Limits", "Search", "SearchResult"]


class Search:
    """A search of positions under one `Rules`. Its results never depend on earlier searches.

    Threads may share a search. Raises `ValueError` for more than two players, `refill=forfeit` or a net of other rules.

    Args:
        core: core of the rules to play.
        table_megabytes: size of each thread's transposition table in MiB, or 0 for no table. It saves time,
            and changes no value of a search limited only by depth unless a net's guess replaces a search.
        threads: number of positions of a batch searched at once, by default one per processor. Results do not depend on
            it, except under a limit in milliseconds.
        net: value net of these rules for positions at the horizon, rounded to whole points; without it, their value
            is zero. With a net, a value that is not proved includes the net's estimate.
        guess_depth: if the net's value of a move lies far outside the alpha-beta window, it replaces a search of up to
            this many plies. With 0, no search is replaced.
    """

    def __init__(
        self,
        core: Core,
        *,
        table_megabytes: float = 64.0,
        threads: int | None = None,
        net: ValueNet | None = None,
        guess_depth: int = DEFAULT_GUESS_DEPTH,
    ) -> None:
        self.core = core
        self._rules = compile_rules(core)
        if net is not None:
            self.use(net)
        self._workers = Workers(threads, functools.partial(new_memory, table_megabytes, SLOT))
        self._table_bits = bucket_bits(table_megabytes, SLOT) if table_megabytes else 0
        self._guess_depth = guess_depth

    def use(self, net: ValueNet) -> None:
        """Use another net from now on; keep the tables. Raises `ValueError` if the net is for other rules."""
        net.check_rules(self.core.rules)
        self._rules = with_net(self._rules, net)

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """Return the search result of a single running position, a batch of one; see `best_moves`."""
        if len(positions) != 1:
            raise ValueError(f"`best` searches one position; got {len(positions)}: use `best_moves`")
        return self.best_moves(positions, limits, every_move=every_move)[0]

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """Return the search results of N running positions; raise `ValueError` if a game among them is over.

        With `every_move`, the search values every legal move and not only the best moves; this takes longer.
        """
        return [_result(row) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> npt.NDArray[np.float64]:
        """Return (N, A) future margins in points of each legal move, including its own gain, searched to `depth` plies.

        Values are NaN for illegal actions and in finished games.
        """
        return self.proved_values(positions, depth)[0]

    def proved_values(self, positions: Positions, depth: int) -> tuple[npt.NDArray[np.float64], Mask]:
        """Return the (N, A) values that `values` returns, and (N, A) bool, whether each value is proved."""
        running = (~positions.over).nonzero()[0]
        roots = self._search(positions[running], Limits(depth=depth), every_move=True)
        mask = self.core.legal_mask(positions)
        values, proved = np.full(mask.shape, np.nan), np.zeros(mask.shape, dtype=np.bool_)
        values[running] = roots["values"][:, : mask.shape[1]]
        proved[running] = roots["opens"][:, : mask.shape[1]] == 0
        return np.where(mask, values, np.nan), proved & mask

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        roots = zeros(root.ROOT, len(positions))
        roots["plies_left"] = plies_left(self.core, positions)
        roots["own"], roots["other"] = mover_first(positions).T
        depth, nodes = limits.depth or MAX_DEPTH, limits.nodes or UNLIMITED
        bits = self._bits(limits)

        def search(memory: Memory, table: Table, rows: slice) -> None:
            memory.guess_depth = self._guess_depth
            root.search_rows(Tree(self._rules, memory, table), roots[rows], depth, nodes, every_move, bits)

        self._workers.run(len(roots), search, limits)
        return roots

    def _bits(self, limits: Limits) -> int:
        if self._table_bits == 0:
            return 0
        nodes = [] if limits.nodes is None else [limits.nodes]
        if limits.milliseconds is not None:
            nodes.append(int(limits.milliseconds) * MOVES_PER_MILLISECOND)
        return bits_to_use(self._table_bits, limits.depth or 0, min(nodes, default=0))


def _result(found: root.Root) -> SearchResult:
    moves = found.values.tolist()
    values = {action: moves[action] for action in range(len(moves)) if moves[action] != -INFINITY}
    actions = tuple(action for action in values if values[action] == found.value)
    return SearchResult(
        action=actions[0],
        actions=actions,
        value=int(found.value),
        depth=int(found.depth),
        proved=not found.is_open,
        nodes=int(found.nodes),
        line=tuple((found.line[found.line > 0] - 1).tolist()),
        values=values,
    )
