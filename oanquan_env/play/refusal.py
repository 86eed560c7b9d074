"""The error of a request that cannot be done."""

from collections.abc import Iterator
from contextlib import contextmanager

from oanquan_env.errors import Text, said
from oanquan_env.play.picture import Json
from oanquan_env.play.vietnamese_texts import in_vietnamese


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
        super().__init__(said(detail) if isinstance(detail, Exception) else detail)
        self.code = code
        self.column = column
        self.games = games

    def to_json(self) -> Json:
        """For the page."""
        text = said(self)
        detail = {"en": text.partition("; players are:")[0], "vi": in_vietnamese(text)}
        field = str(text.parts.get("name", "")) if isinstance(text, Text) else ""
        return {"code": self.code, "detail": detail, "field": field, "column": self.column, "games": self.games}


@contextmanager
def refusing(code: str, *errors: type[Exception]) -> Iterator[None]:
    """Within it these errors become a `SessionError`."""
    try:
        yield
    except errors as error:
        raise SessionError(code, error) from None
