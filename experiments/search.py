"""Measure the search on one core: moves played per second, and the time to reach a depth.

The positions are the set-up and positions from the middle of games; the latter are also searched with a value net.

Run it on an idle machine: `python -m experiments.search`.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import common
from experiments.common import Cells, Experiment
from oanquan_env import Core, Positions
from oanquan_env.rollouts import random_openings
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from oanquan_env.search.value_net import read_value_net

RULES = "mancala-world"
OPENING_DEPTHS = (16, 20, 24)
MIDDLE_DEPTHS = (8, 12, 16)
MIDDLE_PLIES = (2, 4, 6, 8, 10)
"""Numbers of random plies before the middle-game positions."""


def timed(search: Search, positions: Positions, depth: int) -> dict[str, Any]:
    """Search each position to `depth`; return the searched moves and time per position, and the moves per second."""
    begin = time.perf_counter()
    results = search.best_moves(positions, Limits(depth=depth))
    seconds = time.perf_counter() - begin
    nodes = sum(result.nodes for result in results)
    return {
        "depth": depth,
        "positions": len(positions),
        "moves": nodes / len(positions),
        "milliseconds": 1000 * seconds / len(positions),
        "moves_per_second": nodes / seconds,
    }


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each kind of position and depth."""
    for kind in ("opening", "middle", "middle, value net"):
        for row in results[kind]:
            shown = {"search": f"{kind}, depth {row['depth']}", "ms": f"{row['milliseconds']:,.2f}"}
            yield {**shown, "million moves/s": f"{row['moves_per_second'] / 1e6:.1f}"}


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    positions: int = 250
    """number of positions from the middle of games"""


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Search the set-up and the middle-game positions; yield the times."""
    core = Core(RULES)
    search = Search(core, table_megabytes=256, threads=1)
    rng = np.random.default_rng(0)
    count = -(-options.positions // len(MIDDLE_PLIES))
    middle = Positions.concatenate([random_openings(core, count, plies, rng) for plies in MIDDLE_PLIES])
    with_net = Search(core, table_megabytes=256, threads=1, net=read_value_net("pretrained", RULES))
    for engine in (search, with_net):
        engine.best_moves(middle, Limits(depth=2))  # compile, and touch the tables' memory
    results: dict[str, list[dict[str, Any]]] = {
        "opening": [timed(search, core.start(), depth) for depth in OPENING_DEPTHS],
        "middle": [],
        "middle, value net": [],
    }
    for depth in MIDDLE_DEPTHS:  # alternate, so that each pair is measured under the same load
        results["middle"].append(timed(search, middle, depth))
        results["middle, value net"].append(timed(with_net, middle, depth))
    yield {"rules": RULES, **results}


EXPERIMENT = Experiment("search", __doc__, Options, measure, {"search": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
