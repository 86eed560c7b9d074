"""Tournaments: every pairing of some players over the same openings.

With a folder each finished pairing is kept in a file, and an interrupted tournament continues from there. On a Ray
cluster each pairing is one task, and the results are those of a tournament in one process.
"""

import dataclasses
import functools
import itertools
import re
import secrets
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.evaluation.finished_parts import FinishedParts
from agents.support.parallel import spread
from oanquan_env import Core, GameRecord, Move, Positions, Rules
from oanquan_env.arrays import Ints
from oanquan_env.benchmark.evaluation import name_of
from oanquan_env.benchmark.openings import Openings
from oanquan_env.benchmark.pairs import OnGamesEnded, PairResults, chance, play_paired_games
from oanquan_env.engine.notation import seat_name
from oanquan_env.errors import UsageError
from oanquan_env.files import short_hash
from oanquan_env.players import Policy, as_policy
from oanquan_env.players.adapters import module_source
from oanquan_env.players.making import kinds
from oanquan_env.players.names import parse
from oanquan_env.search.value_net import value_net_path

FOLDER = "parts/pairings"  # of the output folder
_LABEL = re.compile(r"\s*([^\s:=,][^:=,]*?)\s*=\s*(.+)", re.DOTALL)


class TimedPolicy:
    """A player whose thinking time is measured: `seconds` of wall time for so many `moves`.

    Its first choice, which may load and compile, does not count.
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
class Entrant:
    """A player of a tournament: its label in the results, and its name."""

    label: str
    name: str
    policy: Policy
    files: str

    def identity(self) -> list[str]:
        """Label, name and hash of files: the player in the keys of kept results."""
        return [self.label, self.name, self.files]


def make_entrant(label: str, player: object, rules: Rules) -> Entrant:
    """An entrant from all that `as_policy` takes; raises `ValueError` as it does.

    No two objects have the same hash, so results are kept of names alone.
    """
    files = hash_of_files(player, rules) if isinstance(player, str) else secrets.token_hex(8)
    return Entrant(label, name_of(player), as_policy(player, rules), files)


def hash_of_files(name: str, rules: Rules) -> str:
    """A hash of the files that a player's name mentions, which tells a retrained agent from the earlier one.

    These are an agent's, a value net or the module of somebody's own player; without any it is empty. The package's
    version tells everything else.
    """
    known = kinds()
    if name.partition(":")[0] not in known:
        return short_hash(module_source(name) or b"")
    parsed, content = parse(name, known), list[bytes]()
    if parsed.agent:
        from agents.players.agent_files import agent_folder  # torch takes a second to import

        content += [path.read_bytes() for path in sorted(agent_folder(parsed.agent, rules).glob("agent.*"))]
    if parsed.net:
        content.append(value_net_path(parsed.net, rules).read_bytes())
    if parsed.beyond:
        return hash_of_files(parsed.beyond, rules)
    return short_hash(*content) if content else ""


def make_entrants(players: Sequence[str] | Mapping[str, object], rules: Rules) -> list[Entrant]:
    """Players from `NAME` or `LABEL=NAME`, as in `quick=ppo:runs/quick`; a label has no `:`, `=` or `,`.

    Or from labels and all that `as_policy` takes. Raises `UsageError` if two share a label, and `ValueError` as
    `as_policy` does.
    """
    if isinstance(players, Mapping):
        return [make_entrant(label, player, rules) for label, player in players.items()]
    entrants: list[Entrant] = []
    for text in players:
        match = _LABEL.fullmatch(text)
        label, name = (match[1], match[2]) if match else (text, text)
        if any(label == other.label for other in entrants):
            labelled = shlex.join([f"A={name}", f"B={name}"])
            raise UsageError(f"two players are called {label!r}; tell them apart by labels, as in {labelled}")
        entrants.append(make_entrant(label, name, rules))
    return entrants


@dataclass(frozen=True)
class Pairing:
    """A finished pairing.

    Attributes:
        a, b: numbers of the player that takes each seat in turn, and of the one that takes the other seats.
        results: see `PairResults`.
        games: for each game, in the order of `PairedGames.moves`, its moves after the opening, such as `5A3C`.
        seconds: wall time of the choices of `a` and of `b`.
        moves: moves chosen by `a` and by `b`.
    """

    a: int
    b: int
    results: PairResults
    games: list[str]
    seconds: list[float]
    moves: list[int]


class Tournament:
    """Every pairing of `entrants` over `openings`.

    With two players a pairing is unordered. With more, one `a` among several `b` is not the same as one `b` among
    several `a`, and both are played. Every opening is played in every seating. A pairing's results depend on the seed
    and on the two labels, not on the other players. Finished pairings are kept in the folder, if there is one. Raises
    `UsageError` for fewer than two players.
    """

    def __init__(
        self, core: Core, entrants: list[Entrant], openings: Openings, seed: int, folder: Path | None = None
    ) -> None:
        if len(entrants) < 2:
            raise UsageError(f"two players or more are needed for a tournament; got {len(entrants)}")
        self.core = core
        self.entrants = entrants
        self.openings = openings
        self.seed = seed
        self.finished = FinishedParts(folder / FOLDER if folder else None)

    def schedule(self) -> list[tuple[int, int]]:
        """The pairings (a, b) in the order in which they are played."""
        everyone = range(len(self.entrants))
        pairs = itertools.combinations if self.core.rules.players == 2 else itertools.permutations
        return list(pairs(everyone, 2))

    @property
    def games_of_pairing(self) -> int:
        """Games of one pairing."""
        return len(self.openings) * self.core.rules.players

    def play(self, progress: OnGamesEnded | None = None, ray: str | None = None) -> list[Pairing]:
        """Play the pairings that are not finished yet; returns all in the order of the schedule.

        `progress` is called with numbers of games that ended. A Ray cluster at the address `ray` may play the pairings.
        Raises `FileError` for a damaged file of a finished pairing, and `UsageError` if the cluster fails.
        """
        heard: OnGamesEnded = progress or (lambda _: None)
        pairings = {pair: self._find(*pair) for pair in self.schedule()}
        missing = [pair for pair, pairing in pairings.items() if pairing is None]
        heard((len(pairings) - len(missing)) * self.games_of_pairing)
        for pairing in self._spread(missing, ray, heard) if ray else (self.play_one(*pair, heard) for pair in missing):
            pairings[pairing.a, pairing.b] = pairing
            self._store(pairing)
        return [pairing for pairing in pairings.values() if pairing]

    def _spread(self, missing: list[tuple[int, int]], address: str, progress: OnGamesEnded) -> Iterator[Pairing]:
        """The missing pairings as a Ray cluster finishes them."""
        work = functools.partial(play_pairing, str(self.core.rules), self.openings, self.seed)
        players = [[self.entrants[number].identity() for number in pair] for pair in missing]
        for number, pairing in spread(work, players, ray=address):
            a, b = missing[number]
            progress(self.games_of_pairing)
            yield dataclasses.replace(pairing, a=a, b=b)

    def play_one(self, a: int, b: int, progress: OnGamesEnded | None = None) -> Pairing:
        """Play the pairing of players `a` and `b`."""
        players = [TimedPolicy(self.entrants[number].policy) for number in (a, b)]
        for player in players:
            player.choose(self.openings.positions[:1], np.random.default_rng(self.seed))
        rng = chance(self.seed, *self._labels(a, b))
        played = play_paired_games(self.core, players[0], players[1], self.openings.positions, rng, progress)
        games = ["".join(str(Move.from_action(action)) for action in moves) for moves in played.moves]
        return Pairing(a, b, played.results, games, [one.seconds for one in players], [one.moves for one in players])

    def _labels(self, a: int, b: int) -> list[str]:
        return [self.entrants[a].label, self.entrants[b].label]

    def _settings(self, a: int, b: int) -> dict[str, Any]:
        return {
            "rules": str(self.core.rules),
            "seed": self.seed,
            "openings": self.openings.digest(),
            "agents": [self.entrants[a].identity(), self.entrants[b].identity()],
        }

    def _store(self, pairing: Pairing) -> None:
        content = {name: table.tolist() for name, table in pairing.results._asdict().items()}
        content.update(games=pairing.games, seconds=pairing.seconds, moves=pairing.moves)
        self.finished.store(self._labels(pairing.a, pairing.b), self._settings(pairing.a, pairing.b), content)

    def _find(self, a: int, b: int) -> Pairing | None:
        """The finished pairing, None if there is none."""
        content = self.finished.find(self._labels(a, b), self._settings(a, b))
        if content is None:
            return None
        results = PairResults(*(np.array(content[name], dtype=np.float64) for name in PairResults._fields))
        return Pairing(a, b, results, content["games"], content["seconds"], content["moves"])

    def records(self, pairing: Pairing) -> list[GameRecord]:
        """The games of a pairing as records, openings included."""
        labels, records = self._labels(pairing.a, pairing.b), []
        for number, text in enumerate(pairing.games):
            seat, opening = divmod(number, len(self.openings))
            board = self.openings.records[opening].board()
            for begin in range(0, len(text), 2):
                board.push(text[begin : begin + 2])
            seats = {seat_name(self.core.rules, p): labels[p != seat] for p in range(self.core.rules.players)}
            records.append(GameRecord.from_board(board, {**seats, "Opening": str(opening + 1)}))
        return records


def play_pairing(rules: str, openings: Openings, seed: int, players: list[list[str]]) -> Pairing:
    """Play one pairing, whose players, given by their `Entrant.identity`, are numbered 0 and 1.

    Raises `UsageError` if an agent's files on this machine differ from those where the tournament was started.
    """
    core = Core(rules)
    entrants = [make_entrant(label, name, core.rules) for label, name, _ in players]
    for one, expected in zip(entrants, players, strict=True):
        if one.identity() != expected:
            raise UsageError(
                f"the files or the version of {one.name} differ between machines: share one folder among them"
            )
    return Tournament(core, entrants, openings, seed).play_one(0, 1)
