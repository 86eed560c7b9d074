"""Animations of whole games: one SVG file without scripts, or a GIF."""

import io
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

from oanquan_env.render import scene
from oanquan_env.render.layout import layout_of
from oanquan_env.render.motion import Picture
from oanquan_env.render.raster import image
from oanquan_env.render.scene import MOST_PEBBLES, Owners
from oanquan_env.render.shapes import Piece, Shape, Text
from oanquan_env.render.svg import document, fragment
from oanquan_env.render.theme import PEBBLES

_HELD = 46.0  # height above a square at which a hand holds seeds
_GIF_COLOURS = 64


def gif(
    pictures: Sequence[Picture], *, owners: Owners | None = None, dark: bool | None = None, width: int | None = None
) -> bytes:
    """Return `pictures`, the frames of `motion.film`, as a looping GIF. See `rgb`; the default width is halved."""
    rules = pictures[0].board.rules
    width = width or layout_of(rules).pixels()[0] // 2
    shapes = (
        (shape for layer in _layers(picture, owners) for group in layer for shape in group) for picture in pictures
    )
    frames = [image(rules, frame, dark=bool(dark), width=width) for frame in shapes]
    from PIL.Image import Dither  # without Pillow, `image` has already raised

    colours = frames[-1].quantize(_GIF_COLOURS)
    frames = [frame.quantize(palette=colours, dither=Dither.NONE) for frame in frames]
    data, durations = io.BytesIO(), [picture.milliseconds for picture in pictures]
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    return data.getvalue()


def moving_svg(
    pictures: Sequence[Picture], *, owners: Owners | None = None, dark: bool | None = None, width: int | None = None
) -> str:
    """Return `pictures`, the frames from `motion.film`, as one looping SVG document, animated by SMIL.

    Equal elements of frames are stored once, with the times at which they are visible. See `svg` for the arguments.
    """
    rules = pictures[0].board.rules
    ends = list(accumulate(picture.milliseconds for picture in pictures))
    times = [0.0, *(end / ends[-1] for end in ends)]
    pieces = [scene.stone((0.0, 0.0)), *(scene.pebble((0.0, 0.0), 1.0, 0.0, role) for role in PEBBLES)]
    defined = "".join(f'<g id="{piece.name}">{fragment([piece], dark=dark)}</g>' for piece in pieces)
    parts = [f"<defs>{defined}</defs>", fragment(scene.backdrop(rules), dark=dark)]
    for layers in zip(*(_layers(picture, owners) for picture in pictures), strict=True):
        visible: dict[str, list[bool]] = {}
        for number, layer in enumerate(layers):
            for group in layer:
                element = "".join(_used(shape) or fragment([shape], dark=dark) for shape in group)
                visible.setdefault(element, [False] * len(pictures))[number] = True
        together: dict[tuple[bool, ...], list[str]] = {}
        for element, when in visible.items():
            together.setdefault(tuple(when), []).append(element)
        parts += [_seen("".join(elements), when, times, ends[-1]) for when, elements in together.items()]
    return document(pictures[-1].board, parts, dark=dark, width=width)


def _layers(picture: Picture, owners: Owners | None) -> Iterator[list[Sequence[Shape]]]:
    """Yield the layers of one frame. The last layer has the seeds that a hand holds over a square."""
    yield from scene.layers(picture.board, picture.last, owners)
    if picture.hand is None:
        yield []
        return
    index, seeds = picture.hand
    square = layout_of(picture.board.rules).squares[index]
    places = scene.pebble_places(index, square, seeds)
    hand: list[Shape] = [scene.pebble((x, y - _HELD), size, angle, role) for (x, y), size, angle, role in places]
    if seeds > MOST_PEBBLES:
        hand.append(Text((square.pile[0], square.pile[1] - 2 * _HELD), str(seeds), 21.0, "ink", bold=True))
    yield [hand]


def _used(shape: Shape) -> str:
    """Return a `<use>` element for a piece, or an empty string for another shape."""
    if not isinstance(shape, Piece):
        return ""
    (x, y), scale = shape.at, "" if shape.scale == 1 else f"scale({shape.scale:.2f})"
    return f'<use href="#{shape.name}" transform="translate({x:.1f} {y:.1f}){scale}"/>'


def _seen(elements: str, when: Sequence[bool], times: Sequence[float], duration: int) -> str:
    if all(when):
        return elements
    runs, number = [], 0
    for visible, members in groupby(when):
        runs.append((f"{times[number]:.5f}".rstrip("0").rstrip("."), "visible" if visible else "hidden"))
        number += len(list(members))
    starts, values = (";".join(column) for column in zip(*runs, strict=True))
    return (
        f'<g visibility="{runs[0][1]}">{elements}<animate attributeName="visibility" calcMode="discrete" '
        f'dur="{duration}ms" repeatCount="indefinite" keyTimes="{starts}" values="{values}"/></g>'
    )
