"""Tournaments play the games of an evaluation, and measure the regret of its players.

Each finished part can be stored. An interrupted evaluation can then resume, and a cluster can play the pairings.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from oanquan_env.array_types import Ints
from oanquan_env.benchmark.game_pairs import OnGamesEnded, PairResults, play_paired_games, rng_for
from oanquan_env.benchmark.openings import Openings
from oanquan_env.benchmark.regret import Regret, Suite, regret
from oanquan_env.benchmark.statistics import as_record
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy
from oanquan_env.records.games import GameRecord


@dataclass(frozen=True)
class Entrant:
    """A player to be measured.

    Attributes:
        label: name in the results; it does not influence the games.
        name: name for `oanquan_env.players.make`, or the name of the player's class.
        policy: the player.
        files: hash of the files that the name mentions; empty if there are none.
    """

    label: str
    name: str
    policy: Policy
    files: str = ""

    def identity(self) -> list[str]:
        """Return the name and the hash of files, which identify the player in the keys of finished parts."""
        return [self.name, self.files]


class TimedPolicy:
    """A player whose thinking time is measured: `seconds` of wall time for `moves` moves.

    The first choice is not timed, because it may include loading and compiling.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seconds = 0.0
        self.moves = 0
        self._began = False

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.players.Policy.choose`."""
        began = time.perf_counter()
        actions = self.policy.choose(positions, rng)
        if self._began:
            self.seconds += time.perf_counter() - began
            self.moves += len(positions)
        self._began = True
        return actions


@dataclass(frozen=True)
class Pairing:
    """A finished pairing.

    Attributes:
        a, b: indices of two players. Player `a` takes each seat in turn, and player `b` takes the other seats.
        results: see `PairResults`.
        games: for each game, in the order of `PairedGames.moves`, its moves after the opening, such as `5A3C`.
        seconds: wall time of the choices of `a` and of `b`.
        moves: number of moves chosen by `a` and by `b`.
    """

    a: int
    b: int
    results: PairResults
    games: list[str]
    seconds: list[float]
    moves: list[int]


class PartStore(Protocol):
    """Storage for the finished parts of an evaluation, such as pairings, so that it can resume."""

    def find(self, names: list[str], settings: dict[str, Any], kind: Any) -> Any:
        """Return the part with these names and settings as a value of the type `kind`; None if it is not stored."""

    def store(self, names: list[str], settings: dict[str, Any], content: Any) -> None:
        """Store `content`, which `json` must be able to write, for the part with these names and settings."""


class NullStore:
    """Storage that discards all parts."""

    def find(self, names: list[str], settings: dict[str, Any], kind: Any) -> None:
        """Return None."""

    def store(self, names: list[str], settings: dict[str, Any], content: Any) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Tournament:
    """Players, the openings that they play in every seating, the seed of all random choices, and the finished parts."""

    core: Core
    entrants: Sequence[Entrant]
    openings: Openings
    seed: int
    finished: PartStore = field(default_factory=NullStore)

    @property
    def games_of_pairing(self) -> int:
        """Number of games in one pairing."""
        return len(self.openings) * self.core.rules.players

    def every_pairing(self) -> list[tuple[int, int]]:
        """Return all pairings (a, b); with P > 2 seats, (b, a) is another one: one `b` against P - 1 copies of `a`."""
        orders = itertools.combinations if self.core.rules.players == 2 else itertools.permutations
        return list(orders(range(len(self.entrants)), 2))

    def play(
        self,
        schedule: list[tuple[int, int]],
        progress: OnGamesEnded = lambda _: None,
        elsewhere: "Callable[[Tournament, list[tuple[int, int]]], Iterator[Pairing]] | None" = None,
    ) -> list[Pairing]:
        """Play the pairings (a, b) of `schedule` that are not yet stored, and return all of its pairings, in order.

        `progress` is called with the number of stored games, and then with the number of games that ended since the
        last call. If `elsewhere` is given, it plays the missing pairings, in any order.
        """
        pairings = {pair: self._find(*pair) for pair in schedule}
        missing = [pair for pair, pairing in pairings.items() if pairing is None]
        progress((len(pairings) - len(missing)) * self.games_of_pairing)
        for pairing in elsewhere(self, missing) if elsewhere else (self.play_one(*pair, progress) for pair in missing):
            pairings[pairing.a, pairing.b] = pairing
            content = {name: table.tolist() for name, table in pairing.results._asdict().items()}
            content.update(games=pairing.games, seconds=pairing.seconds, moves=pairing.moves)
            self.finished.store(self._labels(pairing.a, pairing.b), self._settings(pairing.a, pairing.b), content)
            if elsewhere:
                progress(self.games_of_pairing)
        return [pairing for pairing in pairings.values() if pairing]

    def play_one(self, a: int, b: int, progress: OnGamesEnded = lambda _: None) -> Pairing:
        """Play the pairing of `a` and `b`. The results depend only on the seed, the openings and these two players."""
        first, second = players = [TimedPolicy(self.entrants[number].policy) for number in (a, b)]
        for player in players:
            player.choose(self.openings.positions[:1], np.random.default_rng(self.seed))
        pairs = play_paired_games(self.core, first, second, self.openings.positions, rng_for(self.seed), progress)
        games = ["".join(str(Move.from_action(action)) for action in moves) for moves in pairs.moves]
        seconds, moves = [player.seconds for player in players], [player.moves for player in players]
        return Pairing(a, b, pairs.results, games, seconds, moves)

    def measure_regret(self, number: int, suite: Suite, runs: int) -> tuple[Regret, float]:
        """Return the regret of the player with index `number`, and its mean wall time per move in a batch, in ms."""
        entrant = self.entrants[number]
        settings = {"agent": entrant.identity(), "seed": self.seed, "suite": suite.digest(), "runs": runs}
        stored: tuple[Regret, float] | None = self.finished.find([entrant.label], settings, tuple[Regret, float])
        if stored is not None:
            return stored
        player, rng = TimedPolicy(entrant.policy), rng_for(self.seed)
        player.choose(suite.positions[:1], np.random.default_rng(self.seed))
        result = regret(player, suite, rng, runs=runs)
        ms = 1000 * player.seconds / player.moves
        self.finished.store([entrant.label], settings, [as_record(result), ms])
        return result, ms

    def _labels(self, a: int, b: int) -> list[str]:
        return [self.entrants[a].label, self.entrants[b].label]

    def _settings(self, a: int, b: int) -> dict[str, Any]:
        return {
            "rules": str(self.core.rules),
            "seed": self.seed,
            "openings": self.openings.digest(),
            "agents": [self.entrants[a].identity(), self.entrants[b].identity()],
        }

    def _find(self, a: int, b: int) -> Pairing | None:
        content = self.finished.find(self._labels(a, b), self._settings(a, b), dict[str, Any])
        if content is None:
            return None
        results = PairResults(*(np.array(content[name], dtype=np.float64) for name in PairResults._fields))
        return Pairing(a, b, results, content["games"], content["seconds"], content["moves"])

    def records(self, pairing: Pairing) -> list[GameRecord]:
        """Return the games of a pairing as records, including the openings."""
        labels, records = self._labels(pairing.a, pairing.b), []
        for number, text in enumerate(pairing.games):
            seat, opening = divmod(number, len(self.openings))
            board = self.openings.records[opening].board()
            for begin in range(0, len(text), 2):
                board.push(text[begin : begin + 2])
            seats = {seat_name(self.core.rules, p): labels[p != seat] for p in range(self.core.rules.players)}
            records.append(GameRecord.from_board(board, {**seats, "Opening": str(opening + 1)}))
        return records
