"""Test that the nodes, values and moves of each search at fixed positions and limits are those in signature.json.

`python -m tests.search.test_signature` rewrites the file. Run it only after a change that should alter the searches.
"""

import json
import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from oanquan_env import PRESETS, Core
from oanquan_env.players import make
from oanquan_env.players.search_player import MCTSPlayer, SearchPlayer
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.mcts import RandomPlayouts, SearchedLeaves
from tests.helpers.boards import random_positions
from tests.helpers.nets import random_net

FILE = Path(__file__).with_name("signature.json")
POSITIONS = 24
LIMITS = {"depth 5": Limits(depth=5), "2,000 nodes": Limits(nodes=2000)}


def signature(preset: str, *, compiled: bool = True) -> dict[str, Any]:
    """Return the results of each search under a preset's rules; unless `compiled`, omit the slowest searches."""
    core = Core(preset)
    positions, net = random_positions(core, 2 * POSITIONS, seed=1)[:POSITIONS], random_net(preset, 0.1)
    found: dict[str, Any] = {}
    players = {
        "maxn, 3 plies": make("maxn:depth=3", core.rules),
        "mcts, leaves of 1 ply": MCTSPlayer(SearchedLeaves(core, 1), 20),
    }
    if compiled:
        players["maxn with a net, 2 plies"] = SearchPlayer(MaxnSearch(core, net=net, threads=1), Limits(depth=2))
    if core.rules.players == 2:
        kinds = ("alpha-beta", None, 1), ("alpha-beta without a table", None, 0), ("alpha-beta with a net", net, 1)
        for kind, own, megabytes in kinds[: 3 if compiled else 1]:  # a table hides repeated searches
            search = Search(core, table_megabytes=megabytes, threads=1, net=own)
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


@pytest.mark.parametrize("preset", PRESETS)
def test_every_search_plays_as_its_signature_says(preset: str) -> None:
    compiled = not numba.config.DISABLE_JIT
    expected = json.loads(FILE.read_text())[preset]
    if not compiled:
        expected = {name: search for name, search in expected.items() if not re.search("with a net|without", name)}
    assert signature(preset, compiled=compiled) == expected


if __name__ == "__main__":
    lines = [f' "{preset}": {json.dumps(signature(preset))}' for preset in PRESETS]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
