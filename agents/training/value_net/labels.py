"""What a value net is taught: positions as a search meets them at its leaves, and their values by search.

A leaf is what play comes to, and some plies off it, as a search tries every move, the bad ones too. So positions are
drawn from games of players of mixed strength, which in later generations search with the net so far, and played on at
random for some plies. The positions by which agents are judged (the rules' regret suite), and those that their moves
lead to, are never taught.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agents.players.mixed_play import met_in_play, mixed_players
from agents.search.deepening import Limits, Search
from agents.support.parallel import in_order, spread
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

    Args:
        core: the core.
        wanted: how many.
        random_plies: random plies after those of the games, at most.
        net: what the searching players see at their horizon; nothing without a net.
        rng: all chance comes from it.
        threads: threads that search.
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


@dataclass(frozen=True)
class ValueWork:
    """Positions to be valued.

    Attributes:
        rules: the rules, as text.
        positions: running positions.
        depth: plies of the search.
        net: the file of the net at its horizon; None for a search without.
    """

    rules: str
    positions: Positions
    depth: int
    net: bytes | None


def value_positions(
    core: Core, positions: Positions, depth: int, net: ValueNet | None, threads: int, ray: str | None
) -> Iterator[Values]:
    """The values of N running positions, CHUNK after CHUNK.

    Args:
        core: the core.
        positions: N running positions.
        depth: plies of the search.
        net: the net at its horizon; None for a search without.
        threads: threads that search.
        ray: address of a Ray cluster that searches instead; the values are the same.
    """
    parts = [positions[begin : begin + CHUNK] for begin in range(0, len(positions), CHUNK)]
    if ray:
        content = net.to_bytes() if net else None
        works = [ValueWork(str(core.rules), part, depth, content) for part in parts]
        return in_order(spread(value_work, works, ray=ray))
    if core.rules.players > 2:
        return (_all_margins(core, part, depth, net, threads) for part in parts)
    search = Search(core, threads=threads, net=net)
    return (_values(search, part, depth) for part in parts)


def value_work(work: ValueWork) -> Values:
    """The values of a worker's positions; on one processor."""
    core = Core(work.rules)
    if core.rules.players > 2:
        return _all_margins(core, work.positions, work.depth, ValueNet.from_bytes(work.net) if work.net else None, 1)
    return _values(_search(work.rules, work.net), work.positions, work.depth)


@functools.lru_cache(maxsize=1)
def _search(rules: str, net: bytes | None) -> Search:
    """A worker's search: it compiles and takes its memory once."""
    return Search(Core(rules), threads=1, net=ValueNet.from_bytes(net) if net else None)


def _values(search: Search, positions: Positions, depth: int) -> Values:
    return np.array([found.value for found in search.best_moves(positions, Limits(depth=depth))], dtype=np.int16)


def _all_margins(core: Core, positions: Positions, depth: int, net: ValueNet | None, threads: int) -> Values:
    """(N, P) the margins of all players by max^n search, the mover's first."""
    search = FullWidthSearch(core, depth, net=net)
    parts = [positions[begin : begin + search.chunk] for begin in range(0, len(positions), search.chunk)]
    with ThreadPoolExecutor(threads) as pool:  # NumPy lets other threads go on while it computes
        found = np.concatenate(list(pool.map(search.position_values, parts)))
    seats = (positions.mover[:, None] + np.arange(core.rules.players)) % core.rules.players
    margins: npt.NDArray[np.float32] = np.take_along_axis(found, seats, axis=1).astype(np.float32)
    return margins
