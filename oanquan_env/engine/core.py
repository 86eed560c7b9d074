"""The vectorised core: a move in each of N games with one NumPy call. `sowing` sows and captures, `turns` ends turns.

The rules of a move are written in these two for a batch, and once more in `move` for one game in integers. A core
plays by `loops` over `move`: Numba compiles them for batches, Python runs them for a single position. The path by NumPy
is the reference, which `Core(rules, compiled=False)` uses.

Shapes: N games, P players, F fields a side, A = 2F actions. An action is `2 * field + direction`: field 0 .. F-1 from
the mover's own left to right, direction 0 anticlockwise (A, +1 on the ring) or 1 clockwise (C, -1).
"""

import functools
import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Bytes, Ints, Mask, Points
from oanquan_env.engine.loops import Arrays, Loops, loops
from oanquan_env.engine.move import NO_SQUARE, RuleNumbers, rule_numbers
from oanquan_env.engine.position_checks import check_points, check_ready, check_setup
from oanquan_env.engine.positions import RUNNING, Positions, Termination
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.engine.sowing import Moves
from oanquan_env.engine.tables import build_tables
from oanquan_env.engine.turns import Turns
from oanquan_env.errors import UsageError

COMPILED_VARIABLE = "OANQUAN_COMPILED"
"""Environment variable: with 0, nothing uses Numba unless it is asked to."""
_MAX_PLIES = np.uint8(Termination.MAX_PLIES)


class IllegalActionError(UsageError):
    """An action that its position does not allow; names the row, the action and the legal ones."""


def check_whole(actions: npt.NDArray[Any], n: int) -> None:
    """Raise `IllegalActionError` for anything but (n,) integers."""
    if actions.shape == (n,) and actions.dtype.kind in "iu":
        return
    wanted = "the action must be an integer" if n == 1 else f"actions must be an array of {n} integers"
    got = repr(actions.item()) if n == 1 and actions.shape == (1,) else f"{actions.dtype} of shape {actions.shape}"
    raise IllegalActionError(f"{wanted}, got {got}")


class Played(NamedTuple):
    """The effects of a batch of moves."""

    captured: Points
    """(N,) int32, points that each mover captured (refills and leftovers not included)."""
    laps: npt.NDArray[np.int32]
    """(N,) int32, sowings of each move; a mandarin seed lifted under `take_one` counts as one."""


class Expanded(NamedTuple):
    """All legal moves of a batch, played. M is the number of legal moves in the whole batch."""

    positions: Positions
    """M positions, each after one move."""
    rows: Ints
    """(M,) intp, the row that each came from, ascending."""
    actions: Ints
    """(M,) intp, the action that led there, ascending within a row."""


