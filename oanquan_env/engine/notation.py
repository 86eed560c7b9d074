"""Write and read moves and positions as text (docs/RULES.md 7).

A move is a field, 1 .. F from the mover's left, and a direction: `5A` anticlockwise, `1C` clockwise. A position has
four words: the squares of every side in ring order, the mandarin square last with `*` for its stone; the scores; the
mover; the ply, as in `5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0`. Each position has exactly one text, so that texts can be
compared. The parser accepts no other text, but allows extra blanks between words.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import PositionError, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UsageError

Language: TypeAlias = Literal["en", "vi"]
WORDS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_bytes())
"""The words for squares and for the steps of a move, by language; the web page also uses them."""
DIRECTION_LETTERS = "AC"
YOU = "you"
"""The English name of a person who plays against computer players."""
SEAT_NAMES: dict[int, tuple[str, ...]] = {int(players): tuple(names) for players, names in WORDS["en"]["seats"].items()}
"""Names of the seats, anticlockwise, by number of players."""
SHORT = 40
"""Maximum number of characters that an error message quotes from a text."""

_PARTS = ("squares", "scores", "mover", "ply")  # the words of a position
_COUNT = re.compile(r"(0|[1-9][0-9]{0,8})", re.ASCII)
_SQUARE = re.compile(r"(0|[1-9][0-9]{0,8})(\*?)", re.ASCII)
_SCORE = re.compile(r"(0|-?[1-9][0-9]{0,8})", re.ASCII)


class NotationError(UsageError):
    """Raised for a text that cannot be read; the message gives the line and column, and says what was expected.

    Attributes:
        reason: the message without the line and column.
        line, column: where the fault is, counted from 1; `line` is None if the text has only one line.
    """

    def __init__(self, reason: str, *, column: int, line: int | None = None) -> None:
        super().__init__(f"line {line}, column {column}: {reason}" if line else f"column {column}: {reason}")
        self.reason = reason
        self.column = column
        self.line = line


@dataclass(frozen=True, order=True)
class Move:
    """A move: a field of the mover's row and a direction. Every player counts fields from its own left.

    Attributes:
        field: 0 .. F-1 from the mover's own left (the text form counts from 1).
        direction: 0 anticlockwise (A), 1 clockwise (C).
    """

    field: int
    direction: int

    def __post_init__(self) -> None:
        if not 0 <= self.field <= 8 or self.direction not in (0, 1):
            raise ValueError(f"a move has field 0 to 8 and direction 0 or 1; got {self.field!r}, {self.direction!r}")

    @property
    def action(self) -> int:
        """The move as an action of the core, `2 * field + direction`."""
        return 2 * self.field + self.direction

    @classmethod
    def from_action(cls, action: int) -> "Move":
        """Return the move for an action of the core."""
        return cls(*divmod(int(action), 2))

    @staticmethod
    def parse(text: str) -> "Move":
        """Read a move such as `5A` or `5a`; inverse of `str`. Raises `NotationError` if `text` is not a move."""
        move = _MOVES.get(text)
        if move is None:
            raise NotationError(
                "a move is a square's number from the mover's left and A (anticlockwise) or C (clockwise), such as 5A; "
                f"got {quoted(text)}",
                column=_move_fault(text),
            )
        return move

    def __str__(self) -> str:
        return f"{self.field + 1}{DIRECTION_LETTERS[self.direction]}"

    def __repr__(self) -> str:
        return f"Move.parse('{self}')"


_MOVES = {letters: move for move in map(Move.from_action, range(18)) for letters in (str(move), str(move).lower())}


def _move_fault(text: str) -> int:
    """Return the column, from 1, of the first wrong or missing character in a text that is not a move."""
    if not text[:1] or text[0] not in "123456789":
        return 1
    return 3 if text[1:2] and text[1] in "AaCc" else 2


def quoted(text: str) -> str:
    """Return `text` in quotes, shortened for an error message."""
    return repr(text if len(text) <= SHORT else f"{text[:SHORT]}…")


def seat_name(rules: Rules, player: int) -> str:
    """Return the name of a player's seat: `South` for player 0, and so on anticlockwise."""
    return SEAT_NAMES[rules.players][player]


# ---- positions -------------------------------------------------------------------------------------------------------


