"""Draw the board as SVG."""

import base64
from collections.abc import Iterable, Mapping
from html import escape  # xml.sax.saxutils would import urllib and ssl

from oanquan_env.engine.trace import LastMove
from oanquan_env.render.drawable import Drawable, last_line, shown_scores, status_line
from oanquan_env.render.layout import layout_of
from oanquan_env.render.scene import Owners, backdrop, foreground
from oanquan_env.render.shapes import Box, Ellipse, Paint, Sector, Shape, Simple, Text, simple
from oanquan_env.render.theme import DARK, LIGHT

FONTS = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif"
BASELINE = 0.36
"""Half the height of a digit as a fraction of the font size: the distance from its middle to the baseline."""


def svg(
    board: Drawable,
    *,
    last: LastMove | None = None,
    owners: Owners | None = None,
    dark: bool | None = None,
    width: int | None = None,
) -> str:
    """Return the board as a scalable SVG document without scripts, fonts or links.

    Args:
        board: the board to draw.
        last: the last move, whose path and captures are marked.
        owners: the ownership codes of the fields in match play (`Ownership.owners`).
        dark: whether to use dark colours; None follows the reader's preference (`prefers-color-scheme`).
        width: width of the picture in CSS pixels, by default 960 for two rows of five fields. It determines the height.
    """
    shapes = simple((*backdrop(board.rules), *foreground(board, last, owners)))
    return document(board, [fragment([shape], dark=dark) for shape in shapes], last=last, dark=dark, width=width)


def document(
    board: Drawable,
    elements: Iterable[str],
    *,
    last: LastMove | None = None,
    dark: bool | None = None,
    width: int | None = None,
) -> str:
    """Return an SVG document with the given elements and a title; other arguments are as for `svg`."""
    here = layout_of(board.rules)
    width, height = here.pixels(width)
    summary = f"Ô Ăn Quan: {' : '.join(map(str, shown_scores(board)))}, {status_line(board)}"
    title = escape(" · ".join(filter(None, (summary, last_line(board, last)))), quote=False)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="oanquan{"" if dark is not None else " oanquan-auto"}" '
        f'viewBox="0 0 {_n(here.width)} {_n(here.height)}" width="{width}" height="{height}" role="img" '
        f'style="max-width:100%;height:auto" font-family="{FONTS}">',
        f"<title>{title}</title>",
    ]
    if dark is None:
        lines.append(_dark_style())
    return "\n".join([*lines, *elements, "</svg>\n"])


def image(drawing: str) -> str:
    """Return HTML that shows an SVG document no wider than its container; notebooks do not shrink plain SVG."""
    title = drawing.partition("<title>")[2].partition("</title>")[0].replace('"', "&quot;")
    data = base64.b64encode(drawing.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{title}" style="max-width:100%">'


def fragment(parts: Iterable[Shape], *, dark: bool | None = None) -> str:
    """Return shapes as SVG elements; if `dark` is None, their classes name the roles of their colours."""
    colours, marked = DARK if dark else LIGHT, dark is None
    return "".join(_element(shape, colours, marked) for shape in simple(parts))


def _dark_style() -> str:
    """Return CSS that sets the dark colours by role if the reader prefers a dark scheme."""
    rules = " ".join(
        f".oanquan-auto .f-{role}{{fill:{DARK[role]}}}.oanquan-auto .s-{role}{{stroke:{DARK[role]}}}"
        for role in LIGHT
        if DARK[role] != LIGHT[role]
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def _element(shape: Simple, colours: Mapping[str, str], marked: bool) -> str:
    if isinstance(shape, Text):
        return _text(shape, colours, marked)
    paint = _paint(shape.paint, colours, marked)
    if isinstance(shape, Ellipse):
        (x, y), turn = shape.centre, ""
        if shape.angle:
            turn = f' transform="rotate({_n(shape.angle)} {_n(x)} {_n(y)})"'
        return f'<ellipse cx="{_n(x)}" cy="{_n(y)}" rx="{_n(shape.rx)}" ry="{_n(shape.ry)}"{turn}{paint}/>'
    if isinstance(shape, Box):
        (x, y), (right, foot) = shape.low, shape.high
        size = f'width="{_n(right - x)}" height="{_n(foot - y)}" rx="{_n(shape.radius)}"'
        return f'<rect x="{_n(x)}" y="{_n(y)}" {size}{paint}/>'
    if isinstance(shape, Sector):
        radius = _n(shape.radius)
        arc = f"A{radius} {radius} 0 0 0 {_point(shape.end)}"
        return f'<path d="M{_point(shape.centre)}L{_point(shape.start)}{arc}Z"{paint}/>'
    return f'<polygon points="{" ".join(_point(point) for point in shape.points)}"{paint}/>'


def _text(shape: Text, colours: Mapping[str, str], marked: bool) -> str:
    x, y = shape.at
    place = f'x="{_n(x)}" y="{_n(y + BASELINE * shape.size)}" font-size="{_n(shape.size)}" text-anchor="{shape.align}"'
    weight = ' font-weight="bold"' if shape.bold else ""
    paint = _paint(Paint(shape.role), colours, marked)
    return f"<text {place}{weight}{paint}>{escape(shape.text, quote=False)}</text>"


def _paint(paint: Paint, colours: Mapping[str, str], marked: bool) -> str:
    """Return plain colour attributes, which every SVG viewer supports, and classes if `marked`."""
    classes = []
    attributes = f' fill="{colours[paint.fill] if paint.fill else "none"}"'
    if paint.fill:
        classes.append(f"f-{paint.fill}")
    if paint.stroke:
        attributes += f' stroke="{colours[paint.stroke]}" stroke-width="{_n(paint.width)}" stroke-linejoin="round"'
        classes.append(f"s-{paint.stroke}")
    if paint.opacity < 1:
        attributes += f' opacity="{_n(paint.opacity)}"'
    return f' class="{" ".join(classes)}"{attributes}' if marked and classes else attributes


def _point(point: tuple[float, float]) -> str:
    return f"{_n(point[0])},{_n(point[1])}"


def _n(value: float) -> str:
    """Return a number rounded to hundredths, without trailing zeros."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
