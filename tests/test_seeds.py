"""Several runs in one number: interquartile mean, its interval, probability of improvement."""

from __future__ import annotations

import numpy as np
import pytest

from oanquan_env.benchmark.seeds import interquartile_estimate, interquartile_mean, probability_of_improvement


def test_the_middle_half_by_hand() -> None:
    assert interquartile_mean([[9.0], [1.0], [100.0], [3.0], [5.0]]) == (3 + 5 + 9) / 3  # 5 // 4 at each end
    assert interquartile_mean([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, -99.0]]) == (2 + 3 + 4 + 5) / 4
    assert interquartile_mean([[7.0]]) == 7


def test_one_run_has_no_spread_and_equal_runs_have_none() -> None:
    for scores in ([[2.5]], [[2.5]] * 6):
        found = interquartile_estimate(scores, np.random.default_rng(0))
        assert (found.mean, found.low, found.high) == (2.5, 2.5, 2.5)


def test_runs_are_drawn_within_their_task() -> None:
    """Tasks of very different scores: drawn across tasks the mean would vary by hundreds."""
    scores = np.array([[0.0, 1000.0], [1.0, 1001.0], [2.0, 1002.0], [3.0, 1003.0]])
    found = interquartile_estimate(scores, np.random.default_rng(0))
    assert found.mean == (2 + 3 + 1000 + 1001) / 4
    assert found.high - found.low < 4


def test_intervals_cover() -> None:
    """Of 200 intervals for twelve runs; the percentile bootstrap of so few is somewhat too narrow."""
    covering = 0
    for repetition in range(200):
        rng = np.random.default_rng(repetition)
        found = interquartile_estimate(rng.normal(3, 1, (12, 1)), rng)
        covering += found.low <= 3 <= found.high
    assert 172 <= covering <= 198


def test_improvement_by_hand() -> None:
    assert probability_of_improvement([[1.0], [3.0]], [[2.0], [3.0]]) == (0 + 0 + 1 + 0.5) / 4
    assert probability_of_improvement([[1.0, 5.0]], [[0.0, 9.0], [0.0, 9.0]]) == 0.5  # always in one task of two
    one, other = np.random.default_rng(1).random((2, 5, 3))
    assert probability_of_improvement(one, other) == pytest.approx(1 - probability_of_improvement(other, one))
