"""Make regret suites, and prove the values of a suite's moves."""

import dataclasses
import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from agents.config import Count, OptionalFile, RulesName, Seed, Size, Whole, command_of
from agents.suites.mixed_games import EPSILONS, LONGEST_START, met_in_play, mixed_players, player_names
from agents.suites.resumable_pool import HERE, PoolOptions, ResumablePool
from agents.suites.worker_search import TABLE_MEGABYTES, core_of, net_bytes, search_moves
from oanquan_env import Core, Positions, Rules
from oanquan_env.array_types import Floats, Mask
from oanquan_env.benchmark.regret import PHASES, Suite, phases
from oanquan_env.benchmark.suites import read_suite, regret_path, suite_name, write_suite
from oanquan_env.engine.move import RUNNING
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.errors import UsageError
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.proof_search import ProofTable
from oanquan_env.proofs.solver import BoundSearch
from oanquan_env.provenance import origin
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.search_state import MAX_DEPTH, apply_move, mover_first

PROG = "python -m agents.suites regret"
FEWEST_MOVES = 3  # legal moves of a position in a suite, at least
LEAST_SPREAD = 1  # points between the values of its best and worst move, at least


@dataclass(frozen=True)
class SuiteRecipe:
    """Parameters of a regret suite."""

    rules: RulesName = DEFAULT_PRESET  # rules by name
    count: Size = 2400  # number of positions, a multiple of 3; each phase gets a third
    depths: tuple[Whole, Whole, Whole] = (18, 22, 24)  # plies of the search in opening, middle and end
    games: Size = 3000  # games from which positions are drawn
    seed: Seed = 0  # seed of all randomness
    net: str | None = None  # value net of the search: a file, a run's folder or `pretrained` (default: no net)


def make_regret_suite(recipe: SuiteRecipe, workers: ResumablePool = HERE) -> Suite:
    """Draw positions and value their moves, phase by phase, until every phase has its share; return the suite.

    Raises `ValueError` if the count is not divisible by the number of phases, or a phase has too few positions.
    """
    if recipe.count < 1 or recipe.count % len(PHASES):
        raise ValueError(f"count must be a multiple of {len(PHASES)}, one share per phase; got {recipe.count}")
    core = Core(recipe.rules)
    rng = np.random.default_rng(recipe.seed)
    pool = met_in_play(core, mixed_players(core), recipe.games, rng)
    pool = pool[core.legal_mask(pool).sum(axis=1) >= FEWEST_MOVES]
    pool = pool[first_of_each(canonical_keys(core, pool))]
    pool = pool[rng.permutation(len(pool))]
    phase = phases(core.rules, pool)
    net = net_bytes(recipe.net, core)
    chosen: list[tuple[Positions, Floats, Mask]] = []
    for number, (name, depth) in enumerate(zip(PHASES, recipe.depths, strict=True)):
        missing, candidates = recipe.count // len(PHASES), pool[phase == number]
        work = functools.partial(search_moves, str(core.rules), depth, net)
        while missing:
            if not len(candidates):
                share = recipe.count // len(PHASES)
                raise ValueError(
                    f"the games had {share - missing} of {share} positions for the phase {name!r}: raise --games, or "
                    f"lower --count to {len(PHASES) * max(share - missing, 1)} or less; small boards have few positions"
                )
            batch, candidates = candidates[:missing], candidates[missing:]
            values, proved = workers.map_rows(name, work, batch)
            rows = (np.nanmax(values, axis=1) - np.nanmin(values, axis=1) >= LEAST_SPREAD).nonzero()[0]
            chosen.append((batch[rows], values[rows], proved[rows]))
            missing -= len(rows)
    batches, values_of, proofs_of = zip(*chosen, strict=True)
    positions = Positions.concatenate(batches)
    name = suite_name(regret_path(core.rules))
    made = {
        "version": 1,
        **origin(command_of(PROG, recipe)),
        "players": player_names(core.rules),
        "epsilons": list(EPSILONS),
        "random_plies": [0, LONGEST_START],
        "fewest_moves": FEWEST_MOVES,
        "least_spread": LEAST_SPREAD,
    }
    return Suite.searched(name, core, positions, np.concatenate(values_of), np.concatenate(proofs_of), made)


def prove_suite(suite: Suite, nodes: int, workers: ResumablePool = HERE) -> Suite:
    """Return the suite after trying to prove every value with a search of up to `nodes` moves for each bound.

    Raises `ValueError` for more than two players, because values cannot be proved then.
    """
    if suite.core.rules.players != 2:
        raise ValueError(f"proofs need rules for two players; '{suite.core.rules}' has {suite.core.rules.players}")
    work = functools.partial(prove_moves, str(suite.core.rules), nodes)
    positions = [suite.positions[row : row + 1] for row in range(len(suite))]
    searched = list(zip(positions, suite.values, suite.lower, suite.upper, strict=True))
    lower, upper = map(np.stack, zip(*workers.map("positions", work, searched), strict=True))
    more = bool((lower > suite.lower).any() or (upper < suite.upper).any())
    made = {**suite.made, "version": suite.version + more, "proved_by": origin()}
    return dataclasses.replace(suite, values=np.clip(suite.values, lower, upper), lower=lower, upper=upper, made=made)


