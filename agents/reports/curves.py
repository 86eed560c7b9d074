"""Learning curves: what training runs measured of themselves on their way, as a table, a picture and JSON.

    python -m agents.reports.curves runs/quick-sweep/seed-*                                prints a table
    python -m agents.reports.curves runs/quick-sweep/seed-* --output benchmarks/results

With --output the folder gets `learning.json` and `learning.png`: regret, and Elo over greedy, over plies and over
minutes. Runs that differ in their seed alone share a colour; a run is called like its folder, without the seed. All
runs must be of the same rules: regrets over different suites do not compare.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import agents
from agents.evaluation.ratings import elo_of_score
from agents.evaluation.regret import find_suite, regret
from agents.reports.pictures import DPI, INK
from agents.support.files import write_atomically
from agents.support.markdown import table
from agents.support.strict_yaml import ConfigError, read_yaml
from agents.training.config import load_config
from agents.training.run_folder import CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME
from oanquan_env import Rules

COLOURS = ("#4C78A8", "#F58518", "#54A24B", "#B279A2", "#E45756")
YARDSTICKS = ("greedy", "minimax:depth=2", "minimax:depth=4", "minimax:depth=6")
"""Players whose regret is drawn as lines to compare with."""
ANCHOR = "greedy"
HIGHEST_SCORE = 0.999
"""Scores above this are drawn like it: a match won by all games has no Elo."""


@dataclass(frozen=True)
class Curve:
    """One run.

    Attributes:
        name: of its folder.
        group: what runs that differ in their seed alone have in common.
        seed: its seed.
        rules: the rules that it learned, as text.
        command, commit: where it comes from.
        rows: its evaluations, oldest first, as the run folder holds them.
    """

    name: str
    group: str
    seed: int
    rules: str
    command: str
    commit: str | None
    rows: list[dict[str, Any]]

    def series(self) -> dict[str, list[float]]:
        """Plies, minutes, regret (points) and Elo over greedy at each evaluation that measured Elo.

        Regret is NaN where it was not measured, for rules without a suite.
        """
        rows = [row for row in self.rows if ANCHOR in row["results"]]
        scores = np.clip([row["results"][ANCHOR]["score"] for row in rows], 1 - HIGHEST_SCORE, HIGHEST_SCORE)
        return {
            "plies": [row["plies"] for row in rows],
            "minutes": [row["seconds"] / 60 for row in rows],
            "regret": [row["regret"]["regret"]["mean"] if "regret" in row else math.nan for row in rows],
            "elo": [elo_of_score(float(score)) for score in scores],
        }


def read_curve(folder: Path) -> Curve:
    """The curve of a run folder; raises `ConfigError` if it holds no run, or one without evaluations."""
    config = load_config(folder / CONFIG_NAME)
    made = read_yaml(folder / RUN_NAME)
    path = folder / EVALUATIONS_NAME
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; the run has not evaluated itself yet")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    name, group = folder.name, folder.name.removesuffix(f"-{config.seed}")
    if group == "seed":  # of a sweep, which is called like its folder
        group = folder.resolve().parent.name.removesuffix("-sweep")
        name = f"{group}-{config.seed}"
    return Curve(name, group, config.seed, config.rules, made["command"], made["commit"], rows)


def rules_of(curves: Sequence[Curve]) -> Rules:
    """The rules of all runs; raises `ConfigError` if they differ."""
    runs = {curve.rules: curve.name for curve in reversed(curves)}
    if len(runs) > 1:
        told = ", ".join(f"{name} learned '{rules}'" for rules, name in reversed(runs.items()))
        raise ConfigError(f"runs of different rules do not compare: {told}; give those of one")
    return Rules.parse(curves[0].rules)


def summary(curves: Sequence[Curve]) -> str:
    """A Markdown table: the last evaluation of each run."""
    opponents = list(dict.fromkeys(name for curve in curves for name in curve.rows[-1]["results"]))
    heads = ["run", "commit", "plies", "minutes", "regret, points", "best moves, %", *(f"{o}, %" for o in opponents)]
    return table(heads, [_summary_row(curve, opponents) for curve in curves])


def _summary_row(curve: Curve, opponents: Sequence[str]) -> list[str]:
    last = curve.rows[-1]
    cells = [curve.name, f"`{curve.commit}`", f"{last['plies']:,}", f"{last['seconds'] / 60:.1f}"]
    found = last.get("regret")
    cells += [f"{found['regret']['mean']:.2f}", f"{100 * found['optimal']['mean']:.1f}"] if found else ["", ""]
    scores = (last["results"].get(opponent) for opponent in opponents)
    return cells + [f"{100 * score['score']:.1f}" if score else "" for score in scores]


def yardsticks(rules: Rules) -> dict[str, float]:
    """Mean regret of `YARDSTICKS`, points, where training runs of `rules` measure theirs; none without a suite."""
    found = find_suite(rules)
    if found is None:
        return {}
    suite = found.part("development")
    return {
        name: regret(agents.make(name, rules), suite, np.random.default_rng(0)).overall.regret.mean
        for name in YARDSTICKS
    }


def draw(curves: Sequence[Curve], lines: dict[str, float]) -> bytes:
    """The picture, PNG: thin lines are runs."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    groups = list(dict.fromkeys(curve.group for curve in curves))
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    for row, (value, label) in enumerate((("regret", "regret, points a move"), ("elo", f"Elo over {ANCHOR}"))):
        for column, (time, unit) in enumerate((("plies", "plies"), ("minutes", "minutes of training"))):
            panel = axes[row, column]
            for curve in curves:
                series = curve.series()
                colour = COLOURS[groups.index(curve.group) % len(COLOURS)]
                panel.plot(series[time], series[value], color=colour, linewidth=1.2, marker="o", markersize=2.5)
            if value == "regret":
                _draw_yardsticks(panel, lines, named=column == 1)
            _tidy(panel, unit if row else "", label if column == 0 else "")
    for number, group in enumerate(groups):
        seeds = sum(curve.group == group for curve in curves)
        text = f"{group} ({seeds} seeds)" if seeds > 1 else group
        axes[1, 0].plot([], [], color=COLOURS[number % len(COLOURS)], label=text)
    axes[1, 0].legend(frameon=False, loc="lower right")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _draw_yardsticks(panel: Axes, lines: dict[str, float], *, named: bool) -> None:
    panel.set_yscale("log")
    ticks = [1, 1.5, 2, 3, 5, 8, 12]
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    for name, value in lines.items():
        panel.axhline(value, color="#999999", linewidth=0.8, linestyle=":")
        if named:
            panel.annotate(name, (1, value), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                           ha="right", fontsize=8, color="#666666")  # fmt: skip


def _tidy(panel: Axes, below: str, beside: str) -> None:
    panel.set_xlabel(below)
    panel.set_ylabel(beside, color=INK)
    panel.grid(color="#EEEEEE")
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def main(arguments: list[str]) -> int:
    """Print the table and write what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.reports.curves",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="run folders")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="also write learning.json and learning.png here")
    options = parser.parse_args(arguments)
    try:
        curves = [read_curve(folder) for folder in options.folders]
        rules = rules_of(curves)
        print(summary(curves))
        if options.output:
            lines = yardsticks(rules)
            content = {"yardsticks": lines, "runs": [asdict(curve) for curve in curves]}
            write_atomically(options.output / "learning.json", (json.dumps(content, indent=1) + "\n").encode())
            write_atomically(options.output / "learning.png", draw(curves, lines))
    except (ValueError, OSError) as error:
        print(f"python -m agents.reports.curves: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
