"""The board as text for terminals."""

from __future__ import annotations

from textwrap import dedent

from oanquan_env.move_trace import LastMove
from oanquan_env.notation import SEAT_NAMES
from oanquan_env.ownership import PAWNED, SOLD
from oanquan_env.render.drawable import Drawable, ending_line, last_line, shown_scores, status_line
from oanquan_env.render.layout import UNIT, layout_of
from oanquan_env.render.scene import Owners

STONE = "◉"
ORIGIN, LAST, CAPTURED = "○", "●", "×"
_OWNERSHIP = {PAWNED: "½", SOLD: "$"}
_CELL = 7


def text(board: Drawable, *, last: LastMove | None = None, owners: Owners | None = None) -> str:
    """The board in lines of text, with fields numbered from each player's own left.

    A stone is `◉`. Of the last move the field played is marked `○`, the last seed `●` and a capture `×`. In match
    play a sold field's number is followed by `$` and a pawned one's by `½`.

    Args:
        board: what to draw.
        last: the last move.
        owners: in match play, codes of the fields (`Ownership.owners`).
    """
    marks = _marks(last)
    body = _line_board(board, marks, owners) if board.rules.players == 2 else _ring_board(board, marks, owners)
    notes = (status_line(board), ending_line(board), f"ply {board.ply}", last_line(board, last))
    return "\n".join([*body, "", ", ".join(note for note in notes if note)])


def _marks(last: LastMove | None) -> dict[int, str]:
    if last is None:
        return {}
    return {last.origin: ORIGIN, last.last: LAST} | dict.fromkeys(last.captured, CAPTURED)


def _plate(board: Drawable, player: int) -> str:
    name, score = SEAT_NAMES[board.rules.players][player], shown_scores(board)[player]
    return f"{'▶' if board.outcome is None and board.mover == player else ' '} {name} {score}"


def _label(field: int, player: int, owners: Owners | None) -> str:
    return f"{field + 1}{_OWNERSHIP.get(int(owners[player][field]), '') if owners is not None else ''}"


def _line_board(board: Drawable, marks: dict[int, str], owners: Owners | None) -> list[str]:
    """Two rows between the mandarin squares, North's above."""
    fields = board.rules.fields
    labels = ["".join(_label(f, p, owners).center(_CELL + 1) for f in range(fields)) for p in (0, 1)]
    labels[1] = "".join(_label(f, 1, owners).center(_CELL + 1) for f in reversed(range(fields)))
    cells = [f"{marks.get(i, ' ')}{board.seeds[i]:>2}".center(_CELL) for i in range(2 * fields + 2)]
    south, north = "│".join(cells[:fields]), "│".join(reversed(cells[fields + 1 : 2 * fields + 1]))
    stones = [(STONE if board.stones[side] else " ").center(_CELL) for side in (1, 0)]
    bar, blank = "─" * _CELL, " " * _CELL
    margin = " " * (_CELL + 5)
    return [
        f"{_plate(board, 1)}",
        f"{margin}{labels[1]}".rstrip(),
        f"   ╭{bar}┬{'┬'.join([bar] * fields)}┬{bar}╮",
        f"   │{stones[0]}│{north}│{stones[1]}│",
        f"   │{blank}├{'┼'.join([bar] * fields)}┤{blank}│",
        f"   │{cells[2 * fields + 1]}│{south}│{cells[fields]}│",
        f"   ╰{bar}┴{'┴'.join([bar] * fields)}┴{bar}╯",
        f"{margin}{labels[0]}".rstrip(),
        f"{_plate(board, 0)}",
    ]


def _ring_board(board: Drawable, marks: dict[int, str], owners: Owners | None) -> list[str]:
    """The layout of the picture on a coarse grid of characters."""
    here = layout_of(board.rules)
    across, down = 8.0 / UNIT, 3.0 / UNIT
    lines = [[" "] * (round(here.width * across) + 8) for _ in range(round(here.height * down) + 1)]

    def put(at: tuple[float, float], word: str) -> None:
        row, column = round(at[1] * down), round(at[0] * across - len(word) / 2) + 2
        lines[row][column : column + len(word)] = word

    for index, square in enumerate(here.squares):
        player, field = divmod(index, board.rules.fields + 1)
        cell = f"{marks.get(index, ' ')}{board.seeds[index]:>2}"
        if field == board.rules.fields:
            put(square.centre, f"({cell} {STONE if board.stones[player] else ' '})")
        else:
            put(square.centre, f"[{cell} ]")
            put(square.label, _label(field, player, owners))
    for player, plate in enumerate(here.plates):
        put(plate, _plate(board, player))
    return dedent("\n".join("".join(line).rstrip() for line in lines)).strip("\n").split("\n")
