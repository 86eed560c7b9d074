"""Aggregate scores over several training runs, after Agarwal et al. 2021 (arXiv 2108.13264).

Shapes: R runs that differ only in their seed, T tasks. A score is any number, such as a regret.
"""

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.estimates import BOOTSTRAP_SAMPLES, Estimate, percentile_estimates


def interquartile_mean(scores: npt.ArrayLike) -> Floats:
    """Return the (...) interquartile means of (..., R, T) scores; the R * T // 4 lowest and highest are left out."""
    table = np.asarray(scores, dtype=np.float64)
    ranked = np.sort(table.reshape(*table.shape[:-2], -1), axis=-1)
    cut = ranked.shape[-1] // 4
    means: Floats = ranked[..., cut : ranked.shape[-1] - cut].mean(axis=-1)
    return means


def interquartile_estimate(scores: npt.ArrayLike, rng: np.random.Generator) -> Estimate:
    """Return the interquartile mean of (R, T) scores; its bootstrap interval draws runs separately per task."""
    table = np.asarray(scores, dtype=np.float64)
    runs = rng.integers(len(table), size=(BOOTSTRAP_SAMPLES, *table.shape))
    means = interquartile_mean(np.take_along_axis(table[None], runs, axis=1))
    return percentile_estimates(interquartile_mean(table)[None], means[:, None])[0]


def probability_of_improvement(scores: npt.ArrayLike, others: npt.ArrayLike) -> float:
    """Return the probability that a run of (R, T) `scores` is above a run of (S, T) `others`, averaged over tasks.

    Ties count half. If lower scores are better, as with regret, swap the arguments.
    """
    one, other = (np.asarray(table, dtype=np.float64)[:, None] for table in (scores, others))
    difference = one - np.swapaxes(other, 0, 1)  # (R, S, T)
    return float(((np.sign(difference) + 1) / 2).mean())
