"""Measure the speed and the regret of a run on several workers: `python -m benchmarks.workers`, on an idle machine.

All runs have the same number of plies and one torch thread per worker. A run has either the same number of games with
any number of workers, or the same number of games per worker.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.config import Share, Size, Workers
from agents.run_files import read_evaluations
from benchmarks import report

METHODS = {
    "PPO": ("configs/quick.yaml", "--ppo.n-envs", 1024, 500_000),
    "TD(λ)": ("configs/value.yaml", "--td.games", 512, 3_000_000),
}
"""For each method: configuration, option that sets the number of games, games of one worker, and plies."""


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    workers: tuple[Workers, ...] = (1, 2)
    seeds: Size = 5
    share: Share = 1.0  # plies of a run, as a fraction of the configuration's plies


def measure(config: str, *changes: object, then: Callable[[Path], dict[str, float]] = lambda _: {}) -> dict[str, float]:
    """Train a run; return plies, seconds (without the first and last evaluation), regret and the result of `then`.

    `processor_seconds` measures the whole program, including its start and both evaluations.
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


def main() -> None:
    """Measure both methods with each number of workers."""
    options, results, rows = report.read_options(Options, __doc__, "workers"), [], []
    for method, (config, option, games, plies) in METHODS.items():
        shared = ["--threads", 1, "--total-plies", round(options.share * plies)]
        for workers, played in sorted({(n, games * factor) for n in options.workers for factor in (1, n)}):
            changes = [*shared, "--workers", workers, option, played]
            runs = [measure(config, *changes, "--seed", seed) for seed in range(options.seeds)]
            results.append({"method": method, "workers": workers, "games": played, "runs": runs})
            seconds, regrets = ([run[name] for run in runs] for name in ("seconds", "regret"))
            speed = sum(run["plies"] for run in runs) / sum(seconds)
            error = f" ± {statistics.stdev(regrets) / len(runs) ** 0.5:.2f}" if len(runs) > 1 else ""
            shown = f"{speed:,.0f}", f"{statistics.mean(seconds):.0f}", f"{statistics.mean(regrets):.2f}{error}"
            rows.append([method, str(workers), str(played), *shown])
    headings = ["method", "workers", "games", "plies/s", "seconds", "regret ± standard error, points"]
    report.show("one run on several workers", headings, rows)
    report.write(options, "workers", {"results": results})


if __name__ == "__main__":
    main()
