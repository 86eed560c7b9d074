"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

USAGE_ERROR, INTERRUPTED = 2, 130
"""Exit statuses of commands: for a `UsageError`, and after Ctrl-C."""


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy."""


class UnknownAgentError(UsageError):
    """A name or an option that no player has; lists those that exist."""


class UnavailableError(UsageError):
    """A player that is not made for the rules, or has no value net for them; another player may do instead."""


class MissingExtraError(ImportError, UsageError):
    """An optional package is not installed; names the extra that installs it."""


@contextmanager
def needing_extra(extra: str, program: str | None = None) -> Iterator[None]:
    """Within it a missing package raises `MissingExtraError`, or ends a `program` with a line that names the extra.

    Ctrl-C while a `program` is imported ends it without a traceback.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("oanquan_env", "agents"):
            raise
        of_the_wheel = extra in ("human", "render", "widget")
        remedy = f"'oanquan[{extra}]'" if of_the_wheel else f'-e ".[{extra}]"'
        message = f"this needs {package}: pip install {remedy}"
        if program is None:
            raise MissingExtraError(message) from None
        print(f"{program}: {message}", file=sys.stderr)
        raise SystemExit(USAGE_ERROR) from None
    except KeyboardInterrupt:
        if program is None:
            raise
        raise SystemExit(INTERRUPTED) from None


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
