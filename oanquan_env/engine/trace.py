"""The steps of one move, for animation and teaching, made from the steps that `move.play` records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

from oanquan_env.engine.core import Core
from oanquan_env.engine.move import CAPTURE, LAP, STOP, Steps, play
from oanquan_env.engine.notation import SEAT_NAMES, WORDS, Language, Move, capital, square_name, words_about
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, Positions, Termination, TurnEnd
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.scoring import in_turn
from oanquan_env.engine.tables import BYTE_MASK, DIRECTION_STRIDE, DIRECTIONS, origin_code


@dataclass(frozen=True)
class LastMove:
    """The squares that a picture marks after a move, as ring indices.

    Attributes:
        origin: the field that was played.
        path: the squares that received a seed, in order, over all laps.
        last: the square of the last seed.
        captured: the squares that were captured, in order.
        label: the move's name, such as `"5A"`; `origin` shows which player moved.
    """

    origin: int
    path: tuple[int, ...]
    last: int
    captured: tuple[int, ...] = ()
    label: str = ""

    def step(self, squares: int) -> int:
        """Return +1 for an anticlockwise move, -1 for a clockwise move or no path; the ring has `squares` squares."""
        return 1 if self.path and (self.path[0] - self.origin) % squares == 1 else -1


@dataclass(frozen=True)
class Lap:
    """One sowing.

    Attributes:
        square: ring index of the square that was lifted.
        direction: 0 anticlockwise (A), 1 clockwise (C).
        seeds: number of seeds sown.
        squares: the squares that received the seeds, in order; `squares[-1]` received the last one.
        one_lifted: whether a single seed was lifted from a mandarin square (`mandarin_ahead = "take_one"`).
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
class Capture:
    """One capture of the seeds and the stone on the square behind a gap.

    Attributes:
        gap: ring index of the gap.
        square: ring index of the square behind it, which was captured.
        seeds: seeds captured.
        stones: stones captured, 0 or 1.
        points: the value of these seeds and stones.
    """

    gap: int
    square: int
    seeds: int
    stones: int
    points: int


@dataclass(frozen=True)
class Refilling:
    """A refill: a player puts one seed into each field of its empty row.

    Attributes:
        player: index of the player.
        seeds: number of seeds, F.
        borrowed: number of these seeds that the player had to borrow.
    """

    player: int
    seeds: int
    borrowed: int


class Frame(NamedTuple):
    """The board before or after a step of a move."""

    seeds: tuple[int, ...]
    """The seeds of the P * (F + 1) squares in ring order."""
    stones: tuple[int, ...]
    """The stones on the P mandarin squares, side 0 first."""
    scores: tuple[int, ...]
    """The points of the P players."""


