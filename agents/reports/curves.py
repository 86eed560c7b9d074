"""Summarise the evaluations of training runs as a table, a picture and JSON.

    python -m agents.reports.curves runs/quick-sweep/seed-*                                prints a table
    python -m agents.reports.curves runs/quick-sweep/seed-* --output experiments/results

--output writes `learning.json` and, for rules with a suite, `learning.png`: regret over plies and over minutes. For a
value net, this is the regret of a search with the first configured node limit. Runs whose folders differ only in the
seed form one curve. All runs must have the same rules, because regrets over different suites cannot be compared.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from agents.checkpoint import CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME, read_evaluations
from agents.config import OptionalFolder, command, read_yaml
from agents.run import load_config
from oanquan_env import Rules, provenance
from oanquan_env.benchmark.charts import png
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.benchmark.tables import table
from oanquan_env.errors import UsageError
from oanquan_env.files import write_atomically
from oanquan_env.players import make

PROG = "python -m agents.reports.curves"
REFERENCES = ("greedy", "minimax:depth=2", "minimax:depth=4", "minimax:depth=6")
"""Players whose regret is drawn as reference lines."""


@dataclass(frozen=True)
class MeasuredRun:
    """The measurements of one run, named after its folder."""

    name: str
    group: str  # the same for runs whose folders differ only in the seed
    seed: int
    rules: str
    command: str
    commit: str | None
    rows: list[dict[str, Any]]
    """The run's evaluations as stored in its folder, oldest first."""
    suite: str | None = None
    """The file of its regret suite; None for the package's."""

    def regrets(self) -> dict[int, tuple[float, Estimate]]:
        """Return minutes and regret in points, keyed by plies; empty if the rules have no suite."""
        return {
            row["plies"]: (
                row["seconds"] / 60,
                Estimate(**{end: it[end] for end in it.keys() & {"mean", "low", "high"}}),
            )
            for row in self.rows
            if (it := row.get("regret"))
        }


def of_group(runs: Sequence[MeasuredRun], by: Literal["plies", "minutes"]) -> LearningCurve:
    """Return a group's curve over million plies or mean minutes, at the plies at which all of its runs measured regret.

    The interval is over seeds; a single run has the interval of its regret over positions.
    """
    regrets = [run.regrets() for run in runs]
    plies = sorted(set.intersection(*map(set, regrets)))
    at = [ply / 1e6 if by == "plies" else float(np.mean([run[ply][0] for run in regrets])) for ply in plies]
    estimates = [[run[ply][1] for ply in plies] for run in regrets]
    if len(runs) == 1 or not plies:
        return LearningCurve(np.array(at), estimates[0])
    return LearningCurve.of(at, [[estimate.mean for estimate in run] for run in estimates])


def read_run(folder: Path) -> MeasuredRun:
    """Read the measurements in a run folder. Raises `UsageError` if it has no run or the run has no evaluations."""
    config = load_config(folder / CONFIG_NAME)
    origin = read_yaml(folder / RUN_NAME)
    rows = read_evaluations(folder)
    if not rows:
        raise UsageError(f"{folder / EVALUATIONS_NAME}: there are no evaluations; the run has not reached its first")
    suite = config.evaluation.regret_suite
    name, group = folder.name, folder.name.removesuffix(f"-{config.seed}")
    if group == "seed":  # a run of a sweep is named after the sweep's folder
        group = folder.resolve().parent.name.removesuffix("-sweep")
        name = f"{group}-{config.seed}"
    return MeasuredRun(name, group, config.seed, config.rules, origin["command"], origin["commit"], rows, suite)


def check_comparable(runs: Sequence[MeasuredRun]) -> None:
    """Raise `UsageError` if the runs have different rules, or measured regret over different suites."""
    learned = {(run.rules, run.suite): run.name for run in reversed(runs)}
    if len(learned) > 1:
        learned_by = ", ".join(
            f"{name} learned '{rules}'" + f" and used {suite}" * bool(suite)
            for (rules, suite), name in reversed(learned.items())
        )
        raise UsageError(f"runs under different rules or with different suites cannot be compared: {learned_by}")


def summary(runs: Sequence[MeasuredRun]) -> str:
    """Return a Markdown table with the last evaluation of each run."""
    opponents = list(dict.fromkeys(name for run in runs for name in run.rows[-1]["results"]))
    heads = ["run", "commit", "plies", "minutes", "regret, points", "best moves, %", *(f"{o}, %" for o in opponents)]
    return table(heads, [_summary_row(run, opponents) for run in runs])


def _summary_row(run: MeasuredRun, opponents: Sequence[str]) -> list[str]:
    last = run.rows[-1]
    cells = [run.name, f"`{run.commit}`", f"{last['plies']:,}", f"{last['seconds'] / 60:.1f}"]
    last_regret = last.get("regret")
    cells += [f"{last_regret['mean']:.2f}", f"{100 * last_regret['optimal']['mean']:.1f}"] if last_regret else ["", ""]
    scores = (last["results"].get(opponent) for opponent in opponents)
    return cells + [f"{100 * score['score']:.1f}" if score else "" for score in scores]


def references(rules: Rules | str, source: str | None = None) -> dict[str, float]:
    """Return the mean regret of `REFERENCES` in points on the suite's development part; empty without a suite."""
    full_suite = find_suite(rules, source)
    if full_suite is None:
        return {}
    suite = full_suite.part("development")
    return {
        name: regret(make(name, rules), suite, np.random.default_rng(0), by_phase=False).mean for name in REFERENCES
    }


def draw(runs: Sequence[MeasuredRun], lines: dict[str, float]) -> bytes:
    """Return a PNG: a curve and band for each group of runs, and reference lines at `lines`, mean regrets by player."""
    groups: dict[str, list[MeasuredRun]] = {}
    for run in runs:
        groups.setdefault(run.group, []).append(run)
    named = {f"{name}: {len(own)} seeds" if len(own) > 1 else name: own for name, own in groups.items()}
    axes: dict[str, Literal["plies", "minutes"]] = {"million plies": "plies", "minutes of training": "minutes"}
    panels = {below: {name: of_group(own, by) for name, own in named.items()} for below, by in axes.items()}
    return png(draw_curves(panels, lines))


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    # folders of training runs
    folders: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN [RUN ...]", help_behavior_hint="")
    ]
    output: OptionalFolder = None  # also write learning.json and learning.png to this folder


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Print the table, and write the files if an output folder is given."""
    if not options.folders:
        raise UsageError("name the folders of one or more training runs")
    runs = [read_run(folder) for folder in options.folders]
    check_comparable(runs)
    print(summary(runs))
    if options.output:
        lines = references(runs[0].rules, runs[0].suite)
        content = {**provenance.origin(), "references": lines, "runs": [asdict(run) for run in runs]}
        options.output.mkdir(parents=True, exist_ok=True)
        write_atomically(options.output / "learning.json", (json.dumps(content, indent=1) + "\n").encode())
        if all(run.regrets() for run in runs):  # their rules have a suite
            write_atomically(options.output / "learning.png", draw(runs, lines))


if __name__ == "__main__":
    raise SystemExit(main())
