"""Elo differences. One of d means an expected score of 1 / (1 + 10 ** (-d / 400)), draws counted as half wins.

The two games of a pair share their opening, so pairs are the samples wherever a spread is estimated.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats

PENTANOMIAL = ("LL", "LD", "DD/WL", "WD", "WW")
"""Outcomes of a pair of games, by the points it scores: 0, 0.5, 1, 1.5, 2."""


class EloDifference(NamedTuple):
    """How much stronger one player is than another."""

    elo: float
    """Elo points; infinite where all games were won or lost."""
    error: float
    """Half the width of the 95 % interval, Elo points; NaN where an end of the interval is not finite."""
    los: float
    """Likelihood of superiority: probability that the player is the stronger one, by a normal approximation."""


def expected_score(elo: float) -> float:
    """Expected score of a player `elo` points stronger than the other."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float:
    """Inverse of `expected_score`; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def elo_of_pairs(pentanomial: npt.ArrayLike) -> EloDifference:
    """Elo difference from (5,) counts of pairs, as `PENTANOMIAL` orders them."""
    return elo_of_outcomes(five_counts(pentanomial), np.linspace(0, 1, 5))


class NormalisedElo(NamedTuple):
    """A score above even in standard deviations of a game, on a scale like Elo's.

    It tells how many games it takes to show which of two players is stronger, however often they draw and however
    much the openings decide (M. Van den Bergh, "Normalized Elo", 2021).
    """

    elo: float
    """800 / ln 10 times (score - 1/2) / deviation of a game's score; not finite where all pairs scored the same."""
    error: float
    """Half the width of the 95 % interval; NaN where the difference is not finite."""


def normalised_elo(pentanomial: npt.ArrayLike) -> NormalisedElo:
    """Normalised Elo difference from (5,) counts of pairs, as `PENTANOMIAL` orders them.

    The deviation of a game is that of a pair's mean score times the square root of 2. The interval is the delta
    method's, with the skewness and the kurtosis of the pairs.
    """
    counts, scores = five_counts(pentanomial), np.linspace(0, 1, 5)
    mean, variance, n = moments(counts, scores)
    if variance == 0:
        return NormalisedElo(math.nan if mean == 0.5 else math.copysign(math.inf, mean - 0.5), math.nan)
    steps = (scores - mean) / math.sqrt(variance)
    shift, skewness, kurtosis = (mean - 0.5) / math.sqrt(variance), counts @ steps**3 / n, counts @ steps**4 / n
    spread = 1 - shift * skewness + shift**2 * (kurtosis - 1) / 4
    scale = 800 / math.log(10) / math.sqrt(2)
    return NormalisedElo(scale * shift, scale * 1.96 * math.sqrt(spread / n))


def five_counts(pentanomial: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Counts of pairs as `PENTANOMIAL` orders them; raises ValueError unless there are five."""
    counts = np.asarray(pentanomial, dtype=np.float64)
    if counts.shape != (5,):
        raise ValueError(f"pairs have five outcomes ({', '.join(PENTANOMIAL)}); got counts of shape {counts.shape}")
    return counts


def elo_of_outcomes(counts: npt.NDArray[np.integer] | Floats, scores: Floats) -> EloDifference:
    """Elo difference from outcomes that score `scores`, 0 to 1, and occurred `counts` times, taken as independent.

    Raises `ValueError` if there are none, and for a negative count.
    """
    mean, variance, n = moments(counts.astype(np.float64), scores)
    deviation = math.sqrt(variance / n)
    low, high = elo_of_score(mean - 1.96 * deviation), elo_of_score(mean + 1.96 * deviation)
    error = (high - low) / 2 if math.isfinite(low) and math.isfinite(high) else math.nan
    if deviation == 0:
        los = 0.5 if mean == 0.5 else float(mean > 0.5)
    else:
        los = (1 + math.erf((mean - 0.5) / deviation / math.sqrt(2))) / 2
    return EloDifference(elo_of_score(mean), error, los)


def moments(counts: Floats, scores: Floats) -> tuple[float, float, float]:
    """Mean and variance of outcomes that score `scores` and occurred `counts` times, and the number of all."""
    n = float(counts.sum())
    if n <= 0 or (counts < 0).any():
        raise ValueError(f"counts must not be negative and not all zero; got {counts.tolist()}")
    mean = float(counts @ scores) / n
    return mean, float(counts @ (scores - mean) ** 2) / n, n


def pentanomial(score: Floats) -> npt.NDArray[np.int64]:
    """(5,) counts of pairs, as `PENTANOMIAL` orders them, of the (K, 2) scores of K pairs."""
    return np.bincount(np.rint(2 * score.sum(axis=1)).astype(np.intp), minlength=5).astype(np.int64)
