"""Measure how agents change if some of their training games begin in lines that beat the network.

`python -m experiments.beams` trains `configs/quick.yaml` with several shares of such games. It measures regret, and the
points given up to a best response that queries up to `QUESTIONS` positions. Processor seconds exclude that search.
"""

import functools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config import Share, Size
from experiments import report
from experiments.workers import measure
from oanquan_env.benchmark.exploit import exploit

CONFIG, RULES, SHARES = "configs/quick.yaml", ("mancala-world", "tonkin"), (0.0, 0.3, 0.6)
QUESTIONS = 100_000
SHOWN = {"processor_seconds": 0, "regret": 2, "South": 0, "North": 0}
"""Columns, and the number of decimals in each."""
HEADINGS = "rules", "share", "runs", "CPU seconds", "regret, points", "gives up as South", "gives up as North"


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    seeds: Size = 5
    plies: Share = 1.0  # plies of a run, as a fraction of the configuration's 500,000
    rules: tuple[str, ...] = RULES


def given_up(folder: Path, rules: str) -> dict[str, float]:
    """Return lower bounds on the points that a run's agent gives up to a best response, by seat."""
    responses = [exploit(f"ppo:{folder}", rules, seat, minutes=60, positions=QUESTIONS) for seat in range(2)]
    return {name: float(one.given_up or 0) for name, one in zip(("South", "North"), responses, strict=True)}


def rows(results: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the rows of the table, with means over the runs of each share and rules; `HEADINGS` names the columns."""
    cells = []
    for result in results:
        runs = result["runs"]
        means = [f"{statistics.mean(run[name] for run in runs):.{digits}f}" for name, digits in SHOWN.items()]
        cells.append([f"`{result['rules']}`", f"{result['share']:.0%}", str(len(runs)), *means])
    return cells


def main() -> None:
    """Train and measure with all shares, and write the results after each share."""
    options, results = report.read_options(Options, __doc__, "beams"), []
    for rules in options.rules:
        for share in SHARES:
            changes = ["--rules", rules, "--starts.beam-share", share, "--total-plies", round(options.plies * 500_000)]
            runs = [
                measure(CONFIG, *changes, "--threads", 1, "--seed", seed, then=functools.partial(given_up, rules=rules))
                for seed in range(options.seeds)
            ]
            results.append({"rules": rules, "share": share, "runs": runs})
            report.write(options, "beams", {"questions": QUESTIONS, "results": results})
    report.show("games that begin in lines that beat the network", HEADINGS, rows(results))


if __name__ == "__main__":
    main()
