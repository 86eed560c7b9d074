"""The results of `benchmarks.learning`: their file, the tables in docs/benchmark.md, and the learning curves."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import RESULTS, describe_machine, over_runs
from oanquan_env.benchmark.charts import png
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.benchmark.report import interval, table
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.files import read_json, write_atomically

SEES = {
    "PQN": "observation",
    "PPO, observation": "observation",
    "PPO, afterstates": "afterstates",
    "PPO, replies": "afterstates, replies",
    "TD(λ)": "search",
    "MaskablePPO, counts": "observation",
    "MaskablePPO, planes": "observation",
    "MaskablePPO, moves": "observation `moves`",
    "MaskablePPO defaults, counts": "observation",
    "MaskablePPO defaults, planes": "observation",
    "MaskablePPO defaults, moves": "observation `moves`",
}
"""The input of each method."""
SHARES = 0.1, 0.25, 0.5, 1.0
"""Shares of the budget at which regret is measured for the curve."""
SEEDS = 5
"""Number of runs for each method and budget."""


class Results:
    """The content of `methods.json`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = read_json(path) if path.exists() else {"searches": {}, "runs": []}
        self.runs: list[dict[str, Any]] = self.content["runs"]
        self.rules = list(dict.fromkeys(run["rules"] for run in self.runs))

    def write(self) -> None:
        """Write the file, with one run per line."""
        rest = json.dumps({"measured_on": describe_machine(), "searches": self.content["searches"]}, indent=1)
        runs = ",\n".join(json.dumps(run, ensure_ascii=False) for run in self.runs)
        write_atomically(self.path, f'{rest[:-2]},\n "runs": [\n{runs}\n]}}\n'.encode())

    def of(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return the runs whose fields have the given values."""
        return [run for run in self.runs if all(run[name] == value for name, value in wanted.items())]

    def speed(self, rules: str, method: str) -> float | None:
        """Return the plies per second over all runs of a method under `rules`, or None if there are no runs."""
        runs = self.of(rules=rules, method=method)
        return sum(run["plies"] for run in runs) / sum(run["seconds"] for run in runs) if runs else None

    def rows(self, rules: str) -> Iterator[tuple[str, str, str]]:
        """Yield the table's rows as (name, method, suffix); the name is the method followed by the suffix."""
        for method in dict.fromkeys(run["method"] for run in self.runs):
            for ending in next((run["regret"] for run in self.of(rules=rules, method=method)), ()):
                yield method + ending, method, ending

    def table(self, rules: str) -> str:
        """Return the table for `rules`: one row for each name in `rows`, with regret and plies for each budget."""
        budgets = sorted({run["minutes"] for run in self.of(rules=rules)})
        heads = ["method", "sees", *(f"{minutes:g} min" for minutes in budgets)]
        heads += [f"million plies, {minutes:g} min" for minutes in budgets] + ["ms a move", "plain search in that time"]
        cells = []
        for name, method, ending in self.rows(rules):
            regrets, plies = [], []
            for runs in (self.of(rules=rules, method=method, minutes=minutes) for minutes in budgets):
                estimates = [Estimate(**run["regret"][ending]) for run in runs]
                seeds = f"; {len(runs)} run{'s' * (len(runs) > 1)}" * (len(runs) < SEEDS)
                regrets.append(interval(over_runs(estimates), ".2f") + seeds if estimates else "")
                plies.append(f"{np.mean([run['plies'] for run in runs]) / 1e6:.2f}" if runs else "")
            search = self.content["searches"][rules][name]
            shown = f"{search['']['mean']:.2f} ({search['nodes']:,} nodes)"
            cells.append([name, SEES[method], *regrets, *plies, f"{search['ms']:.2g}", shown])
        return f"Rules `{rules}`:\n\n{table(heads, cells, left=2)}"

    def picture(self) -> bytes:
        """Draw the learning curves of the runs with the largest budget as PNG, with one panel per set of rules."""
        panels: dict[str, dict[str, LearningCurve]] = {}
        for rules in self.rules:
            curves = panels[f"minutes of one core ({rules})"] = {}
            longest = max(run["minutes"] for run in self.of(rules=rules))
            for name, method, ending in self.rows(rules):
                if runs := [run["curve"] for run in self.of(rules=rules, method=method, minutes=longest)]:
                    regrets = [[point["regret"][ending] for point in run] for run in runs]
                    curves[name] = LearningCurve.of([longest * share for share in SHARES], regrets)
        return png(draw_curves(panels))


def tables() -> str:
    """Return the tables for docs/benchmark.md."""
    results = Results(RESULTS / "methods.json")
    machine = results.content["measured_on"]
    note = f"Measured by `python -m benchmarks.learning`, last at `{machine['commit']}` ({machine['processor']})."
    return "\n\n".join([*map(results.table, results.rules), note])
