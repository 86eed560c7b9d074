"""Games between players of mixed strength, from which suites and data sets draw their positions."""

from collections.abc import Sequence

import numpy as np

from oanquan_env import Core, Positions, Rules
from oanquan_env.engine.core import advance
from oanquan_env.players import EpsilonPolicy, Policy, make
from oanquan_env.rollouts import random_openings, seated

EPSILONS = (0.0, 0.1, 0.3)  # probabilities of a random move, used equally often
LONGEST_START = 8  # maximum number of random plies at the start of a game


def player_names(rules: Rules) -> list[str]:
    """Return the names of players from weak to strong; the strong ones search by alpha-beta (two players) or max^n."""
    kind, depths = ("minimax", (2, 4, 6)) if rules.players == 2 else ("maxn", (1, 2, 3))
    return ["random", "greedy", *(f"{kind}:depth={depth}" for depth in depths)]


def mixed_players(core: Core) -> list[Policy]:
    """Make a player for each pair of a name from `player_names` and a probability from `EPSILONS`."""
    steady = [make(name, core.rules) for name in player_names(core.rules)]
    return [EpsilonPolicy(core, policy, epsilon) for policy in steady for epsilon in EPSILONS]


def met_in_play(core: Core, players: Sequence[Policy], games: int, rng: np.random.Generator) -> Positions:
    """Play `games` games, drawing a player for each seat; return all running positions after the random opening."""
    lengths = rng.integers(0, min(LONGEST_START + 1, core.rules.max_plies), games)
    starts = [random_openings(core, int((lengths == plies).sum()), plies, rng) for plies in np.unique(lengths)]
    positions = Positions.concatenate(starts)
    seating = rng.integers(0, len(players), (games, core.rules.players))
    visited = [positions.copy()]
    for rows, _ in advance(core, positions, seated(players, seating, rng)):
        visited.append(positions[rows[~positions.over[rows]]])
    return Positions.concatenate(visited)
