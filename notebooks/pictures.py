"""Draw the notebooks' pictures: boards side by side, the stages of a move, and plots in the style of all charts.

A drawing is stored as SVG and as PNG, because JupyterLab does not show the SVG of an untrusted notebook.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from oanquan_env import Board, MoveTrace
from oanquan_env.benchmark import charts
from oanquan_env.benchmark.regret import PHASES
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.render import LastMove, Snapshot, image, rgb, svg
from oanquan_env.render.drawable import Drawable

if TYPE_CHECKING:
    from oanquan_env.benchmark.results import Evaluation

GAP = 16
"""Pixels between two boards."""
SHARP = 2
"""Scale of PNG pictures, so that they are sharp on high-resolution screens."""
LINEAR_REGRET = 0.1
"""Regret in points below which the chart's axis is linear, so that it can show 0; above it, the axis is logarithmic."""
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


@dataclass(frozen=True)
class Drawing:
    """A picture as SVG, as PNG, and as HTML that fits a cell of any width; a notebook shows one of the formats."""

    svg: str
    png: bytes
    width: int
    """Width in pixels on the screen; the PNG is `SHARP` times as wide."""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
        png = base64.b64encode(self.png).decode()
        formats = {"text/html": image(self.svg), "image/svg+xml": self.svg, "image/png": png}
        return formats, {"image/png": {"width": self.width}}


def picture(board: Board, width: int = 560) -> Drawing:
    """Draw one board with its last move; `width` is in pixels."""
    return _grid([(board, board.last_mark)], 1, width)


def strip(boards: Sequence[Board], columns: int = 2, width: int = 410) -> Drawing:
    """Draw boards with their last moves, row by row in one picture; each board is `width` pixels wide."""
    return _grid([(board, board.last_mark) for board in boards], columns, width)


def film(trace: MoveTrace, columns: int = 2, width: int = 410) -> Drawing:
    """Draw the board before a move and after each of its sowings, captures and refills."""
    marks: list[LastMove | None] = [None]
    for lap in trace.laps:
        marks.append(LastMove(lap.square, lap.squares, lap.last))
    last = trace.laps[-1]
    for capture in trace.captures:
        marks.append(LastMove(last.square, last.squares, last.last, (capture.square,)))
    marks += [None] * len(trace.refillings)
    frames = [Snapshot(trace.rules, *frame, mover=trace.player) for frame in trace.frames()]
    return _grid(list(zip(frames, marks, strict=True)), columns, width)


def _grid(boards: Sequence[tuple[Drawable, LastMove | None]], columns: int, width: int) -> Drawing:
    drawings = [svg(board, last=last, width=width) for board, last in boards]
    sizes = [tuple(map(int, match.groups())) for drawing in drawings if (match := _SIZE.search(drawing))]
    wide, high = max(size[0] for size in sizes) + GAP, max(size[1] for size in sizes) + GAP
    placed = [
        drawing.replace("<svg ", f'<svg x="{number % columns * wide}" y="{number // columns * high}" ', 1)
        for number, drawing in enumerate(drawings)
    ]
    size = wide * min(columns, len(drawings)) - GAP, high * -(-len(drawings) // columns) - GAP
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}" style="max-width:100%;height:auto">{"".join(placed)}</svg>'
    )
    pixels = Image.new("RGB", (SHARP * size[0], SHARP * size[1]), "white")
    for number, (board, last) in enumerate(boards):
        at = SHARP * wide * (number % columns), SHARP * high * (number // columns)
        pixels.paste(Image.fromarray(rgb(board, last=last, width=SHARP * width)), at)
    data = io.BytesIO()
    pixels.quantize(64).save(data, "PNG", optimize=True)
    return Drawing(document, data.getvalue(), size[0])


def axes(title: str, width: float = 7.5, height: float = 3.4, grid: charts.Grid = "y") -> Axes:
    """Return the axes of an empty plot that the cell shows; sizes are in inches, and `grid` is as in `charts.style`."""
    return charts.chart(title, width, height, grid, partial(plt.figure, dpi=90))[1]


# ---- strength --------------------------------------------------------------------------------------------------------


def draw_ratings(found: Evaluation) -> Figure:
    """Draw the players' Elo with 95 % intervals, with the strongest player at the top."""
    ratings = [(one.label, one.elo) for one in reversed(found.ranked()) if one.elo]
    figure, axes = charts.chart(f"Elo, {found.anchor} = 0, with 95 % intervals", 8, 1.4 + 0.42 * len(ratings), grid="x")
    for place, (_, elo) in enumerate(ratings):
        axes.errorbar(elo.mean, place, xerr=_reach(elo), fmt="o", color=charts.GREEN, capsize=4, markersize=7)
        text = f"{elo.mean:+.0f}" if round(elo.mean) else "0"
        axes.annotate(text, (elo.mean, place), (0, 9), textcoords="offset points", ha="center", fontsize=charts.SMALL)
    axes.axvline(0, color=charts.FAINT, linewidth=1, zorder=0)
    axes.set_yticks(range(len(ratings)), [label for label, _ in ratings])
    axes.set_ylim(-0.6, len(ratings) - 0.25)
    axes.margins(x=0.06)
    axes.set_xlabel("Elo points")
    return figure


def draw_regret(result: Evaluation) -> Figure:
    """Draw the mean regret of each player in each phase, with 95 % intervals, on a logarithmic axis."""
    rows = {one.label: one.regret for one in result.ranked() if one.regret}
    order = list(rows)
    figure, axes = charts.chart(
        "Regret by phase, points a move, with 95 % intervals", 8, 1.6 + 0.55 * len(order), grid="x"
    )
    for number, phase in enumerate(PHASES):
        colour = charts.COLOURS[number]
        places = [place for place, agent in enumerate(order) if phase in rows[agent].phases]
        found = [rows[order[place]].phases[phase] for place in places]
        reach = np.array([_reach(regret) for regret in found])[:, :, 0].T if found else None
        means, at = [regret.mean for regret in found], np.array(places) + 0.22 * (number - 1)
        axes.errorbar(means, at, xerr=reach, fmt="o", color=colour, capsize=3, markersize=6)
        if found:
            beside = (np.nanmax([found[0].mean, found[0].high]), at[0])
            axes.annotate(phase, beside, (7, 0), textcoords="offset points", va="center", color=colour, fontsize=8)
    axes.set_xscale("symlog", linthresh=LINEAR_REGRET, linscale=0.4)
    highest = np.nanmax([end for found in rows.values() for end in (found.mean, found.high)] or [1.0])
    ticks = [tick for tick in (0, 0.1, 0.3, 1, 3, 10, 30) if tick <= 3 * highest]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlim(-LINEAR_REGRET / 4, None)
    axes.minorticks_off()
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.5, -0.5)
    for place in range(1, len(order)):
        axes.axhline(place - 0.5, color=charts.GRID, linewidth=1, zorder=0)
    axes.set_xlabel("points lost against the best move (logarithmic from 0.1)")
    return figure


def _reach(estimate: Estimate) -> list[list[float]]:
    """Return the distances from the mean to both ends of its interval, as matplotlib's `xerr` of shape (2, 1)."""
    return [[estimate.mean - estimate.low], [estimate.high - estimate.mean]]
