"""Limits and results of searches, and the threads that search the positions of a batch."""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from oanquan_env.engine.compiled import Int64s
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.search.memory import MAX_DEPTH, UNLIMITED

_CHUNKS = 8
"""Parts of a batch for each thread: several, as some positions take many times as long as others."""
MAX_MILLISECONDS = 10**12
_MOST = {"depth": MAX_DEPTH, "nodes": UNLIMITED, "milliseconds": MAX_MILLISECONDS}


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
    """The result of a search of one position.

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
    value: float
    depth: int
    proved: bool
    nodes: int
    line: tuple[int, ...]
    values: dict[int, float]


class Workers:
    """Threads that search, each with a memory of its own: what `new_memory` makes, a state with a field `stop` first.

    There is a thread for each processor if their number is left out. A copy has new, empty memories.
    """

    def __init__(self, threads: int | None, new_memory: Callable[[], Iterable[Any]]) -> None:
        self.threads = threads or os.cpu_count() or 1
        self._new_memory = new_memory
        self._free: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        for _ in range(self.threads):
            self._free.put(tuple(new_memory()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Workers, (self.threads, self._new_memory)

    def run(self, rows: int, search: Callable[..., None], milliseconds: float | None) -> None:
        """Run `search(*memory, slice)` on all rows, in parts, each with a memory that no other thread is using.

        With `milliseconds` every row is searched by itself, and `stop` is set when its time is up.
        """

        def search_part(begin: int) -> None:
            memory = self._free.get()
            try:
                end = min(begin + step, rows)
                if milliseconds is None:
                    memory[0].stop = 0
                    search(*memory, slice(begin, end))
                else:
                    for row in range(begin, end):
                        with _clock(memory[0], milliseconds):
                            search(*memory, slice(row, row + 1))
            finally:
                self._free.put(memory)

        if self.threads == 1 or rows <= 1:
            step = rows
            if rows:
                search_part(0)
            return
        step = max(1, rows // (self.threads * _CHUNKS))
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(search_part, range(0, rows, step)))


def plies_left(core: Core, positions: Positions) -> Int64s:
    """(N,) plies to the ply limit, 1 or more, of N running positions; raises `ValueError` if a game is over."""
    if positions.over.any():
        raise ValueError(f"the game of row {int(positions.over.argmax())} is over; there is no move to search")
    return np.maximum(core.rules.max_plies - positions.ply, 1).astype(np.int64)


@contextlib.contextmanager
def _clock(memory: Any, milliseconds: float) -> Iterator[None]:
    """Set the memory's `stop` when the time is up."""
    memory.stop = 0
    clock = threading.Timer(milliseconds / 1000, setattr, (memory, "stop", 1))
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
        clock.join()
