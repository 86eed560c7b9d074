"""The geometry of the pictures: squares, heaps, stones, pebbles and words, each in its place."""

import math

import pytest

from oanquan_env import Board, Rules
from oanquan_env.render.layout import PILE_RADIUS, STONE_RADIUS, Layout, Square, arc_points, layout
from oanquan_env.render.scene import MOST_PEBBLES, _arrangement, foreground
from oanquan_env.render.shapes import Text

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


def test_pebbles_stay_in_their_heap_and_do_not_hide_each_other() -> None:
    for index in range(24):
        for count in range(1, MOST_PEBBLES + 1):
            places = _arrangement(count, index)
            assert len(places) == count
            assert max(math.hypot(x, y) for x, y, _ in places) + 10.7 <= PILE_RADIUS
            gaps = [math.dist(a[:2], b[:2]) for k, a in enumerate(places) for b in places[:k]]
            assert min(gaps, default=99.0) > 13.0


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
