"""Make suites of balanced openings, in which neither side is ahead.

    python -m agents.evaluation.openings --rules mancala-world --count 600

This draws random lines of 4 to 8 plies, after which a deep search expects a final margin within a few points of a
draw. It takes the first of lines to the same board (up to seats and mirror). Lines of all lengths are mixed, in the
order of drawing, so the first n are a fair sample. --net names the value net at the search's leaves.

With three or four players max^n search estimates the margins, and each must be near the others' mean:

    python -m agents.evaluation.openings --rules three-player --count 200 --within 5 --depth 5

Fair openings are lines whose margin is not only expected, but proved:

    python -m agents.evaluation.openings --rules mancala-world --count 200 --within 0 --proved
"""

import dataclasses
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import tyro
from rich.progress import Progress

from agents.config import (
    Count,
    CountOrZero,
    OpeningPlies,
    OptionalFile,
    Seed,
    Size,
    command,
    command_of,
    progress_bar,
)
from oanquan_env import Core, GameRecord, Move, Positions, Rules
from oanquan_env.arrays import Floats, Ints
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.keys import canonical_keys, first_of_each
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.playing import random_lines
from oanquan_env.records.games import format_records
from oanquan_env.search.compiled import mover_first
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.proof import PROVED, ProofTable
from oanquan_env.search.value_net import read_value_net

PROG = "python -m agents.evaluation.openings"
BATCH = 100
"""Lines of each length drawn at once."""
MAX_FAILED_LINES = 50_000
"""Lines in a row that are not balanced or not new, before `make_suite` gives up."""
MAX_FULL_WIDTH = 8
"""Plies of a full-width search beyond which a suite would take days."""
SHALLOW_DEPTH = 8
SHALLOW_FULL_WIDTH = 3
SHALLOW_SLACK = 5
"""A shallow search (plies above, for two players and for more) passes a line on to the deep one up to so many points
beyond the limit."""
PROOF_MEGABYTES, PROOF_NODES = 128.0, 4_000_000
"""Table of a line's proofs, and moves that may be played for each of its two bounds."""


@dataclass(frozen=True)
class OpeningsRecipe:
    """Parameters of a balanced suite, the options of the command; its `--help` explains them."""

    rules: str = DEFAULT_PRESET  # rules by name
    count: Size = 600  # number of lines
    shortest: OpeningPlies = 4  # plies of the shortest lines
    longest: OpeningPlies = 8  # plies of the longest lines
    within: CountOrZero = 3  # points by which a player's final margin may differ from 0
    depth: Count = 18  # plies of the deep search
    seed: Seed = 0  # seed of the random lines
    proved: bool = False  # take only lines whose margin is proved to be so near 0, for two players
    net: str | None = None  # value net of the searches, a file, a run's folder or `pretrained`; none if left out


def final_margins(search: MoveValues, positions: Positions) -> Floats:
    """(N, P) points by which each player is expected to win over the others' mean: its lead so far and its value."""
    return relative_points(positions.scores) + search.position_values(positions)


def make_suite(recipe: OpeningsRecipe, progress: Progress | None = None) -> list[GameRecord]:
    """Draw lines until `recipe.count` of them are balanced; raises `ValueError` if there seem to be fewer."""
    core, progress = Core(recipe.rules), progress or Progress(disable=True)
    full_width = core.rules.players > 2
    net = None if recipe.net is None else read_value_net(recipe.net, core.rules)
    if full_width and recipe.depth > MAX_FULL_WIDTH:
        raise ValueError(
            f"max^n search to {recipe.depth} plies would take too long for '{core.rules}': "
            f"give a depth of at most {MAX_FULL_WIDTH}"
        )
    shallow_depth = SHALLOW_FULL_WIDTH if full_width else SHALLOW_DEPTH
    shallow, deep = (MoveValues(core, depth, net) for depth in (shallow_depth, recipe.depth))
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
        new = new[_farthest(final_margins(shallow, positions[new])) <= recipe.within + SHALLOW_SLACK]
        margins = final_margins(deep, positions[new])
        for row, margin, even in zip(new.tolist(), margins, _farthest(margins) <= recipe.within, strict=True):
            if even and (not recipe.proved or _is_proved(core, positions[row : row + 1], recipe.within)):
                told = " ".join(f"{points:+.3g}" for points in margin[: core.rules.players if full_width else 1])
                headers = {"Made": command_of(PROG, recipe), "Value": told}
                records.append(GameRecord(core.rules, tuple(map(Move.from_action, lines[row])), headers=headers))
        failed = failed + len(lines) if len(records) == before else 0
        progress.update(task, completed=len(records))
    return records[: recipe.count]


def _is_proved(core: Core, position: Positions, within: int) -> bool:
    """Whether the final margin of one position is proved to be within so many points of 0, before the ply limit."""
    (own, other), mover = mover_first(position)[0].tolist(), int(position.mover[0])
    lead = int(position.scores[0, mover] - position.scores[0, 1 - mover])
    table = ProofTable(core, PROOF_MEGABYTES)
    for is_lower, bound in ((True, -within - lead), (False, within - lead)):
        if table.prove(own, other, bound, is_lower=is_lower, nodes=PROOF_NODES) != PROVED:
            return False
        if table.plies(own, other, bound, is_lower=is_lower) > core.rules.max_plies - int(position.ply[0]):
            return False
    return True


def _farthest(margins: Floats) -> Floats:
    """(N,) points by which the margin of some player differs most from 0."""
    return cast(Floats, np.abs(margins).max(axis=1))


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
    """The command line."""

    recipe: tyro.conf.OmitArgPrefixes[OpeningsRecipe] = field(default_factory=OpeningsRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Make a suite."""
    rules = Rules.parse(options.recipe.rules)
    recipe = dataclasses.replace(options.recipe, rules=str(rules))
    path = options.output or openings_path(rules, fair=recipe.proved)
    with progress_bar() as bar:
        records = make_suite(recipe, bar)
    write_atomically(path, text_bytes(path, format_records(records)))
    print(f"{len(records)} openings in {path}")


if __name__ == "__main__":
    raise SystemExit(main())
