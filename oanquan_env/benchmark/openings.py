"""Openings: random lines, or a suite of lines in which neither side is ahead. Each opening has a game record."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UsageError
from oanquan_env.files import COMPRESSED, FileError, short_hash
from oanquan_env.records.games import GameRecord, read_records
from oanquan_env.rollouts import random_lines


@dataclass(frozen=True)
class Openings:
    """K openings.

    Attributes:
        name: `random`, `set-up` (no moves), or the suite's file name.
        positions: K running positions.
        records: the moves that lead to them, as unfinished games.
    """

    name: str
    positions: Positions
    records: tuple[GameRecord, ...]

    def __len__(self) -> int:
        return len(self.records)

    def digest(self) -> str:
        """Return a short hash of the positions, which is equal for equal openings."""
        return short_hash(*(array.tobytes() for array in self.positions.arrays()))


def load_openings(core: Core, source: str, n: int, plies: int, rng: np.random.Generator) -> Openings:
    """Return `n` openings for the rules of `core`.

    Raises `FileError` if a file is missing, unreadable, too short or for other rules; `UsageError` for a bad `source`.

    Args:
        core: core of the rules to be played.
        source: `random` for lines of `plies` random plies; `balanced` for the first `n` lines of the package's suite
            with searched margins near 0; `fair` for the first `n` lines of its suite with proved margins of 0; or the
            path of a file of game records, whose first `n` games are the openings.
        n: number of openings.
        plies: length of random lines; has no effect on other openings.
        rng: random generator for random lines.
    """
    if not isinstance(source, str | os.PathLike) or not str(source):
        raise UsageError(f"openings must be balanced, fair, random or a file of game records; got {source!r}")
    if source == "random":
        return random_suite(core, n, plies, rng)
    of_package = source in ("balanced", "fair")
    path = openings_path(core.rules, fair=source == "fair") if of_package else Path(source)
    if of_package and not path.is_file():
        command = f"python -m agents.suites openings --rules '{core.rules}'{' --proved' * (source == 'fair')}"
        raise FileError(
            f"there is no {source} suite for '{core.rules}' ({path.name}); use random openings, or make a suite in a "
            f"clone of the project: {command}"
        )
    if not of_package or n > len(_package_suite(core.rules, path)):
        return read_openings(core, path, n)
    suite = _package_suite(core.rules, path)
    return Openings(suite.name, suite.positions[:n], suite.records[:n])


@functools.cache
def _package_suite(rules: Rules, path: Path) -> Openings:
    """Read a suite of the package once, because replaying its lines takes a second."""
    return read_openings(Core(rules), path)


def random_suite(core: Core, n: int, plies: int, rng: np.random.Generator) -> Openings:
    """Return `n` random lines of `plies` plies."""
    positions, lines = random_lines(core, n, plies, rng)
    records = tuple(GameRecord(core.rules, tuple(map(Move.from_action, line))) for line in lines)
    return Openings("random" if plies else "set-up", positions, records)


def read_openings(core: Core, path: Path, n: int | None = None) -> Openings:
    """Return the first `n` openings (None: all) of a file of records. Raises `FileError` as `load_openings` does."""
    try:
        records = read_records(path)[:n]
    except FileNotFoundError:
        raise FileError(
            f"{path}: there is no such file; openings are `random`, `balanced`, `fair` or a file of records"
        ) from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise FileError(f"{path}: {error}") from None
    if not records or (n is not None and len(records) < n):
        raise FileError(f"{path}: {n or 1} openings are needed, but there are {len(records)}")
    boards = []
    for number, record in enumerate(records, 1):
        if record.rules != core.rules:
            raise FileError(f"{path}: record {number} has the rules '{record.rules}', not '{core.rules}'")
        boards.append(record.board())
        if boards[-1].outcome:
            raise FileError(f"{path}: record {number} is a finished game, so it cannot serve as an opening")
    return Openings(
        path.name.removesuffix(COMPRESSED), Positions.concatenate(board.positions for board in boards), tuple(records)
    )
