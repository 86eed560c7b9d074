"""Certificates from proofs: a strategy for each bound that a solver has proved.

For each proof, the table stores its length in plies. It also keeps the proofs on which this proof depends, unless it is
full; lost proofs are searched for again. A strategy is read from the table in the order in which `follow` visits the
positions. An *entry* of the strategy is a position with the points that the prover wins from there and the maximum
plies that this takes. After the entry's move, every reply leads to an entry with fewer plies, so every game ends; among
such moves, the move with the fewest new entries is chosen. A position may have several entries: with more points to win
or fewer plies left, another move may be needed.
"""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from oanquan_env.array_types import Ints, Points
from oanquan_env.engine.notation import format_position
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.symmetry import canonical_keys
from oanquan_env.errors import UsageError
from oanquan_env.proofs.certificates import (
    CHUNK,
    MOST_MOVES,
    Certificate,
    Strategy,
    beginnings,
    margin,
    replies,
    unpack,
)
from oanquan_env.proofs.proof_search import UNPROVED, LimitReachedError, ProofTable
from oanquan_env.proofs.solver import Solver

EFFORTS = (0, 1 << 14, 1 << 18, 1 << 22)
"""Node limits, in ascending order, for proving a position again if a full table has lost its proof."""
NODES_PER_CHECK = 1 << 20
"""Maximum nodes between two checks of the clock, unless a single proof takes more."""

Tell: TypeAlias = Callable[[str], None]
"""Function that receives progress messages, one line at a time."""


class NoStrategyError(UsageError):
    """Raised if no strategy is found for a proved bound; the message says why."""


def certify(solver: Solver, deadline: float = math.inf, tell: Tell = lambda line: None) -> Certificate:
    """Return a certificate of all bounds that the solver has proved and for which a strategy is found.

    `tell` receives progress messages, including one for each bound that is left out. `deadline` is a time of
    `time.monotonic()`. Raises `NoStrategyError` if no strategy is found for any bound.
    """
    progress, position = solver.progress, format_position(solver.core, solver.position)
    claims = Certificate(solver.core.rules, position)
    strategies: dict[str, Strategy] = {}
    errors = []
    for name, bound in (("lower", progress.lower), ("upper", progress.upper)):
        if bound is None:
            continue
        begins = f"{name} bound {bound:+d}: "
        tell(f"{begins}looking for a strategy")
        try:
            strategies[name] = StrategyReader(claims, solver.table, deadline).strategy(bound, name == "lower")
        except NoStrategyError as error:
            errors.append(f"{begins}no strategy found: {error}")
        except LimitReachedError:
            errors.append(f"{begins}no strategy found in time")
    if errors and not strategies:
        raise NoStrategyError("; ".join(errors))
    for line in errors:
        tell(line)
    return Certificate(claims.rules, claims.position, **strategies)


class StrategyEntry(NamedTuple):
    """An entry of a strategy: a position seen from the prover, which is to move, with its points and plies."""

    key: bytes
    points: int  # points that the prover wins from here on
    plies: int  # maximum plies to the end of the game


Choice: TypeAlias = tuple[int, list[StrategyEntry | None]]
"""A move of the prover, and the entry after each reply to it (None if the game is over)."""


class StrategyEntries:
    """The entries of a strategy, in the order in which `follow` visits them.

    Attributes:
        known: the index of each entry among the entries of its position, from 0.
        later_copies: as in a `Strategy`.
    """

    def __init__(self) -> None:
        self.known: dict[StrategyEntry, int] = {}
        self.later_copies: list[tuple[int, int]] = []
        self._edges = itertools.count()
        self._counts = Counter[bytes]()

    def add(self, reached: Iterable[StrategyEntry | None]) -> None:
        """Number the edges to the entries in `reached` (None is the end of a game), and add new entries to `known`."""
        for entry, edge in zip(reached, self._edges, strict=False):
            if entry is None:
                continue
            if entry not in self.known:
                self.known[entry] = self._counts[entry.key]
                self._counts[entry.key] += 1
            if copy := self.known[entry]:
                self.later_copies.append((edge, copy))


class ProverMoves(NamedTuple):
    """K moves of the prover, and the positions after all E replies to them."""

    rows: Ints  # (K,) index of the entry in which each move is made, ascending from 0
    moves: Ints  # (E,) index of the move that each reply answers, ascending; a move that ends the game has one "reply"
    reached: Positions  # E positions
    needed: Points  # (E,) points that the prover must still win there
    most: Ints  # (E,) maximum plies in which it must win them


