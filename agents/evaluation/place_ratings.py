"""Ratings of players of games for three or more, from the places in which games end.

In a game of P players each two of them are compared: the one with more points is ahead, equal points are half a point
for each. Player i, moving o-th after the opening, is ahead of j, moving q-th, with log odds (r_i + t_o) - (r_j + t_q),
with t = 0 for moving last. So an Elo difference d means that a player ends ahead of another one with probability
1 / (1 + 10 ** (-d / 400)), and with two players all this is the model of `agents.evaluation.ratings.rate`.

Comparisons by twos are what the Plackett-Luce model of places implies, so games that it describes are rated right in
the long run. Those of one game are not independent: intervals are bootstrapped over openings. Sources:

- R. D. Luce, "Individual choice behavior" (1959); R. L. Plackett, "The analysis of permutations" (1975).
- H. Azari Soufiani et al., "Generalized method-of-moments for rank aggregation" (2013): breaking places into pairs.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.evaluation.ratings import ELO, PRIOR_DRAWS, fit
from oanquan_env.arrays import Floats, Ints
from oanquan_env.benchmark.estimates import BOOTSTRAP_SAMPLES, Estimate, percentile_estimates


class PlaceRatings(NamedTuple):
    """Ratings of M players with bootstrapped 95 % intervals, Elo."""

    players: list[Estimate]
    """M of them, the anchor's being 0."""
    orders: list[Estimate]
    """P - 1 of them: what moving first, second, .. after the opening is worth over moving last."""


def rate_places(
    players: npt.ArrayLike,
    points: npt.NDArray[np.integer],
    anchor: int,
    rng: np.random.Generator,
    samples: int = BOOTSTRAP_SAMPLES,
) -> PlaceRatings:
    """Ratings of the players of G games of each of K openings.

    As in `agents.evaluation.ratings.bradley_terry`, each player and each order has a drawn game more than were played,
    so that all ratings are finite.

    Args:
        players: (G, P) the players 0 .. M-1 of a game, who moves first after the opening first.
        points: (K, G, P) their points at the end.
        anchor: the player whose rating is 0.
        rng: draws the samples.
        samples: bootstrap samples of the openings.
    """
    seats = np.asarray(players)
    k, count = len(points), int(seats.max()) + 1
    designs, ahead = [], []
    for one, other in itertools.combinations(range(seats.shape[1]), 2):
        designs.append(_weights(seats[:, one], one, count, seats) - _weights(seats[:, other], other, count, seats))
        ahead.append((1 + np.sign(points[:, :, one] - points[:, :, other])) / 2)
    table = np.concatenate(ahead, axis=1)  # (K, C) for C comparisons
    drawn = np.concatenate([np.ones((1, k), dtype=np.int64), rng.multinomial(k, np.full(k, 1 / k), size=samples)])
    won = drawn @ table
    estimates = ELO * fit(np.concatenate(designs), won, np.full(won.shape, float(k)), PRIOR_DRAWS)
    estimates[:, :count] -= estimates[:, [anchor]]
    found = percentile_estimates(estimates[0], estimates[1:])
    return PlaceRatings(found[:count], found[count:])


def _weights(players: Ints, order: int, count: int, seats: Ints) -> Floats:
    """(G, M + P - 1) the log strength of `players` moving `order`-th, as weights of the ratings and the orders."""
    last = seats.shape[1] - 1
    weights = np.zeros((len(players), count + last))
    weights[np.arange(len(players)), players] = 1
    if order < last:
        weights[:, count + order] = 1
    return weights
