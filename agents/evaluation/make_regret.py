"""Make a regret suite: positions from play of mixed strength, with the value of every legal move.

    python -m agents.evaluation.make_regret --rules mancala-world --count 2400

Games begin with up to eight random plies. Weak and strong players, which also make random moves, take the seats. The
suite takes positions with at least three legal moves whose best and worst values differ by at least one point, and only
one of several equivalent positions (up to seats and mirror). Each phase of the game gets a third of the positions. The
search that values all moves is deeper in later phases; --net names the value net at its leaves. Afterwards,
`python -m agents.evaluation.prove_regret` proves as many values as it can. The same command resumes interrupted work.

With three or four players, max^n search values the moves, and nothing is proved:

    python -m agents.evaluation.make_regret --rules three-player --count 300 --depths 7 7 8 --games 400
"""

import functools
from dataclasses import dataclass, field

import numpy as np
import tyro

from agents.config import OptionalFile, RulesName, Seed, Size, Whole, command, command_of
from agents.evaluation.labels import HERE, Labeller, LabelOptions, net_bytes, search_moves
from agents.players.mixed_play import EPSILONS, LONGEST_START, met_in_play, mixed_players, player_names
from oanquan_env import Core, Positions, Rules
from oanquan_env.array_types import Floats, Mask
from oanquan_env.benchmark.regret import PHASES, Suite, phases
from oanquan_env.benchmark.suites import format_suite, regret_path, suite_name
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.engine.symmetry import canonical_keys, first_of_each
from oanquan_env.files import text_bytes, write_atomically

PROG = "python -m agents.evaluation.make_regret"
FEWEST_MOVES = 3
LEAST_SPREAD = 1


@dataclass(frozen=True)
class SuiteRecipe:
    """Parameters of a regret suite."""

    rules: RulesName = DEFAULT_PRESET  # rules by name
    count: Size = 2400  # number of positions, a multiple of 3; each phase gets a third
    depths: tuple[Whole, Whole, Whole] = (18, 22, 24)  # plies of the search in opening, middle and end
    games: Size = 3000  # games from which positions are drawn
    seed: Seed = 0  # seed of all randomness
    net: str | None = None  # value net of the search: a file, a run's folder or `pretrained` (default: no net)


def make_suite(recipe: SuiteRecipe, labeller: Labeller = HERE) -> Suite:
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
                raise ValueError(f"the games had {missing} positions too few in the phase {name!r}: raise --games")
            batch, candidates = candidates[:missing], candidates[missing:]
            values, proved = labeller.label_rows(name, work, batch)
            rows = (np.nanmax(values, axis=1) - np.nanmin(values, axis=1) >= LEAST_SPREAD).nonzero()[0]
            chosen.append((batch[rows], values[rows], proved[rows]))
            missing -= len(rows)
    batches, values_of, proofs_of = zip(*chosen, strict=True)
    positions = Positions.concatenate(batches)
    name = suite_name(regret_path(core.rules))
    made = {
        "version": 1,
        "command": command_of(PROG, recipe),
        "players": player_names(core.rules),
        "epsilons": list(EPSILONS),
        "random_plies": [0, LONGEST_START],
        "fewest_moves": FEWEST_MOVES,
        "least_spread": LEAST_SPREAD,
    }
    return Suite.searched(name, core, positions, np.concatenate(values_of), np.concatenate(proofs_of), made)


@dataclass(frozen=True, kw_only=True)
class Options(LabelOptions):
    """The options of the command line."""

    recipe: tyro.conf.OmitArgPrefixes[SuiteRecipe] = field(default_factory=SuiteRecipe)
    output: OptionalFile = None  # the suite's file (default: the package's own)


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Make the suite and write its file."""
    recipe = options.recipe
    path = options.output or regret_path(Rules.parse(recipe.rules))
    with options.labeller(path) as labeller:
        suite = make_suite(recipe, labeller)
        write_atomically(path, text_bytes(path, format_suite(suite)))
    print(f"{len(suite)} positions in {path}")


if __name__ == "__main__":
    raise SystemExit(main())
