"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager


class Text(str):
    """A sentence of an error with its variable parts, so that it can be translated.

    Attributes:
        template: the sentence with `{name}` for each part, as of `str.format`; it names the error.
        parts: the values of the parts by their names; some are a `Text` themselves.
    """

    __slots__ = ("parts", "template")
    template: str
    parts: dict[str, object]

    def __new__(cls, template: str, **parts: object) -> "Text":
        """The sentence with its parts in their places."""
        text = super().__new__(cls, template.format(**parts))
        text.template, text.parts = template, parts
        return text

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), self.parts


def said(error: Exception) -> str:
    """The message of an error: a `Text` where it was made with one."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy.

    With `parts`, the message is the template of a `Text`.
    """

    def __init__(self, message: str = "", **parts: object) -> None:
        super().__init__(Text(message, **parts) if parts else message)


class UnknownAgentError(UsageError):
    """A name or an option that no player has; lists those that exist."""


class UnavailableError(UsageError):
    """A player that is not made for the rules, or has no value net for them; another player may do instead."""


class MissingExtraError(ImportError, UsageError):
    """An optional package is not installed; names the extra that installs it."""


@contextmanager
def needing_extra(package: str, extra: str) -> Iterator[None]:
    """Within it, a `package` that is not installed is a `MissingExtraError` that names the `extra`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(f'this needs {package}: pip install "oanquan[{extra}]"') from None
