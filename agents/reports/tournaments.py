"""The files of a tournament's report: report.json, report.md and scores.png."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agents.config import validated
from oanquan_env.benchmark.report import PICTURE, markdown
from oanquan_env.benchmark.results import Evaluation
from oanquan_env.files import FileError, read_json, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def read_report(path: Path) -> Evaluation:
    """Read a report.json. Raises `FileError`, naming the file and the field, if the report is missing or invalid."""
    if not path.exists():
        raise FileError(f"{path}: there is no such file; evaluate.py --output FOLDER writes it")
    return validated(Evaluation, read_json(path), str(path))


def write_report(report: Evaluation, folder: Path) -> None:
    """Write report.json, report.md and, if the report has games, scores.png into an existing folder."""
    write_atomically(folder / "report.json", report.to_json().encode())
    if report.pairings:
        from oanquan_env.benchmark.charts import png  # matplotlib takes a second to import

        write_atomically(folder / PICTURE, png(draw_scores(report)))
    write_atomically(folder / "report.md", markdown(report, picture=True).encode())


def draw_scores(report: Evaluation) -> "Figure":
    """Draw a heat map of each row player's score, in percent, against the column player (or copies of it, if P > 2)."""
    from matplotlib.colors import TwoSlopeNorm

    from oanquan_env.benchmark import charts

    order, seats = [player.label for player in report.ranked()], len(report.pairings[0].orders)
    n = len(order)
    table = np.full((n, n), np.nan)
    for pairing in report.pairings:
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
