"""Draw the board as text for terminals."""

import re
from collections.abc import Sequence
from textwrap import dedent, fill

from oanquan_env.engine.notation import SEAT_NAMES, Language, capital
from oanquan_env.engine.positions import PAWNED, SOLD
from oanquan_env.engine.trace import LastMove
from oanquan_env.render.drawable import Drawable, ending_line, last_line, ply_line, shown_scores, status_line
from oanquan_env.render.layout import UNIT, layout_of
from oanquan_env.render.scene import Owners

STONE, MOVER = "◉", "▶"
ORIGIN, LAST, CAPTURED = "○", "●", "×"
_OWNERSHIP = {PAWNED: "½", SOLD: "$"}
_CELL, _NARROW_CELL = 7, 4
_NUDGES = sorted(range(-6, 7), key=abs)
"""How far a word may be moved if it would cover another one."""
_COLOURS = {
    "1": rf"{MOVER} .+? -?\d+\b",
    "1;31": STONE,
    "33": rf"[{ORIGIN}{LAST}][ (]*\d+\)?",
    "31": rf"{CAPTURED}[ (]*\d+\)?",
    "2": r"\(\d+\)",
}
"""ANSI codes (bold, bold red, yellow, red, faint), each with the pattern of the text to colour."""
_COLOURED = re.compile("|".join(f"({pattern})" for pattern in _COLOURS.values()))


def text(
    board: Drawable,
    *,
    last: LastMove | None = None,
    owners: Owners | None = None,
    columns: int | None = None,
    language: Language = "en",
    seats: Sequence[str] = (),
    note: str | None = None,
) -> str:
    """Return the board as lines of text, with fields numbered from each player's own left.

    A stone is `◉`. In the last move, `○` marks the field played, `●` the last seed and `×` a capture. Seeds left at the
    end of a game are in parentheses. In match play, `$` after a field's number marks a sold field and `½` a pawned
    field.

    Args:
        board: the board to draw.
        last: the last move.
        owners: the ownership codes of the fields in match play (`Ownership.owners`).
        columns: width of the terminal; if the usual drawing does not fit, a drawing of at most 40 columns is returned.
        language: language of the texts.
        seats: the players' names; by default the names of the seats.
        note: the text below the board; by default whose turn it is or who won, the number of moves and the last move.
    """
    marks = {last.origin: ORIGIN, last.last: LAST} | dict.fromkeys(last.captured, CAPTURED) if last else {}
    two = board.rules.players == 2
    seats = seats or SEAT_NAMES[board.rules.players]
    plates = [_plate(board, player, capital(name)) for player, name in enumerate(seats)]
    body = _line_board(board, marks, owners, _CELL, plates) if two else _ring_board(board, marks, owners, plates)
    if note is None:
        notes = (status_line(board, language, seats), ending_line(board, language), ply_line(board, language))
        note = capital(", ".join(filter(None, (*notes, last_line(board, last, language, seats)))))
    if columns is not None and max(map(len, body)) > columns:
        body = _line_board(board, marks, owners, _NARROW_CELL, plates) if two else _list_board(board, marks, plates)
        note = fill(note, max(columns, 1), break_long_words=False, break_on_hyphens=False)
    return "\n".join([*body, "", note])


def coloured(drawn: str) -> str:
    """Return the drawing `drawn`, a result of `text`, with ANSI colours."""

    def paint(match: re.Match[str]) -> str:
        assert match.lastindex is not None
        return f"\x1b[{list(_COLOURS)[match.lastindex - 1]}m{match[0]}\x1b[0m"

    return _COLOURED.sub(paint, drawn)


def _plate(board: Drawable, player: int, name: str) -> str:
    mark = MOVER if board.outcome is None and board.mover == player else " "
    return f"{mark} {name} {shown_scores(board)[player]}"


def _label(field: int, player: int, owners: Owners | None) -> str:
    return f"{field + 1}{_OWNERSHIP.get(int(owners[player][field]), '') if owners is not None else ''}"


