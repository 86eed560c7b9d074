"""The one question that the page and the widget ask Python: the move of a player of Python in a position."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from oanquan_env.board import Board
from oanquan_env.engine.notation import NotationError
from oanquan_env.engine.rules import Rules, RulesError
from oanquan_env.errors import UnknownAgentError, UsageError
from oanquan_env.players import as_policy
from oanquan_env.players.making import KINDS
from oanquan_env.players.names import parse
from oanquan_env.playing import choose_move


class ChoiceError(ValueError):
    """A question without an answer.

    Attributes:
        code: the part at fault: `request`, `rules`, `position` or `player`.
    """

    def __init__(self, code: str, detail: object) -> None:
        super().__init__(str(detail))
        self.code = code

    def to_json(self) -> dict[str, str]:
        """Its code and its reason, in English."""
        return {"code": self.code, "detail": str(self)}


class Chooser:
    """Players that choose moves for a page.

    Any page may ask for a player of this package; for one that reads a file or imports a module, only if it is `given`.

    Args:
        given: names of players, in any form that `as_policy` takes.
        rng: the source of all random choices.
    """

    def __init__(self, given: Sequence[str] = (), rng: np.random.Generator | None = None) -> None:
        self.given = tuple(dict.fromkeys(given))
        self._rng = rng or np.random.default_rng()
        self._player = lru_cache(maxsize=8)(as_policy)  # a player's memory may be large
        self._lock = threading.Lock()

    def choose(self, asked: object) -> dict[str, str]:
        """The answer `{move}` to `{player, rules, position}`, all texts. Raises `ChoiceError`."""
        wanted = {"player", "rules", "position"}
        if (
            not isinstance(asked, dict)
            or set(asked) != wanted
            or not all(isinstance(asked[one], str) for one in wanted)
        ):
            raise ChoiceError("request", "a question is {player, rules, position}, all texts")
        with _refusing("rules", RulesError):
            rules = Rules.parse(asked["rules"])
        with _refusing("position", NotationError):
            board = Board.parse(asked["position"], rules)
        if board.outcome is not None:
            raise ChoiceError("position", "the game is over")
        name = asked["player"]
        with _refusing("player", UnknownAgentError):
            if name not in self.given:
                check_harmless(name)
        try:
            with self._lock:
                move = choose_move(self._player(name, rules), board, self._rng)
            board.push(move)
        except UsageError as error:
            raise ChoiceError("player", str(error).partition("; players are:")[0]) from None
        except Exception as error:  # of a player that anybody wrote
            raise ChoiceError("player", f"{name}: {type(error).__name__}: {error}") from error
        return {"move": str(move)}


def check_harmless(name: str) -> None:
    """Raises `UnknownAgentError` unless it names a player of this package that reads no file of its choice."""
    parsed = parse(name, KINDS)
    if parsed.net not in (None, "pretrained"):
        raise UnknownAgentError(f"a page may not name the file {parsed.net}: name the player on the command line")
    if parsed.beyond is not None:
        check_harmless(parsed.beyond)


@contextmanager
def _refusing(code: str, *errors: type[Exception]) -> Iterator[None]:
    """Within it these errors become a `ChoiceError`."""
    try:
        yield
    except errors as error:
        raise ChoiceError(code, str(error).partition("; players are:")[0]) from None
