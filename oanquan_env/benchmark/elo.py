"""Elo differences. One of d means an expected score of 1 / (1 + 10 ** (-d / 400)), draws counted as half wins.

The two games of a pair share their opening, so pairs are the samples wherever a spread is estimated.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Floats

PENTANOMIAL = ("LL", "LD", "DD+WL", "WD", "WW")
"""Outcomes of a pair of games, by the points it scores: 0, 0.5, 1, 1.5, 2."""


class EloDifference(NamedTuple):
    """How much stronger one player is than another, by many games: intervals are normal."""

    elo: float
    """Elo points; infinite where all games were won or lost."""
    error: float
    """Half the width of the 95 % interval, Elo points; NaN where an end of the interval is not finite."""
    los: float
    """Likelihood of superiority: probability that the player is the stronger one."""


def expected_score(elo: float) -> float:
    """Expected score of a player `elo` points stronger than the other."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float:
    """Inverse of `expected_score`; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def elo_of_pairs(pentanomial: npt.ArrayLike) -> EloDifference:
    """Elo difference from (5,) counts of pairs, as `PENTANOMIAL` orders them. Raises `ValueError` for another shape."""
    counts = np.asarray(pentanomial)
    if counts.shape != (5,):
        raise ValueError(f"pairs have five outcomes ({', '.join(PENTANOMIAL)}); got counts of shape {counts.shape}")
    return elo_of_outcomes(counts, np.linspace(0, 1, 5))


def elo_of_outcomes(counts: npt.NDArray[np.integer] | Floats, scores: Floats) -> EloDifference:
    """Elo difference from outcomes that score `scores`, 0 to 1, and occurred `counts` times, taken as independent.

    Raises `ValueError` if there are none, and for a negative count.
    """
    n = float(counts.sum())
    if n <= 0 or (counts < 0).any():
        raise ValueError(f"counts must not be negative and not all zero; got {counts.tolist()}")
    mean = float(counts @ scores) / n
    deviation = math.sqrt(float(counts @ (scores - mean) ** 2)) / n
    low, high = elo_of_score(mean - 1.96 * deviation), elo_of_score(mean + 1.96 * deviation)
    error = (high - low) / 2 if math.isfinite(low) and math.isfinite(high) else math.nan
    if deviation == 0:
        los = 0.5 if mean == 0.5 else float(mean > 0.5)
    else:
        los = (1 + math.erf((mean - 0.5) / deviation / math.sqrt(2))) / 2
    return EloDifference(elo_of_score(mean), error, los)


def pentanomial(score: Floats) -> npt.NDArray[np.int64]:
    """(5,) counts of pairs, as `PENTANOMIAL` orders them, of the (K, 2) scores of K pairs."""
    return np.bincount(np.rint(2 * score.sum(axis=1)).astype(np.intp), minlength=5).astype(np.int64)
