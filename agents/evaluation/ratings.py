"""Ratings in Elo of the players of games for two or more, from the places in which games end.

In a game of P players each two of them are compared: the one with more points is ahead, equal points are half a point
for each. Player i, moving o-th after the opening, is ahead of j, moving q-th, with log odds (r_i + t_o) - (r_j + t_q),
with t = 0 for moving last. So an Elo difference d means that a player ends ahead of another one with probability
1 / (1 + 10 ** (-d / 400)). With two players this is the Bradley-Terry model with a term for moving first.

Comparisons by twos are what the Plackett-Luce model of places implies, so games that it describes are rated right in
the long run. Those of one game, and the games of one opening, are not independent: intervals are bootstrapped over
openings. Sources:

- D. R. Hunter, "MM algorithms for generalized Bradley-Terry models" (2004): the model with a home-field term.
- R. D. Luce, "Individual choice behavior" (1959); R. L. Plackett, "The analysis of permutations" (1975).
- H. Azari Soufiani et al., "Generalized method-of-moments for rank aggregation" (2013): breaking places into pairs.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats, Ints
from oanquan_env.benchmark.estimates import BOOTSTRAP_SAMPLES, Estimate, percentile_estimates

ELO = 400 / math.log(10)
"""Elo points of one unit of log odds."""
PRIOR_DRAWS = 1.0
NEWTON_STEPS = 100


class Ratings(NamedTuple):
    """Ratings of M players with bootstrapped 95 % intervals, Elo."""

    players: list[Estimate]
    """M of them, the anchor's being 0."""
    orders: list[Estimate]
    """P - 1 of them: the advantage of moving first, second, .. after the opening over moving last."""


def rate(
    players: npt.ArrayLike, points: Floats, anchor: int, rng: np.random.Generator, samples: int = BOOTSTRAP_SAMPLES
) -> Ratings:
    """Ratings of the players of G games of each of K openings; all pairings of a bootstrap sample share its openings.

    A player that won every game has no spread of its own: its interval shows that of the others only, and its rating
    is a lower bound set by the prior of `fit`.

    `players` (G, P) are the players 0 .. M-1 of a game, who moves first after the opening first, and `points` (K, G, P)
    theirs at the end, of which only matters who has more. The rating of the player `anchor` is 0.
    """
    games, k = np.asarray(players), len(points)
    last = games.shape[1] - 1
    pairs = itertools.combinations(range(games.shape[1]), 2)
    ahead = np.concatenate([(1 + np.sign(points[:, :, i] - points[:, :, j])) / 2 for i, j in pairs], axis=1)  # (K, C)
    drawn = np.concatenate([np.ones((1, k), dtype=np.int64), rng.multinomial(k, np.full(k, 1 / k), size=samples)])
    won = drawn @ ahead  # first what was really played
    estimates = ELO * fit(comparisons(games), won, np.full(won.shape, float(k)))
    estimates[:, :-last] -= estimates[:, [anchor]]
    found = percentile_estimates(estimates[0], estimates[1:])
    return Ratings(found[:-last], found[-last:])


def comparisons(games: Ints) -> Floats:
    """(C, M + P - 1) the log odds of each two players of (G, P) games, as weights of the M ratings and P - 1 orders."""
    number, players = games.shape
    ratings = np.eye(int(games.max()) + 1)[games]  # (G, P, M)
    orders = np.broadcast_to(np.eye(players, players - 1), (number, players, players - 1))  # moving last: zeros
    strengths = np.concatenate([ratings, orders], axis=2)
    pairs = itertools.combinations(range(players), 2)
    return np.concatenate([strengths[:, i] - strengths[:, j] for i, j in pairs])


def fit(design: Floats, won: Floats, played: Floats, prior_draws: float = PRIOR_DRAWS) -> Floats:
    """(B, U) log odds that maximise the likelihood of each of B samples, by Newton's method.

    A player that won every game would have an infinite rating. So each of the U unknowns, ratings and orders, is given
    `prior_draws` drawn games against zero. Estimates are then finite and unique whatever was played; they shrink
    towards the average by about that one draw among all games.

    `design` (C, U) has the log odds of each comparison, as weights of the unknowns. `won` (B, C) are points scored,
    wins plus half the draws, in `played` (B, C) games. Raises `ValueError` for points below 0 or above the number of
    games, or a prior that is not positive.
    """
    if prior_draws <= 0:
        raise ValueError(f"the prior must be more than 0 games; got {prior_draws}")
    if (won < 0).any() or (won > played).any():
        raise ValueError("points scored must lie between 0 and the games played")
    unknowns = design.shape[1]
    rows = np.concatenate([design, np.eye(unknowns)])  # the prior: unknowns that drew against zero
    imagined = np.full((len(won), unknowns), prior_draws)
    points, games = np.concatenate([won, imagined / 2], axis=1), np.concatenate([played, imagined], axis=1)
    estimate = np.zeros((len(won), unknowns))
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-(estimate @ rows.T)))
        gradient = (points - games * chance) @ rows
        weight = games * chance * (1 - chance)
        curvature = np.einsum("bg,gi,gj->bij", weight, rows, rows, optimize=True)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        estimate += step / np.maximum(longest, 1)  # at most one unit a step: far from the peak Newton overshoots
        if longest.max() < 1e-10:
            return estimate
    raise ArithmeticError(f"the ratings did not settle in {NEWTON_STEPS} steps")
