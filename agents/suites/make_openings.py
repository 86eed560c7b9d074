"""Make suites of balanced openings, in which neither side is ahead."""

import functools
from dataclasses import dataclass, field

import numpy as np
import tyro

from agents.config import Count, CountOrZero, OpeningPlies, OptionalFile, RulesName, Seed, Size, command_of
from agents.suites.resumable_pool import HERE, PoolOptions, ResumablePool
from agents.suites.worker_search import TABLE_MEGABYTES, core_of, net_bytes, searcher
from oanquan_env import Core, GameRecord, Move, Positions, Rules
from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.proofs.proof_search import PROVED, ProofTable
from oanquan_env.records.games import format_records
from oanquan_env.rollouts import random_lines
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.search_state import mover_first

PROG = "python -m agents.suites openings"
BATCH = 100
"""Number of lines of each length drawn at once."""
MAX_FAILED_LINES = 50_000
"""`make_openings` gives up after this many consecutive lines that are unbalanced or repeated."""
MAX_FULL_WIDTH = 8
"""Maximum depth of a full-width search, in plies; with a deeper search, a suite would take days."""
SHALLOW_DEPTH, SHALLOW_MAXN_DEPTH = 8, 3
SHALLOW_SLACK = 5
"""`find_even` first searches lines to one of these depths, for two players or for more. It skips the deep search of a
line whose margins then exceed the limit by more than `SHALLOW_SLACK` points."""
EVEN_NODES = 4_000_000
"""Maximum number of moves played to prove each of the two bounds of an even line."""


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


def make_openings(recipe: OpeningsRecipe, workers: ResumablePool = HERE) -> list[GameRecord]:
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
            margins, even = workers.map_rows(f"after {before} balanced lines", work, positions[new])
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


def final_margins(search: MoveValues, positions: Positions) -> Floats:
    """Return (N, P) expected final margins in points: each player's lead plus its expected future margin."""
    return relative_points(positions.scores) + search.position_values(positions)


def find_even(
    rules: str, depth: int, net: bytes | None, within: int, proved: bool, positions: Positions
) -> tuple[Floats, Mask]:
    """Return (N, P) searched final margins, and (N,) flags: True if all margins of the position are within ±`within`.

    Margins are NaN if a shallow search expects far larger margins. With `proved`, which needs two players, a flag is
    True only if the margin is also proved to be within this range.
    """
    shallow = searcher(rules, SHALLOW_DEPTH if core_of(rules).rules.players == 2 else SHALLOW_MAXN_DEPTH, net)
    near = abs(final_margins(shallow, positions)).max(axis=1) <= within + SHALLOW_SLACK
    margins = np.full((len(positions), core_of(rules).rules.players), np.nan)
    margins[near] = final_margins(searcher(rules, depth, net), positions[near])
    even = abs(margins).max(axis=1) <= within
    if proved:
        for row in even.nonzero()[0].tolist():
            even[row] = _is_proved_even(core_of(rules), positions[row : row + 1], within)
    return margins, even


def _is_proved_even(core: Core, position: Positions, within: int) -> bool:
    (own, other), mover = mover_first(position)[0].tolist(), int(position.mover[0])
    lead = int(position.scores[0, mover] - position.scores[0, 1 - mover])
    table = ProofTable(core, TABLE_MEGABYTES)
    for is_lower, bound in ((True, -within - lead), (False, within - lead)):
        if table.prove(own, other, bound, is_lower=is_lower, nodes=EVEN_NODES) != PROVED:
            return False
        if table.plies(own, other, bound, is_lower=is_lower) > core.rules.max_plies - int(position.ply[0]):
            return False
    return True


@dataclass(frozen=True, kw_only=True)
class MakeOpenings(PoolOptions):
    """Make suites of balanced openings, in which neither side is ahead.

        python -m agents.suites openings --rules mancala-world --count 600

    The command draws random lines of 4 to 8 plies, and keeps a line if a deep search expects a final margin within a
    few points of a draw. Of lines that lead to equivalent boards (up to seats and mirror), it keeps the first. The
    suite keeps the order of drawing, so its first n lines are a fair sample. --net names the value net at the search's
    leaves.

    With three or four players, max^n search estimates each player's margin over the others' mean; all must be near
    zero:

        python -m agents.suites openings --rules three-player --count 200 --within 5 --depth 5

    With --proved, the margins of all lines are proved to be within --within points; such a suite is called fair:

        python -m agents.suites openings --rules mancala-world --count 200 --within 0 --proved
    """

    recipe: tyro.conf.OmitArgPrefixes[OpeningsRecipe] = field(default_factory=OpeningsRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)

    def run(self) -> None:
        """Make the suite and write its file."""
        path = self.output or openings_path(Rules.parse(self.recipe.rules), fair=self.recipe.proved)
        with self.pool(path) as workers:
            records = make_openings(self.recipe, workers)
            write_atomically(path, text_bytes(path, format_records(records)))
        print(f"{len(records)} openings in {path}")
