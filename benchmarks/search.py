"""Measure the search on one core: moves played per second, and the time to reach a depth.

The positions are the set-up and positions from the middle of games; the latter are also searched with a value net.

Run it on an idle machine: `python -m benchmarks.search`.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import report
from oanquan_env import Core, Positions
from oanquan_env.rollouts import random_openings
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.value_net import read_value_net

RULES = "mancala-world"
OPENING_DEPTHS = (16, 20, 24)
MIDDLE_DEPTHS = (8, 12, 16)
HEADS = ("search", "ms", "million moves/s")
MIDDLE_PLIES = (2, 4, 6, 8, 10)
"""Numbers of random plies before the middle-game positions."""


def measure(search: Search, positions: Positions, depth: int) -> dict[str, Any]:
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


def table_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return the rows of the table, one for each kind of position and depth; `HEADS` names the columns."""
    return [
        [f"{kind}, depth {row['depth']}", f"{row['milliseconds']:,.2f}", f"{row['moves_per_second'] / 1e6:.1f}"]
        for kind in ("opening", "middle", "middle, value net")
        for row in found[kind]
    ]


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    positions: int = 250
    """number of positions from the middle of games"""


def main() -> None:
    """Search the set-up and the middle-game positions, and report the times."""
    options = report.read_options(Options, __doc__, "search")
    core = Core(RULES)
    search = Search(core, table_megabytes=256, threads=1)
    rng = np.random.default_rng(0)
    count = -(-options.positions // len(MIDDLE_PLIES))
    middle = Positions.concatenate([random_openings(core, count, plies, rng) for plies in MIDDLE_PLIES])
    with_net = Search(core, table_megabytes=256, threads=1, net=read_value_net("pretrained", RULES))
    for one in (search, with_net):
        one.best_moves(middle, Limits(depth=2))  # compile, and touch the tables' memory
    results: dict[str, list[dict[str, Any]]] = {
        "opening": [measure(search, core.start(), depth) for depth in OPENING_DEPTHS],
        "middle": [],
        "middle, value net": [],
    }
    for depth in MIDDLE_DEPTHS:  # alternate, so that each pair is measured under the same load
        results["middle"].append(measure(search, middle, depth))
        results["middle, value net"].append(measure(with_net, middle, depth))
    content = {"rules": RULES, **results}
    report.show(f"Alpha-beta, {RULES}, one core; means per position", HEADS, table_rows(content))
    report.write(options, "search", content)


if __name__ == "__main__":
    main()
