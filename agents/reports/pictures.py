"""Pictures of a report: the cross table as a heat map, ratings with their intervals, regret by phase."""

import io

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from agents.evaluation.results import ArenaResult, RegretResult, Report
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.regret import PHASES

DPI = 130
INK, PALE = "#222222", "#BBBBBB"
PHASE_COLOURS = ("#4C78A8", "#F58518", "#54A24B")
LINEAR_REGRET = 0.1
"""Regret, points, below which the axis of the regret picture is linear instead of logarithmic: 0 needs a place."""


def draw_all(report: Report) -> dict[str, bytes]:
    """The pictures for which the report has numbers: PNG by file name."""
    figures: dict[str, Figure] = {}
    if report.arena:
        figures["scores.png"] = draw_scores(report.arena, report.order_of_agents())
        if report.arena.ratings:
            figures["elo.png"] = draw_ratings(report.arena)
    if report.regret:
        figures["regret.png"] = draw_regret(report.regret, report.order_of_agents())
    return {name: png(figure) for name, figure in figures.items()}


def png(figure: Figure) -> bytes:
    """The picture as a file's content, the same for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _figure(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    """An empty picture, sizes in inches; drawn without pyplot, which would need a display's settings."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", color=INK, fontsize=12, pad=12)
    hide_frame(axes, "top", "right")
    return figure, axes


def hide_frame(axes: Axes, *sides: str) -> None:
    """Draw the frame without these sides."""
    for side in sides:
        axes.spines[side].set_visible(False)


def draw_scores(arena: ArenaResult, order: list[str]) -> Figure:
    """Scores of the row's player against the column's, percent; with more than two players, among the column's."""
    n = len(order)
    table = np.full((n, n), np.nan)
    for pairing in arena.pairings:
        row, column = order.index(pairing.agent), order.index(pairing.opponent)
        table[row, column] = 100 * pairing.score.mean
        if pairing.pentanomial is not None:
            table[column, row] = 100 - 100 * pairing.score.mean
    even = 100 / arena.players
    among = "against the column" if arena.players == 2 else f"among copies\nof the column, fair share {even:.0f}"
    figure, axes = _figure(max(5.6, 2.8 + 0.72 * n), 2.0 + 0.55 * n, f"Score of the row {among}, %")
    image = axes.imshow(table, cmap="RdBu", norm=TwoSlopeNorm(even, 0, 100), aspect="auto")
    for row, column in zip(*np.isfinite(table).nonzero(), strict=True):
        value = float(table[row, column])
        colour = "white" if abs(value - even) > 0.64 * (even if value < even else 100 - even) else INK
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=10)
    axes.set_xticks(range(n), order, rotation=35, ha="right")
    axes.set_yticks(range(n), order)
    axes.tick_params(length=0)
    hide_frame(axes, "left", "bottom")
    figure.colorbar(image, ax=axes, shrink=0.8, ticks=[0, 25, 50, 75, 100])
    return figure


def draw_ratings(arena: ArenaResult) -> Figure:
    """Elo with 95 % intervals, the strongest at the top."""
    ratings = arena.ratings
    figure, axes = _figure(8, 1.4 + 0.42 * len(ratings), f"Elo, {arena.anchor} = 0, with 95 % intervals")
    for place, rating in enumerate(reversed(ratings)):
        elo = rating.elo
        axes.errorbar(elo.mean, place, xerr=_reach(elo), fmt="o", color=PHASE_COLOURS[0], capsize=4, markersize=7)
        text = f"{elo.mean:+.0f}" if round(elo.mean) else "0"
        axes.annotate(text, (elo.mean, place), (0, 9), textcoords="offset points", ha="center", color=INK, fontsize=9)
    axes.axvline(0, color=PALE, linewidth=1, zorder=0)
    axes.set_yticks(range(len(ratings)), [rating.agent for rating in reversed(ratings)])
    axes.set_ylim(-0.6, len(ratings) - 0.25)
    axes.margins(x=0.06)
    _name_points(axes, "Elo points")
    return figure


def draw_regret(result: RegretResult, order: list[str]) -> Figure:
    """Mean regret of each player in each phase with 95 % intervals, on a logarithmic axis."""
    rows = result.agents
    figure, axes = _figure(8, 1.6 + 0.55 * len(order), "Regret by phase, points a move, with 95 % intervals")
    for number, (phase, colour) in enumerate(zip(PHASES, PHASE_COLOURS, strict=True)):
        places = [place for place, agent in enumerate(order) if phase in rows[agent].phases]
        found = [rows[order[place]].phases[phase] for place in places]
        reach = np.array([_reach(regret) for regret in found])[:, :, 0].T if found else None
        means, at = [regret.mean for regret in found], np.array(places) + 0.22 * (number - 1)
        axes.errorbar(means, at, xerr=reach, fmt="o", color=colour, capsize=3, markersize=6, label=phase)
    axes.set_xscale("symlog", linthresh=LINEAR_REGRET, linscale=0.4)
    highest = max((found.high for found in rows.values()), default=1.0)
    ticks = [tick for tick in (0, 0.1, 0.3, 1, 3, 10, 30) if tick <= 3 * highest]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlim(-LINEAR_REGRET / 4, None)
    axes.minorticks_off()
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.5, -0.5)
    for place in range(1, len(order)):
        axes.axhline(place - 0.5, color="#EEEEEE", linewidth=1, zorder=0)
    _name_points(axes, "points lost against the best move (logarithmic from 0.1)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def _name_points(axes: Axes, name: str) -> None:
    axes.grid(axis="x", color="#EEEEEE")
    axes.set_axisbelow(True)
    axes.set_xlabel(name)


def _reach(estimate: Estimate) -> list[list[float]]:
    """How far the interval reaches below and above the mean, as matplotlib takes it."""
    return [[estimate.mean - estimate.low], [estimate.high - estimate.mean]]
