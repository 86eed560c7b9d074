"""A tournament on a Ray cluster: each pairing is one task, and the results are those of a tournament in one process."""

from __future__ import annotations

import dataclasses
import functools

from agents.evaluation.tournament import Entrant, Pairing, Tournament, TournamentError
from agents.players.fingerprint import fingerprint
from agents.support.parallel import spread
from oanquan_env import Core
from oanquan_env.benchmark.openings import Openings
from oanquan_env.benchmark.pairs import OnGamesEnded
from oanquan_env.players.anywhere import load


def play_pairing(rules: str, openings: Openings, seed: int, players: list[list[str]]) -> Pairing:
    """Play one pairing of a tournament, whose players, given as `Entrant.identity` has them, are numbered 0 and 1.

    Raises:
        TournamentError: if an agent's files on this machine differ from those where the tournament was started.
    """
    core = Core(rules)
    entrants = []
    for label, name, expected in players:
        if fingerprint(name, core.rules) != expected:
            raise TournamentError(
                f"the files or the version of {name} differ between machines: share one folder among them"
            )
        entrants.append(Entrant(label, name, load(name, core.rules), expected))
    return Tournament(core, entrants, openings, seed).play_one(0, 1)


def play_on_cluster(tournament: Tournament, address: str, progress: OnGamesEnded | None = None) -> list[Pairing]:
    """As `Tournament.play`, on the cluster at `address`; raises `ScaleError` if that fails.

    Each pairing is stored as soon as it is finished; they come in the order of the schedule.
    """
    pairings = {pair: tournament.find(*pair) for pair in tournament.schedule()}
    missing = [pair for pair, pairing in pairings.items() if pairing is None]
    if progress:
        progress((len(pairings) - len(missing)) * tournament.games_of_pairing)
    work = functools.partial(play_pairing, str(tournament.core.rules), tournament.openings, tournament.seed)
    players = [[tournament.entrants[number].identity() for number in pair] for pair in missing]
    for number, played in spread(work, players, ray=address):
        a, b = missing[number]
        pairing = dataclasses.replace(played, a=a, b=b)
        pairings[a, b] = pairing
        tournament.store(pairing)
        if progress:
            progress(tournament.games_of_pairing)
    return [pairing for pairing in pairings.values() if pairing]
