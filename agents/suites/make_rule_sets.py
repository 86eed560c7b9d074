"""Make regret suites for the held-out rule sets of a split (see `oanquan_env.rule_sets`), all in one file."""

import functools
from dataclasses import dataclass, field

import numpy as np
import tyro

from agents.config import Count, OptionalFile, Seed, Size, Whole, command_of
from agents.suites.make_regret import prove_moves
from agents.suites.mixed_games import met_in_play, mixed_players
from agents.suites.resumable_pool import Arrays, PoolOptions
from oanquan_env import Core, Positions
from oanquan_env.array_types import Floats, Mask
from oanquan_env.benchmark.generalisation import CANARY, held_out
from oanquan_env.benchmark.regret import Suite
from oanquan_env.benchmark.suites import format_suites, rule_sets_path, suite_name
from oanquan_env.engine.notation import format_position, parse_position
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.provenance import origin
from oanquan_env.rule_sets import Split
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits

ROUNDS = 10
"""Maximum number of times that `games` games are played for a rule set; small boards have few positions."""
VERSION = 2
"""Version of the suites: their positions and values. Increase it with any change of either."""
PROG = "python -m agents.suites rule-sets"


@dataclass(frozen=True)
class RuleSetsRecipe:
    """Parameters of the suites of a split."""

    split: Split = "development"  # the split whose rule sets get suites
    count: Size = 48  # number of positions for each rule set, if so many are found
    nodes: Count = 2_000_000  # node limit of the search that values all moves of a position
    least_depth: Whole = 14  # plies that it completes even if this takes more nodes
    proof_nodes: Count = 100_000  # node limit of each attempt to prove a bound
    games: Size = 200  # games from which positions are drawn; more are played if these do not suffice
    seed: Seed = 0  # seed of all randomness


@dataclass(frozen=True, kw_only=True)
class MakeRuleSetSuites(PoolOptions):
    """Make a regret suite for each held-out rule set of a split, all in one file.

        python -m agents.suites rule-sets --split "test: interpolation"

    Positions are those that players of mixed strength meet, with at least two legal moves; only one of several
    equivalent positions is taken. They are drawn before any value is known. A search without a net values all moves, so
    that no net has an advantage, and proof search then bounds them. The same command resumes interrupted work.
    """

    recipe: tyro.conf.OmitArgPrefixes[RuleSetsRecipe] = field(default_factory=RuleSetsRecipe)
    output: OptionalFile = None  # the file of the suites (default: the package's own)

    def run(self) -> None:
        """Make the suites and write their file."""
        recipe, suites = self.recipe, list[Suite]()
        path = self.output or rule_sets_path(recipe.split)
        made = {"version": VERSION, "canary": CANARY, **origin(command_of(PROG, recipe))}
        rule_sets = [str(rules) for rules in held_out(recipe.split)]
        with self.pool(path) as workers:
            valued = workers.map("rule sets", functools.partial(valued_positions, recipe), rule_sets)
            for number, (rules, (texts, numbers)) in enumerate(zip(rule_sets, valued, strict=True), 1):
                core = Core(rules)
                positions = Positions.concatenate([parse_position(core, text) for text in texts.tolist()])
                values, lower, upper = numbers
                suites.append(Suite(f"{suite_name(path)}-{number}", core, positions, values, lower, upper, made))
            write_atomically(path, text_bytes(path, format_suites(suites)))
        moves = sum(int(np.isfinite(suite.values).sum()) for suite in suites)
        proved = sum(int(suite.proved.sum()) for suite in suites)
        print(f"{sum(map(len, suites)):,} positions under {len(suites)} rule sets in {path}")
        print(f"the values of {proved:,} of {moves:,} moves are proved")


def valued_positions(recipe: RuleSetsRecipe, rules: str) -> Arrays:
    """Return the texts of N positions, and (3, N, A) values of their moves, lower and upper bounds."""
    core = Core(rules)
    positions = drawn(core, recipe)
    values, proved = searched(core, positions, recipe)
    suite, later = Suite.searched("", core, positions, values, proved, {}), core.rules
    if not later.first_move_captures_mandarin:  # proof search leaves out the ply; after the first moves this is exact
        later = later.replace(first_move_captures_mandarin=True)
    lower, upper = suite.lower.copy(), suite.upper.copy()
    for row in (positions.ply >= core.rules.players * (later != core.rules)).nonzero()[0].tolist():
        numbers = positions[row : row + 1], values[row], lower[row], upper[row]
        lower[row], upper[row] = prove_moves(str(later), recipe.proof_nodes, numbers)
    texts = [format_position(core, positions, row) for row in range(len(positions))]
    return np.array(texts), np.stack([np.clip(values, lower, upper), lower, upper])


def drawn(core: Core, recipe: RuleSetsRecipe) -> Positions:
    """Draw positions; a small board may have fewer than `recipe.count`."""
    rng, pool, players = np.random.default_rng(recipe.seed), core.start(0), mixed_players(core)
    for _ in range(ROUNDS):
        met = met_in_play(core, players, recipe.games, rng)
        pool = Positions.concatenate([pool, met[core.legal_mask(met).sum(axis=1) > 1]])
        pool = pool[first_of_each(canonical_keys(core, pool))]
        if len(pool) >= recipe.count:
            break
    return pool[np.sort(rng.permutation(len(pool))[: recipe.count])]


def searched(core: Core, positions: Positions, recipe: RuleSetsRecipe) -> tuple[Floats, Mask]:
    """Return the (N, A) searched values of all moves, NaN for illegal moves, and (N, A) whether each is proved."""
    search = Search(core, threads=1)
    results = search.best_moves(positions, Limits(nodes=recipe.nodes), every_move=True)
    values = np.full((len(positions), core.rules.actions), np.nan)
    proved = np.zeros(values.shape, dtype=np.bool_)
    for row, first in enumerate(results):
        result = first
        if not first.proved and first.depth < recipe.least_depth:
            result = search.best(positions[row : row + 1], Limits(depth=recipe.least_depth), every_move=True)
        values[row, list(result.values)] = list(result.values.values())
        proved[row, list(result.proved_actions)] = True
    return values, proved
