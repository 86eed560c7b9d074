"""Games between players, many at once: all games of a pairing, in every seating, advance as one batch.

Shapes: K openings, P players of the rules. `a` meets `b` in P games of every opening, with `a` in seat 0, 1, .. P-1 in
turn and `b` in all other seats: for two players a *pair* of games with the seats swapped.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from oanquan_env.arrays import Floats
from oanquan_env.benchmark.estimates import Estimate, mean_estimate
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy
from oanquan_env.playing import advance, seated

OnGamesEnded: TypeAlias = Callable[[int], None]
"""Called with the number of games that ended since the last call."""


class PairResults(NamedTuple):
    """Results of `a` over K openings, each played in P seatings; column s: `a` in seat s, `b` in all others."""

    score: Floats
    """(K, P) `a`'s share of the win: 1 alone, 1/2 shared with one other (two players: a draw), 0 for a loss."""
    margin: Floats
    """(K, P) points of `a` less those of `b`; with more players, less the mean of the others."""
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
    """Every one of K running openings in all P seatings, all games at once."""
    k, players = len(openings), core.rules.players
    rows, seat = np.arange(k * players), np.repeat(np.arange(players), k)
    seating = (seat[:, None] != np.arange(players)).astype(np.intp)  # a, who is number 0, sits in `seat`
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
    """The results of `play_paired_games`."""
    return play_paired_games(core, a, b, openings, rng).results


def score_interval(results: PairResults) -> Estimate:
    """Score of `a` with its interval over openings, as the games of one opening are not independent."""
    return mean_estimate(results.score.mean(axis=1))
