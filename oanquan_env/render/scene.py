"""Turn a board into shapes, lowest first, for `svg` and `raster` to draw."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from oanquan_env.engine.notation import SEAT_NAMES
from oanquan_env.engine.positions import PAWNED, SOLD
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.trace import LastMove
from oanquan_env.render.drawable import Drawable, ending_line, last_line, ply_line, shown_scores, status_line
from oanquan_env.render.layout import STONE_RADIUS, Align, Point, Square, layout_of
from oanquan_env.render.shapes import Box, Ellipse, Paint, Piece, Polygon, Sector, Shape, Text
from oanquan_env.render.theme import PEBBLES

MOST_PEBBLES = 12  # a square with more seeds shows this many pebbles under the number of seeds
MINUS = "−"  # the sign before a negative score

Owners = Sequence[Sequence[int]]
"""Ownership codes (0 own, 1 pawned, 2 sold) of each player's fields from its own left; a (P, F) array also works."""

_PEBBLE = 10.1
_SPACING = 2.04 * _PEBBLE


@lru_cache(maxsize=32)
def backdrop(rules: Rules) -> tuple[Shape, ...]:
    """Return the fixed part of the drawing: the background and the empty board."""
    here = layout_of(rules)
    shapes: list[Shape] = [Box((0.0, 0.0), (here.width, here.height), 18.0, Paint("card"))]
    shapes += [_outline(square, Paint("drop", "drop", 12.0), drop=5.0) for square in here.squares]
    shapes += [_outline(square, Paint(None, "edge", 9.0)) for square in here.squares]
    for square in here.squares:
        shapes.append(_outline(square, Paint("mandarin" if square.radius else "field", "edge", 2.5)))
    return tuple(shapes)


def foreground(board: Drawable, last: LastMove | None = None, owners: Owners | None = None) -> Iterator[Shape]:
    """Return the shapes that depend on the position: marks of the last move, pieces, numbers and texts."""
    return (shape for layer in layers(board, last, owners) for group in layer for shape in group)


def layers(board: Drawable, last: LastMove | None, owners: Owners | None) -> Iterator[list[Sequence[Shape]]]:
    """Yield the shapes of `foreground` in layers, lowest first; a layer consists of groups of shapes."""
    yield [] if owners is None else [list(ownership_tabs(board.rules, owners))]
    yield [] if last is None else [[shape] for shape in marks(board.rules, last)]
    yield list(_pieces(board))
    yield [] if last is None else [[shape] for shape in arrows(board.rules, last)]
    yield [[shape] for shape in (*labels(board), *words(board, last))]


def _outline(square: Square, paint: Paint, *, drop: float = 0.0, inset: float = 0.0) -> Polygon | Sector:
    """Return a square's outline, moved down by `drop` and shrunk so that its farthest corner moves in by `inset`."""
    (x, y), corners = square.centre, square.corners
    factor = 1 - inset / max(math.hypot(cx - x, cy - y) for cx, cy in corners)
    if inset:
        corners = tuple((x + (cx - x) * factor, y + (cy - y) * factor) for cx, cy in corners)
    corners = tuple((cx, cy + drop) for cx, cy in corners)
    if square.radius:
        return Sector(corners[0], square.radius * factor, corners[1], corners[2], paint)
    return Polygon(corners, paint)


# ---- pieces --------------------------------------------------------------------------------------------------------


def stone(at: Point) -> Piece:
    """Return a mandarin stone with its centre at `at`."""
    x, y = at
    r = STONE_RADIUS
    shapes = (
        Ellipse((x + 2, y + 5), r, r * 0.94, 0.0, Paint("shade", opacity=0.28)),
        Ellipse(at, r, r * 0.94, 0.0, Paint("stone", "stone_rim", 2.0)),
        Ellipse((x + 3, y + 4), r * 0.72, r * 0.66, 0.0, Paint("stone_rim", opacity=0.28)),
        Ellipse((x - 2, y - 3), r * 0.62, r * 0.56, -20.0, Paint("stone")),
        Ellipse((x - 9, y - 12), 9.0, 5.0, -32.0, Paint("shine", opacity=0.55)),
    )
    return Piece("quan", at, 1.0, shapes)


