"""Turn moves into the frames that animations and windows show."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oanquan_env.engine.trace import Frame, LastMove, MoveTrace
from oanquan_env.render.drawable import Drawable, PlayedGame, Snapshot

BEGIN_MS, MOVE_MS, END_MS = 1200, 1100, 4000
"""Durations in milliseconds of the frames before the first move, after a move, and at the end."""
LIFT_MS, SEED_MS, LAP_MS, GAP_MS, CAPTURE_MS = 320, 150, 240, 420, 420
"""Durations in ms: lifting seeds, sowing a seed, sowing a lap's last seed, before a capture, a capture or refill."""


class Picture(NamedTuple):
    """One frame of an animation."""

    board: Drawable
    last: LastMove | None
    hand: tuple[int, int] | None  # the square over which a hand holds seeds, and their number
    milliseconds: int


def film(boards: Sequence[PlayedGame]) -> Iterator[Picture]:
    """Yield the frames of an animation of a game, given the board at its start and the board after each move."""
    yield Picture(boards[0], None, None, BEGIN_MS)
    for board in boards[1:]:
        assert board.last_trace is not None
        yield from motion(board.last_trace, board.ply - 1)
        yield Picture(board, board.last_mark, None, MOVE_MS if board is not boards[-1] else END_MS)


def motion(trace: MoveTrace, ply: int, *, each_seed: bool = True) -> Iterator[Picture]:
    """Yield a frame for each step of a move; `ply` is the number of moves played before it.

    If `each_seed` is False, the frames show the board before the move and after each lap, capture and refill.
    """
    rules, frames, mark = trace.rules, trace.frames(), trace.mark
    last = LastMove(mark.origin, (), mark.origin, (), mark.label)

    def picture(frame: Frame, milliseconds: int, hand: tuple[int, int] | None = None) -> Picture:
        return Picture(Snapshot(rules, *frame, mover=trace.player, ply=ply), last, hand, milliseconds)

    if not each_seed:
        yield picture(frames[0], LIFT_MS)
    for lap, before in zip(trace.laps, frames, strict=False):
        seeds = list(before.seeds)
        seeds[lap.square] -= lap.seeds
        if each_seed:
            yield picture(before._replace(seeds=tuple(seeds)), LIFT_MS, (lap.square, lap.seeds))
        for sown, square in enumerate(lap.squares, 1):
            seeds[square] += 1
            last = LastMove(last.origin, (*last.path, square), square, (), last.label)
            left = lap.seeds - sown
            if each_seed or not left:
                hand, pause = ((square, left), SEED_MS) if left else (None, LAP_MS)
                yield picture(before._replace(seeds=tuple(seeds)), pause, hand)
    for number, capture in enumerate(trace.captures, len(trace.laps)):
        last = LastMove(last.origin, last.path, last.last, (*last.captured, capture.square), last.label)
        if each_seed:
            yield picture(frames[number], GAP_MS)
        yield picture(frames[number + 1], CAPTURE_MS)
    for frame in frames[1 + len(trace.laps) + len(trace.captures) :]:
        yield picture(frame, CAPTURE_MS)
