"""Learning curves: the evaluations of training runs as a table, a picture and JSON.

    python -m agents.reports.curves runs/quick-sweep/seed-*                                prints a table
    python -m agents.reports.curves runs/quick-sweep/seed-* --output benchmarks/results

--output writes `learning.json` and `learning.png`: regret over plies and minutes, of an agent or of the first search
with a value net. Runs that differ in their seed alone make one curve, their mean. All runs must have the same rules, as
regrets over different suites do not compare.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from agents.config import OptionalFolder, command, read_yaml
from agents.reports.pictures import INK, hide_frame, png
from agents.run import CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME, load_config, read_evaluations
from oanquan_env import Rules
from oanquan_env.arrays import Floats
from oanquan_env.benchmark.markdown import table
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.errors import UsageError
from oanquan_env.files import write_atomically
from oanquan_env.players import make

PROG = "python -m agents.reports.curves"
COLOURS = ("#4C78A8", "#F58518", "#54A24B", "#B279A2", "#E45756")
YARDSTICKS = ("greedy", "minimax:depth=2", "minimax:depth=4", "minimax:depth=6")
"""Players whose regret is drawn as lines to compare with."""


@dataclass(frozen=True)
class Curve:
    """One run, called like its folder."""

    name: str
    group: str  # the same for runs that differ in their seed alone
    seed: int
    rules: str
    command: str
    commit: str | None
    rows: list[dict[str, Any]]
    """Its evaluations, oldest first, as the run folder holds them."""

    def regrets(self) -> dict[int, tuple[float, float, float, float]]:
        """Plies -> minutes, and the mean, low and high end of the regret, points; nothing without a suite."""
        found = {row["plies"]: (row["seconds"], _regret(row)) for row in self.rows}
        return {
            plies: (seconds / 60, *(it[end] for end in ("mean", "low", "high")))
            for plies, (seconds, it) in found.items()
            if it
        }


def _regret(row: dict[str, Any]) -> dict[str, Any] | None:
    """The regret in an evaluation: the agent's, or that of the first search with the value net."""
    return row.get("regret") or next(iter(row.get("regrets", {}).values()), None)


def band(curves: Sequence[Curve]) -> Floats:
    """(5, N), where all runs measured regret: plies, minutes, mean of the runs, lowest low and highest high end."""
    found = [curve.regrets() for curve in curves]
    plies = sorted(set.intersection(*map(set, found)))
    points = np.array([[run[ply] for run in found] for ply in plies], dtype=float).reshape(-1, len(found), 4)
    minutes, mean = points[..., :2].mean(axis=1).T
    return np.stack(
        [np.array(plies, dtype=float), minutes, mean, points[..., 2].min(axis=1), points[..., 3].max(axis=1)]
    )


def read_curve(folder: Path) -> Curve:
    """The curve of a run folder; raises `UsageError` if it holds no run, or one without evaluations."""
    config = load_config(folder / CONFIG_NAME)
    made = read_yaml(folder / RUN_NAME)
    rows = read_evaluations(folder)
    if not rows:
        raise UsageError(f"{folder / EVALUATIONS_NAME}: no evaluations; the run has not evaluated itself yet")
    name, group = folder.name, folder.name.removesuffix(f"-{config.seed}")
    if group == "seed":  # of a sweep, which is called like its folder
        group = folder.resolve().parent.name.removesuffix("-sweep")
        name = f"{group}-{config.seed}"
    return Curve(name, group, config.seed, config.rules, made["command"], made["commit"], rows)


def rules_of(curves: Sequence[Curve]) -> Rules:
    """The rules of all runs; raises `UsageError` if they differ."""
    runs = {curve.rules: curve.name for curve in reversed(curves)}
    if len(runs) > 1:
        told = ", ".join(f"{name} learned '{rules}'" for rules, name in reversed(runs.items()))
        raise UsageError(f"runs of different rules do not compare: {told}; give those of one")
    return Rules.parse(curves[0].rules)