def format_position(core: Core, positions: Positions, row: int = 0) -> str:
    """Return the text of the position in one row of `positions`."""
    position = positions[row : row + 1] if row >= 0 else positions[row:][:1]
    side_length = core.rules.fields + 1
    seeds, stones = core.seeds(position)[0].tolist(), core.stones(position)[0].tolist()
    sides = [
        ",".join(map(str, seeds[player * side_length : (player + 1) * side_length])) + "*" * stones[player]
        for player in range(core.rules.players)
    ]
    return f"{'/'.join(sides)} {','.join(map(str, position.scores[0].tolist()))} {position.mover[0]} {position.ply[0]}"


def parse_position(core: Core, text: str, *, checked: bool = True) -> Positions:
    """Return the position that a text describes, as a batch of one; inverse of `format_position`.

    If `checked` is False, two faults are accepted (for teaching and for `Board.status`): points that do not add up to
    the total of the rules, and a mover without a legal move. Raises `NotationError` if the text is wrong; the message
    names the column and the wrong square, score or word.
    """
    words = [_Span(match[0], match.start() + 1) for match in re.finditer(r"\S+", text)]
    if len(words) != len(_PARTS):
        column = words[len(_PARTS)].column if len(words) > len(_PARTS) else len(text) + 1
        raise NotationError(f"a position has 4 words (squares, scores, mover, ply); got {len(words)}", column=column)
    players, side_length = core.rules.players, core.rules.fields + 1
    sides = _split(words[0], "/", players, "sides")
    squares = [
        square for p, side in enumerate(sides) for square in _split(side, ",", side_length, f"squares on side {p + 1}")
    ]
    scores = _split(words[1], ",", players, "scores")
    seeds = [
        _number(square, _SQUARE if index % side_length == side_length - 1 else _COUNT, square_name(core.rules, index))
        for index, square in enumerate(squares)
    ]
    mandarins = squares[side_length - 1 :: side_length]
    mover, ply = (_number(word, _COUNT, f"the {name}") for word, name in zip(words[2:], _PARTS[2:], strict=True))
    points = [_number(score, _SCORE, f"score {p + 1}") for p, score in enumerate(scores)]
    try:
        stones = [int(square.text.endswith("*")) for square in mandarins]
        return core.setup([seeds], [stones], [points], mover, ply, checked=checked)
    except PositionError as error:
        places = {"seeds": squares, "stones": mandarins, "scores": scores, "mover": words[2:3], "ply": words[3:]}
        place = places.get(error.column, words)[error.index]
        raise NotationError(error.reason, column=place.column) from None


@dataclass(frozen=True)
class _Span:
    text: str
    column: int


def _split(span: _Span, separator: str, count: int, what: str) -> list[_Span]:
    parts, column = [], span.column
    for text in span.text.split(separator):
        parts.append(_Span(text, column))
        column += len(text) + 1
    if len(parts) != count:
        where = parts[count].column if len(parts) > count else column - 1
        raise NotationError(f"expected {count} {what} separated by {separator!r}; got {len(parts)}", column=where)
    return parts


def _number(span: _Span, pattern: re.Pattern[str], name: str) -> int:
    match = pattern.fullmatch(span.text)
    if not match:
        kinds = {_SQUARE: "a count of seeds, with * for a stone", _SCORE: "whole points", _COUNT: "a whole number"}
        raise NotationError(f"{name} must be {kinds[pattern]}; got {quoted(span.text)}", column=span.column)
    return int(match[1])


def square_name(rules: Rules, index: int, language: Language = "en", seats: Sequence[str] = ()) -> str:
    """Return the name of the square at `index`: `square 3 of South`, `the mandarin square after square 5 of North`.

    `seats` are the players' names.
    """
    player, field = divmod(index, rules.fields + 1)
    kind, owner = "mandarin" if field == rules.fields else "field", (seats or SEAT_NAMES[rules.players])[player]
    return words_about(owner, language, kind).format(field=min(field + 1, rules.fields), owner=owner)


def words_about(name: str, language: Language, key: str) -> str:
    """Return the words `key` about a player; English has other words if the player is `YOU`."""
    words: dict[str, str] = WORDS[language]
    return words.get(f"{key}_{YOU}", words[key]) if name == YOU else words[key]


def capital(text: str) -> str:
    """Return the text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


def names(moves: Sequence[Move]) -> str:
    """Return moves as a readable list, such as `1A, 1C`, or `none`."""
    return ", ".join(map(str, moves)) or "none"
