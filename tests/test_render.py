"""The pictures: geometry, every piece and number of a position in all three outputs, and the window."""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Core, Rules
from oanquan_env.board import Board
from oanquan_env.render import LastMove, MissingExtraError, Snapshot, Window, raster, rgb, svg, text
from oanquan_env.render.drawable import Final, status_line
from oanquan_env.render.layout import PILE_RADIUS, STONE_RADIUS, Layout, Square, arc_points, layout
from oanquan_env.render.scene import MOST_PEBBLES, _arrangement, _crossed, foreground
from oanquan_env.render.shapes import Text
from oanquan_env.render.theme import DARK, LIGHT, PEBBLES
from tests.strategies import PRESET_NAMES
from tests.strategies import seeds as random_seeds

SIZES = [(players, fields) for players in (2, 3, 4) for fields in (2, 3, 4, 5)]
PUZZLE = LastMove(origin=4, path=(5, 6, 7, 8, 9, 11, 0, 1, 2, 3), last=3, captured=(5,), label="5A")
BIG = Snapshot(Rules(), (17, 0, 3, 12, 1, 23, 0, 9, 0, 2, 11, 0), (1, 0), (-7, 4), mover=1, ply=31)
OWNERS = [[0, 1, 2, 0, 0], [2, 2, 0, 0, 1]]


def puzzle() -> Board:
    board = Board()
    board.push("5A")
    return board


def random_snapshot(rules: Rules, seed: int) -> Snapshot:
    rng = np.random.default_rng(seed)
    core = Core(rules)
    positions = core.start()
    for _ in range(rng.integers(0, 40)):
        if positions.over[0]:
            break
        core.play(positions, rng.choice(core.legal_mask(positions)[0].nonzero()[0], 1))
    return Snapshot.of(core, positions)


# ---- layout ----------------------------------------------------------------------------------------------------------


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
def test_squares_lie_side_by_side_counterclockwise(players: int, fields: int) -> None:
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
    assert around < 0  # counterclockwise, as y points down


def test_the_board_of_two_has_half_circles_and_south_below() -> None:
    here = layout(2, 5)
    right = here.squares[5]
    assert (here.width, here.height) == (800.0, 400.0)
    assert right.radius == 100.0
    assert [right.corners[1][0], right.corners[2][0]] == [650.0, 650.0]
    assert max(x for x, _ in outline(right)) == pytest.approx(750.0)
    south, north = here.squares[:5], here.squares[6:11]
    assert [square.centre[0] for square in south] == [200.0, 300.0, 400.0, 500.0, 600.0]
    assert [square.centre[0] for square in north] == [600.0, 500.0, 400.0, 300.0, 200.0]
    assert {square.centre[1] for square in south} == {250.0}
    assert {square.centre[1] for square in north} == {150.0}
    assert here.squares[11].centre[0] < 150.0
    assert here.pixels() == (960, 480)


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
    board = Snapshot.of(*(lambda core: (core, core.start()))(Core(Rules(players=players, fields=fields))))
    counts = {square.count for square in here.squares} | {square.pile for square in here.squares}
    for shape in foreground(board):
        if isinstance(shape, Text) and shape.at not in counts:
            width = 0.62 * shape.size * len(shape.text)
            left = shape.at[0] - {"start": 0.0, "middle": width / 2, "end": width}[shape.align]
            assert left >= 0
            assert left + width <= here.width
            for x in (left, left + width / 2, left + width):
                assert not any(inside((x, shape.at[1]), outline(square)) for square in here.squares), shape.text


def test_the_borders_that_a_move_crosses() -> None:
    assert _crossed([4, 5, 6], +1, 12) == [4, 5]
    assert _crossed([10, 11, 1], +1, 12) == [10, 11, 0]
    assert _crossed([1, 0, 10], -1, 12) == [0, 11, 10]
    assert _crossed([3, 4, 3], +1, 6) == [3, 4, 5, 0, 1, 2]
    assert LastMove(0, (11, 10), 10).step(12) == -1
    assert LastMove(11, (0, 1), 1).step(12) == 1


# ---- text ------------------------------------------------------------------------------------------------------------


