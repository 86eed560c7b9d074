"""Means with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from oanquan_env.benchmark.estimates import Estimate, bootstrap_means, mean_estimate, percentile_estimates


@pytest.mark.parametrize("samples", [[0, 2], [0, 0, 0, 4]])
def test_the_interval_of_a_mean_by_hand(samples: list[float]) -> None:
    """Squared deviations over one less than the samples give variances of 2 and 4, so the mean's deviation is 1."""
    found = mean_estimate(np.array(samples, dtype=np.float64))
    assert (found.mean, found.low, found.high) == pytest.approx((1, 1 - 1.96, 1 + 1.96))


def test_one_sample_shows_no_spread() -> None:
    assert mean_estimate(np.array([0.25])) == Estimate(0.25, 0.25, 0.25)


def test_percentile_intervals_hold_the_middle_95_percent_of_each_column() -> None:
    drawn = np.stack([np.arange(1001), -2 * np.arange(1001)], axis=1) / 10
    first, second = percentile_estimates(np.array([60.0, 7.0]), drawn)
    assert (first.mean, first.low, first.high) == pytest.approx((60, 2.5, 97.5))
    assert (second.mean, second.low, second.high) == pytest.approx((7, -195, -5))


def test_bootstrap_intervals_are_those_of_the_mean() -> None:
    samples = np.random.default_rng(1).normal([0, 5], [1, 10], (400, 2))
    intervals = bootstrap_means(samples, np.random.default_rng(2))
    for column, interval in enumerate(intervals):
        half = 1.96 * samples[:, column].std() / 20
        assert interval.mean == pytest.approx(samples[:, column].mean())
        assert interval.low == pytest.approx(interval.mean - half, abs=0.15 * half)
        assert interval.high == pytest.approx(interval.mean + half, abs=0.15 * half)


def test_the_columns_of_a_bootstrap_share_their_drawn_rows() -> None:
    won = np.random.default_rng(3).random(50)
    one, other = bootstrap_means(np.stack([won, 1 - won], axis=1), np.random.default_rng(4))
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
