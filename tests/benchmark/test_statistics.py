"""Test the means of games and of training runs with their intervals, and Elo and Bradley-Terry ratings."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from experiments import coverage
from oanquan_env.benchmark.game_pairs import pentanomial
from oanquan_env.benchmark.statistics import (
    ELO,
    LEAST,
    Estimate,
    as_record,
    bootstrap_estimates,
    comparisons,
    difference_estimate,
    elo_of_score,
    expected_score,
    fit,
    interquartile_differences,
    interquartile_estimate,
    interquartile_mean,
    loss_estimate,
    mean_estimate,
    probability_of_improvement,
    rate,
    score_estimate,
)


def ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.mean, estimate.low, estimate.high


def test_intervals_of_means_by_hand() -> None:
    """Five or 20 samples of 0, 1, 3, 3 and 3; the squared deviations of five add up to 8, and of 20 to 32."""
    few, many = np.array([0.0, 1, 3, 3, 3]), np.tile([0.0, 1, 3, 3, 3], 4)
    half = 1.96 * (1 + 2.7 / 5) * (8 / 4 / 5) ** 0.5
    assert ends(mean_estimate(few)) == pytest.approx((2, 2 - half, 2 + half))
    half = 1.96 * (1 + 2.7 / 16) * (32 / 19 / 20) ** 0.5  # 16 samples are not 0
    assert ends(difference_estimate(many)) == pytest.approx((2, 2 - half, 2 + half))
    assert ends(loss_estimate(many)) == pytest.approx((2, 2 - half, 2 * np.exp(half / 2)))
    width = (1.96 * (1 + 2.7 / 100)) ** 2 / 100  # Wilson's, with a quarter of a sample more on each side
    assert ends(score_estimate(np.zeros(100))) == pytest.approx((0, 0, width / (1 + width) + 0.25 / 100))
    assert loss_estimate(np.eye(1, 900)[0] + np.eye(5, 900).sum(axis=0)).low == 0


def test_too_few_samples_have_no_interval() -> None:
    rng, four, nine = np.random.default_rng(0), np.arange(4.0), np.append(np.arange(10.0), np.zeros(90))
    for estimate in (
        mean_estimate(four),
        loss_estimate(np.append(np.ones(4), np.zeros(96))),
        difference_estimate(nine),
        interquartile_estimate(four[:, None], rng),
        probability_of_improvement(four[:, None], np.arange(9.0)[:, None]),
        interquartile_differences([np.ones((4, 9)), np.ones((9, 9))], rng)[1][1],
        *bootstrap_estimates(np.ones(1), np.ones((9, 1)), LEAST - 1),
    ):
        assert np.isnan((estimate.low, estimate.high)).all()
        assert as_record(estimate) == {"mean": estimate.mean}


def test_samples_without_spread_have_an_interval_and_many_the_normal_one() -> None:
    assert score_estimate(np.ones(5)).low < 0.5
    assert 0.9 < score_estimate(np.ones(100)).low < 0.98
    assert score_estimate(np.zeros(100)).high == pytest.approx(1 - score_estimate(np.ones(100)).low)
    assert score_estimate(np.array([1.0])).low < 0.1
    assert mean_estimate(np.full(5, 3.0)).low < 3 < mean_estimate(np.full(5, 3.0)).high
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


def test_bootstrap_intervals_have_the_width_of_student() -> None:
    samples = np.random.default_rng(1).normal(5, 10, 40)
    drawn = samples[np.random.default_rng(2).integers(40, size=(20_000, 40))].mean(axis=1)
    (found,), by_hand = bootstrap_estimates(samples.mean()[None], drawn[:, None], 40), mean_estimate(samples)
    assert ends(found) == pytest.approx(ends(by_hand), abs=0.1)


def test_the_middle_half_by_hand() -> None:
    assert interquartile_mean([[9.0], [1.0], [100.0], [3.0], [5.0]]) == (3 + 5 + 9) / 3  # drops 5 // 4 at each end
    assert interquartile_mean([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, -99.0]]) == (2 + 3 + 4 + 5) / 4
    for scores in ([[2.5]], [[2.5]] * 6):
        found = interquartile_estimate(scores, np.random.default_rng(0))
        assert found.mean == 2.5


def test_runs_are_drawn_within_their_task() -> None:
    """Tasks have very different scores, so resampling across tasks would vary the mean by hundreds."""
    scores = np.arange(6.0)[:, None] + [0.0, 1000.0]
    found = interquartile_estimate(scores, np.random.default_rng(0))
    assert found.mean == (3 + 4 + 5 + 1000 + 1001 + 1002) / 6
    assert found.high - found.low < 6


def test_differences_share_the_positions_and_include_the_spread_of_both() -> None:
    rng, positions = np.random.default_rng(0), 100 * np.random.default_rng(1).normal(size=400)
    runs = np.arange(5.0)[:, None]
    (one, other), (none, difference) = interquartile_differences([positions + runs, positions + runs + 7], rng)
    assert (one.mean, other.mean) == pytest.approx((positions.mean() + 2, positions.mean() + 9))
    assert as_record(none) == {"mean": 0}
    assert difference.mean == pytest.approx(7)
    assert one.high - one.low > 15  # the positions differ by hundreds, and cancel in the difference
    half = 1.96 * 1.3 * (2 * 2.5 / 5) ** 0.5  # of the means of five runs each, with 8 degrees of freedom
    assert half < (difference.high - difference.low) / 2 < 1.5 * half
    (fixed, _), _ = interquartile_differences([0 * positions + runs] * 2, rng)
    assert ends(fixed) == pytest.approx(ends(interquartile_estimate(runs, rng)), abs=0.15)  # half a width of 2.2
    alike = interquartile_differences([positions + 0 * runs, 0 * positions + 0 * runs], rng)[1][1]
    assert ends(alike) == pytest.approx(ends(mean_estimate(-positions)), abs=1.5)  # runs without spread add nothing
    wide = interquartile_differences([runs + 0 * positions, runs + positions], rng)[1][1]
    assert wide.high - wide.low > 15


def test_improvement_by_hand() -> None:
    assert probability_of_improvement([[1.0], [3.0]], [[2.0], [3.0]]).mean == (0 + 0 + 1 + 0.5) / 4
    assert probability_of_improvement([[1.0, 5.0]], [[0.0, 9.0], [0.0, 9.0]]).mean == 0.5  # certain in one of two tasks
    one, other = np.random.default_rng(1).random((2, 5, 1))
    better, worse = probability_of_improvement(one, other), probability_of_improvement(other, one)
    assert ends(better) == pytest.approx((1 - worse.mean, 1 - worse.high, 1 - worse.low))
    always = probability_of_improvement([[10.0 + run] for run in range(5)], [[0.0 + run] for run in range(5)])
    assert (always.mean, always.high) == (1, 1)
    uneven = probability_of_improvement([[0.0], [0.0], [9.0], [9.0], [9.0]], [[5.0]] * 5)  # a variance of 0.3 / 5
    assert ends(uneven) == pytest.approx((0.6, 0.6 - 1.96 * 1.1 * 0.06**0.5, 1), abs=1e-3)
    assert 0.5 < always.low < 0.7


@pytest.mark.slow
def test_every_interval_covers_the_value_of_its_population() -> None:
    """At least 91 % of 300 intervals of 95 %, at all sizes of samples; the published table has 1,000 of each."""
    for results in coverage.measure(coverage.Options(samples=300)):
        last = results["rows"]
    assert len({(row["statistic"], row["size"]) for row in last}) == 42
    low = [row for row in last if row["exist"] >= 0.5 and row["covered"] < 0.91]
    assert low == []


def test_an_elo_difference_is_a_score() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of_score(expected_score(-123)) == pytest.approx(-123)
    assert (elo_of_score(0), elo_of_score(1)) == (-math.inf, math.inf)


def test_pentanomial_counts_pairs_by_their_points() -> None:
    score = np.array([[0, 0], [0, 0.5], [0.5, 0], [0.5, 0.5], [1, 0], [0, 1], [1, 0.5], [1, 1], [1, 1]])
    assert pentanomial(score) == [1, 2, 3, 1, 2]


def bradley_terry(
    pairs: ArrayLike, won: ArrayLike, played: ArrayLike, anchor: int, prior_draws: float = 1
) -> tuple[np.ndarray, float]:
    """Fit Elo relative to `anchor` and the first-move advantage; `won` is what each pair's first player scored."""
    points, games = (np.asarray([counts], np.float64) for counts in (won, played))
    estimate = ELO * fit(comparisons(np.asarray(pairs)), points, games, prior_draws)[0]
    return estimate[:-1] - estimate[anchor], float(estimate[-1])


