"""Numbers estimated from samples, with 95 % intervals."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oanquan_env.arrays import Floats

BOOTSTRAP_SAMPLES = 1000


class Reported:
    """Results that reports hold: pydantic, which reads these, refuses unknown fields."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}


@dataclass(frozen=True)
class Estimate(Reported):
    """A number with its 95 % interval."""

    mean: float
    low: float
    high: float


def mean_estimate(samples: Floats) -> Estimate:
    """Mean of independent samples (K,) with its normal interval; one sample shows no spread, so no width."""
    mean = float(samples.mean())
    spread = 1.96 * float(samples.std(ddof=1)) / len(samples) ** 0.5 if len(samples) > 1 else 0.0
    return Estimate(mean, mean - spread, mean + spread)


def bootstrap_means(samples: Floats, rng: np.random.Generator) -> list[Estimate]:
    """Means of the C columns of (N, C) samples, with percentile intervals over resampled rows."""
    n = len(samples)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAP_SAMPLES) @ samples / n  # (BOOTSTRAP_SAMPLES, C)
    return percentile_estimates(samples.mean(axis=0), drawn)


def percentile_estimates(means: Floats, drawn: Floats) -> list[Estimate]:
    """(C,) means with the intervals that hold 95 % of each column of (B, C) bootstrap samples."""
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return [Estimate(*map(float, ends)) for ends in zip(means, low, high, strict=True)]
