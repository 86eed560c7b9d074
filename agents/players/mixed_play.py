"""Games between players of every strength, who slip now and then: positions as one meets them in real play."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.players.minimax import MinimaxPlayer
from agents.search.deepening import Limits
from oanquan_env import Core, Positions
from oanquan_env.playing import advance, random_openings, seated
from oanquan_env.policies import GreedyPolicy, Policy, RandomPolicy, SlippingPolicy

DEPTHS = (2, 4, 6)
PLAYERS = ("random", "greedy", *(f"minimax:depth={depth}" for depth in DEPTHS))
SLIPS = (0.0, 0.1, 0.3)
"""Shares of random moves that players make; each is drawn with the same probability."""
LONGEST_START = 8
"""Random plies that a game begins with, at most."""


def mixed_players(core: Core, threads: int | None = None) -> list[Policy]:
    """Every one of `PLAYERS` with every one of `SLIPS`; `threads` search, one for each processor if left out."""
    searching = [MinimaxPlayer(core, Limits(depth=depth), threads=threads) for depth in DEPTHS]
    steady: list[Policy] = [RandomPolicy(core), GreedyPolicy(core), *searching]
    return [SlippingPolicy(core, policy, slips) for policy in steady for slips in SLIPS]


def met_in_play(core: Core, players: Sequence[Policy], games: int, rng: np.random.Generator) -> Positions:
    """All positions after the start of `games` games, whose seats are taken by players drawn at random."""
    lengths = rng.integers(0, min(LONGEST_START + 1, core.rules.max_plies), games)
    starts = [random_openings(core, int((lengths == plies).sum()), plies, rng) for plies in np.unique(lengths)]
    positions = Positions.concatenate(starts)
    seating = rng.integers(0, len(players), (games, core.rules.players))
    met = [positions.copy()]
    for rows, _ in advance(core, positions, seated(players, seating, rng)):
        met.append(positions[rows[~positions.over[rows]]])
    return Positions.concatenate(met)
