"""A board for notebooks in JupyterLab, VS Code or Colab. The game runs in the browser, and Python follows it."""

import json
from typing import Any

from oanquan_env.errors import UsageError, needing_extra

with needing_extra("widget"):
    import anywidget
    import traitlets

from oanquan_env.board import Board
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS, Rules
from oanquan_env.play.bundle import DYNAMIC, STATIC, bundle
from oanquan_env.play.choosing import Chooser
from oanquan_env.play.levels import LEVELS, PERSON, player_of
from oanquan_env.play.server import WEB
from oanquan_env.records.games import GameRecord, parse_records
from oanquan_env.records.match_records import ROUND_HEADERS
from oanquan_env.search.any_rules_net import ANY

PUZZLES = ("first", "easy", "medium", "hard")


class BoardWidget(anywidget.AnyWidget):
    """A board to play on with the mouse.

    A record or a finished game is shown from its first position; the Redo button plays it move by move. Raises
    `ValueError` for unknown players, seats or rules.

    Args:
        shown: a board (the widget plays on a copy of it), a record, or the text of rules for a new game.
        opponent: the player for all other seats: a level such as `"easy"` or a player's name; by default a person.
        seat: your seat, 0 for South.
        language: `en` or `vi`.

    Attributes:
        board: the current game, updated after each move. Another board may be assigned.
    """

    _esm = bundle(["widget.js"], STATIC, DYNAMIC) + 'export default modules["widget.js"].widget;\n'
    files = traitlets.Dict().tag(sync=True)
    begin = traitlets.Dict().tag(sync=True)
    game = traitlets.Dict().tag(sync=True)
    language = traitlets.Enum(["en", "vi"], "en").tag(sync=True)

    def __init__(
        self,
        shown: Board | GameRecord | str = DEFAULT_PRESET,
        opponent: str | None = None,
        seat: int = 0,
        language: str = "en",
    ) -> None:
        self._opponent, self._seat = opponent or PERSON, seat
        self._chooser = Chooser([self._opponent])
        board = Board(shown) if isinstance(shown, str) else shown if isinstance(shown, Board) else shown.board()
        begun = self._begun(board, rewind=isinstance(shown, GameRecord) or board.outcome is not None)
        if isinstance(shown, GameRecord):
            headers = {name: text for name, text in shown.headers.items() if name not in ROUND_HEADERS}
            begun["text"] = str(GameRecord.from_board(board, headers, shown.comments, shown.variations))
        super().__init__(files=files_for(board.rules, self._opponent), begin=begun, language=language)
        self.on_msg(self._answer)

    @property
    def board(self) -> Board:
        """A copy of the current board."""
        if self.game.get("number") == self.begin["number"]:
            return parse_records(self.game["record"])[-1].board()
        board = parse_records(self.begin["text"])[-1].board()
        return board.start() if self.begin["rewind"] else board

    @board.setter
    def board(self, board: Board) -> None:
        begun = self._begun(board)
        self.files = {**self.files, **files_for(board.rules, self._opponent)}
        self.begin = begun

    def puzzle(self, level: str = "first", number: int = 0) -> None:
        """Show puzzle `number`, from 0, of a level: `first`, `easy`, `medium` or `hard`; others raise `ValueError`."""
        if level not in PUZZLES or number < 0:
            raise UsageError(f"there is no puzzle {number} of the level {level!r}; levels are {', '.join(PUZZLES)}")
        self.files = {**self.files, **files_for(Rules())}
        self.begin = self._begun(self.board) | {"puzzle": {"level": level, "number": number}}

    def _begun(self, board: Board, *, rewind: bool = False) -> dict[str, Any]:
        players = board.rules.players
        if not 0 <= self._seat < players:
            raise UsageError(f"seat must be 0 to {players - 1}; got {self._seat!r}")
        if self._opponent not in LEVELS:
            player_of(self._opponent, board.rules)
        seats = [PERSON if seat == self._seat else self._opponent for seat in range(players)]
        text, number = str(GameRecord.from_board(board)), self.begin.get("number", 0) + 1
        return {"number": number, "text": text, "seats": seats, "puzzle": None, "rewind": rewind}

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        if not isinstance(message, dict) or "choose" not in message:  # the message is not from the page
            return
        self.send({"number": message.get("number"), **self._chooser.choose(message["choose"])})


def files_for(rules: Rules, opponent: str = "") -> dict[str, Any]:
    """Return the files of the page that a game under `rules` needs, by name: JSON as objects, others as bytes."""
    usual = rules.replace(max_plies=0)
    preset = next((name for name, preset in PRESETS.items() if preset.rules == usual), ANY)
    nets = {preset, ANY} if f"net={ANY}" in opponent else {preset}
    always = ("catalogue.json", "puzzles-first.json", f"drawing-{rules.players}-{rules.fields}.json")
    data = [
        file for file in (WEB / "data").iterdir() if file.name in always or any(f"-{net}." in file.name for net in nets)
    ]
    contents = {file.name: file.read_bytes() for file in (WEB / "engine.wasm", WEB / "engine.json", *data)}
    return {name: json.loads(content) if name.endswith(".json") else content for name, content in contents.items()}
