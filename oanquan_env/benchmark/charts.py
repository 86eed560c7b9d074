"""The style of all charts: the colours of the board, few lines, and names beside the data instead of legends.

This module needs Matplotlib. It avoids pyplot, which depends on the settings of a display.
"""

import io
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from oanquan_env.render.theme import LIGHT

CARD, INK, FAINT, GRID, PALE = (LIGHT[role] for role in ("card", "ink", "faint", "drop", "mandarin"))
GREEN, RED, SLATE, BROWN = (LIGHT[role] for role in ("stone", "captured", "pebble2", "edge"))
AMBER = "#b87f0f"
"""A dark shade of the yellow that marks squares on boards; text in this colour is readable."""
Grid: TypeAlias = Literal["x", "y", "both"] | None
COLOURS = GREEN, AMBER, RED, SLATE, BROWN, INK
"""Colours of curves, in the order of use."""
DIVERGING = LinearSegmentedColormap.from_list("board", [RED, LIGHT["field"], GREEN])
"""Colours from bad to good."""
LARGE, SMALL = 12, 9
"""Font sizes of titles and of text within a chart."""
DPI = 130


def chart(
    title: str, width: float = 7.5, height: float = 3.4, grid: Grid = "y", make: Callable[..., Figure] = Figure
) -> tuple[Figure, Axes]:
    """Return a new figure, created by `make`, and its axes; sizes are in inches, and `grid` is as in `style`."""
    figure = make(figsize=(width, height), layout="constrained", facecolor=CARD)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", color=INK, fontsize=LARGE, pad=12)
    style(axes, grid)
    return figure, axes


def style(axes: Axes, grid: Grid = "both") -> None:
    """Apply the style to axes; `grid` names the directions with grid lines, or is None for a table."""
    axes.set_facecolor(CARD)
    axes.spines[:].set_color(FAINT)
    axes.spines[["top", "right"] if grid else ["top", "right", "bottom", "left"]].set_visible(False)
    axes.tick_params(colors=INK, length=3 if grid else 0)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    if grid:
        axes.grid(axis=grid, color=GRID)
    axes.set_axisbelow(True)


def label_right(axes: Axes, labels: Mapping[str, tuple[float, str]]) -> None:
    """Write names right of the axes; `labels` maps each name to its height, in data coordinates, and its colour.

    Names move up to avoid overlaps. Set the limits and scales of the axes before calling this function.
    """
    figure, free, right = axes.get_figure(root=True), 0.0, axes.get_xlim()[1]
    assert figure is not None
    figure.draw_without_rendering()
    for name, (height, colour) in sorted(labels.items(), key=lambda label: label[1][0]):
        own, half = axes.transData.transform((right, height))[1] * 72 / figure.dpi, 0.65 * SMALL * len(name.split("\n"))
        place = max(own, free + half)
        axes.annotate(
            name, (1, height), (6, place - own), color=colour, fontsize=SMALL, va="center",
            xycoords=("axes fraction", "data"), textcoords="offset points", annotation_clip=False,
        )  # fmt: skip
        free = place + half


def png(figure: Figure) -> bytes:
    """Render a figure as the content of a PNG file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()