def test_the_start_as_text() -> None:
    assert text(Board()) == (
        "  North 0\n"
        "               5       4       3       2       1\n"
        "   ╭───────┬───────┬───────┬───────┬───────┬───────┬───────╮\n"
        "   │   ◉   │    5  │    5  │    5  │    5  │    5  │   ◉   │\n"
        "   │       ├───────┼───────┼───────┼───────┼───────┤       │\n"
        "   │    0  │    5  │    5  │    5  │    5  │    5  │    0  │\n"
        "   ╰───────┴───────┴───────┴───────┴───────┴───────┴───────╯\n"
        "               1       2       3       4       5\n"
        "▶ South 0\n"
        "\n"
        "South to move, ply 0"
    )


def test_a_move_as_text() -> None:
    assert text(puzzle(), last=PUZZLE) == (
        "▶ North 0\n"
        "               5       4       3       2       1\n"
        "   ╭───────┬───────┬───────┬───────┬───────┬───────┬───────╮\n"
        "   │   ◉   │    0  │    6  │    6  │    6  │    6  │       │\n"
        "   │       ├───────┼───────┼───────┼───────┼───────┤       │\n"
        "   │    1  │    6  │    6  │    6  │  ● 6  │  ○ 0  │  × 0  │\n"
        "   ╰───────┴───────┴───────┴───────┴───────┴───────┴───────╯\n"
        "               1       2       3       4       5\n"
        "  South 11\n"
        "\n"
        "North to move, ply 1, South played 5A"
    )


def test_big_heaps_negative_scores_and_ownership_as_text() -> None:
    lines = text(BIG, owners=OWNERS).split("\n")
    assert lines[1].split() == ["5½", "4", "3", "2$", "1$"]
    assert lines[7].split() == ["1", "2½", "3$", "4", "5"]
    assert re.findall(r"\d+", lines[3]) == ["11", "2", "0", "9", "0"]
    assert re.findall(r"\d+", lines[5]) == ["0", "17", "0", "3", "12", "1", "23"]
    assert lines[8] == "  South -7"


@pytest.mark.parametrize(("players", "names"), [(3, "South East West"), (4, "South East North West")])
def test_triangle_and_square_as_text(players: int, names: str) -> None:
    rules = Rules(players=players)
    seeds = tuple(range(10, 10 + rules.squares))
    board = Snapshot(rules, seeds, (1, 0, 1, 0)[:players], tuple(range(70, 70 + players)), mover=1)
    drawn = text(board, last=LastMove(0, (1, 2), 2, (4,), "1A"))
    assert sorted(re.findall(r"[\[(].(..) ?.[\])]", drawn)) == [str(count) for count in seeds]
    assert drawn.count("◉") == sum(board.stones)
    for player, name in enumerate(names.split()):
        assert f"{'▶' if player == 1 else ' '} {name} {70 + player}" in drawn
    assert all(mark in drawn for mark in ("[○10 ]", "[●12 ]", "[×14 ]"))
    assert drawn.endswith("East to move, ply 0, South played 1A")
    south = next(line for line in drawn.split("\n") if "[○10 ]" in line)
    assert re.findall(r"\d+", south)[-6:-1] == ["10", "11", "12", "13", "14"] or "10 ] " in south


@pytest.mark.parametrize(
    ("rules", "scores", "winner", "words"),
    [
        ("mancala-world", (46, 24), 0, "South wins"),
        ("mancala-world", (35, 35), None, "A draw"),
        ("three-player", (40, 25, 40), None, "South and West share the win"),
        ("four-player", (40, 40, 20, 40), None, "South, East and West share the win"),
        ("four-player", (35, 35, 35, 35), None, "A draw"),
    ],
)
def test_how_a_game_ended_in_words(rules: str, scores: tuple[int, ...], winner: int | None, words: str) -> None:
    game = Rules.parse(rules)
    outcome = Final(scores, winner, "stones_captured")
    board = Snapshot(game, (0,) * game.squares, (0,) * game.players, (0,) * game.players, 0, 9, outcome)
    assert status_line(board) == words
    drawn = text(board)
    assert drawn.endswith(f"{words}, stones captured, ply 9")
    assert "▶" not in drawn
    assert all(str(score) in drawn for score in scores)  # the final points, not the scores before the leftovers
    assert f">{words}<" in svg(board)
    assert ">stones captured · ply 9<" in svg(board)


