"""The geometry of the board: fields along the sides of a polygon, and mandarin squares around its corners.

The board of P players is a regular polygon of P sides, each F fields long. Outside each side is a row of square fields,
and at each corner is a sector of a circle. For two players the polygon has two sides and is a line: the two rows are
back to back, and the corners become the half circles of the traditional board.

Coordinates are picture units, x to the right and y down; a field is 100 units wide. South's side is at the bottom.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from oanquan_env.engine.rules import Rules

Point: TypeAlias = tuple[float, float]
Align: TypeAlias = Literal["start", "middle", "end"]

UNIT = 100.0
PILE_RADIUS = 43.5  # radius of a pile of a dozen pebbles at scale 1
STONE_RADIUS = 29.0
_MARGIN = 50.0
_LABEL_OFFSET = 17.0
_PLATE_HEIGHT = 50.0
_HEAD = 42.0


@dataclass(frozen=True)
class Square:
    """One square of the ring."""

    # the four corners of a field, or the centre and the two ends of a mandarin square's arc
    corners: tuple[Point, ...]
    radius: float  # radius of a mandarin square's arc; 0 for a field
    centre: Point  # the middle of the square
    pile: Point  # where its seeds lie
    pile_scale: float  # scale at which a dozen pebbles fit, at most 1
    stone: Point  # where the stone of a mandarin square lies
    count: Point  # where the number of seeds is written
    label: Point  # where the field's number is written, outside the board
    tab: tuple[Point, Point, Point]  # triangle in a corner of the field that marks it as sold or pawned
    gate: Point  # the middle of the border with the next square, anticlockwise
    heading: float  # anticlockwise direction along the ring at `gate`: angle in radians, picture coordinates


class Note(NamedTuple):
    """The anchor point and the alignment of a line of text."""

    at: Point
    align: Align


@dataclass(frozen=True)
class Layout:
    """The geometry of the board of one `Rules`: the squares, the size of the picture, and where texts are written."""

    squares: tuple[Square, ...]  # P * (F + 1) squares in ring order
    width: float
    height: float  # size of the picture; its upper left corner is (0, 0)
    # for two players, the left end of each player's line (name, score); for more, the middle of each player's two lines
    plates: tuple[Point, ...]
    notes: tuple[Note, Note]  # where the status and the last move are written
    text_scale: float  # scale of the texts; smaller inside a small polygon

    def pixels(self, width: int | None = None) -> tuple[int, int]:
        """Return (width, height) of a picture in pixels; `width` defaults to 960 for two players with five fields."""
        width = width or round(min(1.2, 720.0 / self.height) * self.width)
        return width, round(width * self.height / self.width)

    @property
    def board_box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the squares with their labels, without the texts around the board."""
        points = [point for square in self.squares for point in (*_extent(square), square.label)]
        left, top = (min(point[axis] for point in points) - _LABEL_OFFSET for axis in (0, 1))
        right, foot = (max(point[axis] for point in points) + _LABEL_OFFSET for axis in (0, 1))
        return left, top, right - left, foot - top


@dataclass(frozen=True)
class _Frame:
    """Local axes; the point (x, y) is origin + x * along + y * out."""

    origin: Point
    along: Point
    out: Point

    def at(self, x: float, y: float) -> Point:
        return (
            round(self.origin[0] + x * self.along[0] + y * self.out[0], 3),
            round(self.origin[1] + x * self.along[1] + y * self.out[1], 3),
        )


def _turn(vector: Point, angle: float) -> Point:
    """Rotate `vector` by `angle`, anticlockwise on the screen (y down)."""
    cos, sin = math.cos(angle), math.sin(angle)
    return vector[0] * cos + vector[1] * sin, vector[1] * cos - vector[0] * sin


@lru_cache(maxsize=32)
def layout(players: int, fields: int) -> Layout:
    """Return the layout of a board of `players` sides with `fields` fields each."""
    sides = _sides(players, fields)
    points = [point for square in _squares(sides, players, fields) for point in _extent(square)]
    low = (min(x for x, _ in points), min(y for _, y in points))
    high = (max(x for x, _ in points), max(y for _, y in points))
    pad = _PLATE_HEIGHT if players == 2 else 0.0
    shift = (_MARGIN - low[0], _MARGIN + pad - low[1])
    sides = [replace(side, origin=_moved(side.origin, shift)) for side in sides]
    width, height = high[0] - low[0] + 2 * _MARGIN, high[1] - low[1] + 2 * (_MARGIN + pad)
    inner = _inner_radius(players, fields)
    if players == 2:
        text_scale = min(1.0, 0.4 + 0.12 * fields)
        plates: tuple[Point, ...] = ((_MARGIN, height - _HEAD), (_MARGIN, _HEAD))
        notes = Note((width - _MARGIN, height - _HEAD), "end"), Note((width - _MARGIN, _HEAD), "end")
    else:  # names and scores are inside the polygon; around a triangle, the upper corners are free for texts
        text_scale = min(1.0, inner / (100.0 if players == 3 else 160.0))
        plates = tuple(side.at(fields * UNIT / 2, -52.0 * text_scale) for side in sides)
        if players == 3:
            notes = Note((24.0, 28.0), "start"), Note((width - 24.0, 28.0), "end")
        else:
            above, below = _moved((0.0, -10.0 * text_scale), shift), _moved((0.0, 14.0 * text_scale), shift)
            notes = Note(above, "middle"), Note(below, "middle")
    return Layout(_squares(sides, players, fields), width, height, plates, notes, text_scale)


