"""Games that can be drawn, and the texts that are drawn next to the board."""

# ruff: noqa: D102 - `Board` documents these properties

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oanquan_env.engine.notation import SEAT_NAMES, WORDS, Language, words_about
from oanquan_env.engine.positions import Outcome
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.trace import LastMove, MoveTrace


class Drawable(Protocol):
    """One game in a form that the renderers accept: a `Board` or a `Snapshot`."""

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


class PlayedGame(Drawable, Protocol):
    """A game that also has its last move, such as a `Board`."""

    @property
    def last_trace(self) -> MoveTrace | None: ...
    @property
    def last_mark(self) -> LastMove | None: ...


@dataclass(frozen=True)
class Snapshot:
    """The state of one game without a `Board`, for example between two steps of a move, or after manual changes."""

    rules: Rules
    seeds: tuple[int, ...]
    stones: tuple[int, ...]
    scores: tuple[int, ...]
    mover: int = 0
    ply: int = 0
    outcome: Outcome | None = None


def shown_scores(board: Drawable) -> list[int]:
    """Return the points to show: the scores, or the final points once the game is over."""
    return [int(score) for score in (board.scores if board.outcome is None else board.outcome.scores)]


def status_line(board: Drawable, language: Language = "en", seats: Sequence[str] = ()) -> str:
    """Return a line that says whose turn it is or who won; `seats` are the players' names."""
    words, names, outcome = WORDS[language], seats or SEAT_NAMES[board.rules.players], board.outcome
    if outcome is None:
        return words_about(names[board.mover], language, "to_move").format(name=names[board.mover])
    first, *tied = [name for name, score in zip(names, outcome.scores, strict=True) if score == max(outcome.scores)]
    if not tied:
        return words_about(first, language, "wins").format(name=first)
    if 1 + len(tied) == len(names):
        return str(words["draw"])
    return str(words["share"].format(names=words["and"].join([", ".join([first, *tied[:-1]]), tied[-1]])))


def ending_line(board: Drawable, language: Language = "en") -> str:
    """Return the reason why the game is over, in words, or an empty string if it is running."""
    if board.outcome is None:
        return ""
    name = str(board.outcome.termination)
    return name.replace("_", " ") if language == "en" else str(WORDS[language]["endings"][name])


def ply_line(board: Drawable, language: Language = "en") -> str:
    """Return a line with the number of moves played."""
    return str(WORDS[language]["ply"].format(ply=board.ply))


def last_line(board: Drawable, last: LastMove | None, language: Language = "en", seats: Sequence[str] = ()) -> str:
    """Return a line such as `"North played 5A"`, or an empty string if `last` is None or has no label."""
    if last is None or not last.label:
        return ""
    name = (seats or SEAT_NAMES[board.rules.players])[last.origin // (board.rules.fields + 1)]
    return str(WORDS[language]["played"].format(name=name, move=last.label))
