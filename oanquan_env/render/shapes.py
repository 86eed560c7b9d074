"""The shapes that make up a drawing. Coordinates are picture units, and colours are roles of `theme`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from oanquan_env.render.layout import Align, Point


@dataclass(frozen=True)
class Paint:
    """The colour roles of a shape's fill and outline; None means no fill or no outline."""

    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0  # width of the outline
    opacity: float = 1.0  # opacity of fill and outline, 0 to 1


@dataclass(frozen=True)
class Polygon:
    """A closed polygon."""

    points: tuple[Point, ...]
    paint: Paint


@dataclass(frozen=True)
class Sector:
    """A sector of a circle; its arc runs anticlockwise on the screen from `start` to `end`."""

    centre: Point
    radius: float
    start: Point
    end: Point
    paint: Paint


@dataclass(frozen=True)
class Ellipse:
    """An ellipse with semi-axes `rx` and `ry`, rotated by `angle` degrees clockwise on the screen."""

    centre: Point
    rx: float
    ry: float
    angle: float
    paint: Paint


@dataclass(frozen=True)
class Box:
    """A rectangle from its upper left corner `low` to its lower right corner `high`; `radius` rounds its corners."""

    low: Point
    high: Point
    radius: float
    paint: Paint


@dataclass(frozen=True)
class Text:
    """A line of text. `at` is its start, middle or end (see `align`); vertically, its digits are centred on `at`."""

    at: Point
    text: str
    size: float
    role: str
    align: Align = "middle"
    bold: bool = False


@dataclass(frozen=True)
class Piece:
    """A seed or a stone: a group of shapes that an animation defines once, by `name`, and uses in many places."""

    name: str
    at: Point
    scale: float
    parts: tuple[Ellipse, ...]


Simple: TypeAlias = Polygon | Sector | Ellipse | Box | Text
Shape: TypeAlias = Simple | Piece


def simple(shapes: Iterable[Shape]) -> Iterator[Simple]:
    """Yield the shapes, replacing each piece by its parts."""
    for shape in shapes:
        yield from shape.parts if isinstance(shape, Piece) else (shape,)
