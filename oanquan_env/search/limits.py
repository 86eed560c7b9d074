"""Limits and results of searches, and the threads that search the positions of a batch."""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from oanquan_env.engine.compiled import Int64s
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.search.search_state import MAX_DEPTH, UNLIMITED

_CHUNKS = 8
"""Parts of a batch per thread. There are several because some positions take many times longer than others."""
MAX_MILLISECONDS = 10**12
USUAL_MOVES = 7
"""Approximate number of legal moves in a position."""
MOVES_PER_MILLISECOND = 20_000
"""More moves than any machine plays in a millisecond."""
BRIEF = 5_000_000
"""Number of moves that a search plays in less than a second."""
_MOST = {"depth": MAX_DEPTH, "nodes": UNLIMITED, "milliseconds": MAX_MILLISECONDS}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a search, which stops at the first limit that it reaches.

    A search limited only by depth and nodes is reproducible. Raises `ValueError` if there is no limit, or a limit is
    out of range.
    """

    depth: int | None = None
    """Plies to look ahead, 1 to `MAX_DEPTH`."""
    nodes: int | None = None
    """Moves per position after which the search stops, 1 or more; depth 1 is always completed."""
    milliseconds: float | None = None
    """Time per position, 1 to `MAX_MILLISECONDS`."""

    def __post_init__(self) -> None:
        limits = {name: value for name, value in vars(self).items() if value is not None}
        if not limits:
            raise ValueError("a search needs a limit: depth, nodes or milliseconds")
        for name, value in limits.items():
            if not value >= 1:  # rejects NaN as well
                raise ValueError(f"{name} must be 1 or more; got {value}")
            if value > _MOST[name]:
                raise ValueError(f"{name} must be {_MOST[name]:,} or less; got {value}")


@dataclass(frozen=True)
class SearchResult:
    """The result of a search of one position.

    Attributes:
        action: the first of `actions`.
        actions: all actions with the highest value at this depth, ascending.
        value: future margin in points, from the mover's view.
        depth: depth in plies of the search that gave the result. It is the last completed depth. With a net or in a
            max^n search, it is the interrupted depth if that search had valued its first move, which is the best move
            of the depth before. With `every_move`, interrupted searches never count.
        proved: whether the value holds at all depths, given the ply limit.
        nodes: moves played by the search.
        line: principal variation, the actions of the players in turn; may be shorter than `depth`.
        values: value of each action that was valued exactly; with `every_move`, of all legal actions.
        proved_actions: the actions in `values` whose value holds at all depths.
    """

    action: int
    actions: tuple[int, ...]
    value: float
    depth: int
    proved: bool
    nodes: int
    line: tuple[int, ...]
    values: dict[int, float]
    proved_actions: tuple[int, ...] = ()


class Workers:
    """Search threads, each with its own memory: the items that `new_memory` returns, the first with a field `stop`.

    By default there is one thread per processor. A copy has new, empty memories, and so has a forked process, because
    its parent's threads, which do not exist there, may have been using the old ones.
    """

    def __init__(self, threads: int | None, new_memory: Callable[[], Iterable[Any]]) -> None:
        self.threads = threads or os.cpu_count() or 1
        self._new_memory, self._process = new_memory, os.getpid()
        self._free: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._memories = [tuple(new_memory()) for _ in range(self.threads)]
        for memory in self._memories:
            self._free.put(memory)

    def __reduce__(self) -> tuple[Any, ...]:
        return Workers, (self.threads, self._new_memory)

    def run(self, rows: int, search: Callable[..., None], limits: Limits) -> None:
        """Run `search(*memory, slice)` on parts of the rows, each with a memory that no other thread is using.

        With a limit in milliseconds, each row is searched separately, and `stop` is set when its time is up. An error
        in the calling thread, such as the KeyboardInterrupt of Ctrl-C, stops the search.
        """

        def search_part(begin: int) -> None:
            memory = self._free.get()
            try:
                end = min(begin + step, rows)
                if limits.milliseconds is None:
                    memory[0].stop = 0
                    search(*memory, slice(begin, end))
                else:
                    for row in range(begin, end):
                        with _clock(memory[0], limits.milliseconds):
                            search(*memory, slice(row, row + 1))
            finally:
                self._free.put(memory)

        if self._process != os.getpid():
            vars(self).update(vars(Workers(self.threads, self._new_memory)))
        is_single = self.threads == 1 or rows <= 1
        if is_single and (_is_brief(rows, limits) or threading.current_thread() is not threading.main_thread()):
            step = rows
            if rows:
                search_part(0)
            return
        step = rows if is_single else max(1, rows // (self.threads * _CHUNKS))
        with ThreadPoolExecutor(1 if is_single else self.threads) as pool:
            parts = [pool.submit(search_part, begin) for begin in range(0, rows, step)]
            try:
                for part in parts:
                    part.result()
            except BaseException:
                self._stop(parts)
                raise

    def _stop(self, parts: Sequence[Future[None]]) -> None:
        """Stop the searches. Each search clears `stop` before each row, so set it repeatedly until all have ended."""
        for part in parts:
            part.cancel()
        while not all(part.done() for part in parts):
            for memory in self._memories:
                memory[0].stop = 1
            time.sleep(0.005)


def _is_brief(rows: int, limits: Limits) -> bool:
    """Return whether a search is expected to take less than a second, so that it need not react to Ctrl-C."""
    moves = [limits.nodes or UNLIMITED, USUAL_MOVES ** (limits.depth or MAX_DEPTH)]
    moves.append(UNLIMITED if limits.milliseconds is None else int(limits.milliseconds * MOVES_PER_MILLISECOND))
    return bool(rows * min(moves) < BRIEF)


def plies_left(core: Core, positions: Positions) -> Int64s:
    """Return (N,) plies to the ply limit, at least 1, of N running positions; raise `ValueError` if a game is over."""
    if positions.over.any():
        raise ValueError(f"the game of row {int(positions.over.argmax())} is over; there is no move to search")
    return np.maximum(core.rules.max_plies - positions.ply, 1).astype(np.int64)


@contextlib.contextmanager
def _clock(memory: Any, milliseconds: float) -> Iterator[None]:
    memory.stop = 0
    clock = threading.Timer(milliseconds / 1000, setattr, (memory, "stop", 1))
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
        clock.join()
