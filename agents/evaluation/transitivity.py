"""Do ratings tell the whole story? Players that beat one another in a circle, and scores that ratings do not explain.

Ratings put all players on one line. Where A beats B, B beats C and C beats A, no line is right.
"""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import NamedTuple

from agents.evaluation.results import ArenaResult, PairingResult
from oanquan_env.benchmark.elo import expected_score

CONFIDENCE = 0.95


class Misfit(NamedTuple):
    """The pairing whose score differs most from what the ratings predict."""

    pairing: PairingResult
    predicted: float
    """The agent's score by the ratings."""
    deviations: float
    """Difference in standard errors of the pairing's score."""
    surprising: bool
    """Whether 5 % of tournaments of so many pairings at most would have such a difference if the ratings were right, by
    Bonferroni's inequality. The ratings' own errors, which are smaller, are not counted."""


def circles(arena: ArenaResult) -> list[tuple[str, str, str]]:
    """Three players each of whom beats the next, the last the first, all by scores whose intervals are above half."""
    beats = {(one.agent, one.opponent) for one in arena.pairings if one.score.low > 0.5}
    beats |= {(one.opponent, one.agent) for one in arena.pairings if one.score.high < 0.5}
    players = sorted({name for pair in beats for name in pair})
    threes = [three for a, b, c in itertools.combinations(players, 3) for three in ((a, b, c), (a, c, b))]
    return [(a, b, c) for a, b, c in threes if {(a, b), (b, c), (c, a)} <= beats]


def largest_misfit(arena: ArenaResult) -> Misfit | None:
    """What the ratings explain least; None where no score has a spread."""
    ratings = {row.agent: row.elo.mean for row in arena.ratings or []}
    first = arena.first.mean if arena.first else 0.0
    found = []
    for one in arena.pairings:
        error = (one.score.high - one.score.low) / (2 * 1.96)
        if error > 0:
            difference = ratings[one.agent] - ratings[one.opponent]
            predicted = (expected_score(difference + first) + expected_score(difference - first)) / 2
            found.append((one, predicted, (one.score.mean - predicted) / error))
    if not found:
        return None
    limit = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / len(found))
    pairing, predicted, deviations = max(found, key=lambda row: abs(row[2]))
    return Misfit(pairing, predicted, deviations, math.fabs(deviations) > limit)


def verdict(arena: ArenaResult) -> str:
    """The two findings in words, for two players' tournaments of three players and more; empty for others."""
    if arena.players != 2 or len(arena.ratings or []) < 3:
        return ""
    found = [", ".join(f"`{name}`" for name in circle) for circle in circles(arena)]
    said = f"In a circle each beats the next: {'; '.join(found)}."
    if not found:
        said = "No three players beat one another in a circle."
    misfit = largest_misfit(arena)
    if misfit:
        one = misfit.pairing
        judged = "more than chance explains" if misfit.surprising else "no more than chance explains"
        said += (
            f" The score that ratings explain least is that of `{one.agent}` against `{one.opponent}`: "
            f"{100 * one.score.mean:.1f} % where they predict {100 * misfit.predicted:.1f} %, {judged} "
            f"({misfit.deviations:+.1f} standard errors)."
        )
    return said
