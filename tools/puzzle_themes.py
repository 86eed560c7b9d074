"""Detect the themes of a puzzle from its line.

A *threat* is a capture that a player could make if it were to move on the same board. Captures are measured in points,
as on the page's badges. `L` is `LARGE`, the points of a large capture.

- `mandarin`: a move of the solver captures a mandarin square with its stone, or, under rules without stones, a mandarin
  square with `L` seeds or more.
- `ends`: the solver's last move ends the game.
- `starve`: a move of the solver leaves the opponent's row empty, so that the opponent must refill, or the game ends.
- `quiet` (thả cá: give a small fish for a large one): the first move captures nothing, although another move would, and
  a later move captures `L` points or more.
- `deny`: the opponent threatened to capture `2 L` points or more, and after the first move its largest threat would
  capture at most half as many points.
- `double`: after the first move the solver threatens two captures of `L` points or more with no square in common, and
  after every reply it can still capture `L` points or more.
"""

from collections.abc import Callable, Sequence

from oanquan_env.board import Board
from oanquan_env.engine.trace import MoveTrace

LARGE = 5


def traces(board: Board) -> list[MoveTrace]:
    """Return the traces of all legal moves."""
    return [board.sowing(move) for move in board.legal_moves]


def threats(board: Board, player: int) -> list[MoveTrace]:
    """Return the traces of the captures that `player` could make if it were to move; none if the game is over."""
    positions = board.positions
    positions.mover[:] = player
    if positions.over[0] or not board.core.legal_mask(positions)[0].any():
        return []
    return [trace for trace in traces(Board.from_positions(board.core, positions)) if trace.captures]


def largest(traces: Sequence[MoveTrace]) -> int:
    """Return the points of the largest capture among the traces `found`, or 0 if there are none."""
    return max((trace.captured for trace in traces), default=0)


def takes_mandarin(board: Board, trace: MoveTrace) -> bool:
    """Return whether a move captures a mandarin square that counts for the theme `mandarin`."""
    fields = board.rules.fields
    return any(
        capture.square % (fields + 1) == fields
        and (capture.stones or (not board.rules.stones and capture.seeds >= LARGE))
        for capture in trace.captures
    )


def starves(trace: MoveTrace) -> bool:
    """Return whether a move leaves the opponent's row empty, before refills."""
    fields, opponent = trace.rules.fields, 1 - trace.player
    last = trace.frames()[-1 - len(trace.refillings)]
    return not any(last.seeds[opponent * (fields + 1) :][:fields])


def is_double(before: Board, after: Board) -> bool:
    """Return whether the move between two boards makes a double threat."""
    if after.outcome is not None:
        return False
    large = [trace for trace in threats(after, before.mover) if trace.captured >= LARGE]
    captured = [{capture.square for capture in trace.captures} for trace in large]
    if all(squares & other for squares in captured for other in captured):
        return False
    for reply in after.legal_moves:
        child = after.copy()
        child.push(reply)
        if child.outcome is not None or largest(traces(child)) < LARGE:
            return False
    return True


def themes_of(board: Board, line: Sequence[str]) -> list[str]:
    """Return the themes, in the order of `THEMES`, of a line that starts at `board` with a move of the solver."""
    boards = [board.copy()]
    for move in line:
        boards.append(boards[-1].copy())
        boards[-1].push(move)
    moves = [before.sowing(move) for before, move in zip(boards, line, strict=False)]
    return [name for name, holds in THEMES.items() if holds(boards, moves[::2])]


def _denies(boards: Sequence[Board]) -> bool:
    opponent = 1 - boards[0].mover
    before = largest(threats(boards[0], opponent))
    return before >= 2 * LARGE and 2 * largest(threats(boards[1], opponent)) <= before


def _is_quiet(boards: Sequence[Board], own: Sequence[MoveTrace]) -> bool:
    return not own[0].captures and largest(traces(boards[0])) > 0 and largest(own[1:]) >= LARGE


THEMES: dict[str, Callable[[Sequence[Board], Sequence[MoveTrace]], bool]] = {
    "mandarin": lambda boards, own: any(takes_mandarin(boards[0], trace) for trace in own),
    "ends": lambda boards, own: bool(own[-1].standings),
    "starve": lambda boards, own: any(map(starves, own)),
    "quiet": _is_quiet,
    "deny": lambda boards, own: _denies(boards),
    "double": lambda boards, own: is_double(boards[0], boards[1]),
}
"""Tests for each theme, called with the boards of a line and the traces of the solver's moves."""


def is_largest_badge(board: Board, move: str) -> bool:
    """Return whether `move` captures points and no other move captures more."""
    return board.sowing(move).captured == largest(traces(board)) > 0


def points_lead(board: Board) -> int:
    """Return the mover's points so far minus its opponent's points."""
    return board.scores[board.mover] - board.scores[1 - board.mover]
