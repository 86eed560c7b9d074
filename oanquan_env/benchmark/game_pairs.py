"""Pairings of two players: their games, played as one batch, and the scores, margins and Elo that result.

Shapes: K openings, P players of the rules. `a` meets `b` in P games of every opening, with `a` in seat 0, 1, .. P-1 in
turn and `b` in all other seats. For two players this is a *pair* of games with the seats swapped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.statistics import Estimate, elo_of_score, mean_estimate, score_estimate
from oanquan_env.engine.core import Core, advance, relative_points
from oanquan_env.engine.positions import Positions, turn_order
from oanquan_env.players import Policy
from oanquan_env.rollouts import seated

MOST_PAIRS = 10**6
"""Maximum number of openings in a pairing; all its games are in memory at once."""
OnGamesEnded: TypeAlias = Callable[[int], None]
"""Function that is called with the number of games that ended since the last call."""


class PairResults(NamedTuple):
    """Results of `a` over K openings, each played in P seatings; in column s, `a` has seat s and `b` all others."""

    score: Floats
    """(K, P) share of the win: 1 if `a` wins alone, 1/W if it shares the win with W - 1 others, 0 if it loses."""
    margin: Floats
    """(K, P) points of `a` minus the points of `b`; with more players, minus the mean of the others' points."""
    plies: Floats
    """(K, P) plies played after the opening."""


class PairedGames(NamedTuple):
    """Games of `a` against `b`."""

    results: PairResults
    moves: list[list[int]]
    """Actions of P * K games: game s * K + k is opening k with `a` in seat s."""


def play_paired_games(
    core: Core,
    a: Policy,
    b: Policy,
    openings: Positions,
    rng: np.random.Generator,
    progress: OnGamesEnded | None = None,
) -> PairedGames:
    """Play each of K running openings in all P seatings, as one batch; call `progress` when games end."""
    k, players = len(openings), core.rules.players
    rows, seat = np.arange(k * players), np.repeat(np.arange(players), k)
    seating = (seat[:, None] != np.arange(players)).astype(np.intp)  # `a` is number 0 and sits in `seat`
    finals, moves = Positions.concatenate([openings] * players), [list[int]() for _ in rows]
    for running, actions in advance(core, finals, seated((a, b), seating, rng)):
        for row, action in zip(running.tolist(), actions.tolist(), strict=True):
            moves[row].append(action)
        ended = int(finals.over[running].sum())
        if progress and ended:
            progress(ended)
    winners = core.winners(finals)
    score = winners[rows, seat] / winners.sum(axis=1)
    margin = relative_points(core.standings(finals))[rows, seat]
    plies = finals.ply - np.tile(openings.ply, players)
    by_opening = (
        np.ascontiguousarray(column.reshape(players, k).T, dtype=np.float64) for column in (score, margin, plies)
    )
    return PairedGames(PairResults(*by_opening), moves)


def play_pairs(core: Core, a: Policy, b: Policy, openings: Positions, rng: np.random.Generator) -> PairResults:
    """Play the games of `play_paired_games`, and return the results without the moves."""
    return play_paired_games(core, a, b, openings, rng).results


def score_interval(results: PairResults) -> Estimate:
    """Return the score of `a` with its interval over openings, as the games of one opening are not independent."""
    return score_estimate(results.score.mean(axis=1))


@dataclass(frozen=True)
class OrderResult:
    """The agent's results in the games in which it moved first after the opening (or second, and so on)."""

    score: Estimate
    margin: Estimate


@dataclass(frozen=True)
class PairingResult:
    """Results of the games between two players; with P > 2 seats, of one `agent` among P - 1 copies of `opponent`.

    Attributes:
        agent: the player whose results these are.
        opponent: the other player.
        pairs: number of openings, each played in every seating.
        wins: games that the agent won without sharing the win.
        draws: games with a shared win.
        losses: the other games.
        score: share of wins, with a shared win divided among the winners; interval over openings.
        margin: points of the agent minus the opponent's points, or minus the others' mean; interval over openings.
        plies: mean number of plies after the opening.
        orders: (P,) results by the agent's turn after the opening: first, second, and so on.
        pentanomial: number of pairs that scored 0, 0.5, 1, 1.5, 2; None with more than two players.
    """

    agent: str
    opponent: str
    pairs: int
    wins: int
    draws: int
    losses: int
    score: Estimate
    margin: Estimate
    plies: float
    orders: list[OrderResult]
    pentanomial: list[int] | None = None

    @property
    def elo(self) -> Estimate:
        """Elo difference of two players from the score and its interval; infinite if all games were won or lost."""
        return Estimate(*map(elo_of_score, (self.score.mean, self.score.low, self.score.high)))


def pairing_result(agent: str, opponent: str, results: PairResults, openings: Positions) -> PairingResult:
    """Return the results of a pairing from the view of `agent`."""
    wins, losses = int((results.score == 1).sum()), int((results.score == 0).sum())
    ordered = (by_order(table, openings).T for table in (results.score, results.margin))
    return PairingResult(
        agent=agent,
        opponent=opponent,
        pairs=len(results.score),
        wins=wins,
        draws=results.score.size - wins - losses,
        losses=losses,
        score=score_interval(results),
        margin=mean_estimate(results.margin.mean(axis=1)),
        plies=float(results.plies.mean()),
        orders=[
            OrderResult(score_estimate(score), mean_estimate(margin)) for score, margin in zip(*ordered, strict=True)
        ],
        pentanomial=pentanomial(results.score) if results.score.shape[1] == 2 else None,
    )


def by_order(table: Floats, openings: Positions) -> Floats:
    """Reorder the columns of (K, P) scores or margins of `a` from its seat to its turn after the opening."""
    return np.take_along_axis(table, turn_order(openings.mover, table.shape[1]), axis=1)


def pentanomial(score: Floats) -> list[int]:
    """Return the number of pairs that score 0, 0.5, 1, 1.5 and 2 points, from (K, 2) scores."""
    counts: list[int] = np.bincount(np.rint(2 * score.sum(axis=1)).astype(np.intp), minlength=5).tolist()
    return counts


def rng_for(seed: int) -> np.random.Generator:
    """Return the random generator of measured players. It depends only on the seed, so labels do not change results."""
    return np.random.default_rng([seed, 1])  # random openings have another generator
