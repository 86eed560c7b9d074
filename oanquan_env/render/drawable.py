"""What can be drawn: a board, or a plain record of one; and the words beside it."""

# ruff: noqa: D102 - `Board` says what these mean

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oanquan_env.engine.move_trace import LastMove, MoveTrace
from oanquan_env.engine.notation import SEAT_NAMES, WORDS, Language
from oanquan_env.engine.positions import Outcome
from oanquan_env.engine.rules import Rules


class Drawable(Protocol):
    """One game, as the renderers take it: a `Board` or a `Snapshot`."""

    @property
    def rules(self) -> Rules: ...
    @property
    def seeds(self) -> Sequence[int]: ...
    @property
    def stones(self) -> Sequence[int]: ...
    @property
    def scores(self) -> Sequence[int]: ...
    @property
    def mover(self) -> int: ...
    @property
    def ply(self) -> int: ...
    @property
    def outcome(self) -> Outcome | None: ...


class Played(Drawable, Protocol):
    """A game that knows its last move, as a `Board` does."""

    @property
    def last_trace(self) -> MoveTrace | None: ...
    @property
    def last_mark(self) -> LastMove | None: ...


@dataclass(frozen=True)
class Snapshot:
    """One game at one moment without a `Board`: the board between two steps of a move, or an edited one."""

    rules: Rules
    seeds: tuple[int, ...]
    stones: tuple[int, ...]
    scores: tuple[int, ...]
    mover: int = 0
    ply: int = 0
    outcome: Outcome | None = None


def shown_scores(board: Drawable) -> list[int]:
    """Return the points to show, which are the final ones once the game is over."""
    return [int(score) for score in (board.scores if board.outcome is None else board.outcome.scores)]


def status_line(board: Drawable, language: Language = "en", seats: Sequence[str] = ()) -> str:
    """Return whose turn it is, or who won, in words; `seats` are the players' names."""
    words, names, outcome = WORDS[language], seats or SEAT_NAMES[board.rules.players], board.outcome
    if outcome is None:
        return str(words["to_move"].format(name=names[board.mover]))
    first, *tied = [name for name, score in zip(names, outcome.scores, strict=True) if score == max(outcome.scores)]
    if not tied:
        return str(words["wins"].format(name=first))
    if 1 + len(tied) == len(names):
        return str(words["draw"])
    return str(words["share"].format(names=words["and"].join([", ".join([first, *tied[:-1]]), tied[-1]])))


def ending_line(board: Drawable, language: Language = "en") -> str:
    """Return why the game is over in words, or an empty string."""
    if board.outcome is None:
        return ""
    name = str(board.outcome.termination)
    return name.replace("_", " ") if language == "en" else str(WORDS[language]["endings"][name])


def ply_line(board: Drawable, language: Language = "en") -> str:
    """Return the number of moves played, in words."""
    return str(WORDS[language]["ply"].format(ply=board.ply))


def last_line(board: Drawable, last: LastMove | None, language: Language = "en", seats: Sequence[str] = ()) -> str:
    """Return `"North played 5A"`, or an empty string."""
    if last is None or not last.label:
        return ""
    name = (seats or SEAT_NAMES[board.rules.players])[last.origin // (board.rules.fields + 1)]
    return str(WORDS[language]["played"].format(name=name, move=last.label))
