"""The steps of one move, for animation and teaching; `tracing` makes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from oanquan_env.engine.notation import Move, seat_name, square_name
from oanquan_env.engine.positions import Termination
from oanquan_env.engine.rules import MAX_SEEDS, Rules


class TurnEnd(Enum):
    """Why no more was sown or captured; the value says it in words."""

    MANDARIN_AHEAD = "a mandarin square that is not empty lies ahead"
    EMPTY_MANDARIN_AHEAD = "an empty mandarin square lies ahead, and that is no gap"
    NOTHING_BEHIND = "the square behind the gap is empty"
    NO_FURTHER_GAP = "the square behind the capture is not empty"
    UNRIPE_MANDARIN = "the mandarin behind the gap is unripe"
    SEEDS_STAY = "the seeds of the mandarin square behind the gap cannot be captured"
    ONE_CAPTURE = "a turn captures once"
    NOT_COMPLETED = "the move cannot be completed"


ENDINGS = {
    Termination.STONES_CAPTURED: "all mandarin stones are captured",
    Termination.SQUARES_EMPTY: "all mandarin squares are empty",
    Termination.FORFEIT: "a player has too few points to refill its row",
    Termination.MAX_PLIES: "the most moves that the rules allow are played",
    Termination.ENDLESS_RELAY: "a relay would never end",
    Termination.TOO_MANY_SEEDS: f"refills on credit would bring more than {MAX_SEEDS} seeds into play",
}
"""Why a game is over, in words."""


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
    """One capture: the square behind a gap.

    Attributes:
        gap: ring index of the empty square.
        square: the square behind it, which was captured.
        seeds: seeds taken.
        stones: stones taken, 0 or 1.
        points: their value.
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
        yield f"The game is over: {ENDINGS[self.termination]}."
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
