"""Asks what positions are worth, and keeps the proofs in a table; see `agents.search.proof`."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import cast

import numpy as np

from agents.search.compiled import Int64s, compile_rules
from agents.search.memory import (
    BUCKET_BITS,
    HISTORY,
    NO_ACTION,
    NODE_LIMIT,
    NODES,
    STACK,
    STOP,
    TABLE,
    UNLIMITED,
    new_memory,
    table_bits,
)
from agents.search.proof import BUCKET_WORDS, ENTRY_WORDS, HEAD, NOT_FOUND, find, reaches
from oanquan_env import Core
from oanquan_env.arrays import Ints


class LimitReachedError(Exception):
    """The nodes or the time are used up before there is an answer. What was proved by then is in the table."""


class ProofTable:
    """Answers questions about running positions of one `Rules`, and remembers what it proved.

    A position is given as two words, `own` and `other`: see `agents.search.compiled.mover_first`.

    Args:
        core: of the rules to play.
        megabytes: size of the table.

    Attributes:
        rules: the rules, as compiled functions take them.

    Raises:
        ValueError: for rules that search refuses, see `agents.search.compiled.compile_rules`.
    """

    def __init__(self, core: Core, megabytes: float) -> None:
        self.rules = compile_rules(core)
        self._memory = new_memory(megabytes, BUCKET_WORDS)
        self._memory[BUCKET_BITS] = table_bits(self._memory, BUCKET_WORDS)
        self._entries = self._memory[TABLE:].reshape(-1, ENTRY_WORDS)
        self.allow(UNLIMITED)

    def __len__(self) -> int:
        """The number of entries that the table has room for."""
        return len(self._entries)

    @property
    def nodes(self) -> int:
        """Moves played by the questions since `allow` was called."""
        return int(self._memory[NODES])

    def allow(self, nodes: int) -> None:
        """Set how many moves all questions from now on may play together, and count from 0."""
        self._memory[NODES], self._memory[NODE_LIMIT] = 0, nodes

    def ask(
        self, own: int, other: int, goal: int, depth: int, *, optimistic: bool, deadline: float | None = None
    ) -> int:
        """Can the mover reach a future margin of `goal` points or more within `depth` plies?

        Args:
            own: the mover's side.
            other: the opponent's side.
            goal: future margin in points.
            depth: plies, 0 .. MAX_DEPTH.
            optimistic: whether unfinished lines count as reaching it.
            deadline: `time.monotonic()` at which to give up, `inf` for never. With a deadline the search runs in a
                thread of its own, so Ctrl-C interrupts it too.

        Returns:
            YES, NO, OPEN_YES or OPEN_NO, see `agents.search.proof`.

        Raises:
            LimitReachedError: at the deadline, or when the nodes that `allow` set are used up.
        """
        self._memory[STOP] = 0
        question = self.rules, self._memory, own, other, goal, depth, int(optimistic), 0
        if deadline is None:
            answer = reaches(*question)
        else:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(reaches, *question)
                try:
                    wait([asked], None if deadline == math.inf else max(deadline - time.monotonic(), 0.0))
                finally:
                    if not asked.done():
                        self._memory[STOP] = 1
            answer = asked.result()
        if self._memory[STOP]:
            raise LimitReachedError
        return int(answer)

    def action(self, own: int, other: int) -> int:
        """The action that the last proof about a position rests on, or NO_ACTION."""
        place = find(self._memory, own, other)
        return NO_ACTION if place == NOT_FOUND else int(self._memory[place + HEAD] & 15) - 1

    def entries(self) -> tuple[Ints, Int64s]:
        """(K,) places of the entries in use, ascending, and the (K, ENTRY_WORDS) entries."""
        places = cast(Ints, self._entries[:, HEAD].nonzero()[0])
        return places, self._entries[places]

    def restore(self, places: Ints, entries: Int64s) -> None:
        """Replace what is remembered by what `entries` returned, of a table of the same size.

        Raises:
            ValueError: for arrays that `entries` never returns. The table is then unchanged.
        """
        if entries.dtype != np.int64 or entries.shape != (len(places), ENTRY_WORDS) or places.dtype != np.intp:
            raise ValueError(f"entries must be (K, {ENTRY_WORDS}) int64, and their places (K,) intp")
        if len(places) and not 0 <= places.min() <= places.max() < len(self):
            raise ValueError(f"places must be from 0 to {len(self) - 1}")
        self._memory[HISTORY:STACK] = 0
        self._entries[:] = 0
        self._entries[places] = entries
