"""Fair openings beside balanced ones: the first player's advantage, and null runs of equal players.

The margin of a fair opening is proved to be even or nearly so, that of a balanced one is searched. The advantage is the
final margin of the player who moves first after an opening, a strong player on both sides. A null run is an evaluation
of a player against itself: its mean margin over pairs should be 0, and its 95 % interval should miss 0 in one run of
twenty. The wider the margins of pairs, the more pairs a test needs.

    python -m benchmarks.fair --publish
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.progress import Progress

from agents.config import progress_bar
from benchmarks import report
from oanquan_env import PRESETS, Core
from oanquan_env.benchmark.estimates import Estimate, mean_estimate, score_estimate
from oanquan_env.benchmark.markdown import interval
from oanquan_env.benchmark.openings import Openings, load_openings
from oanquan_env.benchmark.pairs import by_order, chance, play_pairs
from oanquan_env.benchmark.suites import openings_path
from oanquan_env.engine.positions import Positions
from oanquan_env.players import make

STRONG = "minimax:nodes=5000,net=pretrained"
EQUAL = "minimax:depth=2,net=pretrained,epsilon=0.1"
"""The player of null runs, which meets itself; without chance both games of a pair would be the same."""
PAIRS = 100
"""Openings of a set that are played."""
HEADS = (
    *("rules", "openings", "margin of the first player (95 %)", "its score, %"),
    *("null runs: mean margin (95 %)", "deviation of a pair", "intervals without 0, %"),
)


def measure(core: Core, openings: Openings, runs: int) -> dict[str, Any]:
    """The first player's margin and score, and the null runs, over a set of openings."""
    strong, equal = make(STRONG, core.rules), make(EQUAL, core.rules)
    rng = chance(0, str(core.rules), openings.name)
    played = play_pairs(core, strong, strong, openings.positions, rng)
    margins_in_order, scores_in_order = (by_order(table, openings.positions) for table in (played.margin, played.score))
    first = (margins_in_order[:, 0] - margins_in_order[:, 1]) / 2  # both players of a game are the same one
    score = (scores_in_order[:, 0] + 1 - scores_in_order[:, 1]) / 2
    null = play_pairs(core, equal, equal, Positions.concatenate([openings.positions] * runs), rng)
    margins = null.margin.mean(axis=1).reshape(runs, len(openings))
    missed = sum(not found.low <= 0 <= found.high for found in map(mean_estimate, margins))
    return {
        "digest": openings.digest(),
        "margin": vars(mean_estimate(first)),
        "score": vars(score_estimate(score)),
        "null_margin": vars(mean_estimate(margins.mean(axis=1))),
        "pair_deviation": float(margins.std()),
        "missed": missed / runs,
    }


def measure_all(runs: int, progress: Progress) -> dict[str, dict[str, Any]]:
    """Both sets of each preset that has fair openings."""
    found: dict[str, dict[str, Any]] = {}
    names = [name for name, preset in PRESETS.items() if openings_path(preset.rules, fair=True).is_file()]
    task = progress.add_task("sets of openings", total=2 * len(names))
    for name in names:
        core = Core(name)
        for source in ("balanced", "fair"):
            openings = load_openings(core, source, PAIRS, 0, np.random.default_rng(0))
            found.setdefault(name, {})[source] = measure(core, openings, runs)
            progress.advance(task)
    return found


def table_rows(results: dict[str, Any]) -> list[list[str]]:
    """A row for each set of each preset."""
    rows = []
    for name, sets in results["results"].items():
        for source, found in sets.items():
            margin, score, null = (Estimate(**found[part]) for part in ("margin", "score", "null_margin"))
            cells = [interval(margin, "+.1f"), f"{100 * score.mean:.0f}", interval(null, "+.2f")]
            rows.append([f"`{name}`", source, *cells, f"{found['pair_deviation']:.1f}", f"{100 * found['missed']:.0f}"])
    return rows


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    runs: int = 60
    """null runs of each set"""


def main() -> None:
    """Play the games and report both sets of each preset."""
    options = report.read_options(Options, __doc__, "fair")
    with progress_bar() as progress:
        results = measure_all(options.runs, progress)
    report.show(f"{PAIRS} openings of each set", HEADS, table_rows({"results": results}))
    settings = {"strong": STRONG, "equal": EQUAL, "pairs": PAIRS, "runs": options.runs}
    report.write(options, "fair", {**settings, "results": results})


if __name__ == "__main__":
    main()
