"""Lines of moves in game records, with their comments and variations (docs/RULES.md 7)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.notation import Move, NotationError, names
from oanquan_env.records.reader import BRACE, Reader, escaped

UNFINISHED = "*"
RESULT = re.compile(r"\*|-?[0-9]+(?:--?[0-9]+)+")
WORD = re.compile(r"[^\s{}()\[\]]+")
MAX_NESTING = 50
"""Maximum number of variations within one another, which bounds the recursion of `==` and `repr`."""

_COMMENT = re.compile(r"\{((?:[^}\\]|\\.)*)\}", re.DOTALL)
_NUMBER = re.compile(r"([0-9]+)\.")
_OPENING, _CLOSING = re.compile(r"\("), re.compile(r"\)")


class Line(Protocol):
    """Moves with comments and variations: a `GameRecord` or a `Variation`."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves, in order."""

    @property
    def comments(self) -> Mapping[int, str]:
        """The comments by the number of the move before them."""

    @property
    def variations(self) -> "Mapping[int, tuple[Variation, ...]]":
        """The variations by the number of the move that they replace."""


@dataclass(frozen=True)
class Variation:
    """A line of moves that could have been played instead of a move of a record and the moves after it.

    Attributes:
        moves: the moves, in order; at least one.
        comments: comments by the number of the move before them; the first move of the variation has number 1.
        variations: variations by the number, from 2, of the move that they replace. A variation of the first move
            belongs to the line of which this is a variation.
    """

    moves: tuple[Move, ...]
    comments: Mapping[int, str] = field(default_factory=dict)
    variations: "Mapping[int, tuple[Variation, ...]]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.moves:
            raise ValueError("a variation must have at least one move")
        check_line(self, first=1)

    @cached_property
    def nesting(self) -> int:
        """The number of variations within one another: 1 for a variation without variations."""
        return 1 + max((inner.nesting for group in self.variations.values() for inner in group), default=0)


def check_line(line: Line, first: int) -> None:
    """Check the comments and variations of a line, and remove empty ones; `first` is the first number of a comment.

    Raises `ValueError` if they do not belong to a move, if two moves at one place are equal, or if variations are
    nested more than `MAX_NESTING` times.
    """
    count = len(line.moves)
    for number in line.comments:
        if not first <= number <= count:
            raise ValueError(f"there is a comment on move {number}, but there are {count} moves")
    for number, group in line.variations.items():
        if not first < number <= count:
            raise ValueError(f"a variation must replace one of the moves {first + 1} to {count}; got {number}")
        moves = [line.moves[number - 1], *(variation.moves[0] for variation in group)]
        if len(set(moves)) < len(moves):
            raise ValueError(f"the variations of move {number} must begin with different moves; got {names(moves)}")
        if any(variation.nesting > MAX_NESTING for variation in group):
            raise ValueError(f"variations can be nested at most {MAX_NESTING} times")
    for name in ("comments", "variations"):
        kept = {number: value for number, value in getattr(line, name).items() if value}
        object.__setattr__(line, name, kept)


def line_texts(line: Line, players: int, played: int = 0) -> Iterator[str]:
    """Yield the text of each group of one move per player, for a line that begins after `played` moves."""
    words: list[str] = []
    for number, move in enumerate(line.moves, 1):
        if played % players == 0:
            if words:
                yield " ".join(words)
            words = [f"{played // players + 1}."]
        words += [str(move), *comment_texts(line, number)]
        for variation in line.variations.get(number, ()):
            words.append(f"({' '.join(line_texts(variation, players, played))})")
        played += 1
    if words:
        yield " ".join(words)


def comment_texts(line: Line, number: int) -> list[str]:
    """Return a list with the text of the comment on a move, or an empty list."""
    return [f"{{{escaped(line.comments[number], BRACE)}}}"] if number in line.comments else []


# ---- reading ---------------------------------------------------------------------------------------------------------


class ReadLine(NamedTuple):
    """A line that was read; the fields are as in `GameRecord`."""

    moves: tuple[Move, ...]
    comments: dict[int, str]
    variations: dict[int, tuple[Variation, ...]]


