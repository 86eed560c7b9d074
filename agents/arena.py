"""Games between players, many at once: all games of a pairing advance as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions
from oanquan_env.core import relative_points
from oanquan_env.policies import Policy, RandomPolicy

Floats = npt.NDArray[np.float64]


class PairResults(NamedTuple):
    """Results of player `a` against `b` over K game pairs; column 0: `a` in seat 0, column 1: seats swapped."""

    score: Floats
    """(K, 2) 1 for a win of `a`, 0.5 for a draw, 0 for a loss."""
    margin: Floats
    """(K, 2) points of `a` less those of `b`."""
    plies: Floats
    """(K, 2) plies played after the opening."""


class Interval(NamedTuple):
    """An estimate with its 95 % interval."""

    mean: float
    low: float
    high: float


def random_openings(core: Core, n: int, plies: int, rng: np.random.Generator) -> Positions:
    """`n` running positions `plies` random plies into a game; games that end sooner are drawn anew."""
    openings = core.start(n)
    missing = np.arange(n)
    player = RandomPolicy(core)
    while missing.size:
        drawn = core.start(missing.size)
        for _ in range(plies):
            running = (~drawn.over).nonzero()[0]
            moved = drawn[running]
            core.play(moved, player.choose(moved, rng))
            drawn[running] = moved
        openings[missing] = drawn
        missing = missing[drawn.over]
    return openings


def play_out(core: Core, positions: Positions, seats: Sequence[Policy], rng: np.random.Generator) -> Positions:
    """The finished games of `positions`, with `seats[p]` playing for player p in all of them."""
    final = positions.copy()
    running = (~final.over).nonzero()[0]
    while running.size:
        current = final[running]
        actions = np.zeros(len(current), dtype=np.intp)
        for seat, policy in enumerate(seats):
            rows = (current.mover == seat).nonzero()[0]
            if rows.size:
                actions[rows] = policy.choose(current[rows], rng)
        core.play(current, actions)
        final[running] = current
        running = running[~current.over]
    return final


def play_pairs(core: Core, a: Policy, b: Policy, openings: Positions, rng: np.random.Generator) -> PairResults:
    """Every opening twice, seats swapped; two players only."""
    score, margin, plies = (np.zeros((len(openings), 2)) for _ in range(3))
    for column, seats in enumerate(((a, b), (b, a))):
        final = play_out(core, openings, seats, rng)
        margin[:, column] = relative_points(core.standings(final))[:, column]
        plies[:, column] = final.ply - openings.ply
    score[:] = (np.sign(margin) + 1) / 2
    return PairResults(score, margin, plies)


def mean_interval(samples: Floats) -> Interval:
    """Mean of independent samples (K,) with its normal 95 % interval; one sample gives no spread, so no width."""
    mean = float(samples.mean())
    spread = 1.96 * float(samples.std(ddof=1)) / len(samples) ** 0.5 if len(samples) > 1 else 0.0
    return Interval(mean, mean - spread, mean + spread)


def score_interval(results: PairResults) -> Interval:
    """Score of `a` with its 95 % interval. The two games of a pair share an opening, so pairs are the samples."""
    return mean_interval(results.score.mean(axis=1))
