"""What stands for the notebook's widget where anywidget is not installed: the picture of a board."""

from __future__ import annotations

from oanquan_env import render
from oanquan_env.board import Board
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.records.games import GameRecord


def board_of(shown: Board | GameRecord | str) -> Board:
    """The board of what a widget is made for: a board (a copy of it), a record at its end, or the text of rules."""
    if isinstance(shown, GameRecord):
        return shown.board()
    return shown.copy() if isinstance(shown, Board) else Board(shown)


class StillBoard:
    """Takes the arguments of `BoardWidget`; its board does not change by clicks."""

    def __init__(
        self,
        shown: Board | GameRecord | str = DEFAULT_PRESET,
        opponent: str | None = None,
        seat: int = 0,
        language: str = "en",
    ) -> None:
        self.board = board_of(shown)

    def _repr_svg_(self) -> str:
        note = "<!-- pip install 'oanquan[widget]' to play with the mouse -->"
        return render.svg(self.board, last=self.board.last_mark) + note