# ---- SVG -------------------------------------------------------------------------------------------------------------


def elements(picture: str) -> list[tuple[str, str, str]]:
    """(tag, class, text) of every element."""
    root = ElementTree.fromstring(picture)
    return [(node.tag.rpartition("}")[2], node.get("class", ""), node.text or "") for node in root.iter()]


@given(st.sampled_from(PRESET_NAMES), random_seeds)
@settings(max_examples=40)
def test_every_piece_and_number_is_in_the_picture(preset: str, seed: int) -> None:
    board = random_snapshot(Rules.parse(preset), seed)
    drawn = elements(svg(board))
    roles = Counter(kind.split()[0] for _, kind, _ in drawn if kind)
    assert sum(roles[f"f-{role}"] for role in PEBBLES) == sum(min(MOST_PEBBLES, count) for count in board.seeds)
    assert sum(kind == "f-stone s-stone_rim" for _, kind, _ in drawn) == sum(board.stones)
    words = Counter(word for tag, _, word in drawn if tag == "text")
    numbers = Counter(str(count) for count in board.seeds if count)
    scores = board.scores if board.outcome is None else board.outcome.scores
    numbers += Counter(str(score).replace("-", "−") for score in scores)
    labels = Counter(str(field + 1) for field in range(board.rules.fields) for _ in range(board.rules.players))
    assert Counter({word: n for word, n in words.items() if re.fullmatch(r"−?\d+", word)}) == numbers + labels


def test_a_dozen_pebbles_are_drawn_and_more_are_a_number() -> None:
    def pebbles_and_badges(seeds: int) -> tuple[int, int]:
        board = Snapshot(Rules(), (seeds, *[0] * 11), (0, 0), (0, 0))
        kinds = [kind.split()[0] for _, kind, _ in elements(svg(board)) if kind]
        return sum(kinds.count(f"f-{role}") for role in PEBBLES), kinds.count("f-badge")

    assert [pebbles_and_badges(seeds) for seeds in (0, 1, 12, 13, 120)] == [(0, 0), (1, 0), (12, 0), (12, 1), (12, 1)]


def test_the_last_move_is_marked() -> None:
    plain, marked = elements(svg(puzzle())), elements(svg(puzzle(), last=PUZZLE))
    added = Counter((tag, kind) for tag, kind, _ in marked) - Counter((tag, kind) for tag, kind, _ in plain)
    assert added == {
        ("polygon", "f-passed"): 8,  # ten squares got a seed, of which one ...
        ("path", "f-passed"): 1,
        ("path", "f-captured"): 1,  # ... was captured
        ("polygon", "s-passed"): 1,
        ("polygon", "s-ink"): 1,
        ("path", "s-captured"): 1,
        ("polygon", "f-edge s-card"): 10,  # the borders on the way round from 5 to 4, less one that the capture takes
        ("polygon", "f-captured s-card"): 2,
    }
    assert ("text", "f-faint", "South played 5A · ply 1") in marked


def test_ownership_is_marked() -> None:
    added = Counter(kind for _, kind, _ in elements(svg(BIG, owners=OWNERS)))
    added -= Counter(kind for _, kind, _ in elements(svg(BIG)))
    assert added == {"f-accent s-edge": 3, "f-card s-accent": 2}
    assert svg(BIG, owners=np.array(OWNERS)) == svg(BIG, owners=OWNERS)


def test_light_dark_and_whatever_the_reader_prefers() -> None:
    light, dark, either = (svg(BIG, dark=dark) for dark in (False, True, None))
    colours = [set(re.findall(r"#[0-9a-f]{6}", picture)) for picture in (light, dark)]
    assert colours[0] <= set(LIGHT.values())
    assert colours[1] <= set(DARK.values())
    assert "<style>" not in light + dark
    assert "prefers-color-scheme:dark" in either
    body = re.sub(r'<style>.*</style>\n| class="[^"]*"', "", either)
    assert body == re.sub(r' class="[^"]*"', "", light)
    used = {kind for _, kinds, _ in elements(either) for kind in kinds.split() if not kind.startswith("oanquan")}
    changed = {f"{kind}" for kind in used if LIGHT[kind[2:]] != DARK[kind[2:]]}
    assert all(f".oanquan-auto .{kind}{{" in either for kind in changed)


