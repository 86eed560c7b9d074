"""The numbers of a tournament: scores, margins and ratings, with their intervals over openings."""

import numpy as np

from agents.evaluation.ratings import Ratings, rate
from agents.evaluation.results import ArenaResult, OrderResult, PairingResult, Rating
from agents.evaluation.tournament import Pairing, Tournament, by_order, replay
from oanquan_env.arrays import Floats
from oanquan_env.benchmark.estimates import mean_estimate
from oanquan_env.benchmark.matches import match_result
from oanquan_env.engine.positions import turn_order

ANCHOR = "greedy"


def summarize_tournament(tournament: Tournament, pairings: list[Pairing]) -> ArenaResult:
    """The numbers of a tournament."""
    entrants, openings = tournament.entrants, tournament.openings
    anchor = next((number for number, one in enumerate(entrants) if one.name == ANCHOR), 0)
    estimates = _rate(tournament, pairings, anchor)
    rows = [
        Rating(agent=one.label, elo=estimates.players[number], score=_mean_score(tournament, pairings, number))
        for number, one in enumerate(entrants)
    ]
    return ArenaResult(
        openings=openings.name,
        digest=openings.digest(),
        players=tournament.core.rules.players,
        pairings=[summarize_pairing(tournament, pairing) for pairing in pairings],
        anchor=entrants[anchor].label,
        ratings=sorted(rows, key=lambda row: -row.elo.mean),
        orders=estimates.orders,
    )


def _rate(tournament: Tournament, pairings: list[Pairing], anchor: int) -> Ratings:
    rng = np.random.default_rng([tournament.seed, len(tournament.entrants)])
    players = tournament.core.rules.players
    games = [
        [one.a if order == own else one.b for order in range(players)] for own in range(players) for one in pairings
    ]
    points = np.stack([_points_by_order(tournament, pairing) for pairing in pairings], axis=2)
    return rate(games, points.reshape(len(points), len(games), players), anchor, rng)


def _points_by_order(tournament: Tournament, pairing: Pairing) -> Floats:
    """(K, P, P) final points: game o of an opening is the one in which `a` moves o-th; who moves first comes first."""
    core, openings = tournament.core, tournament.openings.positions
    players, k = core.rules.players, len(openings)
    points = core.standings(replay(core, openings, pairing.games)).reshape(players, k, players)
    seats = turn_order(openings.mover, players)
    return points[seats[:, :, None], np.arange(k)[:, None, None], seats[:, None, :]].astype(np.float64)


def _mean_score(tournament: Tournament, pairings: list[Pairing], number: int) -> float:
    """Mean score of a player against all others; with more than two players, as one among each of them."""
    own = [pairing.results.score.mean() for pairing in pairings if pairing.a == number]
    if tournament.core.rules.players == 2:
        own += [1 - pairing.results.score.mean() for pairing in pairings if pairing.b == number]
    return float(np.mean(own))


def summarize_pairing(tournament: Tournament, pairing: Pairing) -> PairingResult:
    """The numbers of one pairing, from the side of its first player."""
    results, openings = pairing.results, tournament.openings.positions
    agent, opponent = (tournament.entrants[number].label for number in (pairing.a, pairing.b))
    tables = (by_order(table, openings).T for table in (results.score, results.margin))
    orders = [
        OrderResult(score=mean_estimate(score), margin=mean_estimate(margin))
        for score, margin in zip(*tables, strict=True)
    ]
    return PairingResult(**vars(match_result(agent, opponent, results, tournament.seed)), orders=orders)
