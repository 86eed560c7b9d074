"""The vectorised core, which plays one move in each of N games per call.

The rules of a move are implemented twice: in NumPy for batches (`numpy_move`), and with plain integers for one game
(`move`). By default a core calls `move` through `loops`, compiled by Numba for batches and as plain Python for a single
position. The NumPy version is the reference; `Core(rules, compiled=False)` uses it.

Shapes: N games, P players, F fields per side, A = 2F actions. An action is `2 * field + direction`: field 0 .. F-1 from
the mover's left to right, direction 0 anticlockwise (A, +1 on the ring) or 1 clockwise (C, -1).
"""

import functools
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Bytes, Ints, Mask, Points
from oanquan_env.engine.loops import Arrays, Loops, loops
from oanquan_env.engine.move import NO_SQUARE, RuleNumbers, rule_numbers
from oanquan_env.engine.numpy_move import BatchSowing, Turns
from oanquan_env.engine.positions import RUNNING, Positions, Termination, check_points, check_ready, check_setup
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.engine.tables import build_tables
from oanquan_env.errors import UsageError

COMPILED_VARIABLE = "OANQUAN_COMPILED"
"""The name of an environment variable. If the variable is 0, only cores made with `compiled=True` use Numba."""
_MAX_PLIES = np.uint8(Termination.MAX_PLIES)


class IllegalActionError(UsageError):
    """Raised for an action that is illegal in its position, or that is not an integer; the message says why."""


def check_whole(actions: npt.NDArray[Any], n: int) -> None:
    """Raise `IllegalActionError` unless `actions` has shape (n,) and an integer dtype."""
    if actions.shape == (n,) and actions.dtype.kind in "iu":
        return
    requirement = "the action must be an integer" if n == 1 else f"actions must be an array of {n} integers"
    got = repr(actions.item()) if n == 1 and actions.shape == (1,) else f"{actions.dtype} of shape {actions.shape}"
    raise IllegalActionError(f"{requirement}, got {got}")


class Played(NamedTuple):
    """The effects of N moves, one in each position that was played."""

    captured: Points
    """(N,) int32, points that each mover captured, without refills and leftovers."""
    laps: npt.NDArray[np.int32]
    """(N,) int32, number of sowings in each move, including sowings of a single mandarin seed (`take_one`)."""


class Expanded(NamedTuple):
    """The positions after all legal moves of a batch. M is the number of legal moves in the whole batch."""

    positions: Positions
    """M positions, each after one move."""
    rows: Ints
    """(M,) intp, the row of each parent position, ascending."""
    actions: Ints
    """(M,) intp, the action played, ascending within a row."""


