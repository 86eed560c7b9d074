"""Strength in Elo, see `oanquan_env.benchmark.elo`: Bradley-Terry ratings with intervals, and a sequential test.

The two games of a pair share their opening, so pairs are the samples wherever a spread is estimated. Sources:

- D. R. Hunter, "MM algorithms for generalized Bradley-Terry models" (2004): the model with a home-field term.
- M. Van den Bergh, "A practical introduction to the GSPRT" (fishtest's notes, 2019): the sequential test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats
from oanquan_env.benchmark.elo import expected_score, five_counts, moments
from oanquan_env.benchmark.estimates import Estimate, percentile_estimates

ELO = 400 / math.log(10)
"""Elo points of one unit of log odds."""
PRIOR_DRAWS = 1.0
NEWTON_STEPS = 100


class Ratings(NamedTuple):
    """Ratings of M players, in Elo."""

    elo: Floats
    """(M,) Elo points, the anchor's being 0."""
    first: float
    """What moving first from the opening is worth, Elo points."""


class RatingIntervals(NamedTuple):
    """Ratings of M players with bootstrapped 95 % intervals."""

    players: list[Estimate]
    first: Estimate


class Sprt(NamedTuple):
    """State of a sequential probability ratio test."""

    llr: float
    """Log-likelihood ratio of the two hypotheses."""
    lower: float
    """At or below it, "no stronger than elo0" is accepted."""
    upper: float
    """At or above it, "stronger by elo1" is accepted."""
    verdict: Literal["stronger", "not stronger", "undecided"]


def sprt(
    pentanomial: npt.ArrayLike, elo0: float = 0.0, elo1: float = 20.0, alpha: float = 0.05, beta: float = 0.05
) -> Sprt:
    """Is a player stronger by `elo1` rather than by `elo0` only? Wald's test, repeated after every few pairs.

    The log-likelihood ratio is that of the normal approximation, n (s1 - s0) (2 m - s0 - s1) / (2 v), with m the mean
    and v the variance of n pairs' scores and s0, s1 the expected scores of the two hypotheses. An outcome that never
    occurred counts as a thousandth of a pair, so that v is positive.

    Args:
        pentanomial: (5,) counts of pairs, as `PENTANOMIAL` orders them.
        elo0: Elo difference of the hypothesis "no stronger".
        elo1: Elo difference of the hypothesis "stronger", above `elo0`.
        alpha: probability of the verdict "stronger" when `elo0` is true.
        beta: probability of the verdict "not stronger" when `elo1` is true.

    Raises:
        ValueError: for hypotheses in the wrong order, error probabilities outside (0, 0.5), or no five counts.
    """
    if not elo0 < elo1:
        raise ValueError(f"elo0 must be less than elo1; got {elo0} and {elo1}")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha and beta must lie between 0 and 0.5; got {alpha} and {beta}")
    counts = five_counts(pentanomial)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    if not counts.any():
        return Sprt(0.0, lower, upper, "undecided")
    mean, variance, n = moments(np.maximum(counts, 1e-3), np.linspace(0, 1, 5))
    s0, s1 = expected_score(elo0), expected_score(elo1)
    llr = n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    verdict: Literal["stronger", "not stronger", "undecided"] = "undecided"
    if llr >= upper:
        verdict = "stronger"
    elif llr <= lower:
        verdict = "not stronger"
    return Sprt(llr, lower, upper, verdict)


def bradley_terry(
    pairings: npt.ArrayLike, won: npt.ArrayLike, played: npt.ArrayLike, anchor: int, prior_draws: float = PRIOR_DRAWS
) -> Ratings:
    """Maximum-likelihood ratings: player i, moving first, beats j with log odds (r_i - r_j + first).

    A player that won every game would have an infinite rating. So each of the M players is given `prior_draws` drawn
    games against an imagined player of average strength, and so is moving first. Estimates are then finite and unique
    whatever was played; they shrink towards the average by about that one draw among all games.

    Args:
        pairings: (G, 2) players 0 .. M-1: the one that moved first, the other one. Pairings may repeat.
        won: (G,) points scored by the first mover: wins plus half the draws.
        played: (G,) games.
        anchor: the player whose rating is 0.
        prior_draws: weight of the prior, games.

    Raises:
        ValueError: for points below 0 or above the number of games, or a prior that is not positive.
    """
    pairs, points, games = np.asarray(pairings), np.asarray(won, np.float64), np.asarray(played, np.float64)
    estimate = fit(_design(pairs), points[None], games[None], prior_draws)[0]
    return Ratings(ELO * (estimate[:-1] - estimate[anchor]), ELO * float(estimate[-1]))


def _design(pairings: npt.NDArray[np.integer]) -> Floats:
    """(G, M + 1) the log odds of each row as weights of the ratings and the first mover's advantage."""
    rows, design = np.arange(len(pairings)), np.zeros((len(pairings), int(pairings.max()) + 2))
    design[rows, pairings[:, 0]] += 1
    design[rows, pairings[:, 1]] -= 1
    design[:, -1] = 1
    return design


def fit(design: Floats, won: Floats, played: Floats, prior_draws: float) -> Floats:
    """(B, M + 1) log odds that maximise the likelihood of each of B samples, by Newton's method.

    Args:
        design: (G, M + 1).
        won: (B, G).
        played: (B, G).
        prior_draws: see `bradley_terry`.
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


def rate(
    pairings: npt.ArrayLike,
    scores: Sequence[Floats],
    anchor: int,
    rng: np.random.Generator,
    samples: int = 1000,
) -> RatingIntervals:
    """Ratings with 95 % intervals, bootstrapped over openings: all pairings of a sample share its drawn openings.

    A player that won every game has no spread of its own: its interval shows that of the others only, and its rating
    is a lower bound set by the prior of `bradley_terry`.

    Args:
        pairings: (G, 2) players 0 .. M-1.
        scores: for each pairing the (K, 2) scores of its first player over the same K openings, moving first and
            moving second.
        anchor: the player whose rating is 0.
        rng: draws the samples.
        samples: bootstrap samples.
    """
    pairs, table = np.asarray(pairings), np.stack(scores)  # (G, 2), (G, K, 2)
    k = table.shape[1]
    weights = rng.multinomial(k, np.full(k, 1 / k), size=samples)  # (B, K) how often each opening was drawn
    weights = np.concatenate([np.ones((1, k), dtype=weights.dtype), weights])  # first what was really played
    as_first, as_second = weights @ table[:, :, 0].T, weights @ (1 - table[:, :, 1]).T  # (B, G) points of first movers
    won = np.concatenate([as_first, as_second], axis=1)
    design = _design(np.concatenate([pairs, pairs[:, ::-1]]))
    estimates = ELO * fit(design, won, np.full(won.shape, float(k)), PRIOR_DRAWS)
    estimates[:, :-1] -= estimates[:, [anchor]]
    intervals = percentile_estimates(estimates[0], estimates[1:])
    return RatingIntervals(intervals[:-1], intervals[-1])