def test_ratings_agree_with_choix() -> None:
    """With no first-move advantage and a weak prior, the ratings are choix's maximum-likelihood estimates."""
    import choix  # imported here because it loads scipy.stats for seconds

    wins = np.random.default_rng(3).integers(5, 60, (5, 5))
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    oracle = choix.ilsr_pairwise(5, [pair for pair in pairs for _ in range(wins[pair])])
    points = np.array([wins[pair] for pair in pairs]) / 2  # each player moved first in half of the games
    played = np.array([wins[i, j] + wins[j, i] for i, j in pairs]) / 2
    elo, first = bradley_terry(pairs, points, played, anchor=0, prior_draws=1e-9)
    assert elo == pytest.approx(ELO * (oracle - oracle[0]), abs=1e-3)
    assert first == pytest.approx(0, abs=1e-3)


def test_a_player_who_wins_everything_has_a_finite_rating() -> None:
    pairs, won = [[0, 1], [1, 0], [1, 2], [2, 1]], np.array([200, 0, 120, 80])
    found, more = (bradley_terry(pairs, n * won, [n * 200] * 4, anchor=1)[0] for n in (1, 10))
    assert 700 < found[0] < min(2000, more[0])
    assert found[1] == 0


GAMES = list(itertools.permutations(range(3), 2))
"""Ordered pairs of three players."""


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """At least 85 of 100 intervals of 95 % contain the true rating; 85 is over 4 sigma below the expected 95."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(100):
        bias = rng.normal(0, 1, (60, 1))  # of 60 openings between equal players
        scores = (rng.random((60, len(GAMES))) < 1 / (1 + np.exp(-bias))).astype(np.float64)
        found = rate(GAMES, scores, anchor=0, rng=rng, samples=200)
        held += found.players[1].low <= 0 <= found.players[1].high
    assert held >= 85


def test_a_player_that_won_everything_or_few_openings_have_no_interval() -> None:
    scores = np.random.default_rng(1).integers(0, 3, (9, 6)) / 2
    scores[:, [first == 0 for first, _ in GAMES]], scores[:, [second == 0 for _, second in GAMES]] = 1, 0
    first, second, third = rate(GAMES, scores, anchor=1, rng=np.random.default_rng(7)).players
    assert first.mean > 300
    assert np.isnan((first.low, first.high)).all()
    assert (second.low, second.high) == (0, 0)
    assert third.low < third.mean < third.high
    few = rate(GAMES, scores[:4], anchor=1, rng=np.random.default_rng(7))
    assert np.isnan([few.first.low, *(one.low for one in few.players)]).all()


def test_rate_is_repeated_by_its_seed_and_is_the_model_of_pairs() -> None:
    scores = np.random.default_rng(1).integers(0, 3, (40, 6)) / 2
    one, again = (rate(GAMES, scores, anchor=1, rng=np.random.default_rng(7)) for _ in range(2))
    assert one == again
    elo, first = bradley_terry(GAMES, scores.sum(axis=0), np.full(6, 40.0), anchor=1)
    assert [player.mean for player in one.players] == pytest.approx(list(elo))
    assert one.first.mean == pytest.approx(first)
