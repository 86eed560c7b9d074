"""The error of a request that cannot be done."""

from __future__ import annotations

from oanquan_env.play.picture import Json
from oanquan_env.play.vietnamese_errors import in_both


class SessionError(ValueError):
    """A request that cannot be done.

    Attributes:
        code: what it is about: `rules`, `position`, `player`, `record`, `games`, `move` or `request`.
        detail: what is wrong, in English.
        column: the place in a text, from 1, or None.
        games: of `games`, how many a file holds.
    """

    def __init__(self, code: str, detail: object, *, column: int | None = None, games: int | None = None) -> None:
        super().__init__(str(detail))
        self.code = code
        self.column = column
        self.games = games

    def to_json(self) -> Json:
        """For the page."""
        return {"code": self.code, "detail": in_both(str(self)), "column": self.column, "games": self.games}