def _held(board: Drawable, index: int, marks: dict[int, str], width: int) -> str:
    """Return a square's mark and number of seeds, or only the number if there is no room for both."""
    mark, seeds = marks.get(index, " "), board.seeds[index]
    if board.outcome is None or not seeds:
        return f"{mark}{seeds:>2}"
    return f"{mark}({seeds})" if len(f"{mark}({seeds})") <= width else f"({seeds})"


def _line_board(
    board: Drawable, marks: dict[int, str], owners: Owners | None, width: int, plates: Sequence[str]
) -> list[str]:
    """Return the lines of a board of two players, with North's row above; squares are `width` characters wide."""
    fields = board.rules.fields
    labels = ["".join(_label(f, p, owners).center(width + 1) for f in range(fields)) for p in (0, 1)]
    labels[1] = "".join(_label(f, 1, owners).center(width + 1) for f in reversed(range(fields)))
    cells = [_held(board, i, marks, width).center(width) for i in range(2 * fields + 2)]
    south, north = "│".join(cells[:fields]), "│".join(reversed(cells[fields + 1 : 2 * fields + 1]))
    stones = [(STONE if board.stones[side] else " ").center(width) for side in (1, 0)]
    bar, blank = "─" * width, " " * width
    left = "   " if width == _CELL else " "
    margin = " " * (width + len(left) + 2)
    return [
        plates[1],
        f"{margin}{labels[1]}".rstrip(),
        f"{left}╭{bar}┬{'┬'.join([bar] * fields)}┬{bar}╮",
        f"{left}│{stones[0]}│{north}│{stones[1]}│",
        f"{left}│{blank}├{'┼'.join([bar] * fields)}┤{blank}│",
        f"{left}│{cells[2 * fields + 1]}│{south}│{cells[fields]}│",
        f"{left}╰{bar}┴{'┴'.join([bar] * fields)}┴{bar}╯",
        f"{margin}{labels[0]}".rstrip(),
        plates[0],
    ]


def _ring_board(board: Drawable, marks: dict[int, str], owners: Owners | None, plates: Sequence[str]) -> list[str]:
    """Return the lines of a board of three or four players, arranged as in `svg`."""
    here = layout_of(board.rules)
    across, down = 8.0 / UNIT, 3.0 / UNIT
    lines = [[" "] * (round(here.width * across) + 8) for _ in range(round(here.height * down) + 1)]

    def put(at: tuple[float, float], word: str) -> None:
        row, column = lines[round(at[1] * down)], round(at[0] * across - len(word) / 2) + 2
        column += next((by for by in _NUDGES if set(row[column + by - 1 : column + by + len(word) + 1]) == {" "}), 0)
        row[column : column + len(word)] = word

    for index, square in enumerate(here.squares):
        player, field = divmod(index, board.rules.fields + 1)
        cell = _held(board, index, marks, 5)
        if field == board.rules.fields:
            put(square.centre, f"({cell} {STONE if board.stones[player] else ' '})")
        else:
            put(square.centre, f"[{cell} ]")
            put(square.label, _label(field, player, owners))
    for at, plate in zip(here.plates, plates, strict=True):
        put(at, plate)
    return dedent("\n".join("".join(line).rstrip() for line in lines)).strip("\n").split("\n")


def _list_board(board: Drawable, marks: dict[int, str], plates: Sequence[str]) -> list[str]:
    """Return a line of field numbers, and a line per player: its fields from its left, then its mandarin square."""
    fields = board.rules.fields
    numbers = "".join(f"{field + 1:>{_NARROW_CELL}}" for field in range(fields))
    lines = [" " * 11 + numbers]
    for player in range(board.rules.players):
        squares = range(player * (fields + 1), (player + 1) * (fields + 1))
        cells = "".join(_held(board, i, marks, _NARROW_CELL).rjust(_NARROW_CELL) for i in squares)
        lines.append(f"{plates[player]:11}{cells} {STONE if board.stones[player] else ''}".rstrip())
    return lines
