"""What a value net is taught: positions as a search meets them at its leaves, and their values by search.

A leaf is what play comes to, and some plies off it, as a search tries every move, the bad ones too. So positions are
drawn from games of players of mixed strength, which in later generations search with the net so far, and played on at
random for some plies. The positions by which agents are judged (the rules' regret suite), and those that their moves
lead to, are never taught.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agents.players.mixed_play import met_in_play, mixed_players
from agents.search.deepening import Limits, Search
from agents.search.in_parts import Searcher, search_parts
from oanquan_env import Core, Positions
from oanquan_env.benchmark.suites import suite_keys
from oanquan_env.keys import are_among, canonical_keys, first_of_each, key_hashes
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import ValueNet
from oanquan_env.playing import play_randomly

Values: TypeAlias = npt.NDArray[np.int16] | npt.NDArray[np.float32]
"""(N,) int16, the future margin of each position's mover, points; with more than two players (N, P) float32, of all of
them, the mover's first."""

POSITIONS_A_GAME = 16
"""Positions wanted for each game that is played for them."""
CHUNK = 10_000
"""Positions valued between two steps of the progress bar, and two writings to the disk."""
FEW = 0.01
"""Share of the positions wanted; where a draw brings fewer new ones, there are hardly any more."""


def draw_positions(
    core: Core, wanted: int, random_plies: int, net: ValueNet | None, rng: np.random.Generator, threads: int
) -> Positions:
    """At most `wanted` running positions, no two of which play alike; fewer where play meets so few.

    They lie at most `random_plies` off those of the games, whose searching players use `net` at their horizon.
    """
    withheld = np.sort(key_hashes(suite_keys(core)))
    games = 1 + wanted // POSITIONS_A_GAME
    met = met_in_play(core, mixed_players(core, threads, net), games, rng)
    drawn, known = core.start(0), -wanted
    while known + FEW * wanted < len(drawn) < wanted:
        known = len(drawn)
        more = met[rng.integers(0, len(met), wanted)]
        play_randomly(core, more, rng.integers(0, random_plies + 1, len(more)), rng)
        drawn = Positions.concatenate([drawn, more[~more.over]])
        keys = canonical_keys(core, drawn)
        first = first_of_each(keys)
        drawn = drawn[first[~are_among(key_hashes(keys[first]), withheld)]]
    return drawn[rng.permutation(len(drawn))[:wanted]]


def value_positions(
    core: Core, positions: Positions, depth: int, net: ValueNet | None, threads: int, ray: str | None
) -> Iterator[Values]:
    """The values of N running positions, CHUNK after CHUNK, by search to `depth` with `net` at its horizon.

    `threads` of this machine search, or a Ray cluster at the address `ray`; the values are the same.
    """
    parts = [positions[begin : begin + CHUNK] for begin in range(0, len(positions), CHUNK)]
    return search_parts(valuer, core, parts, depth, net=net, threads=threads, ray=ray)


def valuer(core: Core, net: ValueNet | None, threads: int | None) -> Searcher[Values]:
    """A search for the values of positions: alpha-beta, or max^n with more than two players."""
    if core.rules.players == 2:
        search = Search(core, threads=threads, net=net)

        def values(positions: Positions, depth: int) -> Values:
            found = search.best_moves(positions, Limits(depth=depth))
            return np.array([one.value for one in found], dtype=np.int16)

        return values

    def margins(positions: Positions, depth: int) -> Values:
        search = FullWidthSearch(core, depth, net=net)
        parts = [positions[begin : begin + search.chunk] for begin in range(0, len(positions), search.chunk)]
        with ThreadPoolExecutor(threads) as pool:  # NumPy lets other threads go on while it computes
            found = np.concatenate(list(pool.map(search.position_values, parts)))
        seats = (positions.mover[:, None] + np.arange(core.rules.players)) % core.rules.players
        return np.take_along_axis(found, seats, axis=1).astype(np.float32)

    return margins
