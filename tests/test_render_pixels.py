"""Positions as pixels and in a window, errors without Pillow or pygame, and the geometry of pictures."""

import math
import sys

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.render import MissingExtraError, Window, raster, rgb, svg, text
from oanquan_env.render.animation import gif
from oanquan_env.render.layout import PILE_RADIUS, STONE_RADIUS, Layout, Square, arc_points, layout
from oanquan_env.render.motion import Picture
from oanquan_env.render.scene import foreground
from oanquan_env.render.shapes import Text
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from tests.boards import BIG, PUZZLE_MARK, boards_of

# ---- pixels ----------------------------------------------------------------------------------------------------------


def colour(hexadecimal: str) -> list[int]:
    return list(bytes.fromhex(hexadecimal[1:]))


def pixel(frame: np.ndarray, point: tuple[float, float], scale: float = 1.2) -> list[int]:
    return frame[round(point[1] * scale), round(point[0] * scale)].tolist()


def test_pixels_show_the_position() -> None:
    frame = rgb(boards_of("5A")[-1])
    assert frame.shape == (480, 960, 3)
    assert frame.dtype == np.uint8
    squares = layout(2, 5).squares
    assert pixel(frame, squares[4].centre) == colour(LIGHT["field"])  # empty
    assert pixel(frame, squares[5].stone) == colour(LIGHT["mandarin"])  # captured
    assert pixel(frame, squares[11].stone) == colour(LIGHT["stone"])
    pebbles = [colour(LIGHT[role]) for role in PEBBLES]
    assert pixel(frame, squares[0].centre) in pebbles  # six pebbles: one in the middle
    assert pixel(frame, squares[11].pile) in pebbles
    assert pixel(frame, (5.0, 200.0)) == colour(LIGHT["card"])


def test_pixels_mark_the_last_move() -> None:
    plain, marked = rgb(boards_of("5A")[-1]), rgb(boards_of("5A")[-1], last=PUZZLE_MARK)
    squares = layout(2, 5).squares
    blend = 0.7 * np.array(colour(LIGHT["mandarin"])) + 0.3 * np.array(colour(LIGHT["captured"]))
    assert np.abs(pixel(marked, squares[5].centre) - blend).max() <= 2
    assert pixel(marked, squares[10].centre) == pixel(plain, squares[10].centre)  # lifted, not passed


def test_a_frame_belongs_to_its_caller() -> None:
    first = rgb(BIG, width=240)
    first[:] = 0
    again = rgb(BIG, width=240)
    assert again.any()
    assert np.array_equal(again, rgb(BIG, width=240))


def test_dark_pixels() -> None:
    frame = rgb(BIG, dark=True, width=400)
    assert pixel(frame, layout(2, 5).squares[1].centre, 0.5) == colour(DARK["field"])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_sizes(players: int) -> None:
    board = Board(Rules(players=players))
    here = layout(players, 5)
    assert rgb(board).shape[:2] == here.pixels()[::-1]
    assert rgb(board, width=300).shape == (round(300 * here.height / here.width), 300, 3)


def test_pixels_are_those_of_the_vector_drawing_in_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both outputs walk the same shapes: a label moved in the scene moves in both."""
    with_words = rgb(BIG)
    monkeypatch.setattr(raster, "foreground", lambda *args: (s for s in foreground(*args) if not isinstance(s, Text)))
    without = rgb(BIG)
    changed = (with_words != without).any(axis=2)
    for shape in foreground(BIG):
        if isinstance(shape, Text):
            x, y = (round(1.2 * value) for value in shape.at)
            assert changed[y - 12 : y + 13, max(0, x - 20) : x + 21].any(), shape.text


def test_without_pillow_pixels_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    raster._empty_board.cache_clear()
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[render\]'"):
        rgb(BIG)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[render\]'"):
        gif([Picture(BIG, None, None, 100)])
    assert "South" in text(BIG)
    assert svg(BIG).startswith("<svg")


def test_without_pygame_a_window_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[human\]'"):
        Window()


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


SIZES = [(players, fields) for players in (2, 3, 4) for fields in (2, 3, 4, 5)]


def outline(square: Square) -> list[tuple[float, float]]:
    if not square.radius:
        return list(square.corners)
    centre, start, end = square.corners
    return [centre, *arc_points(centre, square.radius, start, end, 90)]


def inside(point: tuple[float, float], polygon: list[tuple[float, float]]) -> bool:
    (x, y), hit = point, False
    for (x0, y0), (x1, y1) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
            hit = not hit
    return hit


def border_distance(point: tuple[float, float], polygon: list[tuple[float, float]]) -> float:
    def to_edge(a: tuple[float, float], b: tuple[float, float]) -> float:
        dx, dy = b[0] - a[0], b[1] - a[1]
        t = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / (dx * dx + dy * dy)
        t = min(1.0, max(0.0, t))
        return math.dist(point, (a[0] + t * dx, a[1] + t * dy))

    return min(to_edge(a, b) for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True))


@pytest.mark.parametrize(("players", "fields"), SIZES)
def test_squares_lie_side_by_side_anticlockwise(players: int, fields: int) -> None:
    here = layout(players, fields)
    polygons = [outline(square) for square in here.squares]
    assert len(polygons) == players * (fields + 1)
    for index, square in enumerate(here.squares):
        following = polygons[(index + 1) % len(polygons)]
        assert border_distance(square.gate, polygons[index]) < 0.01  # a gate lies on the border of both its squares
        assert border_distance(square.gate, following) < 0.01
        for other, polygon in enumerate(polygons):
            assert inside(square.centre, polygon) == (other == index)
        ahead = (square.gate[0] + 5 * math.cos(square.heading), square.gate[1] + 5 * math.sin(square.heading))
        assert inside(ahead, following)
        assert all(0 < x < here.width and 0 < y < here.height for x, y in polygons[index])
    centres = [square.centre for square in here.squares]
    around = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(centres, centres[1:] + centres[:1], strict=True))
    assert around < 0  # anticlockwise, as y points down


@pytest.mark.parametrize(("players", "fields"), SIZES)
def test_heaps_and_stones_lie_on_their_squares_and_apart(players: int, fields: int) -> None:
    for square in layout(players, fields).squares:
        polygon, room = outline(square), PILE_RADIUS * square.pile_scale
        assert inside(square.pile, polygon)
        assert border_distance(square.pile, polygon) >= room - 0.01
        assert inside(square.count, polygon)
        if square.radius:
            assert inside(square.stone, polygon)
            assert border_distance(square.stone, polygon) >= STONE_RADIUS + 1
            assert math.dist(square.stone, square.pile) >= STONE_RADIUS + room - 1


@pytest.mark.parametrize(("players", "fields"), SIZES)
def test_words_stay_on_the_picture_and_off_the_squares(players: int, fields: int) -> None:
    here: Layout = layout(players, fields)
    board = Board(Rules(players=players, fields=fields))
    counts = {square.count for square in here.squares} | {square.pile for square in here.squares}
    for shape in foreground(board):
        if isinstance(shape, Text) and shape.at not in counts:
            width = 0.62 * shape.size * len(shape.text)
            left = shape.at[0] - {"start": 0.0, "middle": width / 2, "end": width}[shape.align]
            assert left >= 0
            assert left + width <= here.width
            for x in (left, left + width / 2, left + width):
                assert not any(inside((x, shape.at[1]), outline(square)) for square in here.squares), shape.text