def _pieces(board: Drawable) -> Iterator[list[Shape]]:
    """Yield the stone and the seeds of each square: a heap of seeds, or only a number once the game is over."""
    for index, (square, seeds) in enumerate(zip(layout_of(board.rules).squares, board.seeds, strict=True)):
        if square.radius and board.stones[index // (board.rules.fields + 1)]:
            yield [stone(square.stone)]
        if board.outcome is None:
            yield list(heap(index, square, int(seeds)))
        elif seeds:
            yield [Text(square.pile, f"({seeds})", 21.0, "faint")]


def heap(index: int, square: Square, seeds: int) -> Iterator[Shape]:
    """Yield the pebbles of a square and their number. The number covers a heap that is too large to draw in full."""
    if not seeds:
        return
    yield from (pebble(*place) for place in pebble_places(index, square, seeds))
    if seeds > MOST_PEBBLES:
        x, y = square.pile
        half = 19.0 if seeds < 100 else 25.0
        yield Box((x - half, y - 14.0), (x + half, y + 14.0), 14.0, Paint("badge", opacity=0.88))
        yield Text(square.pile, str(seeds), 21.0, "badge_ink", bold=True)
    else:
        yield Text(square.count, str(seeds), 14.0, "count")


def pebble_places(index: int, square: Square, seeds: int) -> Iterator[tuple[Point, float, float, str]]:
    """Yield the position, scale, angle in degrees, and colour role of each pebble in a heap."""
    scale = square.pile_scale
    for k, (dx, dy, angle) in enumerate(_arrangement(min(seeds, MOST_PEBBLES), index)):
        at = (round(square.pile[0] + dx * scale, 2), round(square.pile[1] + dy * scale, 2))
        size = scale * (0.94 + 0.12 * _noise(index, k, 3))
        yield at, size, angle, PEBBLES[(3 * index + 2 * k + k // 5) % len(PEBBLES)]


def pebble(at: Point, scale: float, angle: float, role: str) -> Piece:
    """Return a seed: a shadow, a body and a highlight."""
    x, y = at
    rx, ry = round(_PEBBLE * scale, 2), round(0.86 * _PEBBLE * scale, 2)
    shapes = (
        Ellipse((x + 1.4, y + 2.6), rx, ry, angle, Paint("shade", opacity=0.30)),
        Ellipse(at, rx, ry, angle, Paint(role, "shade", 0.8)),
        Ellipse((x - 2.6, y - 2.9), round(0.42 * rx, 2), round(0.3 * ry, 2), -25.0, Paint("shine", opacity=0.5)),
    )
    return Piece(role, at, scale, shapes)


@lru_cache(maxsize=1024)
def _arrangement(count: int, index: int) -> tuple[tuple[float, float, float], ...]:
    """Return `count` pebbles (dx, dy, angle) in one or two rings, arranged a little differently in each square."""
    inner = 1 if count in (1, 6, 7, 8) else 0 if count < 6 else {9: 2, 10: 2, 11: 3, 12: 3}[count]
    inner_radius = _ring_radius(inner)
    outer_radius = max(_ring_radius(count - inner), inner_radius + (0.93 * _SPACING if inner else 0.0))
    places = []
    for ring, (members, radius) in enumerate(((inner, inner_radius), (count - inner, outer_radius))):
        for k in range(members):
            angle = (0.9 * index + 0.37 * count) * (1 + ring) + 2 * math.pi * k / members
            dx = radius * math.cos(angle) + 3.2 * (_noise(index, k, 2 * ring) - 0.5)
            dy = radius * math.sin(angle) + 3.2 * (_noise(index, k, 2 * ring + 1) - 0.5)
            places.append((dx, dy, 180.0 * _noise(index, k, ring + 4)))
    return tuple(places)


def _noise(*key: int) -> float:
    """Return a number from 0 to 1 that looks random and depends only on the key."""
    value = 0
    for part in key:
        value = (value * 7919 + part + 1) * 2654435761 % 2**32
    return value / 2**32


def _ring_radius(members: int) -> float:
    return _SPACING / (2 * math.sin(math.pi / members)) if members > 1 else 0.0


# ---- the last move -------------------------------------------------------------------------------------------------


def marks(rules: Rules, last: LastMove) -> Iterator[Shape]:
    """Yield marks for the squares that received seeds, the field played, the last square, and the captures."""
    here = layout_of(rules)
    for index in sorted({*last.path} - {*last.captured}):
        yield _outline(here.squares[index], Paint("passed", opacity=0.30))
    for index in sorted({*last.captured}):
        yield _outline(here.squares[index], Paint("captured", opacity=0.30))
    yield _outline(here.squares[last.origin], Paint(None, "passed", 3.5), inset=6.0)
    if last.last != last.origin:
        yield _outline(here.squares[last.last], Paint(None, "ink", 3.0), inset=6.0)
    for index in last.captured:
        yield _outline(here.squares[index], Paint(None, "captured", 3.5), inset=6.0)


def arrows(rules: Rules, last: LastMove) -> Iterator[Shape]:
    """Yield arrowheads on the borders crossed by the sowing, and on the borders from its end to the last capture."""
    here = layout_of(rules)
    n = len(here.squares)
    step = last.step(n)
    sowing = _crossed([last.origin, *last.path], step, n)
    captures = _crossed([last.last, *last.captured], step, n)
    for gates, role in ((sorted(set(sowing) - set(captures)), "ink"), (sorted(set(captures)), "captured")):
        for gate in gates:
            yield _arrow(here.squares[gate], step, role)


def _crossed(squares: list[int], step: int, n: int) -> list[int]:
    """Return the borders crossed from each square to the next; border i is between squares i and i + 1 of the ring."""
    gates = []
    for here, there in pairwise(squares):
        at = here
        while True:
            gates.append(at if step > 0 else (at - 1) % n)
            at = (at + step) % n
            if at == there:
                break
    return gates


def _arrow(square: Square, step: int, role: str) -> Polygon:
    angle = square.heading + (0 if step > 0 else math.pi)
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = square.gate
    points = tuple(
        (round(x + a * cos - b * sin, 2), round(y + a * sin + b * cos, 2))
        for a, b in ((9, 0), (-6, 8), (-2, 0), (-6, -8))
    )
    return Polygon(points, Paint(role, "card", 1.2))


# ---- ownership, numbers, words -------------------------------------------------------------------------------------


def ownership_tabs(rules: Rules, owners: Owners) -> Iterator[Shape]:
    """Yield a corner mark for each field that is sold or pawned in match play."""
    here = layout_of(rules)
    for player in range(rules.players):
        for field in range(rules.fields):
            tab = here.squares[player * (rules.fields + 1) + field].tab
            if owners[player][field] == SOLD:
                yield Polygon(tab, Paint("accent", "edge", 2.0))
            elif owners[player][field] == PAWNED:
                yield Polygon(tab, Paint("card", "accent", 2.0))


def labels(board: Drawable) -> Iterator[Shape]:
    """Yield the numbers of the fields from each player's own left; the mover's fields with seeds are highlighted."""
    for index, square in enumerate(layout_of(board.rules).squares):
        player, field = divmod(index, board.rules.fields + 1)
        if field == board.rules.fields:
            continue
        marked = board.outcome is None and player == board.mover and bool(board.seeds[index])
        yield Text(square.label, str(field + 1), 17.0, "accent" if marked else "faint", bold=marked)


def words(board: Drawable, last: LastMove | None) -> Iterator[Shape]:
    """Yield the texts: names, points, whose turn it is, and the last move."""
    here = layout_of(board.rules)
    names, scores = SEAT_NAMES[board.rules.players], shown_scores(board)
    for player, (name, score) in enumerate(zip(names, scores, strict=True)):
        marked = board.mover == player if board.outcome is None else score == max(scores)
        place, points = here.plates[player], str(score).replace("-", MINUS)
        yield from _plate(place, here.text_scale, name, points, marked, below=len(names) > 2)
    played = " · ".join(part for part in (ending_line(board) or last_line(board, last), ply_line(board)) if part)
    for note, line, size, role in zip(
        here.notes, (status_line(board), played), (18.0, 16.0), ("ink", "faint"), strict=True
    ):
        yield Text(note.at, line, size * here.text_scale, role, note.align)


def _plate(at: Point, scale: float, name: str, score: str, marked: bool, *, below: bool) -> Iterator[Shape]:
    """Yield a player's name, with the score `below` it or to its right, and a dot if `marked` (to move or winner)."""
    (x, y), role = at, "accent" if marked else "ink"
    align: Align = "middle" if below else "start"
    dot, line, (right, down) = (-44.0, -15.0, (0.0, 12.0)) if below else (-14.0, 0.0, (80.0, 0.0))
    sizes = (19.0, 27.0) if below else (21.0, 28.0)
    if marked:
        yield Ellipse((x + dot * scale, y + line * scale), 5.5 * scale, 5.5 * scale, 0.0, Paint("accent"))
    yield Text((x, y + line * scale), name, sizes[0] * scale, role, align, bold=marked)
    yield Text((x + right * scale, y + down * scale), score, sizes[1] * scale, role, align, bold=True)
