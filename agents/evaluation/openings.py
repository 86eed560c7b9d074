"""Openings of a tournament: random lines, or a committed suite of balanced lines, in which neither side is ahead.

    python -m agents.evaluation.openings --rules mancala-world --count 600

makes a suite: random lines of 4 to 8 plies, after which a deep search expects a final margin within a few points of a
draw. Of lines that lead to the same board (up to seats and mirror) only the first is taken. Lines of all lengths are
mixed, in the order in which they were drawn, so the first n are a fair sample.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agents.evaluation.suites import openings_path
from agents.search.keys import canonical_keys, first_of_each
from agents.support.command_line import OptionalFile, parse_options, refused
from oanquan_env import Core, GameRecord, Move, NotationError, Positions, Rules, read_records
from oanquan_env.arrays import Ints
from oanquan_env.files import write_atomically
from oanquan_env.playing import random_lines
from oanquan_env.records import format_records
from oanquan_env.rules import DEFAULT_PRESET, RulesError

PROG = "python -m agents.evaluation.openings"
BATCH = 100
"""Lines of each length drawn at once."""
MAX_FAILED_LINES = 50_000
"""Lines in a row that are not balanced or not new, before `make_suite` gives up."""
SHALLOW_DEPTH = 8
SHALLOW_SLACK = 5
"""A shallow search (plies above) passes a line on to the deep one up to so many points beyond the limit."""


class OpeningsError(ValueError):
    """A suite of openings that cannot be used; names the file and says what would help."""


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
        """A short hash of the positions: equal openings, equal digests."""
        content = b"".join(array.tobytes() for array in self.positions.arrays())
        return hashlib.sha256(content).hexdigest()[:16]


def load_openings(core: Core, source: str, n: int, plies: int, rng: np.random.Generator) -> Openings:
    """`n` openings of the rules of `core`.

    Args:
        core: of the rules that will be played.
        source: `random` (lines of `plies` random plies), `balanced` (the first `n` of the rules' committed suite) or
            a file of game records, of which the first `n` are taken; their moves are the openings.
        n: number of openings.
        plies: length of random lines; has no effect on the others.
        rng: draws random lines.

    Raises:
        OpeningsError: for a file that is missing, unreadable, too short or of other rules.
    """
    if source == "random":
        return random_suite(core, n, plies, rng)
    path = openings_path(core.rules) if source == "balanced" else Path(source)
    if source == "balanced" and not path.is_file():
        raise OpeningsError(
            f"there is no balanced suite for '{core.rules}' ({path.name}); use random openings, or make one with: "
            f"python -m agents.evaluation.openings --rules '{core.rules}' --output suites/{path.name}"
        )
    return read_openings(core, path, n)


def random_suite(core: Core, n: int, plies: int, rng: np.random.Generator) -> Openings:
    """`n` random lines of `plies` plies."""
    positions, lines = random_lines(core, n, plies, rng)
    records = tuple(GameRecord(core.rules, tuple(map(Move.from_action, line))) for line in lines)
    return Openings("random" if plies else "set-up", positions, records)


def read_openings(core: Core, path: Path, n: int | None = None) -> Openings:
    """The first `n` openings (all if left out) of a file of game records. Raises `OpeningsError`."""
    try:
        records = read_records(path)[:n]
    except FileNotFoundError:
        raise OpeningsError(f"{path}: no such file; openings are `random`, `balanced` or a file of records") from None
    except OSError as error:
        raise OpeningsError(f"{path}: {error.strerror}") from None
    except (NotationError, RulesError) as error:
        raise OpeningsError(f"{path}: {error}") from None
    if not records or (n is not None and len(records) < n):
        raise OpeningsError(f"{path}: it holds {len(records)} openings; {n or 'some'} are needed")
    boards = []
    for number, record in enumerate(records, 1):
        if record.rules != core.rules:
            raise OpeningsError(f"{path}: record {number} is of the rules '{record.rules}', not of '{core.rules}'")
        boards.append(record.board())
        if boards[-1].outcome:
            raise OpeningsError(f"{path}: record {number} is a finished game: nothing is left to play")
    return Openings(path.name, Positions.concatenate(board.positions for board in boards), tuple(records))


# ---- making a suite --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OpeningsRecipe:
    """Parameters of a balanced suite.

    Attributes:
        rules: rules by name
        count: number of lines
        shortest: plies of the shortest lines
        longest: plies of the longest lines
        within: points by which the final margin may differ from 0
        depth: plies of the deep search
        seed: seed of the random lines
    """

    rules: str = DEFAULT_PRESET
    count: int = 600
    shortest: int = 4
    longest: int = 8
    within: int = 3
    depth: int = 18
    seed: int = 0

    def command(self) -> str:
        """The command that makes the suite, as its headers tell it."""
        return (
            f"{PROG} --rules '{self.rules}' --count {self.count} "
            f"--shortest {self.shortest} --longest {self.longest} "
            f"--within {self.within} --depth {self.depth} --seed {self.seed}"
        )


def final_margins(core: Core, positions: Positions, depth: int) -> Ints:
    """(N,) points by which South is expected to win: its lead so far and what a search of `depth` plies adds."""
    from agents.search.deepening import Limits, Search  # numba takes a second to import

    values = np.array([found.value for found in Search(core).best_moves(positions, Limits(depth=depth))], dtype=np.intp)
    sign = 1 - 2 * positions.mover
    return positions.scores[:, 0] - positions.scores[:, 1] + sign * values


def make_suite(recipe: OpeningsRecipe, progress: Progress | None = None) -> list[GameRecord]:
    """Draw lines until `recipe.count` of them are balanced.

    Raises:
        ValueError: if there seem to be fewer such lines, or almost all games end sooner.
    """
    core, progress = Core(recipe.rules), progress or Progress(disable=True)
    rng = np.random.default_rng(recipe.seed)
    task = progress.add_task("balanced lines", total=recipe.count)
    records: list[GameRecord] = []
    seen = np.zeros(0, dtype=canonical_keys(core, core.start()).dtype)
    failed = 0
    while len(records) < recipe.count:
        if failed >= MAX_FAILED_LINES:
            raise ValueError(
                f"only {len(records)} of {recipe.count} lines of {recipe.shortest} to {recipe.longest} plies were "
                f"found within {recipe.within} points of a draw, none of them among the last {MAX_FAILED_LINES:,}: "
                "ask for a lower count, longer lines or more points"
            )
        before = len(records)
        lines, positions = _draw(core, recipe, rng)
        keys = canonical_keys(core, positions)
        new = first_of_each(np.concatenate([seen, keys]))[len(seen) :] - len(seen)
        seen = np.concatenate([seen, keys[new]])
        new = new[abs(final_margins(core, positions[new], SHALLOW_DEPTH)) <= recipe.within + SHALLOW_SLACK]
        margins = final_margins(core, positions[new], recipe.depth)
        for row, margin in zip(new.tolist(), margins.tolist(), strict=True):
            if abs(margin) <= recipe.within:
                headers = {"Made": recipe.command(), "Value": f"{margin:+d}"}
                records.append(GameRecord(core.rules, tuple(map(Move.from_action, lines[row])), headers=headers))
        failed = failed + len(lines) if len(records) == before else 0
        progress.update(task, completed=len(records))
    return records[: recipe.count]


def _draw(core: Core, recipe: OpeningsRecipe, rng: np.random.Generator) -> tuple[list[Ints], Positions]:
    """`BATCH` random lines of each length, shuffled, and where they lead."""
    lines: list[Ints] = []
    batches = []
    for plies in range(recipe.shortest, recipe.longest + 1):
        positions, drawn = random_lines(core, BATCH, plies, rng)
        batches.append(positions)
        lines += list(drawn)
    order = rng.permutation(len(lines))
    return [lines[index] for index in order], Positions.concatenate(batches)[order]


@dataclass(frozen=True)
class Options:
    """The command line.

    Attributes:
        output: the suite's file (default: under suites/)
    """

    recipe: tyro.conf.OmitArgPrefixes[OpeningsRecipe] = field(default_factory=OpeningsRecipe)
    output: OptionalFile = None


def main(arguments: list[str]) -> int:
    """Make a suite; returns the exit status."""
    options = parse_options(Options, arguments, prog=PROG, description=__doc__)
    try:
        rules = Rules.parse(options.recipe.rules)
        recipe = dataclasses.replace(options.recipe, rules=str(rules))
        path = options.output or openings_path(rules)
        with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
            records = make_suite(recipe, bar)
        write_atomically(path, format_records(records).encode())
    except (ValueError, OSError) as error:
        return refused(PROG, error)
    Console(highlight=False).print(f"{len(records)} openings in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
