"""What one move does, step by step, for animation and teaching.

No rule of the game is here: the core sows, captures and refills, one phase after the other, and the trace notes what
happens. Laps are watched as they begin; captures and refills are read off the boards between the phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from oanquan_env.arrays import Bytes, Ints
from oanquan_env.core import Core
from oanquan_env.notation import Move, seat_name, square_name
from oanquan_env.positions import MANDARIN_BYTE, SIDE_BYTES, Positions, Termination
from oanquan_env.rules import Rules
from oanquan_env.tables import BYTE_MASK, DIRECTION_STRIDE, DIRECTIONS


class TurnEnd(Enum):
    """Why no more was sown or captured; the value says it in words."""

    MANDARIN_AHEAD = "a mandarin square that is not empty lies ahead"
    EMPTY_MANDARIN_AHEAD = "an empty mandarin square lies ahead, and that is no gap"
    NOTHING_BEHIND = "the square behind the gap is empty"
    NO_FURTHER_GAP = "the square behind the capture is not empty"
    UNRIPE_MANDARIN = "the mandarin behind the gap is unripe"
    SEEDS_STAY = "the seeds of the mandarin square behind the gap cannot be captured"
    ONE_CAPTURE = "a turn captures once"


@dataclass(frozen=True)
class LastMove:
    """The marks that a move leaves on the picture. All squares are ring indices.

    Attributes:
        origin: the field that was played.
        path: the squares that received a seed, in order, through all laps.
        last: the square of the last seed.
        captured: the squares that were captured, in order.
        label: the move's name, such as `"5A"`; `origin` tells who moved.
    """

    origin: int
    path: tuple[int, ...]
    last: int
    captured: tuple[int, ...] = ()
    label: str = ""

    def step(self, squares: int) -> int:
        """+1 for a move anticlockwise on a ring of `squares`, -1 for a clockwise one."""
        return 1 if self.path and (self.path[0] - self.origin) % squares == 1 else -1


@dataclass(frozen=True)
class Lap:
    """One sowing.

    Attributes:
        square: ring index of the square that was lifted.
        direction: 0 anticlockwise (A), 1 clockwise (C).
        seeds: how many were sown.
        squares: the squares that they fell into, in order; `squares[-1]` got the last one.
        one_lifted: a single seed was lifted from a mandarin square (`mandarin_ahead = "take_one"`).
    """

    square: int
    direction: int
    seeds: int
    squares: tuple[int, ...]
    one_lifted: bool

    @property
    def last(self) -> int:
        """The square of the last seed."""
        return self.squares[-1]


@dataclass(frozen=True)
class Taking:
    """One capture: what lay behind a gap.

    Attributes:
        gap: ring index of the empty square.
        square: the square behind it, which was captured.
        seeds: seeds taken.
        stones: stones taken, 0 or 1.
        points: what they are worth.
    """

    gap: int
    square: int
    seeds: int
    stones: int
    points: int


@dataclass(frozen=True)
class Refilling:
    """A player put one seed into each field of its empty row.

    Attributes:
        player: who.
        seeds: how many, F.
        borrowed: how many of them it had no points for.
    """

    player: int
    seeds: int
    borrowed: int


class Frame(NamedTuple):
    """The board between two steps of a move."""

    seeds: tuple[int, ...]
    """P * (F + 1) counts in ring order."""
    stones: tuple[int, ...]
    """P counts, the mandarin square of side 0 first."""
    scores: tuple[int, ...]
    """P points."""


@dataclass(frozen=True)
class MoveTrace:
    """All that one move did.

    Attributes:
        rules: by which it was played.
        player: who moved.
        move: the move.
        before: the board before it.
        laps: its sowings, in order; the first lifts the field of the move.
        ahead: the square after the last seed, where sowing came to its end.
        takings: its captures, in order.
        turn_end: why nothing more was captured.
        refillings: rows refilled after it, in order.
        termination: `RUNNING`, or why the game is over with this move.
        standings: final points of each player if the game is over with this move, leftovers included; else empty.
    """

    rules: Rules
    player: int
    move: Move
    before: Frame
    laps: tuple[Lap, ...]
    ahead: int
    takings: tuple[Taking, ...]
    turn_end: TurnEnd
    refillings: tuple[Refilling, ...]
    termination: Termination
    standings: tuple[int, ...]

    @property
    def captured(self) -> int:
        """Points captured."""
        return sum(taking.points for taking in self.takings)

    @property
    def leftovers(self) -> tuple[int, ...]:
        """Points that each player gets of the seeds left on the board as the game ends; empty while it goes on."""
        return tuple(final - score for final, score in zip(self.standings, self.frames()[-1].scores, strict=False))

    def frames(self) -> list[Frame]:
        """The board before the move and after every lap, capture and refill, in order."""
        frames = [self.before]
        steps: list[Lap | Taking | Refilling] = [*self.laps, *self.takings, *self.refillings]
        for step in steps:
            frames.append(self._after(step, *map(list, frames[-1])))
        return frames

    def _after(self, step: Lap | Taking | Refilling, seeds: list[int], stones: list[int], scores: list[int]) -> Frame:
        if isinstance(step, Lap):
            seeds[step.square] -= step.seeds
            for square in step.squares:
                seeds[square] += 1
        elif isinstance(step, Taking):
            seeds[step.square] -= step.seeds
            stones[step.square // (self.rules.fields + 1)] -= step.stones
            scores[self.player] += step.points
        else:
            left = step.player * (self.rules.fields + 1)
            seeds[left : left + step.seeds] = [count + 1 for count in seeds[left : left + step.seeds]]
            scores[step.player] -= step.seeds
        return Frame(tuple(seeds), tuple(stones), tuple(scores))

    def lines(self) -> Iterator[str]:
        """The trace in English, one sentence for each step."""

        def name(square: int) -> str:
            return square_name(self.rules, square)

        yield f"{seat_name(self.rules, self.player)} plays {self.move}."
        for lap in self.laps:
            what = "one seed" if lap.one_lifted else counted(lap.seeds, "seed")
            yield f"Lift {what} from {name(lap.square)}; the last falls into {name(lap.last)}."
        for taking in self.takings:
            parts = [counted(taking.seeds, "seed")] * bool(taking.seeds) + ["the stone"] * taking.stones
            where = f"{name(taking.square)}, behind the gap at {name(taking.gap)}"
            yield f"Capture {' and '.join(parts)} from {where}: {counted(taking.points, 'point')}."
        yield f"The turn ends: {self.turn_end.value}."
        for refilling in self.refillings:
            loan = f", {refilling.borrowed} of them borrowed" if refilling.borrowed else ""
            yield f"{seat_name(self.rules, refilling.player)} refills its row with {refilling.seeds} seeds{loan}."
        if self.termination:
            yield from self.ending()

    def ending(self) -> Iterator[str]:
        """If the game is over with this move: why, where the seeds on the board go, and the final points."""
        yield f"The game is over: {self.termination!s}."
        last, names = self.frames()[-1], [seat_name(self.rules, player) for player in range(self.rules.players)]
        for name, points in zip(names, self.leftovers, strict=True):
            if points:
                yield f"{name} gets {counted(points, 'point')} for seeds left on the board."
        nobody = sum(last.seeds) - sum(self.leftovers)
        parts = [counted(nobody, "seed")] * bool(nobody) + [counted(sum(last.stones), "stone")] * bool(sum(last.stones))
        if parts:
            yield f"Left to nobody: {' and '.join(parts)}."
        finals = ", ".join(f"{name} {final}" for name, final in zip(names, self.standings, strict=True))
        yield f"Final points: {finals}."

    def __str__(self) -> str:
        return "\n".join(self.lines())


def counted(number: int, thing: str) -> str:
    """`1 seed`, `2 seeds`."""
    return f"{number} {thing}{'s' * (number != 1)}"


def trace_move(core: Core, positions: Positions, move: Move) -> MoveTrace:
    """The trace of `move` in a batch of one position, which stays as it is.

    Raises:
        IllegalActionError: if the move is not legal.
        RunawayGameError: as `Core.play`.
    """
    before = positions.copy()
    action = np.array([move.action])
    after = positions.copy()
    core.play(after, action)  # raises for an illegal move before any lap is noted
    laps: list[Lap] = []

    def watch(code: Ints, seeds: Bytes) -> None:
        laps.append(_lap(core.rules, int(code[0]), int(seeds[0])))

    board = positions.copy()
    stopped, _ = core.moves.sow(board, action, watch)
    sown = _frame(core, board)
    core.moves.capture(board, stopped)
    taken = _frame(core, board)
    ahead = _square(core.rules, int(stopped[0]))
    takings = _takings(core.rules, sown, taken, ahead, laps[-1].direction)
    return MoveTrace(
        rules=core.rules,
        player=int(before.mover[0]),
        move=move,
        before=_frame(core, before),
        laps=tuple(laps),
        ahead=ahead,
        takings=takings,
        turn_end=_turn_end(core.rules, taken, ahead, laps[-1].direction, len(takings)),
        refillings=_refillings(core.rules, taken, _frame(core, after), int(after.mover[0])),
        termination=Termination(after.ended[0]),
        standings=tuple(core.standings(after)[0].tolist()) if after.over[0] else (),
    )


def _frame(core: Core, positions: Positions) -> Frame:
    seeds, stones, scores = core.seeds(positions), core.stones(positions), positions.scores
    return Frame(tuple(seeds[0].tolist()), tuple(stones[0].tolist()), tuple(scores[0].tolist()))


def _square(rules: Rules, code: int) -> int:
    """The ring index of a code's square; both bytes of a mandarin square mean that square."""
    side, place = divmod(code & BYTE_MASK, SIDE_BYTES)
    return side * (rules.fields + 1) + min(place, rules.fields)