@dataclass
class LineReader:
    """Reads one line from a text, and plays its moves on a board.

    Attributes:
        reader: the text.
        board: the position at which the line begins, and later the position after the moves read so far.
        played: the number of moves in the record before the line.
        nesting: the number of variations within one another; 0 for the moves of the game.
        taken: the moves with which other lines begin at the same position.
    """

    reader: Reader
    board: Board
    played: int = 0
    nesting: int = 0
    taken: frozenset[Move] = frozenset()
    _moves: list[Move] = field(default_factory=list)
    _comments: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    _variations: dict[int, list[Variation]] = field(default_factory=lambda: defaultdict(list))

    def read(self) -> ReadLine:
        """Read up to the result, or past the `)` of a variation. Raise `NotationError` at the place of a mistake."""
        reader, numbered = self.reader, False
        while True:
            if comment := reader.take(_COMMENT):
                number = len(self._moves) or min(self.nesting, 1)  # a variation has no comment before its first move
                self._comments[number].append(reader.unescaped(comment[1], comment.start(1)))
            elif reader.at_end() or reader.text[reader.place] in "{[":
                missing = (
                    "the ) of a variation" if self.nesting else f"its result ({UNFINISHED} for an unfinished game)"
                )
                raise reader.error(f"the record ends without {missing}")
            elif numbered:  # only a comment may stand between a number and its move
                self._read_move()
                numbered = False
            elif opening := reader.take(_OPENING):
                self._read_variation(opening.start())
            elif self._at_end():
                return ReadLine(
                    tuple(self._moves),
                    {number: " ".join(parts) for number, parts in self._comments.items()},
                    {number: tuple(group) for number, group in self._variations.items()},
                )
            elif (self.played + len(self._moves)) % self.board.rules.players == 0:
                self._read_number()
                numbered = True
            else:
                self._read_move()

    def _at_end(self) -> bool:
        """Return whether the line ends here; move past the `)` of a variation, but not past the result of the game."""
        if self.nesting:
            return bool(self._moves and self.reader.take(_CLOSING))
        word = WORD.match(self.reader.text, self.reader.place)
        return bool(word and RESULT.fullmatch(word[0]))

    def _read_number(self) -> None:
        expected = (self.played + len(self._moves)) // self.board.rules.players + 1
        number = self.reader.take(_NUMBER)
        if not number or number[1] != str(expected):
            end = ", or the result" if not self.nesting else ", or )" if self._moves else ""
            raise self.reader.error(f"expected the number {expected}. here{end}", number and number.start())

    def _read_move(self) -> None:
        word = self.reader.take(WORD)
        if not word:
            raise self.reader.error("expected a move here")
        place = word.start()
        try:
            move = Move.parse(word[0])
            if not self._moves and move in self.taken:
                raise IllegalMoveError(f"a variation must begin with a new move; {move} is already here")
            self.board.push(move)
        except NotationError as error:
            place, reason = place + error.column - 1, error.reason
        except IllegalMoveError as error:
            reason = str(error)
        else:
            self._moves.append(move)
            return
        raise self.reader.error(f"ply {self.board.ply + 1}: {reason}", place)

    def _read_variation(self, opening: int) -> None:
        """Read a variation of the last move, and add it with the variations of its first move."""
        number = len(self._moves)
        if number == 0:
            raise self.reader.error("a variation must follow the move that it replaces", opening)
        if self.nesting == MAX_NESTING:
            raise self.reader.error(f"variations can be nested at most {MAX_NESTING} times", opening)
        board, group = self.board, self._variations[number]
        taken = {self._moves[-1], *(variation.moves[0] for variation in group), *(self.taken if number == 1 else ())}
        replaced = board.pop()
        line = LineReader(self.reader, board, self.played + number - 1, self.nesting + 1, frozenset(taken)).read()
        for _ in line.moves:
            board.pop()
        board.push(replaced)
        others = line.variations.pop(1, ())
        group += [Variation(*line), *others]
