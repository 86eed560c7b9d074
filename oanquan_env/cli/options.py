"""Options that several commands share: numbers, rules and positions."""

import argparse
import re
from collections.abc import Callable

from oanquan_env.board import Board
from oanquan_env.engine.rules import DEFAULT_PRESET, PRESETS, Rules, RulesError
from oanquan_env.errors import read_whole
from oanquan_env.files import one_line

_NUMBER = re.compile(r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})(e[-+]?[0-9]{1,3})?|inf")


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number from `low` to `high` (None: of at most 40 digits).

    Only the digits 0 to 9 are read; `int` and `float` also read others.
    """

    def read(text: str) -> int:
        number = read_whole(text)
        if isinstance(number, str) or number < low or (high is not None and number > high):
            bounds = f"from {low} with at most 40 digits" if high is None else f"from {low} to {high}"
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}, not {one_line(repr(text))}")
        return number

    return read


def number(text: str) -> float:
    """Read a number such as `2.5`, `1e3` or `inf`."""
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a number, such as 2.5, not {one_line(repr(text))}")
    return float(text)


def add_rules(parser: argparse.ArgumentParser, default: str = DEFAULT_PRESET) -> None:
    """Add the option --rules."""
    parser.add_argument(
        "--rules",
        type=_rules,
        default=Rules.parse(default),
        metavar="TEXT",
        help=f'a preset ({", ".join(PRESETS)}), also with changed fields: "vietnamese stone_value=5" '
        f"(default: {default})",
    )


def add_position(parser: argparse.ArgumentParser, default: str = DEFAULT_PRESET) -> None:
    """Add the options --rules and --position."""
    add_rules(parser, default)
    parser.add_argument("--position", metavar="TEXT", help="begin at this position instead of the set-up")


def board_of(options: argparse.Namespace) -> Board:
    """Return the board that --rules and --position describe."""
    return Board(options.rules) if options.position is None else Board.parse(options.position, options.rules)


def _rules(text: str) -> Rules:
    try:
        return Rules.parse(text)
    except RulesError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
