"""The few shapes that make up a drawing. Coordinates are picture units, and colours are roles of `theme`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from oanquan_env.render.layout import Align, Point


@dataclass(frozen=True)
class Paint:
    """How a shape is filled and outlined, as colour roles; None is not painted."""

    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0  # of the outline
    opacity: float = 1.0  # of both, 0 to 1


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
    """An ellipse with semi-axes `rx` and `ry`, the first turned by `angle` degrees clockwise on the screen."""

    centre: Point
    rx: float
    ry: float
    angle: float
    paint: Paint


@dataclass(frozen=True)
class Box:
    """An upright rectangle with rounded corners."""

    low: Point
    high: Point
    radius: float
    paint: Paint


@dataclass(frozen=True)
class Text:
    """A line of text, with its digits centred on `at` vertically and aligned to it horizontally."""

    at: Point
    text: str
    size: float
    role: str
    align: Align = "middle"
    bold: bool = False


@dataclass(frozen=True)
class Piece:
    """A seed or a stone: shapes that an animation draws once by their `name`, and moves to a place."""

    name: str
    at: Point
    scale: float
    parts: tuple[Ellipse, ...]


Simple: TypeAlias = Polygon | Sector | Ellipse | Box | Text
Shape: TypeAlias = Simple | Piece


def simple(shapes: Iterable[Shape]) -> Iterator[Simple]:
    """Yield the shapes, with each piece replaced by its parts."""
    for shape in shapes:
        yield from shape.parts if isinstance(shape, Piece) else (shape,)