class Core:
    """Plays batches of positions by one `Rules`, or by its text, such as `"vietnamese refill=forfeit"`.

    Its only state is lookup tables; any number of batches may share it.

    Args:
        rules: the rules.
        compiled: whether Numba compiles the loops over a batch, with the same results; NumPy plays otherwise. Defaults
            to True unless the environment variable `OANQUAN_COMPILED` is 0. Numba is loaded with the first batch of
            more than one position.
    """

    def __init__(self, rules: Rules | str = DEFAULT_PRESET, compiled: bool | None = None) -> None:
        self.rules = rules = as_rules(rules)
        self.compiled = os.environ.get(COMPILED_VARIABLE) != "0" if compiled is None else compiled
        self.tables = build_tables(rules)
        self.moves = Moves(rules, self.tables)
        self.turns = Turns(rules, self.tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return Core, (self.rules, self.compiled)  # the tables are made anew: compiled code is no part of a pickle

    @functools.cached_property
    def numbers(self) -> RuleNumbers:
        """The rules as `move` takes them."""
        return rule_numbers(self.rules)

    @functools.cached_property
    def record(self) -> Any:
        """The same for compiled functions."""
        from oanquan_env.engine.compiled import rule_record  # it loads Numba

        return rule_record(self.rules)

    def loops(self, positions: Positions) -> tuple[Loops, Any, Arrays]:
        """Return the loops for a batch, and their first two arguments: the rules and the arrays of the batch.

        They are compiled for more than one position, unless the core is not.
        """
        many = self.compiled and len(positions) > 1
        _, *others = positions.arrays()
        return loops(self.rules.players, many), self.record if many else self.numbers, Arrays(positions.words, *others)

    # ---- positions -------------------------------------------------------------------------------------------------

    def start(self, n: int = 1) -> Positions:
        """`n` games at the set-up, South to move."""
        return Positions(
            squares=np.tile(self.tables.initial, (n, 1)),
            scores=np.zeros((n, self.rules.players), dtype=np.int32),
            mover=np.zeros(n, dtype=np.intp),
            ply=np.zeros(n, dtype=np.int32),
            ended=np.zeros(n, dtype=np.uint8),
        )

    def legal_mask(self, positions: Positions) -> Mask:
        """(N, A) bool, the legal actions of the mover; all false where the game is over."""
        if self.compiled:
            loop, rules, arrays = self.loops(positions)
            legal: Mask = loop.mask(rules, arrays)
            return legal
        own = positions.sides.reshape(-1).take(positions.seat_index())
        occupied = np.packbits(own.view(np.uint8) != 0, bitorder="little")  # one bit a field
        occupied *= positions.ended == RUNNING
        return self.tables.legal.take(occupied, axis=0)

    def seeds(self, positions: Positions) -> Bytes:
        """(N, P * (F + 1)) uint8, the seeds of all squares in ring order."""
        return self.tables.seeds(positions.squares)

    def stones(self, positions: Positions) -> Bytes:
        """(N, P) uint8, the stones on the mandarin squares, side 0's first."""
        return positions.squares.take(self.tables.stone_bytes, axis=1)

    def setup(
        self,
        seeds: npt.ArrayLike,
        stones: npt.ArrayLike,
        scores: npt.ArrayLike,
        mover: npt.ArrayLike = 0,
        ply: npt.ArrayLike = 0,
        *,
        checked: bool = True,
    ) -> Positions:
        """Positions set up by hand; finished ones (end test, ply limit, forfeit) are marked as ended.

        Args:
            seeds: (N, P * (F + 1)) in ring order.
            stones: (N, P), 0 or 1 on each mandarin square.
            scores: (N, P) points.
            mover: (N,) or one for all.
            ply: (N,) or one for all.
            checked: if false, points that do not make the total and a mover with nothing to play are let through.

        Raises:
            PositionError: names the row and its fault: a count out of range, points that do not make
                the total of the rules, a mover whose row is empty.
        """
        columns = check_setup(self.rules, seeds, stones, scores, mover, ply)
        if checked:
            check_points(self.rules, columns)
        positions = self.start(len(columns.seeds))
        positions.squares[:, self.tables.ring_bytes] = columns.seeds
        positions.squares[:, self.tables.stone_bytes] = columns.stones
        positions.scores[:], positions.mover[:], positions.ply[:] = columns.scores, columns.mover, columns.ply
        loops, rules, arrays = self.loops(positions)
        loops.end(rules, arrays)
        if checked:
            check_ready(self.legal_mask(positions).any(axis=1) | positions.over, columns.mover)
        return positions

    # ---- a move ----------------------------------------------------------------------------------------------------

    def play(
        self, positions: Positions, actions: npt.ArrayLike, *, rows: Ints | None = None, checked: bool = True
    ) -> Played:
        """Play one action in each position, in place, with the refills after it; mark games that are over.

        Args:
            positions: N positions.
            actions: (N,) integers; (M,) with `rows`.
            rows: (M,) intp, different rows: no other position is played, nor changed.
            checked: if false, an illegal action is not noticed and its row (no other) becomes meaningless; an
                action outside 0 .. A-1 may raise IndexError or play another square.

        Raises:
            IllegalActionError: with `checked`, for an action that is not legal. The batch is unchanged.
        """
        actions = np.asarray(actions)
        wanted = (len(positions) if rows is None else len(rows),)
        if self.compiled and actions.shape == wanted and actions.dtype.kind in "iu":
            loop, rules, arrays = self.loops(positions)
            effects = np.empty((2, len(actions)), dtype=np.int32)
            if loop.play(rules, arrays, rows, np.ascontiguousarray(actions, np.int64), checked, effects) < 0:
                return Played(effects[0], effects[1])
        if checked:
            self.check(positions, actions, rows)
        return self._play_by_numpy(positions, actions, rows)

    def _play_by_numpy(self, positions: Positions, actions: npt.NDArray[Any], rows: Ints | None) -> Played:
        moved = positions if rows is None else positions[rows]
        squares, scores = moved.squares.copy(), moved.scores.copy()
        stopped, laps = self.moves.sow(moved, actions)
        captured = self.moves.capture(moved, stopped)
        self.turns.finish(moved)
        moved.ended[stopped == NO_SQUARE] = Termination.ENDLESS_RELAY
        undone = (moved.ended > _MAX_PLIES).nonzero()[0]  # moves that could not be completed
        if undone.size:
            moved.squares[undone], moved.scores[undone], captured[undone] = squares[undone], scores[undone], 0
        if rows is not None:
            positions[rows] = moved
        return Played(captured, laps)

    def expand(self, positions: Positions) -> Expanded:
        """Every legal move of every position, played on copies."""
        if self.compiled:
            loop, rules, arrays = self.loops(positions)
            (words, *others), rows, actions = loop.expand(rules, arrays)
            return Expanded(Positions(words.view(np.uint8), *others), rows, actions)
        rows, actions = self.legal_mask(positions).nonzero()
        children = positions[rows]
        self.play(children, actions, checked=False)
        return Expanded(children, rows, actions)

    def check(self, positions: Positions, actions: npt.NDArray[np.integer], rows: Ints | None = None) -> None:
        """Raise `IllegalActionError` for anything but a legal action in each of N positions, or in those at `rows`."""
        check_whole(actions, len(positions) if rows is None else len(rows))
        inside = (actions >= 0) & (actions < self.rules.actions)
        mask = self.legal_mask(positions if rows is None else positions[rows])
        legal = mask.reshape(-1).take(np.arange(0, mask.size, self.rules.actions) + actions * inside) & inside
        if not legal.all():
            first = int(legal.argmin())
            row = first if rows is None else int(rows[first])
            choices = mask[first].nonzero()[0].tolist()
            reason = f"legal: {choices}" if choices else f"the game is over ({Termination(positions.ended[row])!s})"
            raise IllegalActionError(f"illegal action {actions[first]} in row {row}; {reason}")

    # ---- results ---------------------------------------------------------------------------------------------------

    def standings(self, positions: Positions) -> Points:
        """(N, P) int32, points: the scores, with the leftovers of section 4 added where the game is over."""
        standings: Points
        if self.compiled:
            loop, rules, arrays = self.loops(positions)
            standings = loop.standings(rules, arrays)
            return standings
        standings = positions.scores.copy()
        rows = positions.ended.nonzero()[0]
        if rows.size:
            standings[rows] += self.turns.leftovers(positions.at(rows))
        return standings

    def winners(self, positions: Positions) -> Mask:
        """(N, P) bool, the players with the highest standing; several share a tied win, none wins a running game."""
        standings = self.standings(positions)
        best: Mask = standings == standings.max(axis=1, keepdims=True)
        return best & positions.over[:, None]


def relative_points(points: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """(N, P) float64, each player's points less the mean of the others'; a row sums to zero."""
    players = points.shape[1]
    together = sum(points[:, seat] for seat in range(1, players)) + points[:, 0]
    relative: npt.NDArray[np.float64] = (points * players - together[:, None]) / (players - 1)
    return relative
