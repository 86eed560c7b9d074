"""Numbers estimated from samples, with 95 % intervals: means, scores of several runs, and Elo ratings.

Scores of several runs follow Agarwal et al. 2021 (arXiv 2108.13264): R runs differ only in their seed, T tasks. A score
is any number, such as a regret.

An interval covers the value that the same statistic has in the whole population in at least 93 % of the simulations of
`experiments.coverage`. Where no method reached this, as with fewer than `LEAST` samples, an estimate has no interval.

An Elo difference of d means an expected score of 1 / (1 + 10 ** (-d / 400)), with draws counted as half wins. Ratings
come from a Bradley-Terry model with a term for moving first: player i, moving first after the opening, beats player j
with log odds r_i - r_j + t, where t is the advantage of moving first. The games of one opening are not independent, so
the bootstrap draws openings. Source: D. R. Hunter, "MM algorithms for generalized Bradley-Terry models" (2004).
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats, Ints

BOOTSTRAP_SAMPLES = 1000
LEAST, LEAST_DIFFERENCES = 5, 10
"""Minimum numbers of runs, openings or losses other than 0, and of differences other than 0, for an interval."""
LEAST_DEVIATION = 1.0
"""Minimum root of the sum of squared deviations of samples in points; thus no interval has width 0."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; without an interval, `low` and `high` are NaN."""

    mean: float
    low: float = math.nan
    high: float = math.nan


def as_record(result: Any) -> dict[str, Any]:
    """Return a dataclass of results as a dictionary for JSON, without the ends of intervals that do not exist."""
    return dataclasses.asdict(
        result, dict_factory=lambda items: {name: value for name, value in items if value == value}
    )


def score_estimate(samples: Floats) -> Estimate:
    """Return the mean of (K,) independent samples between 0 and 1, such as scores; its interval never has width 0.

    The interval is Wilson's, with its variance multiplied by the samples' variance as a share of m (1 - m), the largest
    variance of samples with mean m. A pseudo-sum of squares, 1/2, pulls this share towards 1, and the quantile is
    widened for few samples. A continuity correction of half the usual size makes it cover means near 0 and 1.
    """
    k, mean = len(samples), float(samples.mean())
    share = (float(((samples - mean) ** 2).sum()) + 0.5) / (k * mean * (1 - mean) + 0.5)
    width = _quantile(k) ** 2 * share / k
    middle = (mean + width / 2) / (1 + width)
    half = (width * mean * (1 - mean) + width**2 / 4) ** 0.5 / (1 + width) + 0.25 / k
    return Estimate(mean, max(middle - half, 0.0), min(middle + half, 1.0))


def mean_estimate(samples: Floats, least_deviation: float = LEAST_DEVIATION) -> Estimate:
    """Return the mean of (K,) samples, such as margins, with an approximate Student interval.

    For samples in another unit than points, `least_deviation` says what `LEAST_DEVIATION` is in their unit.
    """
    mean, half = _mean_and_half(samples, len(samples), LEAST, least_deviation)
    return Estimate(mean, mean - half, mean + half)


def difference_estimate(differences: Floats) -> Estimate:
    """Return the mean of (N,) paired differences, most of which may be 0, with an approximate Student interval.

    The quantile is for the number of differences other than 0, because a 0 says little about the spread.
    """
    mean, half = _mean_and_half(differences, int(np.count_nonzero(differences)), LEAST_DIFFERENCES)
    return Estimate(mean, mean - half, mean + half)


def loss_estimate(losses: Floats) -> Estimate:
    """Return the mean of (N,) losses of 0 or more. Most are 0 and few are large, so the interval reaches further up.

    Its lower end is as in `difference_estimate`; its upper end is where the logarithm of the mean is as much larger.
    """
    mean, half = _mean_and_half(losses, int(np.count_nonzero(losses)), LEAST)
    return Estimate(mean) if math.isnan(half) else Estimate(mean, max(mean - half, 0.0), mean * math.exp(half / mean))


def _mean_and_half(samples: Floats, k: int, least: int, deviation: float = LEAST_DEVIATION) -> tuple[float, float]:
    """Return the mean, and half the width of its interval with the quantile for `k` samples; NaN if `k` < `least`."""
    n, mean = len(samples), float(samples.mean())
    if k < least:
        return mean, math.nan
    squares = max(float(((samples - mean) ** 2).sum()), deviation**2)
    return mean, _quantile(k) * (squares / (n - 1) / n) ** 0.5


def _quantile(k: float) -> float:
    """Return an approximate 97.5 % quantile of Student's t for `k` samples, slightly too large for `k` >= 4."""
    return 1.96 * (1 + 2.7 / k)


def bootstrap_estimates(means: Floats, drawn: Floats, k: int) -> list[Estimate]:
    """Return (C,) statistics of `k` samples, with Student intervals from the spread of (B, C) bootstrap samples."""
    if k < LEAST:
        return [Estimate(mean) for mean in means.tolist()]
    half = _quantile(k) * (k / (k - 1)) ** 0.5 * drawn.std(axis=0)
    return [
        Estimate(*ends) for ends in zip(*(ends.tolist() for ends in (means, means - half, means + half)), strict=True)
    ]


# ---- scores of several runs ------------------------------------------------------------------------------------------


