"""The figures of a match between two players: scores, margins, Elo."""

import dataclasses
import math
import zlib
from dataclasses import dataclass

import numpy as np

from oanquan_env.benchmark.elo import NormalisedElo, elo_of_pairs, normalised_elo, pentanomial
from oanquan_env.benchmark.estimates import Estimate, Reported, bootstrap_means, mean_estimate
from oanquan_env.benchmark.pairs import PairResults, score_interval


@dataclass(frozen=True)
class MatchResult(Reported):
    """The games of two players; with P > 2 seats, of one `agent` among P - 1 `opponent`s.

    Attributes:
        agent: the player whose results these are.
        opponent: the other one.
        pairs: openings, each played in every seating.
        wins: games that the agent won alone.
        draws: games with a shared win.
        losses: the others.
        score: share of wins, a shared win divided among the winners; interval over openings.
        margin: points of the agent less those of the opponent, or of the others' mean; interval over openings.
        plies: mean plies after the opening.
        pentanomial: pairs that scored 0, 0.5, 1, 1.5, 2; None with more than two players, as all that follows.
        elo: Elo difference; None if all games were won or all lost.
        elo_error: half its 95 % interval, over pairs.
        los: likelihood that the agent is the stronger one.
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
    pentanomial: list[int] | None = None
    elo: float | None = None
    elo_error: float | None = None
    los: float | None = None

    @property
    def normalised_elo(self) -> NormalisedElo | None:
        """See `oanquan_env.benchmark.elo.normalised_elo`; None with more than two players."""
        return None if self.pentanomial is None else normalised_elo(self.pentanomial)


def match_result(agent: str, opponent: str, results: PairResults, seed: int) -> MatchResult:
    """The numbers of a match, from the side of `agent`; intervals of more than two players are bootstrapped."""
    wins, losses = int((results.score == 1).sum()), int((results.score == 0).sum())
    score, margin = score_interval(results), mean_estimate(results.margin.mean(axis=1))
    if results.score.shape[1] > 2:
        means = np.stack([results.score.mean(axis=1), results.margin.mean(axis=1)], axis=1)
        score, margin = bootstrap_means(means, np.random.default_rng(seed))
    result = MatchResult(
        agent=agent,
        opponent=opponent,
        pairs=len(results.score),
        wins=wins,
        draws=results.score.size - wins - losses,
        losses=losses,
        score=score,
        margin=margin,
        plies=float(results.plies.mean()),
    )
    if results.score.shape[1] != 2:
        return result
    counts = pentanomial(results.score)
    difference = elo_of_pairs(counts)
    return dataclasses.replace(
        result,
        pentanomial=counts.tolist(),
        elo=_finite(difference.elo),
        elo_error=_finite(difference.error),
        los=difference.los,
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def chance(seed: int, *labels: str) -> np.random.Generator:
    """All chance of one part of an evaluation: it depends on the seed and on who takes part, not on the other parts."""
    return np.random.default_rng([seed, zlib.crc32("\n".join(labels).encode())])
