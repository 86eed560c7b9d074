"""Payoff matrices of the players of a league, a Nash equilibrium of such a matrix, and weights of opponents.

    matrix = payoffs({"greedy": "greedy", "self 1": model}, pairs=50, cache="payoffs.json")
    print(matrix, nash(matrix.mean), prioritised(matrix.mean[-1]))

Shapes: K players.
"""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.evaluation import OPENING_PLIES, default_openings, name_of
from oanquan_env.benchmark.game_pairs import MOST_PAIRS, play_pairs, rng_for
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.statistics import Estimate, score_estimate
from oanquan_env.benchmark.tables import interval, table
from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UsageError, as_whole
from oanquan_env.files import read_json, write_atomically
from oanquan_env.players import as_policy
from oanquan_env.provenance import made_by, origin


@dataclass(frozen=True)
class Payoffs:
    """The share of games that each player wins against each other player; a shared win is divided.

    Attributes:
        names: (K,) names of the players.
        mean, low, high: (K, K) float64, the share of the row's player against the column's player, and its 95 %
            interval over the openings. With more than two seats, the column's player takes all other seats. On the
            diagonal, the mean is 1 / P without an interval (NaN).
        note: the rules, the openings, and the command and commit that played the games.
    """

    names: list[str]
    mean: Floats
    low: Floats
    high: Floats
    note: str

    def __str__(self) -> str:
        """Return the matrix in percent as a Markdown table, with intervals, and the note."""
        estimates = np.stack([self.mean, self.low, self.high], axis=2)
        rows = [
            [name, *(interval(Estimate(*cell), ".0f", 100) for cell in row.tolist())]
            for name, row in zip(self.names, estimates, strict=True)
        ]
        return f"{table(['wins against, %', *self.names], rows, padded=True)}\n\n{self.note}"


def payoffs(
    players: Mapping[str, object],
    rules: Rules | str = DEFAULT_PRESET,
    pairs: int = 50,
    seed: int = 0,
    *,
    cache: Path | str | None = None,
) -> Payoffs:
    """Play game pairs between all players, from the default openings, and return their payoff matrix.

    Args:
        players: anything that `oanquan_env.players.as_policy` takes, by name.
        rules: a `Rules` or its text.
        pairs: number of openings, each played in every seating; 1 to `MOST_PAIRS`.
        seed: seed of all random choices.
        cache: a JSON file with the games' results, which is written after each pairing. Pairings in the file are not
            played again, so a name must always mean the same player, also if it is an object.

    Raises `UsageError` if an argument is out of range, or the file was made with other rules, pairs, another seed, or
    another player of the same name.
    """
    core, pairs, seed = Core(as_rules(rules)), as_whole("pairs", pairs, 1, MOST_PAIRS), as_whole("seed", seed, 0)
    policies = [as_policy(player, core) for player in players.values()]
    source, names, seats = default_openings(core.rules), list(players), core.rules.players
    openings = load_openings(core, source, pairs, OPENING_PLIES, np.random.default_rng(seed))
    settings = {"rules": str(core.rules), "openings": openings.digest(), "seed": seed}
    path = None if cache is None else Path(cache)
    stored: dict[str, Any] = read_json(path) if path and path.exists() else {**settings, "players": {}, "games": {}}
    if settings != {name: stored.get(name) for name in settings}:
        raise UsageError(f"{path} was made with other rules, pairs or another seed; use the same, or another file")
    for label, player in players.items():
        if (before := stored["players"].setdefault(label, name_of(player))) != name_of(player):
            raise UsageError(f"{path} has games of {before} as {label!r}, not of {name_of(player)}; use another name")
    made, here = dict[str, None](), origin()
    ends = np.full((3, len(names), len(names)), np.nan)
    np.fill_diagonal(ends[0], 1 / seats)
    for a, b in (itertools.combinations if seats == 2 else itertools.permutations)(range(len(names)), 2):
        own = stored["games"].setdefault(names[a], {})
        if names[b] not in own:
            results = play_pairs(core, policies[a], policies[b], openings.positions, rng_for(seed))
            own[names[b]] = {"scores": results.score.mean(axis=1).tolist(), **here}
            if path:
                write_atomically(path, json.dumps(stored).encode())
        games = own[names[b]]
        made[made_by(games["command"], games["commit"], games["processor"])] = None
        estimate = score_estimate(np.array(games["scores"]))
        ends[:, a, b] = estimate.mean, estimate.low, estimate.high
        if seats == 2:
            ends[:, b, a] = 1 - estimate.mean, 1 - estimate.high, 1 - estimate.low
    source = "random play" if openings.name == "random" else f"`{openings.name}`"
    note = f"{pairs} openings of {source}, each in every seating, under `{core.rules}`, seed {seed}."
    note += f" Made {'; '.join(made)}." if made else ""
    return Payoffs(names, ends[0], ends[1], ends[2], note)


def nash(shares: npt.ArrayLike, iterations: int = 5_000) -> Floats:
    """Return the (K,) weights of a Nash equilibrium: no player wins more than half against the weighted players.

    `shares` (K, K) is the matrix `Payoffs.mean` under rules for two players, in which opposite entries sum to 1.
    Predictive regret matching+ (Farina et al. 2021, arXiv 2007.14358) approaches an equilibrium.

    Raises `UsageError` for other matrices.
    """
    won = np.asarray(shares, np.float64)
    if won.ndim != 2 or not won.size or won.shape[0] != won.shape[1] or not np.allclose(won + won.T, 1):
        raise UsageError(
            f"shares must be a square matrix whose opposite entries sum to 1, as for two players; got {won.tolist()}"
        )
    regrets, latest, total = np.zeros((3, len(won)))
    for iteration in range(iterations):
        expected = np.maximum(regrets + latest, 0)  # the latest regrets predict the next
        weights = expected / expected.sum() if expected.any() else np.full(len(won), 1 / len(won))
        latest = won @ weights - weights @ won @ weights
        regrets = np.maximum(regrets + latest, 0)
        total += iteration * weights
    return np.array(total / total.sum())


def prioritised(won: npt.ArrayLike, power: float = 2.0) -> Floats:
    """Return (K,) weights of opponents from the shares that the learner wins against them: (1 - won) ** power.

    The weights sum to 1; all are equal if the learner wins every game. Pass them to `set_opponent_weights`.

    Raises `UsageError` unless all shares are from 0 to 1.
    """
    shares = np.asarray(won, np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError(f"won must be shares of games from 0 to 1; got {shares.tolist()}")
    weights = (1 - shares) ** power
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
