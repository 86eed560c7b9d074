"""Choose moves with Python players for the page and the widget."""

import os
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
from oanquan_env.rollouts import choose_move
from oanquan_env.search.any_rules_net import ANY
from oanquan_env.search.value_net import PRETRAINED

PARTS = ("player", "rules", "position")
"""The keys of a request for a move."""


class Chooser:
    """An object that lets Python players choose moves for the page or the widget.

    A page may request any player of this package; a player that reads a file or imports a module must be in `players`.

    Args:
        players: names of additional players, in any form that `as_policy` takes.
        rng: generator of all random choices; a new one by default.
    """

    def __init__(self, players: Sequence[str] = (), rng: np.random.Generator | None = None) -> None:
        self.players = players
        self._rng = rng or np.random.default_rng()
        self._player = lru_cache(maxsize=8)(as_policy)  # a player may need much memory
        self._locks: dict[int, threading.Lock] = {}  # by process, because a forked child may inherit a held lock

    def choose(self, asked: Any) -> dict[str, Any]:
        """Return `{move}` for a request `{player, rules, position}` (strings), or `{error: {code, detail}}`.

        The code names the faulty part, or is `request` for a malformed request; the detail is an English error message.
        """
        code, name = "request", ""
        try:
            if not isinstance(asked, dict) or not all(isinstance(asked.get(part), str) for part in PARTS):
                raise UsageError("a question must be an object with the strings player, rules and position")
            code, name = "rules", asked["player"]
            rules = Rules.parse(asked["rules"])
            code = "position"
            board = Board.parse(asked["position"], rules)
            if board.outcome is not None:
                raise UsageError("the game is over")
            code = "player"
            if name not in self.players:
                check_harmless(name)
            with self._locks.setdefault(os.getpid(), threading.Lock()):
                move = choose_move(self._player(name, rules), board, self._rng)
            board.push(move)
            return {"move": str(move)}
        except UsageError as error:
            detail = str(error).partition("; the players are:")[0]
        except Exception as error:  # a player may raise any error
            detail = f"{name}: {type(error).__name__}: {error}"
        return {"error": {"code": code, "detail": detail}}


def check_harmless(name: str) -> None:
    """Raise `UnknownAgentError` unless `name` is a player of this package and does not name a file to read."""
    parsed = parse(name, KINDS)
    if parsed.net not in (None, ANY, PRETRAINED):
        raise UnknownAgentError(f"the page cannot ask for the file {parsed.net}: name the player on the command line")
    if parsed.fallback is not None:
        check_harmless(parsed.fallback)
