"""Games between players, many at once: all games of a pairing, in every seating, advance as one batch.

Shapes: K openings, P players of the rules. A match of `a` against `b` plays every opening P times, with `a` in seat
0, 1, .. P-1 in turn and `b` in all other seats: for two players a *pair* of games with the seats swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.evaluation.estimates import Estimate, mean_estimate
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Ints
from oanquan_env.core import relative_points
from oanquan_env.playing import advance, seated
from oanquan_env.policies import Policy

OnGamesEnded = Callable[[int], None]
"""Hears how many games ended since it was called last."""


class PairResults(NamedTuple):
    """Results of `a` over K openings, each played in P seatings; column s: `a` in seat s, `b` in all others."""

    score: Floats
    """(K, P) `a`'s share of the win: 1 alone, 1/2 shared with one other (two players: a draw), 0 for a loss."""
    margin: Floats
    """(K, P) points of `a` less those of `b`; with more players, less the mean of the others."""
    plies: Floats
    """(K, P) plies played after the opening."""


@dataclass(frozen=True)
class Games:
    """Finished games and how they went.

    Attributes:
        final: N finished games.
        steps: for each ply, the rows (M,) of the games still going on and the actions (M,) played in them.
    """

    final: Positions
    steps: list[tuple[Ints, Ints]]

    def moves(self) -> list[list[int]]:
        """For each game, the actions played since it was taken up."""
        moves: list[list[int]] = [[] for _ in range(len(self.final))]
        for rows, actions in self.steps:
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                moves[row].append(action)
        return moves


class PairedGames(NamedTuple):
    """A match of `a` against `b`."""

    results: PairResults
    games: Games
    """P * K games: game s * K + k is opening k with `a` in seat s."""


def play_out(
    core: Core,
    positions: Positions,
    players: Sequence[Policy],
    seating: Ints,
    rng: np.random.Generator,
    progress: OnGamesEnded | None = None,
) -> Games:
    """Play N games to their ends, `players[seating[n, p]]` moving for player p of game n.

    Args:
        core: plays the games.
        positions: N positions, which are not changed.
        players: Q players; each is asked once a ply for the moves of all games in which it is to move.
        seating: (N, P) numbers 0 .. Q-1 into `players`.
        rng: all chance comes from it.
        progress: hears how many games ended.
    """
    final, steps = positions.copy(), []
    for rows, actions in advance(core, final, seated(players, seating, rng)):
        steps.append((rows, actions))
        ended = int(final.over[rows].sum())
        if progress and ended:
            progress(ended)
    return Games(final, steps)


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
    seating = np.repeat(
        1 - np.eye(players, dtype=np.intp), k, axis=0
    )  # row s * K + k: a (0) in seat s, b (1) elsewhere
    games = play_out(core, Positions.concatenate([openings] * players), (a, b), seating, rng, progress)
    rows, seat = np.arange(k * players), np.repeat(np.arange(players), k)
    winners = core.winners(games.final)
    score = winners[rows, seat] / winners.sum(axis=1)
    margin = relative_points(core.standings(games.final))[rows, seat]
    plies = games.final.ply - np.tile(openings.ply, players)
    by_opening = (
        np.ascontiguousarray(column.reshape(players, k).T, dtype=np.float64) for column in (score, margin, plies)
    )
    return PairedGames(PairResults(*by_opening), games)


def play_pairs(core: Core, a: Policy, b: Policy, openings: Positions, rng: np.random.Generator) -> PairResults:
    """The results of `play_paired_games`."""
    return play_paired_games(core, a, b, openings, rng).results


def score_interval(results: PairResults) -> Estimate:
    """Score of `a` with its 95 % interval. The games of an opening are no independent samples; openings are."""
    return mean_estimate(results.score.mean(axis=1))
