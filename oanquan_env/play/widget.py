"""The board in a notebook: JupyterLab, VS Code, Colab."""

import re
from importlib.resources import files
from typing import Any

from oanquan_env.errors import MissingExtraError

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtraError("the board in a notebook needs anywidget: pip install 'oanquan[widget]'") from error

from oanquan_env.board import Board
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.play.levels import PERSON
from oanquan_env.play.picture import Json
from oanquan_env.play.refusal import SessionError
from oanquan_env.play.session import Session
from oanquan_env.records.games import GameRecord

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function|async|class)", re.MULTILINE)


def joined(name: str) -> str:
    """A module of `web` and all that it imports as one module, which needs no other file and no address."""
    pieces: dict[str, str] = {}

    def add(name: str) -> None:
        text = (files("oanquan_env.play") / "web" / name).read_text(encoding="utf-8")
        for imported in _IMPORT.findall(text):
            if imported not in pieces:
                add(imported)
        pieces[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(name)
    return "\n".join(pieces.values())


class BoardWidget(anywidget.AnyWidget):
    """A board to play on with the mouse.

    A record, or a board whose game is over, begins at its first position: the button Redo plays it move by move. Raises
    `ValueError` for players, seats or rules that do not exist.

    Args:
        shown: a board (the widget plays on a copy of it), a record, or the text of rules for a new game.
        opponent: who plays all other seats, a level such as `"easy"` or a player's name; persons if left out.
        seat: where you sit, 0 for South.
        language: `en` or `vi`.

    Attributes:
        board: the game as it stands; it follows what is clicked. Another board may be assigned.
    """

    _esm = joined("widget.js")
    state = traitlets.Dict().tag(sync=True)
    drawing = traitlets.Dict().tag(sync=True)
    hint = traitlets.Instance(dict, allow_none=True).tag(sync=True)
    language = traitlets.Enum(["en", "vi"], "en").tag(sync=True)

    def __init__(
        self,
        shown: Board | GameRecord | str = DEFAULT_PRESET,
        opponent: str | None = None,
        seat: int = 0,
        language: str = "en",
    ) -> None:
        self._opponent, self._seat = opponent, seat
        board = Board(shown) if isinstance(shown, str) else shown.copy() if isinstance(shown, Board) else shown.board()
        self._session = Session(names=self._names(board), board=board)
        if isinstance(shown, GameRecord) or board.outcome is not None:
            while self._session.game.undo():
                pass
        super().__init__(language=language)
        self.on_msg(self._answer)
        self._show()
        self._let_players_move()

    @property
    def board(self) -> Board:
        """A copy of the board as it stands."""
        return self._session.game.board.copy()

    @board.setter
    def board(self, board: Board) -> None:
        self._session.show(board.copy(), self._names(board))
        self._show()
        self._let_players_move()

    def puzzle(self, level: str = "first", number: int = 0) -> None:
        """Show a puzzle of a level, `first`, `easy`, `medium` or `hard`. Raises `SessionError` for another level."""
        self._session.request("puzzle", {"level": level, "number": number})
        self._show()

    def _names(self, board: Board) -> list[str]:
        """Who sits where on that board."""
        players = board.rules.players
        if not 0 <= self._seat < players:
            raise ValueError(f"seat must be 0 to {players - 1}; got {self._seat!r}")
        return [PERSON if seat == self._seat else self._opponent or PERSON for seat in range(players)]

    def _show(self) -> None:
        drawing: Json = self._session.drawing()
        if self.drawing.get("squares") != drawing["squares"]:
            self.drawing = drawing
        self.hint = None
        self.state = self._session.state()

    def _let_players_move(self) -> None:
        while self._session.answer():
            self._show()

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        """Do what the board in the browser asks for."""
        if not isinstance(message, dict):  # not from our page
            return
        try:
            if message.get("request") == "hint":
                self.hint = self._session.hint()
                return
            self._session.request(str(message.get("request")), message.get("arguments", {}))
        except SessionError as error:
            self.send({"trouble": error.to_json()["detail"]["en"]})
            return
        self._show()
        self._let_players_move()