def interquartile_mean(scores: npt.ArrayLike) -> Floats:
    """Return the (...) interquartile means of (..., R, T) scores; the R * T // 4 lowest and highest are left out."""
    table = np.asarray(scores, dtype=np.float64)
    ranked = np.sort(table.reshape(*table.shape[:-2], -1), axis=-1)
    cut = ranked.shape[-1] // 4
    means: Floats = ranked[..., cut : ranked.shape[-1] - cut].mean(axis=-1)
    return means


def interquartile_estimate(scores: npt.ArrayLike, rng: np.random.Generator) -> Estimate:
    """Return the interquartile mean of (R, T) scores; its bootstrap draws runs separately per task."""
    table = np.asarray(scores, dtype=np.float64)
    runs = rng.integers(len(table), size=(BOOTSTRAP_SAMPLES, *table.shape))
    means = interquartile_mean(np.take_along_axis(table[None], runs, axis=1))
    return bootstrap_estimates(interquartile_mean(table)[None], means[:, None], len(table))[0]


def interquartile_differences(
    methods: Sequence[Floats], rng: np.random.Generator
) -> tuple[list[Estimate], list[Estimate]]:
    """Return each method's interquartile mean over its runs, and its difference from the first method.

    Each method has (R, N) samples: R runs over N positions or openings, which all methods share. One bootstrap draws
    each method's runs, and another the same positions for all. Their variances add up, with Welch's degrees of freedom.
    """
    n, means = methods[0].shape[1], [interquartile_mean(samples.mean(axis=1)[:, None]) for samples in methods]
    weights, spreads, over_positions = rng.multinomial(n, np.full(n, 1 / n), BOOTSTRAP_SAMPLES) / n, [], []
    for samples in methods:
        runs = len(samples)
        drawn = samples.mean(axis=1)[rng.integers(runs, size=(BOOTSTRAP_SAMPLES, runs))]
        spreads.append((float(interquartile_mean(drawn[..., None]).var()) * runs / max(runs - 1, 1), runs - 1))
        over_positions.append(interquartile_mean((weights @ samples.T)[..., None]))

    def estimate(mean: Floats, over: Floats, *of_runs: tuple[float, int]) -> Estimate:
        parts = [*of_runs, (float(over.var()), n - 1)]
        variance = sum(part for part, _ in parts)
        if min(degrees for _, degrees in parts) < LEAST - 1 or not variance:
            return Estimate(float(mean))
        half = _quantile(1 + variance**2 / sum(part**2 / degrees for part, degrees in parts)) * variance**0.5
        return Estimate(float(mean), float(mean) - half, float(mean) + half)

    of_methods = list(zip(means, over_positions, spreads, strict=True))
    differences = [
        estimate(mean - means[0], over - over_positions[0], spread, spreads[0]) for mean, over, spread in of_methods[1:]
    ]
    return [estimate(*values) for values in of_methods], [Estimate(0.0), *differences]


def probability_of_improvement(scores: npt.ArrayLike, others: npt.ArrayLike) -> Estimate:
    """Return the probability that a run of (R, T) `scores` is above a run of (S, T) `others`, averaged over tasks.

    Ties count half. If lower scores are better, as with regret, swap the arguments. The interval is for a single task:
    it holds the probabilities that lie within the quantile times their standard error, by Newcombe 2006 (method 5) or,
    if it is larger, from the samples, by DeLong et al. 1988.
    """
    one, other = (np.asarray(table, dtype=np.float64)[:, None] for table in (scores, others))
    above = (np.sign(one - np.swapaxes(other, 0, 1)) + 1) / 2  # (R, S, T)
    mean, (r, s, tasks) = float(above.mean()), above.shape
    if min(r, s) < LEAST or tasks > 1:
        return Estimate(mean)
    p, more = np.linspace(0, 1, 1001), (r + s) / 2 - 1
    variance = p * (1 - p) * (1 + more * ((1 - p) / (2 - p) + p / (1 + p))) / (r * s)
    delong = above.mean(axis=1).var(ddof=1) / r + above.mean(axis=0).var(ddof=1) / s
    near = p[np.abs(p - mean) <= 1.96 * (1 + 0.5 / min(r, s)) * np.sqrt(np.maximum(variance, delong))]
    return Estimate(mean, float(near.min(initial=mean)), float(near.max(initial=mean)))


# ---- Elo and ratings -------------------------------------------------------------------------------------------------

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

    A player that won or lost every game has no interval: the prior of `fit` sets its rating, which is only a bound.

    `games` (G, 2) holds the two players (0 .. M-1) of each game in the order in which they move after the opening, and
    `scores` (K, G) holds the first player's scores: 0, 1/2 or 1. The rating of the player `anchor` is 0.
    """
    k = len(scores)
    counts = np.concatenate([np.ones((1, k), dtype=np.int64), rng.multinomial(k, np.full(k, 1 / k), size=samples)])
    won = counts @ scores  # the first row is the real sample
    estimates = ELO * fit(comparisons(np.asarray(games)), won, np.full(won.shape, float(k)))
    estimates[:, :-1] -= estimates[:, [anchor]]
    *players, first = bootstrap_estimates(estimates[0], estimates[1:], k)
    pairs, shares = np.asarray(games), scores.mean(axis=0)
    for number, player in enumerate(players):
        own = np.concatenate([shares[pairs[:, 0] == number], 1 - shares[pairs[:, 1] == number]])
        if own.min() == own.max() and own[0] in (0, 1):
            players[number] = Estimate(player.mean)
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
