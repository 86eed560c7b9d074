"""Test Elo and Bradley-Terry ratings against known values and the package choix."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import ArrayLike

from oanquan_env.benchmark.game_pairs import pentanomial
from oanquan_env.benchmark.statistics import ELO, comparisons, elo_of_score, expected_score, fit, rate


def test_an_elo_difference_is_a_score() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of_score(expected_score(-123)) == pytest.approx(-123)
    assert (elo_of_score(0), elo_of_score(1)) == (-math.inf, math.inf)


def test_pentanomial_counts_pairs_by_their_points() -> None:
    score = np.array([[0, 0], [0, 0.5], [0.5, 0], [0.5, 0.5], [1, 0], [0, 1], [1, 0.5], [1, 1], [1, 1]])
    assert pentanomial(score) == [1, 2, 3, 1, 2]


class Found(NamedTuple):
    elo: np.ndarray
    first: float


def bradley_terry(pairs: ArrayLike, won: ArrayLike, played: ArrayLike, anchor: int, prior_draws: float = 1) -> Found:
    """Fit Elo relative to `anchor` and the first-move advantage; `won` is what each pair's first player scored."""
    points, games = (np.asarray([counts], np.float64) for counts in (won, played))
    estimate = ELO * fit(comparisons(np.asarray(pairs)), points, games, prior_draws)[0]
    return Found(estimate[:-1] - estimate[anchor], float(estimate[-1]))


def test_ratings_agree_with_choix() -> None:
    """With no first-move advantage and a weak prior, the ratings are choix's maximum-likelihood estimates."""
    import choix  # imported here because it loads scipy.stats for seconds

    wins = np.random.default_rng(3).integers(5, 60, (5, 5))
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    oracle = choix.ilsr_pairwise(5, [pair for pair in pairs for _ in range(wins[pair])])
    points = np.array([wins[pair] for pair in pairs]) / 2  # each player moved first in half of the games
    played = np.array([wins[i, j] + wins[j, i] for i, j in pairs]) / 2
    found = bradley_terry(pairs, points, played, anchor=0, prior_draws=1e-9)
    assert found.elo == pytest.approx(ELO * (oracle - oracle[0]), abs=1e-3)
    assert found.first == pytest.approx(0, abs=1e-3)


def test_a_player_who_wins_everything_has_a_finite_rating() -> None:
    pairs, won = [[0, 1], [1, 0], [1, 2], [2, 1]], np.array([200, 0, 120, 80])
    found, more = (bradley_terry(pairs, n * won, [n * 200] * 4, anchor=1).elo for n in (1, 10))
    assert 700 < found[0] < min(2000, more[0])
    assert found[1] == 0


def simulated(rng: np.random.Generator, strengths: np.ndarray, k: int) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return all G ordered pairs of players, and the first mover's scores (K, G) in K = `k` openings of random bias."""
    games = list(itertools.permutations(range(len(strengths)), 2))
    bias = rng.normal(0, 1, k)
    edges = np.array([strengths[first] - strengths[second] for first, second in games])
    return games, (rng.random((k, len(games))) < 1 / (1 + np.exp(-edges - bias[:, None]))).astype(np.float64)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """At least 85 of 100 intervals of 95 % contain the true rating; 85 is over 4 sigma below the expected 95."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(100):
        found = rate(*simulated(rng, np.zeros(3), 60), anchor=0, rng=rng, samples=200)
        held += found.players[1].low <= 0 <= found.players[1].high
    assert held >= 85


def test_a_player_that_won_everything_or_few_openings_have_no_interval() -> None:
    games, scores = list(itertools.permutations(range(3), 2)), np.random.default_rng(1).integers(0, 3, (9, 6)) / 2
    scores[:, [first == 0 for first, _ in games]], scores[:, [second == 0 for _, second in games]] = 1, 0
    first, second, third = rate(games, scores, anchor=1, rng=np.random.default_rng(7)).players
    assert first.mean > 300
    assert np.isnan((first.low, first.high)).all()
    assert (second.low, second.high) == (0, 0)
    assert third.low < third.mean < third.high
    few = rate(games, scores[:4], anchor=1, rng=np.random.default_rng(7))
    assert np.isnan([few.first.low, *(one.low for one in few.players)]).all()


def test_rate_is_repeated_by_its_seed_and_is_the_model_of_pairs() -> None:
    games, scores = list(itertools.permutations(range(3), 2)), np.random.default_rng(1).integers(0, 3, (40, 6)) / 2
    one, again = (rate(games, scores, anchor=1, rng=np.random.default_rng(7)) for _ in range(2))
    assert one == again
    found = bradley_terry(games, scores.sum(axis=0), np.full(6, 40.0), anchor=1)
    assert [player.mean for player in one.players] == pytest.approx(list(found.elo))
    assert one.first.mean == pytest.approx(found.first)
