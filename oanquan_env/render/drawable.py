"""What can be drawn: the protocol, a plain record that satisfies it, and what is said of it in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oanquan_env.engine.move_trace import LastMove
from oanquan_env.engine.notation import SEAT_NAMES
from oanquan_env.engine.rules import Rules


class Ending(Protocol):
    """How a finished game ended."""

    @property
    def scores(self) -> Sequence[int]:
        """Final points, leftovers included."""

    @property
    def winner(self) -> int | None:
        """The only player at the top, or None where several share the win."""

    @property
    def termination(self) -> object:
        """Why the game is over; its `str` is shown, with spaces for underscores."""


class Drawable(Protocol):
    """One game as the renderers see it; P players, F fields a side."""

    @property
    def rules(self) -> Rules:
        """The rules played by."""

    @property
    def seeds(self) -> Sequence[int]:
        """P * (F + 1) seeds, in ring order."""

    @property
    def stones(self) -> Sequence[int]:
        """P stones, side 0's mandarin square first."""

    @property
    def scores(self) -> Sequence[int]:
        """P scores: captures less refills."""

    @property
    def mover(self) -> int:
        """The player to move."""

    @property
    def ply(self) -> int:
        """Moves played."""

    @property
    def outcome(self) -> Ending | None:
        """None while the game goes on."""


@dataclass(frozen=True)
class Snapshot:
    """A plain `Drawable`, for boards that are no `Board`."""

    rules: Rules
    seeds: tuple[int, ...]
    stones: tuple[int, ...]
    scores: tuple[int, ...]
    mover: int = 0
    ply: int = 0
    outcome: Ending | None = None


def shown_scores(board: Drawable) -> list[int]:
    """The points to show: final ones once the game is over."""
    return [int(score) for score in (board.scores if board.outcome is None else board.outcome.scores)]


def status_line(board: Drawable) -> str:
    """Whose turn it is, or who won, in words."""
    names = SEAT_NAMES[board.rules.players]
    if board.outcome is None:
        return f"{names[board.mover]} to move"
    if board.outcome.winner is not None:
        return f"{names[board.outcome.winner]} wins"
    scores = shown_scores(board)
    tied = [name for name, score in zip(names, scores, strict=True) if score == max(scores)]
    if len(tied) == len(names):
        return "A draw"
    return f"{', '.join(tied[:-1])} and {tied[-1]} share the win"


def ending_line(board: Drawable) -> str:
    """Why the game is over, in words, or nothing."""
    return "" if board.outcome is None else str(board.outcome.termination).replace("_", " ")


def last_line(board: Drawable, last: LastMove | None) -> str:
    """`"North played 5A"`, or nothing."""
    if last is None or not last.label:
        return ""
    return f"{SEAT_NAMES[board.rules.players][last.origin // (board.rules.fields + 1)]} played {last.label}"
