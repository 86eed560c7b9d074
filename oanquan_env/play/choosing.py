"""The one question that the page and the widget ask Python: the move of a player of Python in a position."""

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from oanquan_env.board import Board
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UnknownAgentError, UsageError
from oanquan_env.players import as_policy
from oanquan_env.players.making import KINDS
from oanquan_env.players.names import parse
from oanquan_env.playing import choose_move

PARTS = ("player", "rules", "position")
"""Of a question."""


class Chooser:
    """Players that choose moves for a page.

    Any page may ask for a player of this package; for one that reads a file or imports a module, only if it is `given`.

    Args:
        given: names of players, in any form that `as_policy` takes.
        rng: the source of all random choices.
    """

    def __init__(self, given: Sequence[str] = (), rng: np.random.Generator | None = None) -> None:
        self.given = given
        self._rng = rng or np.random.default_rng()
        self._player = lru_cache(maxsize=8)(as_policy)  # a player's memory may be large
        self._lock = threading.Lock()

    def choose(self, asked: Any) -> dict[str, Any]:
        """The answer `{move}` to `{player, rules, position}`, all texts, or `{error: {code, detail}}`.

        The code is the part at fault, or `request`; the detail is English.
        """
        code, name = "request", ""
        try:
            if not isinstance(asked, dict) or not all(isinstance(asked.get(part), str) for part in PARTS):
                raise UsageError("a question is {player, rules, position}, all texts")
            code, name = "rules", asked["player"]
            rules = Rules.parse(asked["rules"])
            code = "position"
            board = Board.parse(asked["position"], rules)
            if board.outcome is not None:
                raise UsageError("the game is over")
            code = "player"
            if name not in self.given:
                check_harmless(name)
            with self._lock:
                move = choose_move(self._player(name, rules), board, self._rng)
            board.push(move)
            return {"move": str(move)}
        except UsageError as error:
            detail = str(error).partition("; players are:")[0]
        except Exception as error:  # of a player that anybody wrote
            detail = f"{name}: {type(error).__name__}: {error}"
        return {"error": {"code": code, "detail": detail}}


def check_harmless(name: str) -> None:
    """Raises `UnknownAgentError` unless it names a player of this package that reads no file of its choice."""
    parsed = parse(name, KINDS)
    if parsed.net not in (None, "pretrained"):
        raise UnknownAgentError(f"a page may not name the file {parsed.net}: name the player on the command line")
    if parsed.beyond is not None:
        check_harmless(parsed.beyond)