class Core:
    """The engine for batches of positions under one set of rules.

    Its only state is lookup tables, so any number of batches may share it.

    Args:
        rules: a `Rules` or its text, such as `"vietnamese refill=forfeit"`.
        compiled: whether Numba compiles the loops over a batch; otherwise NumPy plays, with the same results. Defaults
            to True unless the environment variable `OANQUAN_COMPILED` is 0. Numba is imported for the first batch of
            more than one position.
    """

    def __init__(self, rules: Rules | str = DEFAULT_PRESET, compiled: bool | None = None) -> None:
        self.rules = rules = as_rules(rules)
        self.compiled = os.environ.get(COMPILED_VARIABLE) != "0" if compiled is None else compiled
        self.tables = build_tables(rules)
        self.moves = BatchSowing(rules, self.tables)
        self.turns = Turns(rules, self.tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return Core, (self.rules, self.compiled)  # pickle only the arguments and rebuild the tables

    @functools.cached_property
    def numbers(self) -> RuleNumbers:
        """The rules in the form that the functions of `move` take."""
        return rule_numbers(self.rules)

    @functools.cached_property
    def record(self) -> Any:
        """The rules in the form that compiled functions take."""
        from oanquan_env.engine.compiled import rule_record  # imports Numba

        return rule_record(self.rules)

    def loops(self, positions: Positions) -> tuple[Loops, Any, Arrays]:
        """Return the loops for a batch, and their first two arguments: the rules and the arrays of the batch.

        The loops are compiled if `compiled` is True and the batch has more than one position.
        """
        compiled = self.compiled and len(positions) > 1
        _, *others = positions.arrays()
        rules = self.record if compiled else self.numbers
        return loops(self.rules.players, compiled), rules, Arrays(positions.words, *others)

    # ---- positions -------------------------------------------------------------------------------------------------

    def start(self, n: int = 1) -> Positions:
        """Return `n` games in the starting position, with South to move."""
        return Positions(
            squares=np.tile(self.tables.initial, (n, 1)),
            scores=np.zeros((n, self.rules.players), dtype=np.int32),
            mover=np.zeros(n, dtype=np.intp),
            ply=np.zeros(n, dtype=np.int32),
            ended=np.zeros(n, dtype=np.uint8),
        )

    def legal_mask(self, positions: Positions) -> Mask:
        """Return (N, A) bool, the legal actions of the mover; all False if the game is over."""
        if self.compiled:
            loop, rules, arrays = self.loops(positions)
            legal: Mask = loop.mask(rules, arrays)
            return legal
        own = positions.sides.reshape(-1).take(positions.seat_index())
        occupied = np.packbits(own.view(np.uint8) != 0, bitorder="little")  # one bit per field
        occupied *= positions.ended == RUNNING
        return self.tables.legal.take(occupied, axis=0)

    def seeds(self, positions: Positions) -> Bytes:
        """Return (N, P * (F + 1)) uint8, the number of seeds on each square, in ring order."""
        return self.tables.seeds(positions.squares)

    def stones(self, positions: Positions) -> Bytes:
        """Return (N, P) uint8, the stones on the mandarin squares, side 0 first."""
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
        """Return positions with the given contents; mark finished games (end test, ply limit, forfeit) as ended.

        Args:
            seeds: (N, P * (F + 1)) in ring order.
            stones: (N, P), 0 or 1 on each mandarin square.
            scores: (N, P) points.
            mover: (N,) seats, or one for all positions.
            ply: (N,) numbers of moves played, or one for all positions.
            checked: if False, two faults are accepted: points that do not add up, and a mover without a legal move.

        Raises:
            PositionError: if a shape, dtype or number is wrong, points do not add up to the total of the rules, or the
                mover of a running game has no legal move; the message names the fault and, if possible, its row.
        """
        columns = check_setup(self.rules, seeds, stones, scores, mover, ply)
        if checked:
            check_points(self.rules, columns)
        positions = self.start(len(columns.seeds))
        positions.squares[:, self.tables.ring_bytes] = columns.seeds
        positions.squares[:, self.tables.stone_bytes] = columns.stones
        positions.scores[:], positions.mover[:], positions.ply[:] = columns.scores, columns.mover, columns.ply
        loop, rules, arrays = self.loops(positions)
        loop.end(rules, arrays)
        if checked:
            check_ready(self.legal_mask(positions).any(axis=1) | positions.over, columns.mover)
        return positions

    # ---- a move ----------------------------------------------------------------------------------------------------

    def play(
        self, positions: Positions, actions: npt.ArrayLike, *, rows: Ints | None = None, checked: bool = True
    ) -> Played:
        """Play one action in each position, in place. Apply the refills that are due, and mark finished games as ended.

        Args:
            positions: N positions.
            actions: (N,) integers; (M,) with `rows`.
            rows: (M,) intp, distinct indices of the positions to play; other positions stay unchanged.
            checked: if False, an illegal action is not detected and makes its position meaningless; an action
                outside 0 .. A-1 may raise IndexError or play another square.

        Raises:
            IllegalActionError: if `checked` and an action is illegal or not an integer; the batch is then unchanged.
        """
        actions = np.asarray(actions)
        shape = (len(positions) if rows is None else len(rows),)
        if self.compiled and actions.shape == shape and actions.dtype.kind in "iu":
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
        """Return the positions after every legal move of every position."""
        if self.compiled:
            loop, rules, arrays = self.loops(positions)
            (words, *others), rows, actions = loop.expand(rules, arrays)
            return Expanded(Positions(words.view(np.uint8), *others), rows, actions)
        rows, actions = self.legal_mask(positions).nonzero()
        children = positions[rows]
        self.play(children, actions, checked=False)
        return Expanded(children, rows, actions)

    def check(self, positions: Positions, actions: npt.NDArray[np.integer], rows: Ints | None = None) -> None:
        """Raise `IllegalActionError` unless `actions` holds a legal action for each position (or row in `rows`)."""
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
        """Return (N, P) int32 points: the scores, plus the leftovers (docs/RULES.md 4) of finished games."""
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
        """Return (N, P) bool, the players with the highest standing, several if tied; all False in running games."""
        standings = self.standings(positions)
        best: Mask = standings == standings.max(axis=1, keepdims=True)
        return best & positions.over[:, None]


def relative_points(points: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Return (N, P) float64, each player's points minus the mean of the other players'; each row sums to zero."""
    players = points.shape[1]
    together = sum(points[:, seat] for seat in range(1, players)) + points[:, 0]
    relative: npt.NDArray[np.float64] = (points * players - together[:, None]) / (players - 1)
    return relative


# ---- choosing and playing --------------------------------------------------------------------------------------------
# Players and Monte-Carlo tree search share these functions. They are here because the search lies below the players.

Choose: TypeAlias = Callable[[Ints, Positions], Ints]
"""A function that takes the (M,) rows of running games in a batch and their positions, and returns (M,) actions."""


def advance(
    core: Core, positions: Positions, choose: Choose, plies: npt.ArrayLike | None = None, *, checked: bool = True
) -> Iterator[tuple[Ints, Ints]]:
    """Play N games in place, one ply of all running games at a time.

    Games that are over at the start, or have no plies to play, stay unchanged.

    Args:
        core: the core that plays the games.
        positions: N games. Between two plies the caller may replace finished games with new ones.
        choose: the function that chooses the actions.
        plies: maximum number of plies to play in each game, (N,) or one number; by default, games run to their end.
        checked: whether actions are checked, see `Core.play`.

    Yields:
        After each ply, the (M,) rows of the games in which it was played, ascending, and the (M,) actions.
    """
    limits, rows = np.broadcast_to(np.inf if plies is None else plies, len(positions)), np.arange(len(positions))
    for played in itertools.count():
        rows = rows[~positions.over[rows] & (limits[rows] > played)]
        if not rows.size:
            return
        current = positions[rows]
        actions = choose(rows, current)
        core.play(current, actions, checked=checked)
        positions[rows] = current
        yield rows, actions


def advance_randomly(
    core: Core, positions: Positions, plies: npt.ArrayLike | None, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Return the iterator of `advance` for games with random moves."""

    def choose(_: Ints, current: Positions) -> Ints:
        return sample_actions(core.legal_mask(current), rng)

    return advance(core, positions, choose, plies, checked=False)


def best_actions(values: npt.NDArray[np.floating], mask: Mask, rng: np.random.Generator) -> Ints:
    """Return (N,) intp: for each row of `values` (N, A), a best action that `mask` allows, drawn at random if tied."""
    best = np.where(mask, values, -np.inf)
    return sample_actions((best == best.max(axis=1, keepdims=True)) & mask, rng)


def sample_actions(masks: npt.NDArray[Any], rng: np.random.Generator) -> Ints:
    """Return (N,) intp: for each row of `masks` (N, A), one of the actions that it allows, drawn at random.

    Masks may be bool or int8, as in `info["action_mask"]`. A row that allows nothing, such as a finished game's, gets
    action 0. A mask (A,) of one game gives one action.
    """
    actions: Ints = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=-1)
    return actions
