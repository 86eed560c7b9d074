"""Ratings over places, against games of known strengths; players that meet themselves."""

import itertools

import choix
import numpy as np
import pytest
from agents.evaluation.summaries import summarize_tournament

from agents.evaluation.ratings import ELO, rate
from agents.evaluation.tournament import Entrant, Tournament, by_order
from oanquan_env import Core, Positions
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.pairs import play_pairs
from oanquan_env.players import GreedyPolicy, RandomPolicy
from oanquan_env.playing import random_openings
from tests.players import FirstMove, LastMove, rng


def mixtures(players: int, seats: int) -> np.ndarray:
    """(G, P) every one among every other, at every place of the order."""
    pairs = itertools.permutations(range(players), 2)
    return np.array([[a if order == own else b for order in range(seats)] for a, b in pairs for own in range(seats)])


def plackett_luce(games: np.ndarray, strengths: np.ndarray, orders: np.ndarray, k: int, seed: int) -> np.ndarray:
    """(K, G, P) points whose places are those of the Plackett-Luce model: strengths with Gumbel noise."""
    noise = rng(seed).gumbel(size=(k, *games.shape))
    return np.rint(1e6 * (strengths[games] + orders + noise)).astype(np.int64)  # type: ignore[no-any-return]


@pytest.mark.parametrize("seats", [3, 4])
def test_ratings_recover_the_strengths_behind_the_places(seats: int) -> None:
    strengths, orders = np.array([0.0, 0.8, -0.5, 1.5]), np.array([0.4, -0.3, 0.2, 0.0])[-seats:]
    games = mixtures(4, seats)
    points = plackett_luce(games, strengths, orders, 4000, seed=1)
    found = rate(games, points, anchor=0, rng=rng(), samples=100)
    assert [one.mean for one in found.players] == pytest.approx(ELO * strengths, abs=8)
    assert [one.mean for one in found.orders] == pytest.approx(ELO * orders[:-1], abs=8)
    for truth, one in zip(ELO * strengths, found.players, strict=True):
        assert one.low - 3 <= truth <= one.high + 3
    assert 0 < found.players[3].high - found.players[3].low < 20


def test_ratings_agree_with_choix_where_all_players_meet() -> None:
    """Without seat terms both estimate the same strengths; choix by the likelihood of whole orders."""
    strengths, games = np.array([0.0, 1.0, -0.6, 0.5]), np.array(list(itertools.permutations(range(4), 3)))
    points = plackett_luce(games, strengths, np.zeros(3), 1000, seed=2)
    rankings = [seats[np.argsort(-row)] for drawn in points for seats, row in zip(games, drawn, strict=True)]
    oracle = choix.ilsr_rankings(4, rankings)
    found = rate(games, points, anchor=0, rng=rng(), samples=2)
    assert [one.mean for one in found.players] == pytest.approx(ELO * (oracle - oracle[0]), abs=5)


def test_a_player_ahead_of_everyone_has_a_finite_rating() -> None:
    games = mixtures(2, 3)
    points = np.where(games == 0, 10, 5)[None].repeat(30, axis=0)
    found = rate(games, points, anchor=1, rng=rng(), samples=10)
    assert 400 < found.players[0].mean < 2000
    assert [order.mean for order in found.orders] == pytest.approx([0, 0])


def test_results_by_order_are_those_of_the_games_in_which_a_player_moved_then() -> None:
    core = Core("three-player")
    openings = Positions.concatenate(random_openings(core, 4, plies, rng()) for plies in (3, 4, 5))
    table = play_pairs(core, FirstMove(core), LastMove(core), openings, rng()).margin
    ordered = by_order(table, openings)
    for k, mover in enumerate(openings.mover.tolist()):
        assert ordered[k].tolist() == [table[k, (mover + order) % 3] for order in range(3)]


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_points_by_order_rate_the_games_that_were_played(rules: str) -> None:
    """Places counted game by game."""
    core = Core(rules)
    entrants = [Entrant("a", "a", GreedyPolicy(core), ""), Entrant("b", "b", RandomPolicy(core), "")]
    tournament = Tournament(core, entrants, random_suite(core, 30, 4, rng()), 0)
    pairings, seats = list(tournament.play()), core.rules.players
    found = summarize_tournament(tournament, pairings)
    games, points = [], []
    for pairing in pairings:
        for own in range(seats):
            games.append([pairing.a if order == own else pairing.b for order in range(seats)])
            rows = []
            for k, mover in enumerate(tournament.openings.positions.mover.tolist()):
                outcome = tournament.records(pairing)[(mover + own) % seats * 30 + k].board().outcome
                assert outcome
                rows.append([outcome.scores[(mover + order) % seats] for order in range(seats)])
            points.append(rows)
    known = rate(games, np.array(points).transpose(1, 0, 2), 0, rng(), samples=2)
    elo = {rating.agent: rating.elo.mean for rating in found.ratings or []}
    assert (elo["a"], elo["b"]) == pytest.approx(tuple(one.mean for one in known.players))
    assert [one.mean for one in found.orders] == pytest.approx([one.mean for one in known.orders])
    assert (found.players, len(found.orders)) == (seats, seats - 1)
