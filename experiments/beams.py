"""Measure how agents change if some of their training games begin in lines that beat the network.

`python -m experiments.beams` trains `configs/quick.yaml` with several shares of such games. It measures regret, and the
points given up to a best response that queries up to `QUESTIONS` positions. Processor seconds exclude that search.
"""

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config import Share, Size
from experiments import common
from experiments.common import Cells, Experiment
from experiments.workers import mean_over, train
from oanquan_env.benchmark.exploit import exploit_seats

CONFIG, RULES, SHARES = "configs/quick.yaml", ("mancala-world", "tonkin"), (0.0, 0.3, 0.6)
QUESTIONS = 100_000


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    seeds: Size = 5
    plies: Share = 1.0  # plies of a run, as a fraction of the configuration's 500,000
    rules: tuple[str, ...] = RULES


def given_up(folder: Path, rules: str) -> dict[str, float]:
    """Return lower bounds on the points that a run's agent gives up to a best response, by seat."""
    responses = exploit_seats(f"ppo:{folder}", rules, minutes=60, positions=QUESTIONS)
    return {name: float(response.given_up or 0) for name, response in zip(("South", "North"), responses, strict=True)}


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Train and measure with all shares; yield the results after each share."""
    results = []
    for rules, share in itertools.product(options.rules, SHARES):
        changes = ["--rules", rules, "--starts.beam-share", share, "--total-plies", round(options.plies * 500_000)]
        runs = [
            train(CONFIG, *changes, "--threads", 1, "--seed", seed, then=functools.partial(given_up, rules=rules))
            for seed in range(options.seeds)
        ]
        results.append({"rules": rules, "share": share, "runs": runs})
        yield {"questions": QUESTIONS, "results": results}


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each share and rules, with means over the runs."""
    for result in results["results"]:
        mean = functools.partial(mean_over, result["runs"])
        yield {
            "rules": f"`{result['rules']}`",
            "share": f"{result['share']:.0%}",
            "runs": str(len(result["runs"])),
            "CPU seconds": f"{mean('processor_seconds'):.0f}",
            "regret, points": f"{mean('regret'):.2f}",
            "gives up as South": f"{mean('South'):.0f}",
            "gives up as North": f"{mean('North'):.0f}",
        }


EXPERIMENT = Experiment("beams", __doc__, Options, measure, {"beams": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
