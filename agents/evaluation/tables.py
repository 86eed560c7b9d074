"""Mixed tables, for three and four players: every multiset of the players, in every order, over the same openings.

The tables of one player alone are null runs: they show what moving first, second, and so on is worth by itself. With a
folder each finished multiset is stored in a file, and interrupted tables continue from there.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from agents.evaluation.ratings import rate
from agents.evaluation.result_cache import ResultCache
from agents.evaluation.results import TableRow, TablesResult
from agents.evaluation.tournament import Entrant
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats, Ints, Points
from oanquan_env.benchmark.estimates import bootstrap_means
from oanquan_env.benchmark.matches import chance
from oanquan_env.benchmark.openings import Openings
from oanquan_env.benchmark.pairs import OnGamesEnded
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.positions import turn_order, turn_places
from oanquan_env.errors import UsageError
from oanquan_env.playing import advance, seated

FOLDER = "parts/tables"


class Tables:
    """The tables of M `entrants` over K `openings`: `M ** P` games of each opening.

    Raises `UsageError` for two players, where a table is a pairing, and for fewer than two entrants.
    """

    def __init__(
        self, core: Core, entrants: Sequence[Entrant], openings: Openings, seed: int, folder: Path | None = None
    ) -> None:
        if core.rules.players == 2 or len(entrants) < 2:
            raise UsageError("mixed tables need rules for three or four players, and two agents or more")
        self.core = core
        self.entrants = entrants
        self.openings = openings
        self.seed = seed
        self.cache = ResultCache(folder / FOLDER if folder else None)

    def multisets(self) -> list[tuple[int, ...]]:
        """Who sits at each table, by number, ascending."""
        return list(itertools.combinations_with_replacement(range(len(self.entrants)), self.core.rules.players))

    @property
    def games(self) -> int:
        """Games of all tables."""
        return len(self.openings) * int(len(self.entrants) ** self.core.rules.players)

    def play(self, progress: OnGamesEnded) -> Iterator[tuple[Ints, Points]]:
        """Play the tables that are not stored yet.

        Yields for each multiset its O orders, (O, P) players, who moves first after the opening first; and their points
        at the end, (K, O, P). Raises `FileError` if the folder holds tables of other settings, or damaged ones.
        """
        for table in self.multisets():
            orders = np.array(sorted(set(itertools.permutations(table))))
            labels = [self.entrants[number].label for number in table]
            settings = {
                "rules": str(self.core.rules),
                "seed": self.seed,
                "openings": self.openings.digest(),
                "agents": [self.entrants[number].identity() for number in table],
            }
            points = self.cache.find(labels, settings, lambda content: np.array(content["points"], dtype=np.int32))
            if points is None:
                points = self._play(orders, chance(self.seed, *labels))
                self.cache.store(labels, settings, {"points": points.tolist()})
            progress(points.shape[0] * points.shape[1])
            yield orders, points

    def _play(self, orders: Ints, rng: np.random.Generator) -> Points:
        """(K, O, P) points at the end, of the player of each place of (O, P) `orders`."""
        players = self.core.rules.players
        finals = Positions.concatenate([self.openings.positions] * len(orders))
        places = turn_places(finals.mover, players)
        seating = np.take_along_axis(orders.repeat(len(self.openings), axis=0), places, axis=1)
        seats = turn_order(finals.mover, players)
        for _ in advance(self.core, finals, seated([one.policy for one in self.entrants], seating, rng)):
            pass
        points: Points = np.take_along_axis(self.core.standings(finals), seats, axis=1)
        return points.reshape(len(orders), -1, players).swapaxes(0, 1)

    def result(self, progress: OnGamesEnded) -> TablesResult:
        """Play what is missing, and the numbers of all tables."""
        tables = list(self.play(progress))
        games = np.concatenate([orders for orders, _ in tables])
        points = np.concatenate([points for _, points in tables], axis=1)
        rng = np.random.default_rng([self.seed, len(self.entrants)])
        ratings = rate(games, points.astype(np.float64), 0, rng)
        shares, margins, places = outcomes(points)
        mixed = (games != games[:, :1]).any(axis=1)
        rows = []
        for number, entrant in enumerate(self.entrants):
            game, place = ((games == number) & mixed[:, None]).nonzero()
            samples = [table[:, game, place].mean(axis=1) for table in (shares, margins, places)]
            score, margin, rank = bootstrap_means(np.stack(samples, axis=1), rng)
            alone = (games == number).all(axis=1).argmax()
            null = bootstrap_means(shares[:, alone], rng)
            elo = ratings.players[number]
            rows.append(TableRow(agent=entrant.label, score=score, margin=margin, place=rank, elo=elo, alone=null))
        return TablesResult(
            openings=self.openings.name,
            digest=self.openings.digest(),
            number=len(self.openings),
            games=self.games,
            players=self.core.rules.players,
            rows=sorted(rows, key=lambda row: -row.elo.mean),
            orders=ratings.orders,
        )


def outcomes(points: Points) -> tuple[Floats, Floats, Floats]:
    """Shares of the win, margins and places, each (K, G, P), of final points (K, G, P).

    Winners with equal points share the win, and players with equal points the mean of their places.
    """
    first = points == points.max(axis=2, keepdims=True)
    ahead = np.sign(points[:, :, None, :] - points[:, :, :, None])  # of each other player, less one behind
    places = (points.shape[2] + 1 + ahead.sum(axis=3)) / 2
    margins = relative_points(points.reshape(-1, points.shape[2])).reshape(points.shape)
    return first / first.sum(axis=2, keepdims=True), margins, places
