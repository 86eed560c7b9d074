"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy."""


class UnknownAgentError(UsageError):
    """A name or an option that no player has; lists those that exist."""


class UnavailableError(UsageError):
    """A player that is not made for the rules, or has no value net for them; another player may do instead."""


class MissingExtraError(ImportError, UsageError):
    """An optional package is not installed; names the extra that installs it."""


def as_whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return the argument `name` as an int; raises `UsageError` unless it is a whole number from `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        wanted = f"of {low} or more" if high is None else f"from {low} to {high:,}"
        raise UsageError(f"{name} must be a whole number {wanted}; got {value!r}")
    return number


@contextmanager
def needing_extra(package: str, extra: str) -> Iterator[None]:
    """Within it, a `package` that is not installed is a `MissingExtraError` that names the `extra`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(f'this needs {package}: pip install "oanquan[{extra}]"') from None
