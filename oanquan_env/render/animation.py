"""Moving pictures of whole games: one SVG file that needs no script, or a GIF."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import TypeAlias

from oanquan_env.files import write_atomically
from oanquan_env.render import scene
from oanquan_env.render.drawable import Drawable, Played
from oanquan_env.render.layout import layout_of
from oanquan_env.render.motion import Picture, film
from oanquan_env.render.raster import image
from oanquan_env.render.scene import MOST_PEBBLES, Owners
from oanquan_env.render.shapes import Box, Shape, Text
from oanquan_env.render.svg import document, fragment
from oanquan_env.render.theme import PEBBLES

Draw: TypeAlias = Callable[[Iterable[Shape]], str]
"""Shapes as elements of SVG."""

_HELD = 46.0  # how far above a square its seeds are held
_GIF_COLOURS = 64


def animate(
    path: Path,
    boards: Sequence[Played],
    *,
    owners: Owners | None = None,
    dark: bool | None = None,
    width: int | None = None,
) -> None:
    """Write a game, its boards from the first on, as `GameRecord.animate` does; `owners` are as of `svg`."""
    if path.suffix not in (".svg", ".gif"):
        raise ValueError(f"a moving picture is a .svg or a .gif file; got {path.name!r}")
    write_atomically(path, moving_picture(path.suffix[1:], boards, owners=owners, dark=dark, width=width))


def moving_picture(
    kind: str,
    boards: Sequence[Played],
    *,
    owners: Owners | None = None,
    dark: bool | None = None,
    width: int | None = None,
) -> bytes:
    """The content of the file, `svg` or `gif`, that `animate` writes."""
    pictures = list(film(boards))
    if kind == "gif":
        return gif(pictures, owners=owners, dark=bool(dark), width=width)
    return moving_svg(pictures, owners=owners, dark=dark, width=width).encode()


def gif(
    pictures: Sequence[Picture], *, owners: Owners | None = None, dark: bool = False, width: int | None = None
) -> bytes:
    """The pictures as a GIF that begins again at its end. Raises `MissingExtraError` without Pillow."""
    rules = pictures[0].board.rules
    width = width or layout_of(rules).pixels()[0] // 2

    def seen(picture: Picture) -> Iterator[Shape]:
        yield from scene.foreground(picture.board, picture.last, owners)
        yield from _hand(picture)

    frames = [image(rules, seen(picture), dark=dark, width=width) for picture in pictures]
    from PIL.Image import Dither  # `image` has said what to install where this is missing

    colours = frames[-1].quantize(_GIF_COLOURS)
    frames = [frame.quantize(palette=colours, dither=Dither.NONE) for frame in frames]
    data, durations = io.BytesIO(), [picture.milliseconds for picture in pictures]
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    return data.getvalue()


def moving_svg(
    pictures: Sequence[Picture], *, owners: Owners | None = None, dark: bool | None = None, width: int | None = None
) -> str:
    """The pictures as one SVG document that begins again at its end, moved by SMIL.

    What several pictures share stands there once, with the times at which it is seen.
    """
    rules = pictures[0].board.rules
    ends = list(accumulate(picture.milliseconds for picture in pictures))
    times = [0.0, *(end / ends[-1] for end in ends)]
    draw: Draw = partial(fragment, dark=dark)
    parts = [f"<defs>{''.join(_definitions(draw))}</defs>", draw(scene.backdrop(rules))]
    parts += [] if owners is None else [draw(scene.ownership_tabs(rules, owners))]
    for layers in zip(*(_layers(picture, draw) for picture in pictures), strict=True):
        seen: dict[str, list[bool]] = {}
        for number, layer in enumerate(layers):
            for element in layer:
                seen.setdefault(element, [False] * len(pictures))[number] = True
        together: dict[tuple[bool, ...], list[str]] = {}
        for element, when in seen.items():
            together.setdefault(tuple(when), []).append(element)
        parts += [_seen("".join(elements), when, times, ends[-1]) for when, elements in together.items()]
    return document(pictures[-1].board, parts, dark=dark, width=width)


def _definitions(draw: Draw) -> Iterator[str]:
    for role in PEBBLES:
        yield f'<g id="{role}">{draw(scene.pebble((0.0, 0.0), 1.0, 0.0, role))}</g>'
    yield f'<g id="quan">{draw(scene.stone((0.0, 0.0)))}</g>'


def _layers(picture: Picture, draw: Draw) -> Iterator[list[str]]:
    """The elements of one picture, layer by layer, lowest first; equal ones are equal texts."""
    board, last = picture.board, picture.last
    yield [] if last is None else [draw([shape]) for shape in scene.marks(board.rules, last)]
    yield list(_pieces(board, draw))
    yield [] if last is None else [draw([shape]) for shape in scene.arrows(board.rules, last)]
    yield [draw([shape]) for shape in (*scene.labels(board), *scene.words(board, last))]
    yield [_held(picture, draw)] if picture.hand else []


def _pieces(board: Drawable, draw: Draw) -> Iterator[str]:
    for index, square in enumerate(layout_of(board.rules).squares):
        seeds = int(board.seeds[index])
        if square.radius and board.stones[index // (board.rules.fields + 1)]:
            yield f'<use href="#quan" x="{square.stone[0]:g}" y="{square.stone[1]:g}"/>'
        if board.outcome is not None:
            yield draw(scene.counted(square, seeds))
        elif seeds:
            numbers = (shape for shape in scene.heap(index, square, seeds) if isinstance(shape, (Box, Text)))
            yield _pebbles(scene.pebble_places(index, square, seeds)) + draw(numbers)


def _pebbles(places: Iterable[tuple[tuple[float, float], float, float, str]], up: float = 0.0) -> str:
    return "".join(
        f'<use href="#{role}" transform="translate({x:.1f} {y - up:.1f})scale({size:.2f})"/>'
        for (x, y), size, _, role in places
    )


def _hand(picture: Picture) -> Iterator[Shape]:
    """The seeds held over a square, as shapes."""
    if picture.hand is not None:
        index, held = picture.hand
        square = layout_of(picture.board.rules).squares[index]
        for (x, y), size, angle, role in scene.pebble_places(index, square, held):
            yield from scene.pebble((x, y - _HELD), size, angle, role)
        yield from _number(picture, square.pile)


def _held(picture: Picture, draw: Draw) -> str:
    """The same as elements."""
    assert picture.hand is not None
    index, held = picture.hand
    square = layout_of(picture.board.rules).squares[index]
    return _pebbles(scene.pebble_places(index, square, held), _HELD) + draw(_number(picture, square.pile))


def _number(picture: Picture, pile: tuple[float, float]) -> Iterator[Shape]:
    """How many seeds are held, where they are too many to draw."""
    if picture.hand and picture.hand[1] > MOST_PEBBLES:
        yield Text((pile[0], pile[1] - 2 * _HELD), str(picture.hand[1]), 21.0, "ink", bold=True)


def _seen(elements: str, when: Sequence[bool], times: Sequence[float], duration: int) -> str:
    """Elements that are seen in some of the pictures."""
    if all(when):
        return elements
    runs, number = [], 0
    for shown, members in groupby(when):
        runs.append((f"{times[number]:.5f}".rstrip("0").rstrip("."), "visible" if shown else "hidden"))
        number += len(list(members))
    starts, values = (";".join(column) for column in zip(*runs, strict=True))
    return (
        f'<g visibility="{runs[0][1]}">{elements}<animate attributeName="visibility" calcMode="discrete" '
        f'dur="{duration}ms" repeatCount="indefinite" keyTimes="{starts}" values="{values}"/></g>'
    )
