r"""Game records as text, in the style of PGN (docs/RULES.md 7).

    [Rules "mancala-world"]
    [South "Lan"]
    [North "greedy"]
    [Date "2025-02-01"]
    [Result "22-46"]
    [Termination "stones_captured"]

    1. 5A {loses at once} 3A
    22-46

Headers come first: always `Rules` and `Result`, `Termination` if the game is over, `Position` if the game did not begin
at the set-up, and any other headers. The moves follow. A number precedes each group of one move per player. Each move
may be followed by a `{comment}`, and by variations in parentheses, each of which replaces this move and the moves after
it, as in `3A (3C {better} 2. 2A) (1A)`. The result ends the record; `*` is the result of an unfinished game. In quotes
and comments, a backslash escapes itself and the character that would close the text; `\n` and `\r` are line ends. Line
ends of any system (LF, CRLF, CR) are read as LF.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from oanquan_env.board import Board
from oanquan_env.engine.notation import Move, NotationError, quoted
from oanquan_env.engine.rules import Rules, RulesError
from oanquan_env.files import read_bytes, write_atomically
from oanquan_env.match.ownership import Ownership
from oanquan_env.records.lines import (
    RESULT,
    UNFINISHED,
    WORD,
    LineReader,
    Variation,
    check_line,
    comment_texts,
    line_texts,
)
from oanquan_env.records.reader import QUOTE, Reader, escaped
from oanquan_env.render import image
from oanquan_env.render.animation import gif, moving_svg
from oanquan_env.render.motion import film

RESERVED = ("Rules", "Position", "Result", "Termination")
"""Headers whose values come from other attributes of a record."""
OWNERSHIP_HEADERS = ("Sold", "Pawned")
"""Headers of a match round that change which player gets the leftovers of fields."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_HEADER = re.compile(rf'\[({_NAME.pattern})[ \t]+"((?:[^"\\]|\\.)*)"[ \t]*\]', re.DOTALL)


@dataclass(frozen=True)
class GameRecord:
    """The record of one game. `board` replays it; a record that is read from a text has been checked by a replay.

    Attributes:
        rules: rules of the game.
        moves: the moves, in order.
        position: position string of the first position; None for the set-up.
        result: final points such as `42-28`, or `*` for an unfinished game.
        termination: why the game ended; for an unfinished game, any text or an empty one.
        headers: all other headers, in order: `South`, `North`, `Date`, `Round`, ...
        comments: comments by the number (from 1) of the move before them; number 0 is before the first move. Empty
            comments are left out.
        variations: other lines by the number (from 1) of the move that they replace. The replay checks them too.
    """

    rules: Rules
    moves: tuple[Move, ...]
    position: str | None = None
    result: str = UNFINISHED
    termination: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)
    variations: Mapping[int, tuple[Variation, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TypeError(f"headers must be strings; got {name!r}: {value!r}")
            if not _NAME.fullmatch(name) or name in RESERVED:
                raise ValueError(f"{name!r} cannot be an extra header: use letters and digits, and none of {RESERVED}")
        check_line(self, first=0)
        if not RESULT.fullmatch(self.result):
            raise ValueError(f"a result must be final points such as 42-28, or {UNFINISHED}; got {self.result!r}")

    @classmethod
    def from_board(
        cls,
        board: Board,
        headers: Mapping[str, str] | None = None,
        comments: Mapping[int, str] | None = None,
        variations: Mapping[int, tuple[Variation, ...]] | None = None,
    ) -> "GameRecord":
        """Return the record of the moves pushed on a board; the other arguments are as in the class."""
        start, outcome = board.start(), board.outcome
        return cls(
            rules=board.rules,
            moves=tuple(board.history),
            position=None if start == Board(board.rules) else start.text(),
            result=outcome.result if outcome else UNFINISHED,
            termination=str(outcome.termination) if outcome else "",
            headers=dict(headers or {}),
            comments=dict(comments or {}),
            variations=dict(variations or {}),
        )

    def start(self) -> Board:
        """Return the board at the start of the game."""
        return Board(self.rules) if self.position is None else Board.parse(self.position, self.rules)

    def board(self) -> Board:
        """Return the final board, with the moves as its history. Raises the same errors as `Board.push`."""
        board = self.start()
        for move in self.moves:
            board.push(move)
        return board

    def animate(self, path: str | Path, *, dark: bool | None = None, width: int | None = None) -> None:
        """Write an animation of the game: a `.svg` file without scripts, or a `.gif` file, which needs Pillow.

        Raises `ValueError` for another file extension, and `MissingExtraError` for a GIF without Pillow.

        Args:
            path: path of the file, which is replaced if it exists.
            dark: whether to use dark colours; with None, an SVG follows the reader's preference, and a GIF is light.
            width: width in pixels; for two rows of five fields, the default is 960 for an SVG and 480 for a GIF.
        """
        path, pictures, owners = Path(path), list(film(self.board().boards())), self._owners()
        if path.suffix == ".svg":
            content = moving_svg(pictures, owners=owners, dark=dark, width=width).encode()
        elif path.suffix == ".gif":
            content = gif(pictures, owners=owners, dark=dark, width=width)
        else:
            raise ValueError(f"an animation must be a .svg or .gif file; got {path.name!r}")
        write_atomically(path, content)

    def _repr_html_(self) -> str:
        return image(moving_svg(list(film(self.board().boards())), owners=self._owners()))

    def _owners(self) -> list[list[int]] | None:
        """Return the ownership codes of the fields, or None if no header names sold or pawned fields."""
        if not any(header in self.headers for header in OWNERSHIP_HEADERS):
            return None
        sold, pawned = (self.headers.get(header, "") for header in OWNERSHIP_HEADERS)
        owners: list[list[int]] = Ownership.parse(sold, pawned, self.rules.fields).owners().tolist()
        return owners

    def __str__(self) -> str:
        headers = {"Rules": str(self.rules), **self.headers}
        if self.position is not None:
            headers["Position"] = self.position
        headers["Result"] = self.result
        if self.termination:
            headers["Termination"] = self.termination
        lines = [f'[{name} "{escaped(value, QUOTE)}"]' for name, value in headers.items()]
        lines.append("")
        lines += comment_texts(self, 0)
        lines += line_texts(self, self.rules.players)
        return "\n".join([*lines, self.result, ""])


def parse_records(text: str) -> list[GameRecord]:
    """Return all records of a text, each checked by a replay; the inverse of `format_records`.

    Raises `NotationError` if the text cannot be read, a move is illegal, or the moves do not lead to the result. The
    message names the line and the column, and the ply of a wrong move.
    """
    reader = Reader(text)
    records = []
    while not reader.at_end():
        records.append(_record(reader))
    return records


def read_records(path: str | Path) -> list[GameRecord]:
    """Return all records of a UTF-8 file, decompressed if its name ends in `.gz`; see `parse_records`.

    Raises `OSError` if the file cannot be read, and `ValueError` if it cannot be decompressed or is not UTF-8.
    """
    try:
        text = read_bytes(Path(path)).decode()
    except UnicodeDecodeError as error:
        reason = f"the file is not UTF-8 text: byte {error.start + 1} cannot be read"
        raise NotationError(reason, column=1) from None
    return parse_records(text)


def format_records(records: Iterable[GameRecord]) -> str:
    """Return several records as one text, with empty lines between them."""
    return "\n".join(map(str, records))


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Header(NamedTuple):
    value: str
    place: int  # index in the text at which the value begins


def _record(reader: Reader) -> GameRecord:
    begin = reader.place
    headers = _headers(reader)
    for name in ("Rules", "Result"):
        if name not in headers:
            raise reader.error(f"a record must have the header [{name} …]", begin)
    board = _start(reader, headers)
    line = LineReader(reader, board).read()
    _check_result(reader, headers, board)
    return GameRecord(
        rules=board.rules,
        moves=line.moves,
        position=headers["Position"].value if "Position" in headers else None,
        result=headers["Result"].value,
        termination=headers["Termination"].value if "Termination" in headers else "",
        headers={name: header.value for name, header in headers.items() if name not in RESERVED},
        comments=line.comments,
        variations=line.variations,
    )


def _headers(reader: Reader) -> dict[str, _Header]:
    headers: dict[str, _Header] = {}
    while not reader.at_end() and reader.text[reader.place] == "[":
        begin = reader.place
        match = reader.take(_HEADER)
        if not match:
            raise reader.error('a header is [Name "value"]', begin)
        if match[1] in headers:
            raise reader.error(f"the header {match[1]} comes twice", begin)
        headers[match[1]] = _Header(reader.unescaped(match[2], match.start(2)), match.start(2))
    return headers


def _start(reader: Reader, headers: Mapping[str, _Header]) -> Board:
    header = headers["Rules"]
    try:
        rules = Rules.parse(header.value)
        if "Position" not in headers:
            return Board(rules)
        header = headers["Position"]
        return Board.parse(header.value, rules)
    except RulesError as error:
        raise reader.error(str(error), header.place) from None
    except NotationError as error:
        raise reader.error(error.reason, header.place + error.column - 1) from None


def _check_result(reader: Reader, headers: Mapping[str, _Header], board: Board) -> None:
    written, word = headers["Result"], reader.take(WORD)
    if word is None or word[0] != written.value:
        place = written.place if word is None else word.start()
        raise reader.error(f"the result after the moves must be the header's, {quoted(written.value)}", place)
    outcome = board.outcome
    result, termination = (outcome.result, str(outcome.termination)) if outcome else (UNFINISHED, None)
    shared_out = outcome is not None and any(name in headers for name in OWNERSHIP_HEADERS)  # see `match_records`
    if written.value != result and not (shared_out and written.value != UNFINISHED):
        raise reader.error(f"Result is {quoted(written.value)}, but the moves lead to {result}", written.place)
    claim = headers.get("Termination")
    if termination and (claim is None or claim.value != termination):
        raise reader.error(
            f"the header Termination must be {termination}, as the moves lead to it", (claim or written).place
        )
