"""Measure the bounds that the solver proves for each two-player preset's set-up in limited time on one core.

The benchmark runs `python -m oanquan_env solve` for each preset, and stores the command with the results. Run it on an
idle machine: `python -m experiments.solve`.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import report
from oanquan_env import PRESETS

HEADS = ("rules", "value", "first moves of the best line", "moves played", "seconds")


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


def table_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return the rows of the table, one for each preset; `HEADS` names the columns."""
    rows = []
    for rules, one in found["results"].items():
        value = f"{one['lower']:+d}" if one["solved"] else f"{one['lower']:+d} to {one['upper']:+d}"
        rows.append([rules, value, " ".join(one["line"][:6]), f"{one['nodes']:,}", f"{one['seconds']:.0f}"])
    return rows


@dataclass(frozen=True)
class Options(report.Options):
    """The options of the command line."""

    time: float = 150.0
    """time limit for each preset, in seconds"""
    megabytes: int = 1024
    """size of the proof table, in megabytes"""


def main() -> None:
    """Run the solver on every two-player preset, and report the proved bounds."""
    options = report.read_options(Options, __doc__, "solve")
    names = [name for name, preset in PRESETS.items() if preset.rules.players == 2]
    results = {name: solve(name, options.time, options.megabytes) for name in names}
    content = {"unit": "points, seen by South", "results": results}
    report.show("Future margin of the set-up", HEADS, table_rows(content))
    report.write(options, "solve", content)


if __name__ == "__main__":
    main()
