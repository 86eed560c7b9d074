"""The error of a request that cannot be done."""

from collections.abc import Iterator
from contextlib import contextmanager

from oanquan_env.play.picture import Json


class SessionError(ValueError):
    """A request that cannot be done.

    Attributes:
        code: the subject: `rules`, `position`, `player`, `record`, `games`, `move` or `request`.
        detail: the fault, in English.
        column: the place in a text, from 1, or None.
        games: of `games`, how many a file holds.
    """

    def __init__(
        self, code: str, detail: Exception | str, *, column: int | None = None, games: int | None = None
    ) -> None:
        super().__init__(str(detail))
        self.code = code
        self.column = column
        self.games = games

    def to_json(self) -> Json:
        """For the page, which has a sentence for each code; the detail is English and names a field first."""
        detail = {"en": str(self).partition("; players are:")[0], "vi": ""}
        field = str(self).partition(" ")[0] if self.code == "rules" else ""
        return {"code": self.code, "detail": detail, "field": field, "column": self.column, "games": self.games}


@contextmanager
def refusing(code: str, *errors: type[Exception]) -> Iterator[None]:
    """Within it these errors become a `SessionError`."""
    try:
        yield
    except errors as error:
        raise SessionError(code, error) from None