def summary(curves: Sequence[Curve]) -> str:
    """A Markdown table: the last evaluation of each run."""
    opponents = list(dict.fromkeys(name for curve in curves for name in curve.rows[-1]["results"]))
    heads = ["run", "commit", "plies", "minutes", "regret, points", "best moves, %", *(f"{o}, %" for o in opponents)]
    return table(heads, [_summary_row(curve, opponents) for curve in curves])


def _summary_row(curve: Curve, opponents: Sequence[str]) -> list[str]:
    last = curve.rows[-1]
    cells = [curve.name, f"`{curve.commit}`", f"{last['plies']:,}", f"{last['seconds'] / 60:.1f}"]
    found = _regret(last)
    cells += [f"{found['mean']:.2f}", f"{100 * found['optimal']['mean']:.1f}"] if found else ["", ""]
    scores = (last["results"].get(opponent) for opponent in opponents)
    return cells + [f"{100 * score['score']:.1f}" if score else "" for score in scores]


def yardsticks(rules: Rules) -> dict[str, float]:
    """Mean regret of `YARDSTICKS`, points, where training runs of `rules` measure theirs; none without a suite."""
    found = find_suite(rules)
    if found is None:
        return {}
    suite = found.part("development")
    return {
        name: regret(make(name, rules), suite, np.random.default_rng(0), by_phase=False).mean for name in YARDSTICKS
    }


def draw(curves: Sequence[Curve], lines: dict[str, float]) -> bytes:
    """The picture, PNG: a line and a band for runs that differ in their seed alone."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    groups = list(dict.fromkeys(curve.group for curve in curves))
    panels = figure.subplots(1, 2, sharey=True)
    for number, group in enumerate(groups):
        runs, colour = [curve for curve in curves if curve.group == group], COLOURS[number % len(COLOURS)]
        plies, minutes, mean, low, high = band(runs)
        whose = f": mean of {len(runs)} seeds, with their" if len(runs) > 1 else ", with"
        for panel, times in zip(panels, (plies / 1e6, minutes), strict=True):
            panel.fill_between(times, low, high, color=colour, alpha=0.2, linewidth=0)
            panel.plot(times, mean, color=colour, linewidth=1.4, marker="o", markersize=3,
                       label=f"{group}{whose} 95 % intervals")  # fmt: skip
    _tidy(panels[0], "million plies", "regret, points a move")
    _tidy(panels[1], "minutes of training", "")
    _draw_yardsticks(panels, lines)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return png(figure)


def _draw_yardsticks(panels: Sequence[Axes], lines: dict[str, float]) -> None:
    """Lines across both panels of regret, named at the right end."""
    ticks = [1, 1.5, 2, 3, 5, 8, 12, 20]
    for panel in panels:
        panel.set_yscale("log")
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        for value in lines.values():
            panel.axhline(value, color="#999999", linewidth=0.8, linestyle=":")
    for name, value in lines.items():
        panels[-1].annotate(name, (1, value), (4, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                            va="center", fontsize=8, color="#666666", annotation_clip=False)  # fmt: skip


def _tidy(panel: Axes, below: str, beside: str) -> None:
    panel.set_xlabel(below)
    panel.set_ylabel(beside, color=INK)
    panel.grid(color="#EEEEEE")
    panel.set_axisbelow(True)
    hide_frame(panel, "top", "right")


@dataclass(frozen=True)
class Options:
    """The command line."""

    # folders of training runs
    folders: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN [RUN ...]", help_behavior_hint="")
    ]
    output: OptionalFolder = None  # also write learning.json and learning.png to this folder


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Print the table, and write the files if there is an output folder."""
    if not options.folders:
        raise UsageError("give the folder of a training run, or of several")
    curves = [read_curve(folder) for folder in options.folders]
    rules = rules_of(curves)
    print(summary(curves))
    if options.output:
        lines = yardsticks(rules)
        content = {"yardsticks": lines, "runs": [asdict(curve) for curve in curves]}
        options.output.mkdir(parents=True, exist_ok=True)
        write_atomically(options.output / "learning.json", (json.dumps(content, indent=1) + "\n").encode())
        write_atomically(options.output / "learning.png", draw(curves, lines))


if __name__ == "__main__":
    raise SystemExit(main())
