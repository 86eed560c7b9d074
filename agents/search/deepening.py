"""Alpha-beta search for two players: the best moves of positions, and what every move is worth.

A position's *value* is its future margin in points: what its mover will win from here on less what the opponent will,
when both play the best moves as far as the search sees; captures, refills and the leftovers of finished games are in
it. It does not depend on the scores so far. A value is *proved* when all lines that it rests on end in finished games;
it then holds at every depth. The ply limit ends games too: a search looks no further than the plies that are left, and
where it looks as far as that, every value is proved.

    >>> from oanquan_env import Core
    >>> core = Core()
    >>> found = Search(core).best(core.start(), Limits(depth=8))
    >>> found.value, found.actions
    (12, (3, 6))
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.search import root
from agents.search.alphabeta import DEFAULT_GUESS_DEPTH, ENTRY
from agents.search.compiled import compile_rules, mover_first, zeros
from agents.search.leaf import with_net
from agents.search.memory import INFINITY, MAX_DEPTH, MIN_BUCKET_BITS, UNLIMITED, Memory, Table, new_memory
from oanquan_env import Core, Positions
from oanquan_env.arrays import Mask
from oanquan_env.players.value_net import ValueNet

_CHUNKS = 8
"""Parts of a batch for each thread: several, as some positions take many times as long as others."""
_LEAST_BITS = 10
"""Buckets (base-2 logarithm) of the smallest search, enough to remember its best line."""
MAX_MILLISECONDS = 10**12
_MOST = {"depth": MAX_DEPTH, "nodes": UNLIMITED, "milliseconds": MAX_MILLISECONDS}
_MOVES_PER_MILLISECOND = 20_000
"""More than any machine plays; it only decides how much of the table is used."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a search stops: at the first limit that it meets. A search to limits of depth and nodes is reproducible.

    Raises `ValueError` for no limit at all, or one out of range.
    """

    depth: int | None = None
    """Plies to look ahead, 1 to `MAX_DEPTH`."""
    nodes: int | None = None
    """Moves played by the search, 1 or more."""
    milliseconds: float | None = None
    """Time for each position, 1 to `MAX_MILLISECONDS`."""

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise ValueError("a search needs a limit: depth, nodes or milliseconds")
        for name, value in given.items():
            if not value >= 1:  # nan is not
                raise ValueError(f"{name} must be 1 or more; got {value}")
            if value > _MOST[name]:
                raise ValueError(f"{name} must be {_MOST[name]:,} or less; got {value}")


@dataclass(frozen=True)
class SearchResult:
    """What a search found out about one position.

    Attributes:
        action: the first of `actions`.
        actions: all actions of the highest value at this depth, ascending; no other action reaches it.
        value: future margin in points, seen by the mover.
        depth: plies looked ahead: the last depth that was completed, or at which the value was proved. With a net, a
            depth counts too whose first moves were searched before a limit, unless every move is valued: the best one
            of the depth before comes first, and one that is found to be better takes its place.
        proved: whether the value holds for all depths, the ply limit counted.
        nodes: moves played by the search.
        line: actions of both players in turn, best play from here; may be shorter than `depth`.
        values: value of each action that was valued: the best ones, or all legal ones.
    """

    action: int
    actions: tuple[int, ...]
    value: int
    depth: int
    proved: bool
    nodes: int
    line: tuple[int, ...]
    values: dict[int, int]


class Search:
    """Searches positions of one `Rules`, each afresh, so results never depend on earlier ones. Threads may share it.

    Args:
        core: of the rules to play.
        table_megabytes: size of the transposition table of each thread; 0 for none, which takes longer and finds the
            same.
        threads: positions of a batch searched at once; one for each processor if left out. Results do not depend on
            it, except under a limit in milliseconds.
        net: what running positions at the horizon are worth, in whole points; nothing without a net. A value that is
            not proved is then the net's guess of what comes after the depth reached.
        guess_depth: plies; where a net's guess of a move is far from what would matter, the guess stands for a search
            of so many plies or fewer. With 0 a search with a net is full-width, as one without is.

    Raises:
        ValueError: for more than two players, and for `refill=forfeit`.
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
        self.threads = threads or os.cpu_count() or 1
        self._rules = compile_rules(core) if net is None else with_net(compile_rules(core), net)
        self._free: queue.SimpleQueue[tuple[Memory, Table]] = queue.SimpleQueue()
        for _ in range(self.threads):
            memory, table = new_memory(table_megabytes, ENTRY)
            memory.guess_depth = guess_depth
            self._free.put((memory, table))
        self._table_bits = (len(table) - 1).bit_length() if table_megabytes else 0

    def use(self, net: ValueNet) -> None:
        """Take another net from here on; the tables stay where they are."""
        self._rules = with_net(compile_rules(self.core), net)

    def best(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> SearchResult:
        """The best moves of a single running position, a batch of one; see `best_moves`."""
        if len(positions) != 1:
            raise ValueError(f"one position is searched by `best`, not {len(positions)}: see `best_moves`")
        return self.best_moves(positions, limits, every_move=every_move)[0]

    def best_moves(self, positions: Positions, limits: Limits, *, every_move: bool = False) -> list[SearchResult]:
        """The best moves of each of N running positions; raises `ValueError` if a game among them is over.

        With `every_move` every legal move is valued, which takes longer, not the best ones alone.
        """
        if positions.over.any():
            raise ValueError(f"the game of row {int(positions.over.argmax())} is over; there is no move to search")
        return [_result(row) for row in self._search(positions, limits, every_move)]

    def values(self, positions: Positions, depth: int) -> npt.NDArray[np.float64]:
        """(N, A) future margin in points after each legal move, its own gain included, looking `depth` plies ahead.

        NaN for illegal actions, and in finished games.
        """
        return self.proved_values(positions, depth)[0]

    def proved_values(self, positions: Positions, depth: int) -> tuple[npt.NDArray[np.float64], Mask]:
        """As `values`, and (N, A) bool: which of them are proved."""
        running = (~positions.over).nonzero()[0]
        found = self._search(positions[running], Limits(depth=depth), every_move=True)
        mask = self.core.legal_mask(positions)
        values, proved = np.full(mask.shape, np.nan), np.zeros(mask.shape, dtype=np.bool_)
        values[running] = found["values"][:, : mask.shape[1]]
        proved[running] = found["opens"][:, : mask.shape[1]] == 0
        return np.where(mask, values, np.nan), proved & mask

    def _search(self, positions: Positions, limits: Limits, every_move: bool) -> npt.NDArray[Any]:
        """(N,) FOUND of N running positions."""
        sides, found = mover_first(positions), zeros(root.FOUND, len(positions))
        left = np.maximum(self.core.rules.max_plies - positions.ply, 1).astype(np.int64)
        depth, nodes = limits.depth or MAX_DEPTH, limits.nodes or UNLIMITED
        bits = self._bits(limits)

        def search(memory: Memory, table: Table, rows: slice) -> None:
            arguments = sides[rows], left[rows], depth, nodes, every_move, bits, found[rows]
            root.search_rows(self._rules, memory, table, *arguments)

        def search_in_time(memory: Memory, table: Table, rows: slice) -> None:
            for row in range(rows.start, rows.stop):
                memory.stop = 0
                clock = threading.Timer((limits.milliseconds or 0) / 1000, setattr, (memory, "stop", 1))
                clock.start()
                try:
                    search(memory, table, slice(row, row + 1))
                finally:
                    clock.cancel()
                    clock.join()

        self._spread(len(sides), search if limits.milliseconds is None else search_in_time)
        return found

    def _bits(self, limits: Limits) -> int:
        """Buckets to use (base-2 logarithm): a small search is faster in a table that the processor's caches hold."""
        if self._table_bits == 0:
            return 0
        enough = [self._table_bits]
        if limits.depth is not None:
            enough.append(max(limits.depth + 4, _LEAST_BITS))
        if limits.nodes is not None:
            enough.append((limits.nodes // 16).bit_length())
        if limits.milliseconds is not None:
            enough.append((int(limits.milliseconds) * _MOVES_PER_MILLISECOND // 16).bit_length())
        return max(min(enough), MIN_BUCKET_BITS)

    def _spread(self, rows: int, search: Callable[[Memory, Table, slice], None]) -> None:
        """Run `search` on all rows, in parts, each part with a memory that no other thread is using."""

        def search_part(begin: int) -> None:
            memory, table = self._free.get()
            try:
                memory.stop = 0
                search(memory, table, slice(begin, min(begin + step, rows)))
            finally:
                self._free.put((memory, table))

        if self.threads == 1 or rows <= 1:
            step = rows
            search_part(0)
            return
        step = max(1, rows // (self.threads * _CHUNKS))
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(search_part, range(0, rows, step)))


def _result(found: root.Found) -> SearchResult:
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
