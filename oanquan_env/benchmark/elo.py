"""Elo differences from scores, and ratings of two-player games by a Bradley-Terry model with a term for moving first.

A difference of d means an expected score of 1 / (1 + 10 ** (-d / 400)), with draws counted as half wins. In the model,
player i, moving first after the opening, beats player j with log odds r_i - r_j + t, where t is the advantage of moving
first. The games of one opening are not independent, so intervals are bootstrapped over openings. Source: D. R. Hunter,
"MM algorithms for generalized Bradley-Terry models" (2004).
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats, Ints
from oanquan_env.benchmark.estimates import BOOTSTRAP_SAMPLES, Estimate, percentile_estimates

ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""
PRIOR_DRAWS = 1.0
NEWTON_STEPS = 100


def expected_score(elo: float) -> float:
    """Return the expected score of a player rated `elo` points above its opponent."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float:
    """Return the Elo difference for an expected score; it is infinite for 0 and 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


class Ratings(NamedTuple):
    """Elo ratings of M players with bootstrapped 95 % intervals."""

    players: list[Estimate]
    """M ratings; the anchor's rating is 0."""
    first: Estimate
    """The advantage of moving first after the opening."""


def rate(
    games: npt.ArrayLike, scores: Floats, anchor: int, rng: np.random.Generator, samples: int = BOOTSTRAP_SAMPLES
) -> Ratings:
    """Return ratings from G games of each of K openings; all pairings of a bootstrap sample share its openings.

    A player that won every game has no spread of its own: its interval shows only the spread of the others, and its
    rating is a lower bound set by the prior of `fit`.

    `games` (G, 2) holds the two players (0 .. M-1) of each game in the order in which they move after the opening, and
    `scores` (K, G) holds the first player's scores: 0, 1/2 or 1. The rating of the player `anchor` is 0.
    """
    k = len(scores)
    counts = np.concatenate([np.ones((1, k), dtype=np.int64), rng.multinomial(k, np.full(k, 1 / k), size=samples)])
    won = counts @ scores  # the first row is the real sample
    estimates = ELO * fit(comparisons(np.asarray(games)), won, np.full(won.shape, float(k)))
    estimates[:, :-1] -= estimates[:, [anchor]]
    *players, first = percentile_estimates(estimates[0], estimates[1:])
    return Ratings(players, first)


def comparisons(games: Ints) -> Floats:
    """Return the (G, M + 1) design matrix: weights of M ratings and of moving first in the first mover's log odds."""
    ratings = np.eye(int(games.max()) + 1)[games]  # (G, 2, M)
    return np.concatenate([ratings[:, 0] - ratings[:, 1], np.ones((len(games), 1))], axis=1)


def fit(design: Floats, won: Floats, played: Floats, prior_draws: float = PRIOR_DRAWS) -> Floats:
    """Return (B, U) log odds that maximise the likelihood of each of B samples, by Newton's method.

    A player that won every game would have an infinite rating. Each of the U unknowns is therefore given `prior_draws`
    drawn games against zero. The estimates are then always finite and unique; they shrink towards zero by about the
    share of these draws among all games.

    `design` (G, U) has the log odds of each comparison, as weights of the unknowns. `won` (B, G) are points scored,
    wins plus half the draws, in `played` (B, G) games.
    """
    unknowns = design.shape[1]
    rows = np.concatenate([design, np.eye(unknowns)])  # the prior: unknowns that drew against zero
    imagined = np.full((len(won), unknowns), prior_draws)
    points, games = np.concatenate([won, imagined / 2], axis=1), np.concatenate([played, imagined], axis=1)
    estimate = np.zeros((len(won), unknowns))
    for _ in range(NEWTON_STEPS):
        expected = 1 / (1 + np.exp(-(estimate @ rows.T)))
        gradient = (points - games * expected) @ rows
        weight = games * expected * (1 - expected)
        curvature = np.einsum("bg,gi,gj->bij", weight, rows, rows, optimize=True)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        estimate += step / np.maximum(longest, 1)  # at most one unit per step, as Newton overshoots far from the peak
        if longest.max() < 1e-10:
            return estimate
    raise ArithmeticError(f"the ratings did not converge in {NEWTON_STEPS} steps")
