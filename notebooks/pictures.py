"""What the notebooks draw with: boards side by side, the film of a move, one style for all plots.

A drawing is shown as SVG, and as PNG where a notebook that is not trusted shows no SVG.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from PIL import Image

from oanquan_env import Board, MoveTrace
from oanquan_env.render import LastMove, Snapshot, image, rgb, svg
from oanquan_env.render.drawable import Drawable

GAP = 16
"""Pixels between two boards."""
SHARP = 2
"""Pixels of a PNG for each one on the screen: fine screens have as many."""
INK, PALE = "#222222", "#BBBBBB"
BLUE, ORANGE, GREEN, RED = "#4C78A8", "#F58518", "#54A24B", "#C44E52"
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


@dataclass(frozen=True)
class Drawing:
    """A picture in two formats, and as HTML that fits a cell of any width; a notebook shows the last that it can."""

    svg: str
    png: bytes
    width: int
    """Pixels on the screen; the PNG has `SHARP` times as many."""

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
        png = base64.b64encode(self.png).decode()
        formats = {"text/html": image(self.svg), "image/svg+xml": self.svg, "image/png": png}
        return formats, {"image/png": {"width": self.width}}


def picture(board: Board, width: int = 560) -> Drawing:
    """One board with its last move."""
    return _grid([(board, board.last_mark)], 1, width)


def strip(boards: Sequence[Board], columns: int = 2, width: int = 410) -> Drawing:
    """Boards with their last moves, row by row, in one picture; each `width` pixels wide."""
    return _grid([(board, board.last_mark) for board in boards], columns, width)


def film(trace: MoveTrace, columns: int = 2, width: int = 410) -> Drawing:
    """The board before a move and after each of its sowings, captures and refills."""
    marks: list[LastMove | None] = [None]
    for lap in trace.laps:
        marks.append(LastMove(lap.square, lap.squares, lap.last))
    last = trace.laps[-1]
    for taking in trace.takings:
        marks.append(LastMove(last.square, last.squares, last.last, (taking.square,)))
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


def axes(title: str, width: float = 7.5, height: float = 3.4) -> Axes:
    """An empty plot, sizes in inches, in the style of all plots here."""
    _, drawn = plt.subplots(figsize=(width, height), layout="constrained", dpi=90)
    drawn.set_title(title, loc="left", color=INK, fontsize=12, pad=10)
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    drawn.grid(axis="y", color="#EEEEEE")
    drawn.set_axisbelow(True)
    return drawn
