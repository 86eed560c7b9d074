"""Measure the speed and the regret of a run on several workers: `python -m benchmarks.workers`, on an idle machine.

All runs of a method have the same number of plies, except longer runs of PPO with several workers. They have one torch
thread per worker, and the same number of parallel games either in total or per worker.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.checkpoint import read_evaluations
from agents.config import Share, Size, Workers
from benchmarks import report

METHODS = {
    "PPO": ("configs/quick.yaml", "--ppo.n-envs", 1024, 500_000, 600_000),
    "TD(λ)": ("configs/value.yaml", "--td.games", 512, 3_000_000, 3_000_000),
}
"""For each method: configuration, option that sets the number of games, games of one worker, plies, and plies of a
longer run that several workers also make, because they may need more plies for an equal regret."""

HEADINGS = (
    "method",
    "workers",
    "games",
    "plies",
    "plies/s",
    "seconds",
    "share of one worker's time",
    "regret ± standard error",
)


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    workers: tuple[Workers, ...] = (1, 2)
    seeds: Size = 5
    share: Share = 1.0  # plies of a run, as a fraction of the configuration's plies


def measure(config: str, *changes: object, then: Callable[[Path], dict[str, float]] = lambda _: {}) -> dict[str, float]:
    """Train with the file `config` and the options `changes`; return plies, regret, seconds and processor seconds.

    Only `processor_seconds` includes the first and last evaluation. `then` gets the run's folder; its result is added.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["--config", config, *changes, "--evaluation.every-plies", 10**12, "--output", f"{folder}/run"]
        command = [sys.executable, "train.py", *map(str, words)]
        before = os.times()
        subprocess.run(command, cwd=Path(__file__).parents[1], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        first, last = read_evaluations(Path(folder) / "run")
        seconds = last["seconds"] - 2 * first["seconds"]  # the last evaluation takes as long as the first
        row = {"plies": last["plies"], "seconds": round(seconds, 1), "regret": last["regret"]["mean"]}
        row["processor_seconds"] = round(processor, 1)
        return row | then(Path(folder) / "run")


def rows(results: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the rows of the table, one for each item of `results`; `HEADINGS` names the columns."""
    cells, seconds_of_one = [], 0.0
    for result in results:
        runs = result["runs"]
        seconds, regrets = (statistics.mean(run[name] for run in runs) for name in ("seconds", "regret"))
        if result["workers"] == 1:
            seconds_of_one = seconds
        plies = statistics.mean(run["plies"] for run in runs)
        error = statistics.stdev(run["regret"] for run in runs) / len(runs) ** 0.5 if len(runs) > 1 else None
        shown = (
            f"{plies:,.0f}",
            f"{plies / seconds:,.0f}",
            f"{seconds:.0f}",
            f"{seconds / seconds_of_one:.2f}" if seconds_of_one else "",
            f"{regrets:.2f}" if error is None else f"{regrets:.2f} ± {error:.2f}",
        )
        cells.append([result["method"], str(result["workers"]), f"{result['games']:,}", *shown])
    return cells


def main() -> None:
    """Measure both methods with each number of workers, and write the results after each row."""
    options, results = report.read_options(Options, __doc__, "workers"), []
    for method, (config, option, games, plies, more) in METHODS.items():
        cases = {(n, *case) for n in options.workers for case in ((games, plies), (n * games, plies))}
        cases |= {(n, games, more) for n in options.workers if n > 1}
        for workers, played, total in sorted(cases):
            changes = ["--threads", 1, "--total-plies", round(options.share * total)]
            changes += ["--workers", workers, option, played]
            runs = [measure(config, *changes, "--seed", seed) for seed in range(options.seeds)]
            results.append({"method": method, "workers": workers, "games": played, "runs": runs})
            report.write(options, "workers", {"results": results})
    report.show("one run on several workers", HEADINGS, rows(results))


if __name__ == "__main__":
    main()
