"""A tournament on a Ray cluster: each pairing is one task, and the results are those of a tournament in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import agents
from agents.evaluation.arena import OnGamesEnded
from agents.evaluation.openings import Openings
from agents.evaluation.tournament import Entrant, Pairing, Tournament, TournamentError
from agents.players.fingerprint import fingerprint
from agents.support.parallel import spread
from oanquan_env import Core, Rules


@dataclass(frozen=True)
class PairingWork:
    """All that another process needs to play one pairing: names instead of players.

    Attributes:
        rules: as text.
        entrants: label, name and fingerprint of both players.
        openings: where games begin.
        seed: of the tournament.
    """

    rules: str
    entrants: tuple[tuple[str, str, str], ...]
    openings: Openings
    seed: int

    @classmethod
    def of(cls, tournament: Tournament, a: int, b: int) -> PairingWork:
        """The pairing of players `a` and `b` of a tournament."""
        players = (tournament.entrants[number] for number in (a, b))
        entrants = tuple((one.label, one.name, one.fingerprint) for one in players)
        return cls(str(tournament.core.rules), entrants, tournament.openings, tournament.seed)


def play_pairing(work: PairingWork) -> Pairing:
    """Play one pairing, whose players are numbered 0 and 1.

    Raises:
        TournamentError: if an agent's files here are not those of who asked.
    """
    core = Core(Rules.parse(work.rules))
    entrants = []
    for label, name, expected in work.entrants:
        if fingerprint(name, core.rules) != expected:
            raise TournamentError(
                f"the files or the version of {name} differ between machines: share one folder among them"
            )
        entrants.append(Entrant(label, name, agents.make(name, core.rules), expected))
    return Tournament(core, entrants, work.openings, work.seed).play_one(0, 1)


def play_on_cluster(tournament: Tournament, address: str, progress: OnGamesEnded | None = None) -> Iterator[Pairing]:
    """As `Tournament.play`: pairings are kept as they get finished, and yielded in order of the schedule.

    Args:
        tournament: what to play; pairings that its folder holds are not played again.
        address: of the cluster, see `agents.support.parallel.HELP`.
        progress: hears how many games ended.

    Raises:
        ResultCacheError: if the folder holds a pairing by other settings, or a damaged one.
        ScaleError: if the cluster fails.
    """
    schedule = tournament.schedule()
    kept = {pair: tournament.find(*pair) for pair in schedule}
    pairings = {pair: pairing for pair, pairing in kept.items() if pairing}
    missing = [pair for pair in schedule if pair not in pairings]
    if progress:
        progress(len(pairings) * tournament.games_of_pairing)
    for number, played in spread(play_pairing, [PairingWork.of(tournament, *pair) for pair in missing], ray=address):
        a, b = missing[number]
        pairings[a, b] = dataclasses.replace(played, a=a, b=b)
        tournament.keep(pairings[a, b])
        if progress:
            progress(tournament.games_of_pairing)
    for pair in schedule:
        yield pairings[pair]
