"""Read numbers from the command line: only digits from 0 to 9, which `int` and `float` do not ensure."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable

from oanquan_env.errors import read_whole
from oanquan_env.files import one_line

_NUMBER = re.compile(r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})(e[-+]?[0-9]{1,3})?|inf")


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number from `low` to `high` (None: of at most 40 digits)."""

    def read(text: str) -> int:
        number = read_whole(text)
        if isinstance(number, str) or number < low or (high is not None and number > high):
            bounds = f"from {low} with at most 40 digits" if high is None else f"from {low} to {high}"
            raise ArgumentTypeError(f"must be a whole number {bounds}, not {one_line(repr(text))}")
        return number

    return read


def number(text: str) -> float:
    """Read a number such as `2.5`, `1e3` or `inf`."""
    if not _NUMBER.fullmatch(text):
        raise ArgumentTypeError(f"must be a number, such as 2.5, not {one_line(repr(text))}")
    return float(text)