@dataclass(frozen=True)
class MoveTrace:
    """All steps of one move.

    Attributes:
        rules: the rules of the game.
        player: index of the mover.
        move: the move.
        before: the board before the move.
        laps: the sowings, in order; the first lifts the chosen field. Empty if the move could not be completed.
        ahead: ring index of the square after the last seed, where the sowing ended.
        captures: the captures, in order.
        turn_end: why nothing more was captured.
        refillings: the refills after the move, in order.
        termination: `RUNNING`, or the reason why this move ended the game.
        standings: final points of each player, leftovers included, if this move ended the game; otherwise empty.
    """

    rules: Rules
    player: int
    move: Move
    before: Frame
    laps: tuple[Lap, ...]
    ahead: int
    captures: tuple[Capture, ...]
    turn_end: TurnEnd
    refillings: tuple[Refilling, ...]
    termination: Termination
    standings: tuple[int, ...]

    @property
    def captured(self) -> int:
        """The points captured in the move."""
        return sum(capture.points for capture in self.captures)

    @property
    def leftovers(self) -> tuple[int, ...]:
        """The points that each player gets for the seeds left on the board at the end; empty if the game is running."""
        return tuple(final - score for final, score in zip(self.standings, self.frames()[-1].scores, strict=False))

    @property
    def mark(self) -> LastMove:
        """The squares to mark in a picture of the board after the move."""
        origin, last = (self.laps[0].square, self.laps[-1].last) if self.laps else (self.ahead, self.ahead)
        path = tuple(square for lap in self.laps for square in lap.squares)
        return LastMove(origin, path, last, tuple(capture.square for capture in self.captures), str(self.move))

    def frames(self) -> list[Frame]:
        """Return the board before the move and after every lap, capture and refill, in order."""
        frames = [self.before]
        steps: list[Lap | Capture | Refilling] = [*self.laps, *self.captures, *self.refillings]
        for step in steps:
            frames.append(self._after(step, *map(list, frames[-1])))
        return frames

    def _after(self, step: Lap | Capture | Refilling, seeds: list[int], stones: list[int], scores: list[int]) -> Frame:
        if isinstance(step, Lap):
            seeds[step.square] -= step.seeds
            for square in step.squares:
                seeds[square] += 1
        elif isinstance(step, Capture):
            seeds[step.square] -= step.seeds
            stones[step.square // (self.rules.fields + 1)] -= step.stones
            scores[self.player] += step.points
        else:
            left = step.player * (self.rules.fields + 1)
            seeds[left : left + step.seeds] = [count + 1 for count in seeds[left : left + step.seeds]]
            scores[step.player] -= step.seeds
        return Frame(tuple(seeds), tuple(stones), tuple(scores))

    def lines(self, language: Language = "en", seats: Sequence[str] = ()) -> Iterator[str]:
        """Yield a sentence for each step, then the `ending` if the game is over; `seats` are the players' names."""
        words, seats = WORDS[language], seats or SEAT_NAMES[self.rules.players]

        def name(index: int) -> str:
            return square_name(self.rules, index, language, seats)

        yield self._about(seats[self.player], language, "plays", move=self.move)
        for lap in self.laps:
            pieces = words["one"] if lap.one_lifted else _counted(words, "seeds", lap.seeds)
            yield words["lift"].format(pieces=pieces, square=name(lap.square), last=name(lap.last))
        for capture in self.captures:
            seeds = [_counted(words, "seeds", capture.seeds)] * bool(capture.seeds)
            pieces, points = words["and"].join(seeds + [words["stone"]] * capture.stones), capture.points
            places = {"square": name(capture.square), "gap": name(capture.gap)}
            yield words["take"].format(pieces=pieces, points=_counted(words, "points", points), **places)
        yield words["turn"].format(why=words["turn_ends"][self.turn_end])
        for player, seeds, borrowed in map(astuple, self.refillings):
            count, loan = _counted(words, "seeds", seeds), "borrow" if borrowed else "refill"
            yield self._about(seats[player], language, loan, seeds=count, borrowed=borrowed)
        if self.termination:
            yield from self.ending(language, seats)

    def ending(self, language: Language = "en", seats: Sequence[str] = ()) -> Iterator[str]:
        """Yield sentences about the end of the game: its reason, who gets the leftovers, and the final points."""
        words, seats, last = WORDS[language], seats or SEAT_NAMES[self.rules.players], self.frames()[-1]
        yield words["over"].format(why=words["endings"][str(self.termination)])
        for name, points in zip(seats, self.leftovers, strict=True):
            if points:
                yield self._about(name, language, "leftover", points=_counted(words, "points", points))
        left = {"seeds": sum(last.seeds) - sum(self.leftovers), "stones": sum(last.stones)}
        if pieces := [_counted(words, thing, number) for thing, number in left.items() if number]:
            yield words["nobody"].format(pieces=words["and"].join(pieces))
        finals = ", ".join(f"{name} {final}" for name, final in zip(seats, self.standings, strict=True))
        yield words["finals"].format(all=finals)

    @staticmethod
    def _about(name: str, language: Language, key: str, **parts: object) -> str:
        return capital(words_about(name, language, key).format(name=name, **parts))

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _counted(words: Mapping[str, Any], thing: str, number: int) -> str:
    """Return a number and its noun, such as `1 seed` or `2 seeds`."""
    text: str = words[thing][number != 1]
    return text.format(n=number)


# ---- from the steps of a move to its trace ---------------------------------------------------------------------------

TURN_ENDS = tuple(TurnEnd)[:-1]
"""By the reason of a step of kind `move.STOP`; a move that is not completed has no such step."""


def trace_move(core: Core, positions: Positions, move: Move) -> MoveTrace:
    """Return the trace of `move` in a batch of one position, which stays unchanged.

    Raises `IllegalActionError` if the move is not legal.
    """
    rules, mover, after = core.rules, int(positions.mover[0]), positions.copy()
    core.play(after, [move.action])
    steps: Steps = []
    words, points = positions.words[0].tolist(), positions.scores[0].tolist()
    sides, scores = in_turn(rules.players, words, mover), in_turn(rules.players, points, mover)
    play(core.numbers, rules.players, sides, scores, rules.max_plies - int(after.ply[0]), move.action, steps)
    if after.ended[0] > Termination.MAX_PLIES:
        steps.clear()  # the board stays as it was

    def square(code: int) -> int:
        """Return the ring index of the square at `code`, in which sides are counted from the mover."""
        side, place = divmod(code & BYTE_MASK, SIDE_BYTES)
        return (mover + side) % rules.players * (rules.fields + 1) + min(place, rules.fields)

    def behind(code: int, distance: int) -> int:
        return (square(code) + DIRECTIONS[code // DIRECTION_STRIDE][1] * distance) % rules.squares

    board = core.seeds(positions), core.stones(positions), positions.scores
    laps, captures, refillings = [], [], []
    last, turn_end = square(origin_code(move.action)), TurnEnd.NOT_COMPLETED
    for kind, code, number, stone in steps:
        if kind == LAP:
            path = tuple(behind(code, count) for count in range(1, number + 1))
            one_lifted = code % SIDE_BYTES == MANDARIN_BYTE
            laps.append(Lap(square(code), code // DIRECTION_STRIDE, number, path, one_lifted))
        elif kind == CAPTURE:
            value = number + stone * rules.stone_value
            captures.append(Capture(square(code), behind(code, 1), number, stone, value))
            points[mover] += value
        elif kind == STOP:
            last, turn_end = square(code), TURN_ENDS[number]
        else:
            seat = (mover + code) % rules.players
            refillings.append(Refilling(seat, rules.fields, borrowed=max(0, rules.fields - max(0, points[seat]))))
    return MoveTrace(
        rules=rules,
        player=mover,
        move=move,
        before=Frame(*(tuple(row[0].tolist()) for row in board)),
        laps=tuple(laps),
        ahead=captures[0].gap if captures else last,
        captures=tuple(captures),
        turn_end=turn_end,
        refillings=tuple(refillings),
        termination=Termination(after.ended[0]),
        standings=tuple(core.standings(after)[0].tolist()) if after.over[0] else (),
    )
