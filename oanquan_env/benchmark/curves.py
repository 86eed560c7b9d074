"""Learning curves: measurements of an agent during training, regret of the checkpoints of several runs, and a figure.

Shapes: R runs that differ only in their seed, C checkpoints per run.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.evaluation import evaluate
from oanquan_env.benchmark.regret import Part, regret
from oanquan_env.benchmark.statistics import Estimate, interquartile_estimate
from oanquan_env.benchmark.suites import SuiteSource, load_suite
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import UsageError, as_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASELINES = "random", "greedy"
"""Opponents against which an agent in training is measured."""
TICKS = 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 8, 12, 20, 40


@dataclass(frozen=True)
class LearningCurve:
    """Regret in points over the course of training.

    Attributes:
        at: (C,) plies, minutes or another measure of training at the checkpoints.
        regret: (C,) interquartile mean of the runs at each checkpoint, with its interval over the runs if there are
            `oanquan_env.benchmark.statistics.LEAST` or more.
    """

    at: Floats
    regret: list[Estimate]

    @classmethod
    def of(cls, at: Sequence[float], regrets: npt.ArrayLike) -> "LearningCurve":
        """Return the curve of measured regrets (R, C); raise `UsageError` for other shapes."""
        table = np.asarray(regrets, dtype=np.float64)
        if table.ndim != 2 or not table.size or table.shape[1] != len(at):
            raise UsageError(f"regrets must have shape (runs, {len(at)}), one row per run; got {table.shape}")
        estimates = [interquartile_estimate(column[:, None], np.random.default_rng(0)) for column in table.T]
        return cls(np.array(at, dtype=np.float64), estimates)


class TrainingCurve:
    """The learning curve of an agent. It also decides when training ends: `while curve.update(steps, agent): ...`.

    Args:
        steps: budget of training steps.
        minutes: time budget, excluding measurements. Training ends when either budget is spent.
        every: steps between measurements.
        pairs: number of openings against each of `BASELINES`; each opening is played in every seating.
        seed: seed of the games and of the player's random moves.
        rules: the rules of all players.

    Attributes:
        rows: one row per measurement: `steps`, `minutes`, `regret` over the development part of the suite (NaN for
            rules without a suite), and the score against each of `BASELINES` from the default openings.
        progress: the share of the budget that is spent, 0 to 1.
    """

    def __init__(
        self, steps: int, minutes: float, every: int, pairs: int = 200, seed: int = 0, rules: str = DEFAULT_PRESET
    ) -> None:
        self.steps, self.minutes, self.every, self.pairs = steps, minutes, every, pairs
        self.seed, self.rules = seed, rules
        self.rows: list[dict[str, float]] = []
        self.progress = 0.0
        self._began, self._due = time.perf_counter(), 0

    def update(self, steps: int, player: object) -> bool:
        """Measure the player and print the row if a row is due at `steps`; return whether training continues."""
        now = time.perf_counter()
        minutes = (now - self._began) / 60
        self.progress = min(max(steps / self.steps, minutes / self.minutes), 1.0)
        if steps >= self._due or self.progress == 1:
            result = evaluate(player, self.rules, BASELINES, self.pairs, self.seed, part="development", progress=False)
            regret = measured.mean if (measured := result.players[0].regret) else math.nan
            row = {"steps": steps, "minutes": round(minutes, 2), "regret": round(regret, 3)}
            self.rows.append(row | {match.opponent: round(match.score.mean, 4) for match in result.pairings})
            print(", ".join(f"{name} {number:,}" for name, number in self.rows[-1].items()), flush=True)
            self._due = steps - steps % self.every + self.every
            self._began += time.perf_counter() - now
        return self.progress < 1

    def regrets(self) -> LearningCurve:
        """Return the learning curve of the regret over the training steps, for `draw_curves`."""
        return LearningCurve.of([row["steps"] for row in self.rows], [[row["regret"] for row in self.rows]])


def learning_curve(
    at: Sequence[float],
    runs: Sequence[Sequence[object]],
    rules: Rules | str = DEFAULT_PRESET,
    *,
    suite: SuiteSource = None,
    part: Part = "development",
    seed: int = 0,
) -> LearningCurve:
    """Return the learning curve of the checkpoints of several runs.

    Args:
        at: (C,) plies, minutes or another measure of training at the checkpoints.
        runs: for each run, C players in any form that `oanquan_env.evaluate` takes, such as names of agents, torch
            modules or functions. Runs differ only in their seed.
        rules: the rules of all players.
        suite: as in `oanquan_env.evaluate`.
        part: part of the regret suite.
        seed: seed of the players' random generators.

    Raises:
        UsageError: if the rules have no regret suite, or a run does not have one player per checkpoint.
    """
    positions = load_suite(rules, suite).part(part)

    def of(player: object) -> float:
        return regret(player, positions, np.random.default_rng(seed), by_phase=False).mean

    seed = as_whole("seed", seed, 0)
    if any(isinstance(run, str) or len(run) != len(at) for run in runs):
        raise UsageError(f"each run must have {len(at)} checkpoints, one for each entry of `at`")
    return LearningCurve.of(at, [[of(player) for player in run] for run in runs])


def draw_curves(
    panels: Mapping[str, Mapping[str, LearningCurve]],
    lines: Mapping[str, float] | None = None,
    *,
    axes: "Sequence[Axes] | None" = None,
) -> "Figure":
    """Return a Matplotlib figure; `panels` maps the label of each panel's x-axis to the panel's curves by name.

    A curve is drawn with its intervals, and named at the right of the first panel that has it. `lines` are the
    regrets of reference players, by name. An x-axis is logarithmic if its values grow geometrically. `axes` may be axes
    of your own figure, one per panel.
    """
    from matplotlib.figure import Figure  # takes half a second to import

    from oanquan_env.benchmark import charts

    if axes is None:
        figure = Figure(figsize=(6.0 * len(panels) + 0.5, 4.2), layout="constrained", facecolor=charts.CARD)
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    references = {name: (value, charts.FAINT) for name, value in (lines or {}).items()}
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    every = [estimate for curves in panels.values() for curve in curves.values() for estimate in curve.regret]
    ends = [value for estimate in every for value in (estimate.mean, estimate.low, estimate.high)]
    least, most = np.nanmin(ends), np.nanmax(ends + list((lines or {}).values()))
    ticks = [tick for tick in TICKS if least / 1.5 <= tick <= 1.5 * most]
    unnamed = set(names)
    for panel, (below, curves) in zip(axes, panels.items(), strict=True):
        labels = references if panel is axes[-1] else {}
        charts.style(panel)
        for name, curve in curves.items():
            mean, low, high = ([getattr(estimate, end) for estimate in curve.regret] for end in ("mean", "low", "high"))
            cycle, number = divmod(names.index(name), len(charts.COLOURS))
            colour, style = charts.COLOURS[number], "--" if cycle else "-"
            panel.fill_between(curve.at, low, high, color=colour, alpha=0.2, linewidth=0)
            panel.plot(curve.at, mean, style, color=colour, linewidth=1.4, marker="o", markersize=3, label=name)
            if name in unnamed:
                labels = labels | {name: (mean[-1], colour)}
        unnamed -= curves.keys()
        for value in (lines or {}).values():
            panel.axhline(value, color=charts.FAINT, linewidth=0.8, linestyle=":")
        panel.set_xlabel(below)
        panel.set_yscale("log")
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        at = np.unique(np.concatenate([curve.at for curve in curves.values()]))
        if len(at) > 2 and at[0] > 0 and at[-1] >= 8 * at[0] and np.ptp(np.diff(np.log(at))) < 1:
            panel.set_xscale("log")
            panel.set_xticks(at, [f"{tick:g}" for tick in at])
        panel.minorticks_off()
        charts.label_right(panel, labels)
    axes[0].set_ylabel("regret, points a move")
    return cast("Figure", axes[0].figure)
