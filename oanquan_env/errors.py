"""Errors that several modules raise. Commands print a `UsageError`, the base class, without a traceback."""

import operator
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

USAGE_ERROR, INTERRUPTED = 2, 130
"""Exit statuses of commands after a `UsageError` and after Ctrl-C."""


class UsageError(ValueError):
    """Raised for an unusable request, file or option; the message says what is wrong, where, and how to fix it."""


class UnknownAgentError(UsageError):
    """Raised if a player's name or one of its options is unknown or incomplete, or if the player cannot be loaded."""


class UnavailableError(UsageError):
    """Raised if a player does not support the rules or lacks a value net for them; another player may work."""


class MissingExtraError(ImportError, UsageError):
    """Raised if an optional package is missing; the message names the extra that installs it."""


@contextmanager
def needing_extra(extra: str, program: str | None = None) -> Iterator[None]:
    """Raise `MissingExtraError` if the block imports a missing package; the message says how to install `extra`.

    In a clone, the message names the clone. Elsewhere, pip adds the extra's packages to the installed `oanquan`.
    If a command gives its name as `program`, print the message instead, and exit. Ctrl-C in the block then also exits.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("oanquan_env", "agents"):
            raise
        in_clone = Path(__file__).parents[1].joinpath("pyproject.toml").is_file()
        remedy = f'-e ".[{extra}]"' if in_clone else f"'oanquan[{extra}]'"
        message = f"the package {package} is missing; install it with: pip install {remedy}"
        if program is None:
            raise MissingExtraError(message) from None
        print(f"{program}: {message}", file=sys.stderr)
        raise SystemExit(USAGE_ERROR) from None
    except KeyboardInterrupt:
        if program is None:
            raise
        raise SystemExit(INTERRUPTED) from None


def as_whole(
    name: str, value: Any, low: int, high: int | None = None, others: str = "", error: type[UsageError] = UsageError
) -> int:
    """Return `value` as an int; raise `error` unless it is an integer from `low` to `high` (None: no upper limit).

    The message calls the value `name`. `others`, such as `"random or "`, names other valid values before the range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        bounds = f"of {low} or more" if high is None else f"from {low} to {high:,}"
        raise error(f"{name} must be {others}a whole number {bounds}; got {value!r}")
    return number


def read_whole(text: str) -> int | str:
    """Return the integer that 1 to 40 ASCII digits denote, perhaps after a minus sign; else the text itself.

    `int` alone accepts more, such as `1_000` and other digits, and raises `ValueError` for very long numbers.
    """
    return int(text) if re.fullmatch("-?[0-9]{1,40}", text) else text