def _lap(rules: Rules, code: int, seeds: int) -> Lap:
    square, direction = _square(rules, code), code // DIRECTION_STRIDE
    step = DIRECTIONS[direction][1]
    path = tuple((square + step * count) % rules.squares for count in range(1, seeds + 1))
    return Lap(square, direction, seeds, path, one_lifted=code % SIDE_BYTES == MANDARIN_BYTE)


def _takings(rules: Rules, sown: Frame, taken: Frame, ahead: int, direction: int) -> tuple[Taking, ...]:
    """The captures between `sown` and `taken`. They lie behind gaps at every second square from `ahead` on."""
    step, takings = DIRECTIONS[direction][1], []
    for distance in range(0, rules.squares - 1, 2):
        gap, square = ((ahead + step * (distance + k)) % rules.squares for k in (0, 1))
        seeds = sown.seeds[square] - taken.seeds[square]
        player, field = divmod(square, rules.fields + 1)
        stones = sown.stones[player] - taken.stones[player] if field == rules.fields else 0
        if not seeds and not stones:
            break
        takings.append(Taking(gap, square, seeds, stones, seeds + stones * rules.stone_value))
    return tuple(takings)


def _turn_end(rules: Rules, board: Frame, ahead: int, direction: int, takings: int) -> TurnEnd:
    """The name of what ended the turn: what lies two squares on from the last gap that was captured over."""
    if takings and rules.capture == "single":
        return TurnEnd.ONE_CAPTURE
    step = DIRECTIONS[direction][1]
    gap, behind = ((ahead + step * (2 * takings + k)) % rules.squares for k in (0, 1))

    def holds(square: int) -> tuple[int, int]:
        player, field = divmod(square, rules.fields + 1)
        return board.seeds[square], board.stones[player] if field == rules.fields else 0

    if gap % (rules.fields + 1) == rules.fields:
        if any(holds(gap)):
            return TurnEnd.MANDARIN_AHEAD
        if rules.empty_mandarin == "stop":
            return TurnEnd.EMPTY_MANDARIN_AHEAD
    if any(holds(gap)):
        return TurnEnd.NO_FURTHER_GAP
    if not any(holds(behind)):
        return TurnEnd.NOTHING_BEHIND
    return TurnEnd.UNRIPE_MANDARIN if holds(behind)[1] else TurnEnd.SEEDS_STAY


def _refillings(rules: Rules, taken: Frame, after: Frame, mover: int) -> tuple[Refilling, ...]:
    """The refills between `taken` and `after`, known by the changed scores; the next mover's first."""
    seats = [(mover + offset) % rules.players for offset in range(rules.players)]
    return tuple(
        Refilling(seat, rules.fields, borrowed=max(0, rules.fields - max(0, taken.scores[seat])))
        for seat in seats
        if after.scores[seat] != taken.scores[seat]
    )