def prove_moves(rules: str, nodes: int, searched: tuple[Positions, Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Return (A,) proved lower and upper bounds of the values of a position's moves, in points.

    `searched` holds a batch of one running position, (A,) searched values of its moves, and the (A,) lower and upper
    bounds proved so far. Searched values only determine which bound is tried first. `nodes` limits the moves played in
    each attempt to prove a bound.
    """
    position, values, lower, upper = searched
    core, lower, upper = core_of(rules), lower.copy(), upper.copy()
    own, other = mover_first(position)[0].tolist()
    plies_left = core.rules.max_plies - int(position.ply[0])
    unproved = (np.isfinite(values) & (lower < upper)).nonzero()[0].tolist()
    if not unproved:
        return lower, upper
    table = ProofTable(core, TABLE_MEGABYTES)
    for action in unproved:
        child_own, child_other, gain, state = apply_move(table.rules, own, other, action, plies_left - 1)
        reply = Bounds(0, 0)
        if state == RUNNING:
            bounds = Bounds(gain - upper[action], gain - lower[action])
            bound_search = BoundSearch(table, child_own, child_other, bounds, plies_left - 1)
            bound_search.narrow(gain - int(values[action]), nodes)
            reply = bound_search.bounds
        lower[action], upper[action] = reply.before(gain)
    if plies_left <= MAX_DEPTH and (lower < upper).any():
        search = Search(core, table_megabytes=TABLE_MEGABYTES, threads=1)
        result = search.best(position, Limits(depth=plies_left, nodes=nodes), every_move=True)
        if result.proved:
            actions = list(result.values)
            lower[actions] = upper[actions] = list(result.values.values())
    return lower, upper


@dataclass(frozen=True, kw_only=True)
class MakeRegret(PoolOptions):
    """Make a regret suite: positions from play of mixed strength, with the value of every legal move.

        python -m agents.suites regret --rules mancala-world --count 2400 --output suite.json

    Games begin with up to eight random plies. Weak and strong players, which also make random moves, take the seats.
    The suite takes positions with at least three legal moves whose best and worst values differ by at least one point,
    and only one of several equivalent positions (up to seats and mirror). Each phase of the game gets a third of the
    positions. The search that values all moves is deeper in later phases; --net names the value net at its leaves.
    Afterwards, `python -m agents.suites prove-regret` proves as many values as it can. The same command resumes
    interrupted work.

    With three or four players, max^n search values the moves, and nothing is proved:

        python -m agents.suites regret --rules three-player --count 300 --depths 7 7 8 --games 400 --output suite.json
    """

    recipe: tyro.conf.OmitArgPrefixes[SuiteRecipe] = field(default_factory=SuiteRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)

    def run(self) -> None:
        """Make the suite and write its file."""
        path = self.output or regret_path(Rules.parse(self.recipe.rules))
        if path.exists():
            raise UsageError(f"--output: {path} exists; prove its values with prove-regret, or choose another file")
        with self.pool(path) as workers:
            suite = make_regret_suite(self.recipe, workers)
            write_suite(path, suite)
        print(f"{len(suite)} positions in {path}")


@dataclass(frozen=True, kw_only=True)
class ProveRegret(PoolOptions):
    """Prove the values of a regret suite's moves, each with a limited number of nodes.

        python -m agents.suites prove-regret oanquan_env/data/regret-mancala-world.json.gz --nodes 4000000

    The value found by search is the first guess: the proof search asks whether the mover can force this value, and
    whether it can force more. If there is no proof, the search tries weaker bounds (see
    `oanquan_env.proofs.solver.BoundSearch`). Near the ply limit, a search to the end of the game gives the value. A
    move whose value is not proved keeps the searched value, clipped to the proved bounds. The file keeps all bounds, so
    a call with more nodes proves more values, and the same command resumes interrupted work.
    """

    suite: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]  # the suite's file, which is replaced
    nodes: Count = 4_000_000  # node limit of one proof

    def run(self) -> None:
        """Prove the suite's values and rewrite its file."""
        path = self.suite
        with self.pool(path) as workers:
            suite = prove_suite(read_suite(path), self.nodes, workers)
            write_suite(path, suite)
        print(
            f"{int(suite.proved.sum())} of {int(np.isfinite(suite.values).sum())} moves proved, all moves of "
            f"{int(suite.all_proved().sum())} of {len(suite)} positions, in {path}"
        )