def layout_of(rules: Rules) -> Layout:
    """Return the layout of the board of `rules`."""
    return layout(rules.players, rules.fields)


def _inner_radius(players: int, fields: int) -> float:
    """Return the distance from the middle of the board to the inner edge of a row."""
    return fields * UNIT / 2 / math.tan(math.pi / players) if players > 2 else 0.0


def _sides(players: int, fields: int) -> list[_Frame]:
    """Return the axes of the inner edge of each side: `along` runs anticlockwise, `out` points to the player."""
    inner, frames = _inner_radius(players, fields), []
    for player in range(players):
        angle = 2 * math.pi * player / players
        along, out = _turn((1.0, 0.0), angle), _turn((0.0, 1.0), angle)
        centre = _Frame((0.0, 0.0), along, out)
        frames.append(_Frame(centre.at(-fields * UNIT / 2, inner), along, out))
    return frames


def _squares(sides: list[_Frame], players: int, fields: int) -> tuple[Square, ...]:
    return tuple(
        _field(side, field) if field < fields else _mandarin(side, players, fields)
        for side in sides
        for field in range(fields + 1)
    )


def _field(side: _Frame, field: int) -> Square:
    left, right, middle = field * UNIT, (field + 1) * UNIT, (field + 0.5) * UNIT
    corner = side.at(right, UNIT)
    return Square(
        corners=(side.at(left, 0), side.at(right, 0), side.at(right, UNIT), side.at(left, UNIT)),
        radius=0.0,
        centre=side.at(middle, UNIT / 2),
        pile=side.at(middle, UNIT / 2),
        pile_scale=1.0,
        stone=side.at(middle, UNIT / 2),
        count=side.at(left + 12, UNIT - 12),
        label=side.at(middle, UNIT + _LABEL_OFFSET),
        tab=(corner, side.at(right - 22, UNIT), side.at(right, UNIT - 22)),
        gate=side.at(right, UNIT / 2),
        heading=math.atan2(side.along[1], side.along[0]),
    )


def _mandarin(side: _Frame, players: int, fields: int) -> Square:
    """Return the mandarin square after a side's fields: a sector with the area of a half circle of radius `UNIT`."""
    half_angle = math.pi / players
    radius = UNIT * math.sqrt(players / 2)
    centre = side.at(fields * UNIT, 0)
    next_out, next_along = _turn(side.out, 2 * half_angle), _turn(side.along, 2 * half_angle)
    # `axis.along` points away from the middle of the board, and `axis.out` to the next player.
    axis = _Frame(centre, _turn(side.out, half_angle), _turn(side.along, half_angle))
    depth = {2: 44.0, 3: 72.0, 4: 90.0}[players]
    beside = {2: 43.0, 3: 42.0, 4: 39.0}[players]
    room = min(depth * math.sin(half_angle) - beside * math.cos(half_angle), radius - math.hypot(depth, beside))
    end = _Frame(centre, next_along, next_out)
    return Square(
        corners=(centre, side.at(fields * UNIT, radius), end.at(0, radius)),
        radius=radius,
        centre=axis.at(depth, 0),
        pile=axis.at(depth, -beside),
        pile_scale=min(1.0, (room - 2) / PILE_RADIUS),
        stone=axis.at(depth, beside),
        count=axis.at(radius - 14, 0),
        label=axis.at(radius + _LABEL_OFFSET, 0),
        tab=(centre, centre, centre),
        gate=end.at(0, UNIT / 2),
        heading=math.atan2(next_along[1], next_along[0]),
    )


def _extent(square: Square) -> list[Point]:
    """Return the points of a square that may lie at the edge of the board: its corners, or 25 points of its arc."""
    if not square.radius:
        return list(square.corners)
    return arc_points(square.corners[0], square.radius, square.corners[1], square.corners[2], 24)


def arc_points(centre: Point, radius: float, start: Point, end: Point, steps: int) -> list[Point]:
    """Return `steps` + 1 points of the arc around `centre`, anticlockwise on the screen from `start` to `end`."""
    first = math.atan2(start[1] - centre[1], start[0] - centre[0])
    sweep = (first - math.atan2(end[1] - centre[1], end[0] - centre[0])) % (2 * math.pi)
    angles = (first - sweep * step / steps for step in range(steps + 1))
    return [(centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)) for angle in angles]


def _moved(point: Point, shift: Point) -> Point:
    return round(point[0] + shift[0], 3), round(point[1] + shift[1], 3)
