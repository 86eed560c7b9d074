"""Suites as files, in the package or elsewhere: positions with the value of every move.

A regret suite is JSON with one position per line: its text, the values of the actions 0 .. A-1 (null for an illegal
action) times P - 1, which makes them whole numbers, and their proved lower and upper bounds (null for none). Files
whose names end in `.gz` are compressed; `gzip -dc FILE` shows them.
"""

import functools
import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.regret import Suite
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import NotationError, format_position, parse_position
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules, as_rules
from oanquan_env.engine.symmetry import Keys, canonical_keys
from oanquan_env.errors import UsageError
from oanquan_env.files import DATA, FileError, naming_damage, one_line, read_json, text_bytes, write_atomically
from oanquan_env.proofs.bounds import MOST_POINTS
from oanquan_env.rule_sets import Split


def openings_path(rules: Rules, *, fair: bool = False) -> Path:
    """Return the path of the package's balanced or fair openings for `rules`; the file need not exist."""
    return DATA / f"{'fair-' * fair}openings-{rules.slug}.txt.gz"


def regret_path(rules: Rules) -> Path:
    """Return the path of the package's regret suite for `rules`; the file need not exist."""
    return DATA / f"regret-{rules.slug}.json.gz"


def rule_sets_path(split: Split) -> Path:
    """Return the path of the package's regret suites for a split's rule sets; the file need not exist."""
    return DATA / f"regret-rule-sets-{split.replace(': ', '-').replace(' ', '-')}.json.gz"


def suite_name(path: Path) -> str:
    """Return the name that reports use for the suite in a file."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def format_suite(suite: Suite) -> str:
    """Return the suite as JSON with one position per line: its text, the values of actions 0 .. A-1, and the bounds."""
    others, rows = suite.core.rules.players - 1, []
    for row in range(len(suite)):
        entry: list[Any] = [format_position(suite.core, suite.positions, row)]
        for array in (suite.values, suite.lower, suite.upper):
            entry.append([round(points * others) if np.isfinite(points) else None for points in array[row].tolist()])
        rows.append(json.dumps(entry, separators=(",", ":")))
    head = json.dumps({"format": 2, "rules": str(suite.core.rules), "made": suite.made}, indent=1)
    return head[:-2] + ',\n "positions": [\n' + ",\n".join(rows) + "\n]}\n"


SuiteSource: TypeAlias = Suite | str | os.PathLike[str] | None
"""A suite or the path of its file; None for the package's suite."""


def find_suite(rules: Rules | str, source: SuiteSource = None) -> Suite | None:
    """Return the suite that `source` names, by default the package's suite for `rules`; return None if it has none.

    Raises `UsageError` if the suite is for other rules, and `FileError` if its file is missing or damaged.
    """
    rules = as_rules(rules)
    if source is None:
        return _package_suite(rules) if regret_path(rules).is_file() else None
    suite = source if isinstance(source, Suite) else read_suite(source)
    if suite.core.rules != rules:
        raise UsageError(f"the regret suite {suite.name!r} is for the rules '{suite.core.rules}', not '{rules}'")
    return suite


@functools.cache
def _package_suite(rules: Rules) -> Suite:
    """Read a suite of the package once."""
    return read_suite(regret_path(rules))


def load_suite(rules: Rules | str, source: SuiteSource = None) -> Suite:
    """Return the suite as `find_suite` does; raise `FileError` if the package has no suite for the rules."""
    suite = find_suite(rules, source)
    if suite is None:
        raise FileError(how_to_make(as_rules(rules)))
    return suite


def how_to_make(rules: Rules | str) -> str:
    """Return a sentence that says that there is no suite for `rules`, and how to make and use one."""
    make = f"python -m agents.suites regret --rules {shlex.quote(str(rules))} --output suite.json"
    use = "make one in a clone of the project, and pass it as suite= or --regret-suite"
    return f"there is no regret suite for '{rules}'; {use}: {make}"


def suite_keys(core: Core) -> Keys:
    """Return the keys of the positions in the regret suite of `core` and of their successors; none without a suite."""
    suite = find_suite(core.rules)
    judged = suite.positions if suite else core.start(0)
    return canonical_keys(core, Positions.concatenate([judged, core.expand(judged)[0]]))


@functools.cache
def rule_set_suites(split: Split) -> tuple[Suite, ...]:
    """Return the package's suite for each rule set of a split, or none if the package has none for this split."""
    path = rule_sets_path(split)
    return read_suites(path) if path.is_file() else ()


def read_suites(path: Path) -> tuple[Suite, ...]:
    """Read a JSON list of suites. Raises `FileError` if the file is missing or damaged."""
    with naming_damage(path, "not a list of suites"):
        suites = list(read_json(path))
    return tuple(_suite(part, f"{suite_name(path)}-{number}", path) for number, part in enumerate(suites, 1))


def format_suites(suites: Sequence[Suite]) -> str:
    """Return suites as a JSON list."""
    return f"[{','.join(format_suite(suite).rstrip() for suite in suites)}]\n"


def write_suite(path: str | os.PathLike[str], suite: Suite) -> None:
    """Write a suite to a file, compressed if its name ends in `.gz`."""
    write_atomically(Path(path), text_bytes(Path(path), format_suite(suite)))


def read_suite(path: str | os.PathLike[str]) -> Suite:
    """Read a suite. Raises `FileError` if the file is missing or damaged; the message names a damaged position."""
    path = Path(path)
    with naming_damage(path, "not a suite of positions", text=True):
        data = read_json(path)
    return _suite(data, suite_name(path), path)


def _suite(data: Any, name: str, path: Path) -> Suite:
    with naming_damage(path, "not a suite of positions"):
        core = Core(Rules.parse(data["rules"]))
        if data["format"] != 2:
            raise ValueError("expected a suite with format 2")
        made, rows = dict(data["made"]), list(data["positions"])
    if not rows:
        raise FileError(f"{path}: there are no positions")
    read = [_read_row(core, row, f"{path}: position {number}") for number, row in enumerate(rows, 1)]
    positions = Positions.concatenate([position for position, _ in read])
    values, lower, upper = np.stack([numbers for _, numbers in read], axis=1)
    return Suite(name, core, positions, values, lower, upper, made)


def _read_row(core: Core, row: Any, where: str) -> tuple[Positions, Floats]:
    """Return one position, and (3, A) values, lower and upper bounds."""
    match row:
        case [str(text), list(), list(), list()]:
            pass
        case _:
            raise FileError(f"{where}: expected [position, values, lower bounds, upper bounds]")
    try:
        position = parse_position(core, text)
    except NotationError as error:
        raise FileError(f"{where}: {one_line(error)}") from None
    numbers = [number for numbers in row[1:] for number in numbers if number is not None]
    whole = all(type(number) is int and abs(number) <= MOST_POINTS for number in numbers)
    if not whole or {len(numbers) for numbers in row[1:]} != {core.rules.actions}:
        raise FileError(f"{where}: values and bounds must be lists of {core.rules.actions} whole numbers or nulls")
    points = np.array(row[1:], dtype=np.float64) / (core.rules.players - 1)  # None becomes NaN
    legal = core.legal_mask(position)[0]
    if (np.isfinite(points[0]) != legal).any() or not legal.any() or np.isfinite(points[1:, ~legal]).any():
        raise FileError(f"{where}: every legal move must have a value, and no other move")
    missing = np.isnan(points) & legal
    points[1, missing[1]], points[2, missing[2]] = -np.inf, np.inf
    if not ((points[1] <= points[0]) & (points[0] <= points[2]))[legal].all():
        raise FileError(f"{where}: a value must lie between its bounds")
    return position, points
