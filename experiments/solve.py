"""Measure the bounds that the solver proves for each two-player preset's set-up in limited time on one core.

The benchmark runs `python -m oanquan_env solve` for each preset, and stores the command with the results. Run it on an
idle machine: `python -m experiments.solve`.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import common
from experiments.common import Cells, Experiment
from oanquan_env import PRESETS


def solve(rules: str, seconds: float, megabytes: int) -> dict[str, Any]:
    """Solve the set-up of `rules` with limits on time and memory; return the result and the command."""
    limits = ["--time", f"{seconds:g}", "--megabytes", f"{megabytes}"]
    arguments = ["-m", "oanquan_env", "solve", "--rules", rules, *limits]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        process = subprocess.run([sys.executable, *arguments, "--json", str(path)], stdout=subprocess.DEVNULL)
        if process.returncode not in (0, 1):
            raise RuntimeError(f"python {shlex.join(arguments)} ended with status {process.returncode}")
        return {"command": f"python {shlex.join(arguments)}", **json.loads(path.read_text())}


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each preset."""
    for rules, result in results["results"].items():
        lower, upper = ("?" if bound is None else f"{bound:+d}" for bound in (result["lower"], result["upper"]))
        yield {
            "rules": rules,
            "value": lower if result["solved"] else f"{lower} to {upper}",
            "first moves of the best line": " ".join(result["line"][:6]),
            "moves played": f"{result['nodes']:,}",
            "seconds": f"{result['seconds']:.0f}",
        }


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    time: float = 150.0
    """time limit for each preset, in seconds"""
    megabytes: int = 1024
    """size of the proof table, in megabytes"""


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Run the solver on every two-player preset; yield the proved bounds."""
    names = [name for name, preset in PRESETS.items() if preset.rules.players == 2]
    results = {name: solve(name, options.time, options.megabytes) for name in names}
    yield {"unit": "points, seen by South", "results": results}


EXPERIMENT = Experiment("solve", __doc__, Options, measure, {"solve": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
