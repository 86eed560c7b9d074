"""Test the means of games and of training runs with their intervals."""

import numpy as np
import pytest

from oanquan_env.benchmark.statistics import (
    bootstrap_means,
    interquartile_estimate,
    interquartile_mean,
    mean_estimate,
    percentile_estimates,
    probability_of_improvement,
    score_estimate,
)


@pytest.mark.parametrize("samples", [[0, 2], [0, 0, 0, 4]])
def test_the_interval_of_a_margin_by_hand(samples: list[float]) -> None:
    """The unbiased variances are 2 and 4, so the standard error of the mean is 1 in both cases."""
    found, half = mean_estimate(np.array(samples, dtype=np.float64)), 1.96 * (1 + 2.5 / len(samples))
    assert (found.mean, found.low, found.high) == pytest.approx((1, 1 - half, 1 + half))


def test_samples_without_spread_have_an_interval_and_many_the_normal_one() -> None:
    assert score_estimate(np.ones(5)).low < 0.5
    assert 0.9 < score_estimate(np.ones(100)).low < 0.98
    assert score_estimate(np.zeros(100)).high == pytest.approx(1 - score_estimate(np.ones(100)).low)
    assert score_estimate(np.array([1.0])).low < mean_estimate(np.array([1.0])).mean
    assert all(mean_estimate(one).low < 3 < mean_estimate(one).high for one in (np.full(1, 3.0), np.full(5, 3.0)))
    samples = np.random.default_rng(0).choice([0, 0.25, 0.5, 0.75, 1], 2000, p=[0.1, 0.1, 0.3, 0.2, 0.3])
    found, mean, half = score_estimate(samples), samples.mean(), 1.96 * samples.std(ddof=1) / 2000**0.5
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), abs=0.05 * half)


def pairs_of(score: float, kind: str) -> list[float]:
    """Return (5,) probabilities of a game pair's scores 0, 1/4, …, 1, given their mean `score` and the kind of pair."""
    lost = 1 - score
    whole, split = [lost, 0, 0, 0, score], [0, 0, 2 * lost, 0, 2 * score - 1]
    drawn = min(0.4, 2 * lost)
    game = [lost - drawn / 2, drawn, score - drawn / 2]
    return {"both alike": whole, "one each": split, "with draws": list(np.convolve(game, game))}[kind]


@pytest.mark.parametrize("kind", ["both alike", "one each", "with draws"])
@pytest.mark.parametrize("score", [0.5, 0.92])
@pytest.mark.parametrize("pairs", [5, 50])
def test_intervals_of_few_and_one_sided_pairs_cover(pairs: int, score: float, kind: str) -> None:
    """At least 92 % of 2,000 intervals of 95 % contain the expected score; the difference leaves room for noise."""
    weights = np.maximum(pairs_of(score, kind), 0)
    drawn = np.random.default_rng(pairs).choice(np.linspace(0, 1, 5), (2000, pairs), p=weights / weights.sum())
    found = [score_estimate(row) for row in drawn]
    assert sum(one.low <= score + 1e-9 and score - 1e-9 <= one.high for one in found) >= 0.92 * 2000


def test_percentile_intervals_hold_the_middle_95_percent_of_each_column() -> None:
    drawn = np.stack([np.arange(1001), -2 * np.arange(1001)], axis=1) / 10
    for found, wanted in zip(
        percentile_estimates(np.array([60.0, 7.0]), drawn), ((60, 2.5, 97.5), (7, -195, -5)), strict=True
    ):
        assert (found.mean, found.low, found.high) == pytest.approx(wanted)


def test_bootstrap_intervals_are_those_of_the_mean_and_columns_share_their_rows() -> None:
    samples = np.random.default_rng(1).normal([0, 5], [1, 10], (400, 2))
    for column, found in enumerate(bootstrap_means(samples[None], np.random.default_rng(2))):
        mean, half = samples[:, column].mean(), 1.96 * samples[:, column].std() / 20
        assert (found.mean, found.low, found.high) == pytest.approx((mean, mean - half, mean + half), abs=0.15 * half)
    won = np.random.default_rng(3).random(50)
    one, other = bootstrap_means(np.stack([won, 1 - won], axis=1)[None], np.random.default_rng(4))
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


def test_bootstrap_intervals_include_the_spread_of_runs() -> None:
    """The interval's width follows from the spread of the four runs, however many positions each run has."""
    samples = np.arange(4.0)[:, None, None] + np.zeros((4, 1000, 1))
    (found,) = bootstrap_means(samples, np.random.default_rng(0))
    assert (found.mean, found.low, found.high) == pytest.approx((1.5, 0.5, 2.5), abs=0.26)


def test_the_middle_half_by_hand() -> None:
    assert interquartile_mean([[9.0], [1.0], [100.0], [3.0], [5.0]]) == (3 + 5 + 9) / 3  # drops 5 // 4 at each end
    assert interquartile_mean([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, -99.0]]) == (2 + 3 + 4 + 5) / 4
    for scores in ([[2.5]], [[2.5]] * 6):
        found = interquartile_estimate(scores, np.random.default_rng(0))
        assert (found.mean, found.low, found.high) == (2.5, 2.5, 2.5)


def test_runs_are_drawn_within_their_task() -> None:
    """Tasks have very different scores, so resampling across tasks would vary the mean by hundreds."""
    scores = np.array([[0.0, 1000.0], [1.0, 1001.0], [2.0, 1002.0], [3.0, 1003.0]])
    found = interquartile_estimate(scores, np.random.default_rng(0))
    assert found.mean == (2 + 3 + 1000 + 1001) / 4
    assert found.high - found.low < 4


def test_intervals_cover() -> None:
    """Of 200 intervals, 172 to 198 contain the mean; the percentile bootstrap of 12 runs is somewhat too narrow."""
    rngs = [np.random.default_rng(repetition) for repetition in range(200)]
    found = [interquartile_estimate(rng.normal(3, 1, (12, 1)), rng) for rng in rngs]
    assert 172 <= sum(one.low <= 3 <= one.high for one in found) <= 198


def test_improvement_by_hand() -> None:
    assert probability_of_improvement([[1.0], [3.0]], [[2.0], [3.0]]) == (0 + 0 + 1 + 0.5) / 4
    assert probability_of_improvement([[1.0, 5.0]], [[0.0, 9.0], [0.0, 9.0]]) == 0.5  # certain in one of two tasks
    one, other = np.random.default_rng(1).random((2, 5, 3))
    assert probability_of_improvement(one, other) == pytest.approx(1 - probability_of_improvement(other, one))
