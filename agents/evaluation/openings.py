"""Make suites of balanced openings, in which neither side is ahead.

    python -m agents.evaluation.openings --rules mancala-world --count 600

The command draws random lines of 4 to 8 plies, and keeps a line if a deep search expects a final margin within a few
points of a draw. Of lines that lead to equivalent boards (up to seats and mirror), it keeps the first. The suite keeps
the order of drawing, so its first n lines are a fair sample. --net names the value net at the search's leaves.

With three or four players, max^n search estimates each player's margin over the others' mean; all must be near zero:

    python -m agents.evaluation.openings --rules three-player --count 200 --within 5 --depth 5

With --proved, the margins of all lines are proved to be within --within points; such a suite is called fair:

    python -m agents.evaluation.openings --rules mancala-world --count 200 --within 0 --proved
"""

import functools
from dataclasses import dataclass, field

import numpy as np
import tyro

from agents.config import Count, CountOrZero, OpeningPlies, OptionalFile, RulesName, Seed, Size, command, command_of
from agents.evaluation.labels import HERE, Labeller, LabelOptions, find_even, net_bytes
from oanquan_env import Core, GameRecord, Move, Positions, Rules
from oanquan_env.array_types import Ints
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.records.games import format_records
from oanquan_env.rollouts import random_lines

PROG = "python -m agents.evaluation.openings"
BATCH = 100
"""Number of lines of each length drawn at once."""
MAX_FAILED_LINES = 50_000
"""`make_suite` gives up after this many consecutive lines that are unbalanced or repeated."""
MAX_FULL_WIDTH = 8
"""Maximum depth of a full-width search, in plies; with a deeper search, a suite would take days."""


@dataclass(frozen=True)
class OpeningsRecipe:
    """Parameters of a balanced suite."""

    rules: RulesName = DEFAULT_PRESET  # rules by name
    count: Size = 600  # number of lines
    shortest: OpeningPlies = 4  # plies of the shortest lines
    longest: OpeningPlies = 8  # plies of the longest lines
    within: CountOrZero = 3  # points by which a player's final margin may differ from 0
    depth: Count = 18  # plies of the deep search
    seed: Seed = 0  # seed of the random lines
    proved: bool = False  # take only lines whose margin is proved to be within --within points; for two players
    net: str | None = None  # value net of the searches: a file, a run's folder or `pretrained` (default: no net)


def make_suite(recipe: OpeningsRecipe, labeller: Labeller = HERE) -> list[GameRecord]:
    """Return `recipe.count` balanced lines, drawn at random. Raises `ValueError` if too few are found."""
    core = Core(recipe.rules)
    full_width = core.rules.players > 2
    if full_width and recipe.depth > MAX_FULL_WIDTH:
        raise ValueError(
            f"max^n search to {recipe.depth} plies would take too long for '{core.rules}': "
            f"lower --depth to {MAX_FULL_WIDTH} or less"
        )
    net, rng = net_bytes(recipe.net, core), np.random.default_rng(recipe.seed)
    work = functools.partial(find_even, str(core.rules), recipe.depth, net, recipe.within, recipe.proved)
    records: list[GameRecord] = []
    drawn_keys = np.zeros(0, dtype=canonical_keys(core, core.start()).dtype)
    failed = 0
    while len(records) < recipe.count:
        if failed >= MAX_FAILED_LINES:
            raise ValueError(
                f"only {len(records)} of {recipe.count} lines of {recipe.shortest} to {recipe.longest} plies were "
                f"found within {recipe.within} points of a draw, and none among the last {MAX_FAILED_LINES:,}: "
                "lower --count, or raise --longest or --within"
            )
        before = len(records)
        lines, positions = _draw(core, recipe, rng)
        keys = canonical_keys(core, positions)
        new = first_of_each(np.concatenate([drawn_keys, keys]))[len(drawn_keys) :] - len(drawn_keys)
        drawn_keys = np.concatenate([drawn_keys, keys[new]])
        if len(new):
            margins, even = labeller.label_rows(f"after {before} balanced lines", work, positions[new])
            for row, margin in zip(new[even].tolist(), margins[even], strict=True):
                value = " ".join(f"{points:+.3g}" for points in margin[: core.rules.players if full_width else 1])
                headers = {"Made": command_of(PROG, recipe), "Value": value}
                records.append(GameRecord(core.rules, tuple(map(Move.from_action, lines[row])), headers=headers))
        failed = failed + len(lines) if len(records) == before else 0
    return records[: recipe.count]


def _draw(core: Core, recipe: OpeningsRecipe, rng: np.random.Generator) -> tuple[list[Ints], Positions]:
    """Draw `BATCH` random lines of each length; return them in shuffled order, with their final positions."""
    lines: list[Ints] = []
    batches = []
    for plies in range(recipe.shortest, recipe.longest + 1):
        positions, drawn = random_lines(core, BATCH, plies, rng)
        batches.append(positions)
        lines += list(drawn)
    order = rng.permutation(len(lines))
    return [lines[index] for index in order], Positions.concatenate(batches)[order]


@dataclass(frozen=True, kw_only=True)
class Options(LabelOptions):
    """The options of the command line."""

    recipe: tyro.conf.OmitArgPrefixes[OpeningsRecipe] = field(default_factory=OpeningsRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Make the suite and write its file."""
    recipe = options.recipe
    path = options.output or openings_path(Rules.parse(recipe.rules), fair=recipe.proved)
    with options.labeller(path) as labeller:
        records = make_suite(recipe, labeller)
        write_atomically(path, text_bytes(path, format_records(records)))
    print(f"{len(records)} openings in {path}")


if __name__ == "__main__":
    raise SystemExit(main())
