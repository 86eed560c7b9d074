"""The picture of a report: the cross table of scores as a heat map."""

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from oanquan_env.benchmark import charts
from oanquan_env.benchmark.report import Evaluation


def draw_scores(found: Evaluation) -> Figure:
    """Draw each row player's score, in percent, against the column player or, with 3 or 4 seats, copies of it."""
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
    figure, axes = charts.chart(f"Score of the row {among}, %", max(5.6, 2.2 + 0.72 * n), 2.0 + 0.55 * n, grid=None)
    axes.imshow(table, cmap=charts.DIVERGING, norm=TwoSlopeNorm(even, 0, 100), aspect="auto")
    for row, column in zip(*np.isfinite(table).nonzero(), strict=True):
        value = float(table[row, column])
        colour = charts.CARD if abs(value - even) > 0.6 * (even if value < even else 100 - even) else charts.INK
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=10)
    axes.set_xticks(range(n), order, rotation=35, ha="right")
    axes.set_yticks(range(n), order)
    return figure