class StrategyReader:
    """A reader of the strategies in a proof table."""

    def __init__(self, claims: Certificate, table: ProofTable, deadline: float) -> None:
        self._claims, self._core, self._table, self._deadline = claims, claims.core, table, deadline

    def strategy(self, bound: int, is_lower: bool) -> Strategy:
        """Return a strategy for a proved bound; raise `NoStrategyError` or `LimitReachedError` if none is found."""
        start, entries = self._claims.start(), StrategyEntries()
        begin = beginnings(self._core, start, is_lower)
        needed = (bound if is_lower else -bound) - margin(self._core, begin)
        most = min(self._claims.rules.max_plies - int(start.ply[0]), 2 * MOST_MOVES) - (not is_lower)
        zeros = np.zeros(len(begin), dtype=np.intp)
        ((_, reached),) = self._kept(ProverMoves(zeros[:1], zeros, begin, needed, zeros + most))
        entries.add(reached)
        moves: list[int] = []
        while len(moves) < len(entries.known):
            chunk = list(itertools.islice(entries.known, len(moves), len(moves) + CHUNK))
            for move, reached in self._moves(chunk, entries.known):
                moves.append(move)
                entries.add(reached)
        later_copies = np.array(entries.later_copies, dtype=np.uint32).reshape(-1, 2)
        return Strategy(bound, np.array(moves, dtype=np.uint8), later_copies)

    def _moves(self, chunk: list[StrategyEntry], known: Container[StrategyEntry]) -> Iterator[Choice]:
        """Yield the choice in each entry.

        The chosen move adds the fewest entries to `known`, which may grow between two yields.
        """
        moved, rows, actions = self._core.expand(unpack([entry.key for entry in chunk]))
        moves, reached = replies(self._core, moved)
        points, plies = np.array([entry[1:] for entry in chunk]).T
        needed, most = points[rows][moves] - margin(self._core, reached), plies[rows][moves] - 2
        options: list[list[Choice]] = [[] for _ in chunk]
        for move, entries in self._kept(ProverMoves(rows, moves, reached, needed, most)):
            options[rows[move]].append((int(actions[move]), entries))

        def cost(option: Choice) -> tuple[int, int]:
            entries = {entry for entry in option[1] if entry}
            return sum(entry not in known for entry in entries), max((entry.plies for entry in entries), default=0)

        for own in options:
            yield min(own, key=cost)

    def _kept(self, prover_moves: ProverMoves) -> Iterator[Choice]:
        """Yield the index of each move proved to win enough points, one or more per entry, and the entries after it."""
        rows, moves, reached, needed, most = prover_moves
        running, unsettled = ~reached.over, np.ones(rows[-1] + 1, dtype=np.bool_)
        points, plies = needed.astype(np.int64), np.where(~running & (needed <= 0), 0, UNPROVED)
        for nodes in EFFORTS:
            edges = (running & (plies == UNPROVED) & unsettled[rows][moves]).nonzero()[0]
            points[edges], plies[edges] = self._proofs(reached[edges], needed[edges], most[edges], nodes)
            proved = np.bincount(moves, plies == UNPROVED) == 0
            unsettled[rows[proved]] = False
            if not unsettled.any():
                break
        else:
            raise NoStrategyError("the table has lost a proof that the strategy needs, or the proof has too many plies")
        good = (proved[moves] & running).nonzero()[0]
        keys = canonical_keys(self._core, reached[good]).tolist()
        entries = map(StrategyEntry, keys, points[good].tolist(), plies[good].tolist())
        entry_after = dict(zip(good.tolist(), entries, strict=True))
        begins = np.searchsorted(moves, np.arange(len(rows) + 1)).tolist()
        for move in proved.nonzero()[0].tolist():
            yield move, [entry_after.get(edge) for edge in range(begins[move], begins[move + 1])]

    def _proofs(self, positions: Positions, needed: Points, most: Ints, nodes: int) -> tuple[Ints, Ints]:
        """Call `ProofTable.prove_each` in parts; raise `LimitReachedError` at the deadline."""
        points, plies = needed.astype(np.int64), np.full(len(needed), UNPROVED)
        step = max(NODES_PER_CHECK // max(nodes, 1), 1)
        for begin in range(0, len(needed), step):
            if time.monotonic() >= self._deadline:
                raise LimitReachedError
            part = slice(begin, begin + step)
            points[part], plies[part] = self._table.prove_each(positions[part], needed[part], most[part], nodes)
        return points, plies
