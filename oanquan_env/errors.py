"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""

import operator
from typing import Any


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy."""


class UnknownAgentError(UsageError):
    """A name or an option that no player has; lists those that exist."""


class UnavailableError(UsageError):
    """A player that is not made for the rules, or has no value net for them; another player may do instead."""


class MissingExtraError(ImportError, UsageError):
    """An optional package is not installed; names the extra that installs it."""


def as_whole(name: str, value: Any, low: int, high: int | None = None, others: str = "") -> int:
    """Return the argument `name` as an int; raise `UsageError` unless it is a whole number from `low` to `high`.

    `others` names what else is allowed, in the message only.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        wanted = f"of {low} or more" if high is None else f"from {low} to {high:,}"
        raise UsageError(f"{name} must be {others}a whole number {wanted}; got {value!r}")
    return number
