"""What the notebooks draw with: boards side by side, the film of a move, one style for all plots."""

from __future__ import annotations

import re
from collections.abc import Sequence

import matplotlib.pyplot as plt
from IPython.display import SVG
from matplotlib.axes import Axes

from oanquan_env import Board, MoveTrace
from oanquan_env.render import LastMove, Snapshot, svg

GAP = 16
"""Pixels between two boards."""
INK, PALE = "#222222", "#BBBBBB"
BLUE, ORANGE, GREEN, RED = "#4C78A8", "#F58518", "#54A24B", "#C44E52"
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


def picture(board: Board, width: int = 560) -> SVG:
    """One board with its last move."""
    return SVG(svg(board, last=board.last_mark, width=width))


def strip(boards: Sequence[Board], columns: int = 2, width: int = 410) -> SVG:
    """Boards with their last moves, row by row, in one picture; each `width` pixels wide."""
    return _grid([svg(board, last=board.last_mark, width=width) for board in boards], columns)


def film(trace: MoveTrace, columns: int = 2, width: int = 410) -> SVG:
    """The board before a move and after each of its sowings, captures and refills."""
    marks: list[LastMove | None] = [None]
    for lap in trace.laps:
        marks.append(LastMove(lap.square, lap.squares, lap.last))
    last = trace.laps[-1]
    for taking in trace.takings:
        marks.append(LastMove(last.square, last.squares, last.last, (taking.square,)))
    marks += [None] * len(trace.refillings)
    frames = [Snapshot(trace.rules, *frame, mover=trace.player) for frame in trace.frames()]
    return _grid([svg(frame, last=mark, width=width) for frame, mark in zip(frames, marks, strict=True)], columns)


def _grid(drawings: Sequence[str], columns: int) -> SVG:
    sizes = [tuple(map(int, match.groups())) for drawing in drawings if (match := _SIZE.search(drawing))]
    wide, high = max(size[0] for size in sizes) + GAP, max(size[1] for size in sizes) + GAP
    placed = [
        drawing.replace("<svg ", f'<svg x="{number % columns * wide}" y="{number // columns * high}" ', 1)
        for number, drawing in enumerate(drawings)
    ]
    size = wide * min(columns, len(drawings)) - GAP, high * -(-len(drawings) // columns) - GAP
    return SVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}">{"".join(placed)}</svg>'
    )


def axes(title: str, width: float = 7.5, height: float = 3.4) -> Axes:
    """An empty plot, sizes in inches, in the style of all plots here."""
    _, drawn = plt.subplots(figsize=(width, height), layout="constrained", dpi=90)
    drawn.set_title(title, loc="left", color=INK, fontsize=12, pad=10)
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    drawn.grid(axis="y", color="#EEEEEE")
    drawn.set_axisbelow(True)
    return drawn
