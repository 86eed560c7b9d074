"""Draw the board as an array of pixels with Pillow.

Shapes become small masks, which are cached; all except texts are drawn at four times their size and reduced. A picture
is then a copy of the empty board to which colours are applied through a few hundred masks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.rules import Rules
from oanquan_env.engine.trace import LastMove
from oanquan_env.errors import needing_extra
from oanquan_env.render.drawable import Drawable
from oanquan_env.render.layout import Point, arc_points, layout_of
from oanquan_env.render.scene import MINUS, Owners, backdrop, foreground
from oanquan_env.render.shapes import Box, Ellipse, Polygon, Sector, Shape, Simple, Text, simple
from oanquan_env.render.svg import BASELINE
from oanquan_env.render.theme import DARK, LIGHT

if TYPE_CHECKING:
    from PIL import Image, ImageFont

_OVERSAMPLING = 4


class _Layer(NamedTuple):
    """A colour to apply through a mask with its upper left corner at (left, top)."""

    role: str
    left: int
    top: int
    mask: Image.Image


def rgb(
    board: Drawable,
    *,
    last: LastMove | None = None,
    owners: Owners | None = None,
    dark: bool = False,
    width: int | None = None,
) -> npt.NDArray[np.uint8]:
    """Return a picture of the board, a (height, width, 3) uint8 array; see `svg` for the arguments.

    Raises `MissingExtraError` without Pillow.
    """
    return np.array(image(board.rules, foreground(board, last, owners), dark=dark, width=width))


def image(rules: Rules, shapes: Iterable[Shape], *, dark: bool = False, width: int | None = None) -> Image.Image:
    """Draw shapes on the empty board of `rules`; return a Pillow image. Other arguments and errors are as for `rgb`."""
    width, _ = layout_of(rules).pixels(width)
    picture = _empty_board(rules, width, dark).copy()
    _draw(picture, shapes, width / layout_of(rules).width, dark)
    return picture


def _draw(image: Image.Image, shapes: Iterable[Shape], scale: float, dark: bool) -> None:
    """Draw shapes into an image in which a picture unit is `scale` pixels."""
    colours = DARK if dark else LIGHT
    for shape in simple(shapes):
        for role, left, top, mask in _layers(shape, scale):
            image.paste(colours[role], (left, top), mask)


@lru_cache(maxsize=16)
def _empty_board(rules: Rules, width: int, dark: bool) -> Image.Image:
    with needing_extra("render"):
        from PIL import Image
    image = Image.new("RGB", layout_of(rules).pixels(width), (DARK if dark else LIGHT)["card"])
    _draw(image, backdrop(rules), width / layout_of(rules).width, dark)
    return image


@lru_cache(maxsize=16384)
def _layers(shape: Simple, scale: float) -> tuple[_Layer, ...]:
    if isinstance(shape, Text):
        return (_letters(shape, scale),)
    paint, layers = shape.paint, []
    outline = [(x * scale, y * scale) for x, y in _outline(shape)]
    if paint.fill:
        layers.append(_area(outline, 0.0, paint.fill, paint.opacity))
    if paint.stroke:
        layers.append(_area(outline, paint.width * scale, paint.stroke, paint.opacity))
    return tuple(layers)


def _area(outline: list[Point], width: float, role: str, opacity: float) -> _Layer:
    """Return a layer with the area inside a closed outline, or, if `width` is not 0, a line of this width along it."""
    from PIL import Image, ImageDraw

    left, top = (math.floor(min(p[k] for p in outline) - width) - 1 for k in (0, 1))
    right, foot = (math.ceil(max(p[k] for p in outline) + width) + 1 for k in (0, 1))
    k = _OVERSAMPLING
    mask = Image.new("L", ((right - left) * k, (foot - top) * k))
    pen = ImageDraw.Draw(mask)
    points = [((x - left) * k, (y - top) * k) for x, y in outline]
    if width:
        pen.line([*points, points[0], points[1]], fill=255, width=max(1, round(width * k)), joint="curve")
    else:
        pen.polygon(points, fill=255)
    mask = mask.reduce(k)
    return _Layer(role, left, top, mask if opacity == 1 else mask.point([round(v * opacity) for v in range(256)]))


def _outline(shape: Polygon | Ellipse | Sector | Box) -> list[Point]:
    """Return the closed outline of a shape as a polygon; short chords replace curves."""
    if isinstance(shape, Ellipse):
        cos, sin = math.cos(math.radians(shape.angle)), math.sin(math.radians(shape.angle))
        (x, y), angles = shape.centre, (2 * math.pi * k / 36 for k in range(36))
        around = ((shape.rx * math.cos(angle), shape.ry * math.sin(angle)) for angle in angles)
        return [(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in around]
    if isinstance(shape, Sector):
        return [shape.centre, *arc_points(shape.centre, shape.radius, shape.start, shape.end, 60)]
    if isinstance(shape, Box):
        return _rounded(shape)
    return list(shape.points)


def _rounded(box: Box) -> list[Point]:
    (left, top), (right, foot), r = box.low, box.high, box.radius
    centres = ((right - r, foot - r), (left + r, foot - r), (left + r, top + r), (right - r, top + r))
    points = []
    for quarter, (x, y) in enumerate(centres):
        for step in range(9):
            angle = math.pi / 2 * (quarter + step / 8)
            points.append((x + r * math.cos(angle), y + r * math.sin(angle)))
    return points


# ---- letters -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _font(size: float, bold: bool) -> tuple[ImageFont.FreeTypeFont | ImageFont.ImageFont, bool]:
    """Return DejaVu Sans as in the SVG, or else Pillow's own font, and whether the font has the character `MINUS`."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf", size), True
    except OSError:
        return ImageFont.load_default(size), False


def _letters(shape: Text, scale: float) -> _Layer:
    from PIL import Image, ImageDraw

    size = max(1.0, round(shape.size * scale, 1))
    font, has_minus = _font(size, shape.bold)
    word = shape.text if has_minus else shape.text.replace(MINUS, "-")
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.align]
    at = (shape.at[0] * scale, shape.at[1] * scale + BASELINE * size)
    low_x, low_y, high_x, high_y = ImageDraw.Draw(Image.new("L", (1, 1))).textbbox(at, word, font, anchor)
    left, top = math.floor(low_x) - 1, math.floor(low_y) - 1
    mask = Image.new("L", (math.ceil(high_x) + 1 - left, math.ceil(high_y) + 1 - top))
    ImageDraw.Draw(mask).text((at[0] - left, at[1] - top), word, 255, font, anchor)
    return _Layer(shape.role, left, top, mask)
