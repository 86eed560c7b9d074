"""The picture of a report: the cross table of scores as a heat map."""

import io

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from oanquan_env.benchmark.report import Evaluation

DPI = 130
INK = "#222222"


def png(figure: Figure) -> bytes:
    """Render a figure as the content of a PNG file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def draw_scores(found: Evaluation) -> Figure:
    """Draw the scores in percent of each row's player against each column's, or among copies of it for three or four.

    We avoid pyplot, which depends on the settings of a display.
    """
    order, seats = [one.label for one in found.ranked()], len(found.pairings[0].orders)
    n = len(order)
    table = np.full((n, n), np.nan)
    for pairing in found.pairings:
        row, column = order.index(pairing.agent), order.index(pairing.opponent)
        table[row, column] = 100 * pairing.score.mean
        if pairing.pentanomial is not None:
            table[column, row] = 100 - 100 * pairing.score.mean
    even = 100 / seats
    among = "against the column" if seats == 2 else f"among copies\nof the column, fair share {even:.0f}"
    figure = Figure(figsize=(max(5.6, 2.8 + 0.72 * n), 2.0 + 0.55 * n), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(f"Score of the row {among}, %", loc="left", color=INK, fontsize=12, pad=12)
    image = axes.imshow(table, cmap="RdBu", norm=TwoSlopeNorm(even, 0, 100), aspect="auto")
    for row, column in zip(*np.isfinite(table).nonzero(), strict=True):
        value = float(table[row, column])
        colour = "white" if abs(value - even) > 0.64 * (even if value < even else 100 - even) else INK
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=10)
    axes.set_xticks(range(n), order, rotation=35, ha="right")
    axes.set_yticks(range(n), order)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.8, ticks=[0, 25, 50, 75, 100])
    return figure
