"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy."""


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
