"""Where games of a tournament begin: random lines, or a committed suite of lines that leave neither side ahead.

    python -m agents.evaluation.openings --rules mancala-world --count 600

makes a suite: random lines of 4 to 8 plies whose final margin, as a deep search sees it, is within a few points of a
draw. Lines that lead to the same board (up to seats and mirror) count once. They stand in the order in which they were
drawn, lengths mixed, so that the first n are a fair sample.
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
from agents.support.command_line import OptionalFile, parse_options
from agents.support.files import write_atomically
from oanquan_env import Core, GameRecord, Move, NotationError, Positions, Rules, read_records
from oanquan_env.arrays import Ints
from oanquan_env.playing import random_lines
from oanquan_env.records import format_records
from oanquan_env.rules import DEFAULT_PRESET, RulesError

PROG = "python -m agents.evaluation.openings"
BATCH = 100
"""Lines of each length drawn at once."""
VAIN_LINES = 50_000
"""Lines on end without one that is balanced and new, after which no more are drawn."""
SHALLOW_DEPTH = 8
SHALLOW_SLACK = 5
"""Points beyond the limit at which a shallow search (plies above) still lets a line through to the deep one."""


class OpeningsError(ValueError):
    """A suite of openings that cannot be used; names the file and what would help."""


@dataclass(frozen=True)
class Openings:
    """K openings.

    Attributes:
        name: what to call them: `random`, `set-up` (no moves), or the suite's file name.
        positions: K running positions.
        records: how each came about; unfinished games, from the set-up or from a position of their own.
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
        n: openings wanted.
        plies: length of random lines; of no meaning for the others.
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
    except (OSError, NotationError, RulesError) as error:
        raise OpeningsError(f"{path}: {error}") from None
    if not records or (n is not None and len(records) < n):
        raise OpeningsError(f"{path}: it holds {len(records)} openings; {n or 'some'} are wanted")
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
    """(N,) points by which South will have won: his lead so far, and what a search of `depth` plies sees to come."""
    from agents.search.deepening import Limits, Search  # numba takes a second to import

    values = np.array([found.value for found in Search(core).best_moves(positions, Limits(depth=depth))], dtype=np.intp)
    sign = 1 - 2 * positions.mover
    margins: Ints = (positions.scores[:, 0] - positions.scores[:, 1] + sign * values).astype(np.intp)
    return margins


def make_suite(recipe: OpeningsRecipe, progress: Progress | None = None) -> list[GameRecord]:
    """Draw lines until `recipe.count` of them are balanced.

    Raises:
        ValueError: if there seem to be fewer such lines, or hardly any game lasts as long.
    """
    core = Core(recipe.rules)
    rng = np.random.default_rng(recipe.seed)
    task = progress.add_task("balanced lines", total=recipe.count) if progress else None
    records: list[GameRecord] = []
    seen = np.zeros(0, dtype=canonical_keys(core, core.start()).dtype)
    vain = 0
    while len(records) < recipe.count:
        if vain >= VAIN_LINES:
            raise ValueError(_too_few(recipe, len(records)))
        before = len(records)
        lines, positions = _draw(core, recipe, rng)
        keys = canonical_keys(core, positions)
        new = first_of_each(np.concatenate([seen, keys]))[len(seen) :] - len(seen)
        seen = np.concatenate([seen, keys[new]])
        new = new[abs(final_margins(core, positions[new], SHALLOW_DEPTH)) <= recipe.within + SHALLOW_SLACK]
        margins = final_margins(core, positions[new], recipe.depth)
        for row, margin in zip(new.tolist(), margins.tolist(), strict=True):
            if abs(margin) <= recipe.within:
                records.append(_record(core, recipe, lines[row], margin))
        vain = vain + len(lines) if len(records) == before else 0
        if progress and task is not None:
            progress.update(task, completed=len(records))
    return records[: recipe.count]


def _too_few(recipe: OpeningsRecipe, found: int) -> str:
    """What to say where too few lines are balanced."""
    return (
        f"only {found} of {recipe.count} lines of {recipe.shortest} to {recipe.longest} plies were found within "
        f"{recipe.within} points of a draw, none of them among the last {VAIN_LINES:,}: ask for a lower count, longer "
        "lines or more points"
    )


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


def _record(core: Core, recipe: OpeningsRecipe, line: Ints, margin: int) -> GameRecord:
    headers = {"Made": recipe.command(), "Value": f"{margin:+d}"}
    return GameRecord(core.rules, tuple(map(Move.from_action, line)), headers=headers)


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
        print(f"{PROG}: {error}", file=sys.stderr)
        return 2
    Console(highlight=False).print(f"{len(records)} openings in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