def test_svg_scales_and_escapes() -> None:
    root = ElementTree.fromstring(svg(BIG, width=400))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("400", "200", "0 0 800 400")
    sly = LastMove(0, (1,), 1, (), '<script>"&')
    texts = [word for tag, _, word in elements(svg(BIG, last=sly)) if tag == "text"]
    assert 'South played <script>"& · ply 31' in texts
    assert elements(svg(Board()))[1] == ("title", "", "Ô Ăn Quan: 0 : 0, South to move")


def test_the_same_position_gives_the_same_picture() -> None:
    assert svg(BIG, last=PUZZLE) == svg(BIG, last=PUZZLE)
    assert svg(puzzle()) == svg(Snapshot.of(Core(), puzzle().positions))


def test_the_pictures_of_the_docs_are_up_to_date() -> None:
    script = Path(__file__).parents[1] / "docs" / "make_pictures.py"
    spec = importlib.util.spec_from_file_location("make_pictures", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pictures = module.pictures()
    assert {path.name for path in module.FOLDER.glob("*.svg")} == set(pictures)
    for name, picture in pictures.items():
        assert (module.FOLDER / name).read_text(encoding="utf-8") == picture, f"run docs/make_pictures.py: {name}"


# ---- pixels ----------------------------------------------------------------------------------------------------------


def colour(hexadecimal: str) -> list[int]:
    return list(bytes.fromhex(hexadecimal[1:]))


def pixel(frame: np.ndarray, point: tuple[float, float], scale: float = 1.2) -> list[int]:
    return frame[round(point[1] * scale), round(point[0] * scale)].tolist()


def test_pixels_show_the_position() -> None:
    frame = rgb(puzzle())
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
    plain, marked = rgb(puzzle()), rgb(puzzle(), last=PUZZLE)
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
    boxed = rgb(board, width=300, height=500)
    assert boxed.shape == (500, 300, 3)
    assert (boxed[[0, -1]] == colour(LIGHT["card"])).all()
    wide = rgb(board, width=900, height=200)
    assert wide.shape == (200, 900, 3)
    assert (wide[:, [0, -1]] == colour(LIGHT["card"])).all()
    for frame in (boxed, wide):  # the board lies in the middle, whole
        rows, columns = (frame != colour(LIGHT["card"])).any(axis=2).nonzero()
        assert abs(rows.min() + rows.max() - frame.shape[0]) < 0.2 * frame.shape[0]
        assert abs(columns.min() + columns.max() - frame.shape[1]) < 0.2 * frame.shape[1]
        assert rows.min() > 0
        assert rows.max() < frame.shape[0] - 1


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


def test_without_dejavu_letters_are_drawn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import ImageDraw, ImageFont

    usual, truetype = rgb(BIG, width=500), ImageFont.truetype

    def without_dejavu(font: object, *args: object, **options: object) -> object:
        if "DejaVu" in str(font):
            raise OSError("cannot open resource")
        return truetype(font, *args, **options)  # Pillow's own font is loaded this way too

    words, draw = [], ImageDraw.ImageDraw.text

    def noted(pen: object, at: object, word: str, *args: object) -> None:
        words.append(word)
        draw(pen, at, word, *args)

    monkeypatch.setattr(ImageFont, "truetype", without_dejavu)
    monkeypatch.setattr(ImageDraw.ImageDraw, "text", noted)
    for cache in (raster._font, raster._layers):
        cache.cache_clear()
    other = rgb(BIG, width=500)
    for cache in (raster._font, raster._layers):
        cache.cache_clear()
    assert other.shape == usual.shape
    assert not np.array_equal(other, usual)
    assert {"North", "South", "-7", "ply 31"} <= set(words)  # that font has no minus sign


# ---- what is installed -----------------------------------------------------------------------------------------------


def test_importing_loads_neither_pillow_nor_pygame() -> None:
    code = "import sys, oanquan_env.render; print({'PIL', 'pygame', 'torch'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_without_pillow_pixels_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    raster._empty_board.cache_clear()
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oanquan\[render\]'"):
        rgb(BIG)
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
