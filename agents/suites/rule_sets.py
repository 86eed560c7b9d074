"""Make a regret suite for each rule set of a split (see `oanquan_env.rule_sets`), all in one file."""

from dataclasses import dataclass, replace

import joblib
import numpy as np

from agents.config import OptionalFile, Size, Whole, Workers, command_of
from agents.suites.regret import LEAST_SPREAD, met_in_play, mixed_players
from agents.suites.worker_search import search_moves
from oanquan_env import Core, Positions, Rules
from oanquan_env.array_types import Floats, Mask
from oanquan_env.benchmark.regret import Suite
from oanquan_env.benchmark.suites import format_suites, rule_sets_path
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import check_place, text_bytes, write_atomically
from oanquan_env.provenance import origin
from oanquan_env.rule_sets import Split, split

ROUNDS = 10
"""Maximum number of times that `--games` games are played for a rule set; small boards have few positions."""
PROG = "python -m agents.suites rule-sets"


@dataclass(frozen=True, kw_only=True)
class MakeRuleSetSuites:
    """Make a regret suite for each rule set of a split (see `oanquan_env.rule_sets`), all in one file.

        python -m agents.suites rule-sets --split development

    Positions are those that players of mixed strength meet, with at least two legal moves whose best and worst values
    differ by at least one point; only one of several equivalent positions is taken. A search of limited depth without a
    net values all moves, so that no net has an advantage; few values are proved.
    """

    split: Split = "development"  # the split whose rule sets get suites
    count: Size = 48  # number of positions for each rule set, if so many are found
    depth: Whole = 16  # plies of the search that values the moves
    games: Size = 600  # games from which positions are drawn; more are played if these do not suffice
    jobs: Workers = 1  # worker processes
    output: OptionalFile = None  # the file of the suites (default: the package's own)

    def run(self) -> None:
        """Make the suites and write their file."""
        path = self.output or rule_sets_path(self.split)
        check_place("--output", path)
        make = joblib.delayed(make_suite)
        suites = joblib.Parallel(self.jobs)(make(rules, self) for rules in split(self.split))
        write_atomically(path, text_bytes(path, format_suites(suites)))
        print(f"{sum(map(len, suites)):,} positions under {len(suites)} rule sets in {path}")


def make_suite(rules: Rules, options: MakeRuleSetSuites) -> Suite:
    """Draw positions and value their moves; return fewer positions than asked for if a small board has no more."""
    core, rng = Core(rules), np.random.default_rng(0)
    pool, parts, missing = core.start(0), list[tuple[Positions, Floats, Mask]](), options.count
    for _ in range(ROUNDS):
        met = met_in_play(core, mixed_players(core), options.games, rng)
        known, pool = len(pool), Positions.concatenate([pool, met[core.legal_mask(met).sum(axis=1) >= 2]])
        pool = pool[first_of_each(canonical_keys(core, pool))]
        candidates = pool[known + rng.permutation(len(pool) - known)]
        while missing and len(candidates):
            batch, candidates = candidates[:missing], candidates[missing:]
            values, proved = search_moves(str(rules), options.depth, None, batch)
            rows = (np.nanmax(values, axis=1) - np.nanmin(values, axis=1) >= LEAST_SPREAD).nonzero()[0]
            parts.append((batch[rows], values[rows], proved[rows]))
            missing -= len(rows)
        if not missing:
            break
    positions, values_of, proofs_of = zip(*parts, strict=True)
    made = {"version": 1, **origin(command_of(PROG, replace(options, output=None)))}
    columns = np.concatenate(values_of), np.concatenate(proofs_of)
    return Suite.searched(str(rules), core, Positions.concatenate(positions), *columns, made)
