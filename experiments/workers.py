"""Measure the speed and the regret of a run on several workers: `python -m experiments.workers`, on an idle machine.

All runs of a method have the same number of plies, except longer runs of PPO with several workers. They have one torch
thread per worker, and the same number of parallel games either in total or per worker.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.checkpoint import read_evaluations
from agents.config import Share, Size, Workers
from experiments import common
from experiments.common import Cells, Experiment

METHODS = {
    "PPO": ("configs/quick.yaml", "--ppo.n-envs", 1024, 500_000, 600_000),
    "TD(λ)": ("configs/value.yaml", "--td.games", 512, 3_000_000, 3_000_000),
}
"""For each method: configuration, option that sets the number of games, games of one worker, plies, and plies of a
longer run that several workers also make, because they may need more plies for an equal regret."""


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    workers: tuple[Workers, ...] = (1, 2)
    seeds: Size = 5
    share: Share = 1.0  # plies of a run, as a fraction of the configuration's plies


def train(config: str, *changes: object, then: Callable[[Path], dict[str, float]] = lambda _: {}) -> dict[str, float]:
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


def mean_over(runs: Sequence[dict[str, float]], name: str) -> float:
    """Return the mean of the value `name` of all runs."""
    return statistics.mean(run[name] for run in runs)


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each method, number of workers and number of games, with means over the runs."""
    seconds_of_one = 0.0
    for result in results["results"]:
        runs = result["runs"]
        plies, seconds, regret = (mean_over(runs, name) for name in ("plies", "seconds", "regret"))
        error = statistics.stdev(run["regret"] for run in runs) / len(runs) ** 0.5 if len(runs) > 1 else None
        if result["workers"] == 1:
            seconds_of_one = seconds
        yield {
            "method": result["method"],
            "workers": str(result["workers"]),
            "games": f"{result['games']:,}",
            "plies": f"{plies:,.0f}",
            "plies/s": f"{plies / seconds:,.0f}",
            "seconds": f"{seconds:.0f}",
            "share of one worker's time": f"{seconds / seconds_of_one:.2f}" if seconds_of_one else "",
            "regret ± standard error": f"{regret:.2f}" if error is None else f"{regret:.2f} ± {error:.2f}",
        }


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure both methods with each number of workers; yield the results after each row."""
    results = []
    for method, (config, option, games, plies, more) in METHODS.items():
        cases = {(n, *case) for n in options.workers for case in ((games, plies), (n * games, plies))}
        cases |= {(n, games, more) for n in options.workers if n > 1}
        for workers, played, total in sorted(cases):
            changes = ["--threads", 1, "--total-plies", round(options.share * total)]
            changes += ["--workers", workers, option, played]
            runs = [train(config, *changes, "--seed", seed) for seed in range(options.seeds)]
            results.append({"method": method, "workers": workers, "games": played, "runs": runs})
            yield {"results": results}


EXPERIMENT = Experiment("workers", __doc__, Options, measure, {"workers": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
