"""Test positions as pixels and in a window, errors without Pillow or pygame, and the geometry of pictures."""

import math
import sys
from itertools import combinations, product

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.render import MissingExtraError, Window, raster, rgb, svg, text
from oanquan_env.render.animation import gif
from oanquan_env.render.layout import PILE_RADIUS, STONE_RADIUS, Point, layout
from oanquan_env.render.motion import Picture
from oanquan_env.render.scene import foreground
from oanquan_env.render.shapes import Text
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from tests.helpers.boards import BIG, PUZZLE_MARK, boards_of


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
    assert pixel(marked, squares[10].centre) == pixel(frame, squares[10].centre)  # not marked, as its seeds were lifted


def test_a_dark_frame_belongs_to_its_caller() -> None:
    for _ in range(2):
        frame = rgb(BIG, dark=True, width=400)
        assert pixel(frame, layout(2, 5).squares[1].centre, 0.5) == colour(DARK["field"])
        frame[:] = 0


def test_pixels_are_those_of_the_vector_drawing_in_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the scene's texts, the pixels change around the position of every text."""
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
        with pytest.raises(MissingExtraError, match=rf'pip install -e "\.\[{extra}\]"'):
            draw()
    assert "South" in text(BIG)
    assert svg(BIG).startswith("<svg")


def test_a_window_shows_boards_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    import pygame

    window = Window("test", width=400)
    assert window.show(BIG)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, rgb(BIG, width=400))
    assert window.show(Board("four-player"))
    assert pygame.display.get_surface().get_size() == (400, 400)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert [window.poll(), window.show(BIG), pygame.display.get_init()] == [False] * 3


@pytest.mark.parametrize(("players", "fields"), [*product((2, 3, 4), (2, 3, 4, 5))])
def test_squares_lie_on_the_picture_apart_and_anticlockwise(players: int, fields: int) -> None:
    here, board = layout(players, fields), Board(Rules(players=players, fields=fields))
    assert rgb(board).shape[:2] == here.pixels()[::-1]
    assert rgb(board, width=300).shape == (round(300 * here.height / here.width), 300, 3)
    ring = [square.centre for square in here.squares]
    assert all(0 < x < here.width and 0 < y < here.height for square in here.squares for x, y in square.corners)
    assert min(math.dist(*pair) for pair in combinations(ring, 2)) > 80
    assert sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1], strict=True)) < 0  # y points down
    for square, following in zip(here.squares, here.squares[1:] + here.squares[:1], strict=True):
        near = sorted(here.squares, key=lambda other: math.dist(square.gate, other.centre))[:2]
        assert set(near) == {square, following}
        heap = PILE_RADIUS * square.pile_scale
        assert not square.radius or math.dist(square.stone, square.pile) >= STONE_RADIUS + heap - 1
