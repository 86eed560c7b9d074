"""Positions as pixels and in a window, errors without Pillow or pygame, and the geometry of pictures."""

import math
import sys
from itertools import product

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.render import MissingExtraError, Window, raster, rgb, svg, text
from oanquan_env.render.animation import gif
from oanquan_env.render.layout import PILE_RADIUS, STONE_RADIUS, Point, Square, arc_points, layout
from oanquan_env.render.motion import Picture
from oanquan_env.render.scene import foreground
from oanquan_env.render.shapes import Text
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from tests.boards import BIG, PUZZLE_MARK, boards_of


def colour(hexadecimal: str) -> list[int]:
    return list(bytes.fromhex(hexadecimal[1:]))


def pixel(frame: np.ndarray, point: Point, scale: float = 1.2) -> list[int]:
    return frame[round(point[1] * scale), round(point[0] * scale)].tolist()


def test_pixels_show_the_position_and_the_last_move() -> None:
    frame, marked = rgb(boards_of("5A")[-1]), rgb(boards_of("5A")[-1], last=PUZZLE_MARK)
    assert (frame.shape, frame.dtype) == ((480, 960, 3), np.uint8)
    squares = layout(2, 5).squares
    assert pixel(frame, squares[4].centre) == colour(LIGHT["field"])  # empty
    assert pixel(frame, squares[5].stone) == colour(LIGHT["mandarin"])  # captured
    assert pixel(frame, squares[11].stone) == colour(LIGHT["stone"])
    pebbles = [colour(LIGHT[role]) for role in PEBBLES]
    assert pixel(frame, squares[0].centre) in pebbles  # six pebbles: one in the middle
    assert pixel(frame, squares[11].pile) in pebbles
    assert pixel(frame, (5.0, 200.0)) == colour(LIGHT["card"])
    blend = 0.7 * np.array(colour(LIGHT["mandarin"])) + 0.3 * np.array(colour(LIGHT["captured"]))
    assert np.abs(pixel(marked, squares[5].centre) - blend).max() <= 2
    assert pixel(marked, squares[10].centre) == pixel(frame, squares[10].centre)  # lifted, not passed


def test_a_dark_frame_belongs_to_its_caller() -> None:
    first = rgb(BIG, dark=True, width=400)
    assert pixel(first, layout(2, 5).squares[1].centre, 0.5) == colour(DARK["field"])
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(rgb(BIG, dark=True, width=400), kept)


def test_pixels_are_those_of_the_vector_drawing_in_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both outputs walk the same shapes: a label moved in the scene moves in both."""
    with_words = rgb(BIG)
    monkeypatch.setattr(raster, "foreground", lambda *args: (s for s in foreground(*args) if not isinstance(s, Text)))
    changed = (with_words != rgb(BIG)).any(axis=2)
    for shape in foreground(BIG):
        if isinstance(shape, Text):
            x, y = (round(1.2 * value) for value in shape.at)
            assert changed[y - 12 : y + 13, max(0, x - 20) : x + 21].any(), shape.text


def test_without_pillow_or_pygame_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    raster._empty_board.cache_clear()
    for module in ("PIL", "pygame"):
        monkeypatch.setitem(sys.modules, module, None)
    picture = Picture(BIG, None, None, 100)
    for draw, extra in ((lambda: rgb(BIG), "render"), (lambda: gif([picture]), "render"), (Window, "human")):
        with pytest.raises(MissingExtraError, match=rf"pip install 'oanquan\[{extra}\]'"):
            draw()
    assert "South" in text(BIG)
    assert svg(BIG).startswith("<svg")


def test_a_window_shows_boards_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    import pygame

    window = Window("test", width=400)
    assert window.poll()
    assert window.show(BIG)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, rgb(BIG, width=400))
    assert window.show(Board("four-player"))
    assert pygame.display.get_surface().get_size() == (400, 400)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.poll()
    assert window.closed
    assert not window.show(BIG)
    assert not pygame.display.get_init()
    window.close()


def room(point: Point, square: Square) -> float:
    """The distance of a point within a square from its border; of a point outside, the distance times -1."""
    polygon = list(square.corners)
    if square.radius:
        polygon = [polygon[0], *arc_points(polygon[0], square.radius, polygon[1], polygon[2], 90)]
    (x, y), hit, nearest = point, False, math.inf
    for (x0, y0), (x1, y1) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        dx, dy = x1 - x0, y1 - y0
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * dx / dy:
            hit = not hit
        along = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)))
        nearest = min(nearest, math.dist(point, (x0 + along * dx, y0 + along * dy)))
    return nearest if hit else -nearest


@pytest.mark.parametrize(("players", "fields"), [*product((2, 3, 4), (2, 3, 4, 5))])
def test_squares_lie_side_by_side_anticlockwise_and_hold_what_lies_on_them(players: int, fields: int) -> None:
    here, board = layout(players, fields), Board(Rules(players=players, fields=fields))
    assert rgb(board).shape[:2] == here.pixels()[::-1]
    assert rgb(board, width=300).shape == (round(300 * here.height / here.width), 300, 3)
    assert len(here.squares) == players * (fields + 1)
    for index, square in enumerate(here.squares):
        following = here.squares[(index + 1) % len(here.squares)]
        assert abs(room(square.gate, square)) < 0.01  # a gate lies on the border of both its squares
        assert abs(room(square.gate, following)) < 0.01
        assert [room(square.centre, other) > 0 for other in here.squares] == [s is square for s in here.squares]
        (x, y), ahead = square.gate, square.heading
        assert room((x + 5 * math.cos(ahead), y + 5 * math.sin(ahead)), following) > 0
        assert all(0 < x < here.width and 0 < y < here.height for x, y in square.corners)
        heap = PILE_RADIUS * square.pile_scale
        assert room(square.pile, square) >= heap - 0.01
        assert room(square.count, square) > 0
        if square.radius:
            assert room(square.stone, square) >= STONE_RADIUS + 1
            assert math.dist(square.stone, square.pile) >= STONE_RADIUS + heap - 1
    centres = [square.centre for square in here.squares]
    around = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(centres, centres[1:] + centres[:1], strict=True))
    assert around < 0  # anticlockwise, as y points down
    # Words stay on the picture and off the squares.
    counts = {place for square in here.squares for place in (square.count, square.pile)}
    for shape in foreground(board):
        if isinstance(shape, Text) and shape.at not in counts:
            width = 0.62 * shape.size * len(shape.text)
            left = shape.at[0] - {"start": 0.0, "middle": width / 2, "end": width}[shape.align]
            assert 0 <= left <= here.width - width
            for x in (left, left + width / 2, left + width):
                assert all(room((x, shape.at[1]), square) < 0 for square in here.squares), shape.text
