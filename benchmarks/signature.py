"""Nodes, values and moves of every search at fixed positions and limits, so that play never changes by accident.

    python -m benchmarks.signature            # writes benchmarks/results/signature.json
    python -m benchmarks.signature --check    # fails where a search does something else

Value nets are drawn by chance, so training them anew changes nothing here. Where a change of play is meant, commit the
new signature with it.
"""

import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.config import Flag, parse_options
from benchmarks.report import RESULTS
from oanquan_env import PRESETS, Core, Positions
from oanquan_env.files import read_json, write_atomically
from oanquan_env.players import make
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.playing import play_randomly
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.maxn import ManySearch
from oanquan_env.search.mcts import MCTSPlayer, RandomPlayouts, SearchedLeaves
from oanquan_env.search.value_net import ValueNet, shapes

PROG = "python -m benchmarks.signature"
PATH = RESULTS / "signature.json"
POSITIONS = 24
LIMITS = {"depth 5": Limits(depth=5), "2,000 nodes": Limits(nodes=2000)}


def positions_of(core: Core) -> Positions:
    """`POSITIONS` running positions, each some random plies after the set-up."""
    rng = np.random.default_rng(1)
    positions = core.start(2 * POSITIONS)
    play_randomly(core, positions, rng.integers(0, 12, len(positions)), rng)
    return positions[~positions.over][:POSITIONS]


def drawn_net(core: Core) -> ValueNet:
    """A value net whose weights are drawn by chance: multiples of 1/64, whose sums no processor rounds."""
    rng = np.random.default_rng(2)
    arrays = {
        name: (rng.integers(-8, 9, shape) / 64).astype(np.float32)
        for name, shape in shapes(core.rules.fields, core.rules.players).items()
    }
    return ValueNet(rules=core.rules, **arrays, origin={})


def signature(preset: str, *, compiled: bool = True) -> dict[str, Any]:
    """What each search does under the rules of a preset; unless `compiled`, searches with a net are left out."""
    core = Core(preset)
    positions, net = positions_of(core), drawn_net(core)
    found: dict[str, Any] = {}
    players = {
        "maxn, 3 plies": make("maxn:depth=3", core.rules),
        "mcts, leaves of 1 ply": MCTSPlayer(SearchedLeaves(core, 1), 20),
    }
    if compiled:
        players["maxn with a net, 2 plies"] = SearchPlayer(ManySearch(core, net=net, threads=1), Limits(depth=2))
    if core.rules.players == 2:
        for kind, own in (("alpha-beta", None), ("alpha-beta with a net", net))[: 1 + compiled]:
            search = Search(core, table_megabytes=1, threads=1, net=own)
            for limit, limits in LIMITS.items():
                results = search.best_moves(positions, limits)
                found[f"{kind}, {limit}"] = {
                    "nodes": sum(one.nodes for one in results),
                    "values": [one.value for one in results],
                    "moves": [one.action for one in results],
                }
        players["mcts, playouts"] = MCTSPlayer(RandomPlayouts(core), 20)
    for name, player in players.items():
        found[name] = {"moves": player.choose(positions.copy(), np.random.default_rng(3)).tolist()}
    return found


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """The searches that do something else than is expected, by preset and name."""
    return [
        f"{preset}: {name}"
        for preset in expected | found
        for name in expected.get(preset, {}) | found.get(preset, {})
        if expected.get(preset, {}).get(name) != found.get(preset, {}).get(name)
    ]


@dataclass(frozen=True)
class Options:
    """The command line."""

    check: Flag = False  # write nothing, and fail if a search does something else than is committed


def main(arguments: list[str]) -> int:
    """Write or check the signature; returns the exit status."""
    options = parse_options(Options, arguments, prog=PROG, description=__doc__)
    found = {preset: signature(preset) for preset in PRESETS}
    if not options.check:
        lines = [f' "{preset}": {json.dumps(searches)}' for preset, searches in found.items()]
        write_atomically(PATH, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
        return 0
    changed = differences(read_json(PATH), found)
    for name in changed:
        print(f"{name} plays otherwise than {PATH.name} says; if that is meant: {PROG}", file=sys.stderr)
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
