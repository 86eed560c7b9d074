"""How the page looks on a phone, how moves look on it, and what it holds in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.engine.move_trace import Frame
from oanquan_env.play.picture import drawing, frame_json, move_json
from oanquan_env.play.server import PlayServer
from tests.browsers import Visit
from tests.strategies import PRESET_NAMES

pytestmark = pytest.mark.slow  # a browser takes seconds

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
SIZES = {
    "phone": {**PHONE, "viewport": {"width": 390, "height": 844}},
    "small phone": PHONE,
    "landscape": {**PHONE, "viewport": {"width": 844, "height": 390}},
    "desktop at 200 %": {"viewport": {"width": 640, "height": 400}},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "1920": {"viewport": {"width": 1920, "height": 1080}},
}
INSIDE = """nodes => nodes.map(node => node.getBoundingClientRect()).filter(box => box.width).every(
    box => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)"""
LUMINANCE = """(node, name) => {  // as WCAG defines it
    const parts = getComputedStyle(node)[name].match(/[0-9.]+/g).slice(0, 3).map(part => part / 255);
    const [red, green, blue] = parts.map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}"""


@pytest.mark.parametrize("size", SIZES)
def test_board_and_buttons_are_in_sight(visit: Visit, persons: PlayServer, size: str) -> None:
    person = visit(persons.address, **SIZES[size])
    assert person.board.locator(".tools button:not([hidden]), .tools summary, .say").evaluate_all(INSIDE)
    assert person.board.locator(".hit").evaluate_all(INSIDE)
    field = person.fields.first.bounding_box()
    assert field is not None
    assert min(field["width"], field["height"]) >= {"1920": 150, "desktop": 100}.get(size, 56)


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_and_words_stand_out(visit: Visit, persons: PlayServer, rules: str, scheme: str) -> None:
    person = visit(f"{persons.address}#rules={rules}", color_scheme=scheme, **PHONE)
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.fields.first.tap()
    for way in person.board.locator(".way circle").all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert 0 <= box["x"] <= 360 - box["width"]
    sizes = """nodes => nodes.filter(node => node.textContent).map(
        node => parseFloat(getComputedStyle(node).fontSize) * node.ownerSVGElement.getScreenCTM().a
    )"""
    assert min(person.board.locator("text").evaluate_all(sizes)) >= 9.9  # pixels
    page, board = person.page, person.board
    back = page.locator("body").evaluate(LUMINANCE, "backgroundColor")
    assert (back > 0.5) == (scheme == "light")
    words = [(board.locator(kind), "fill", back) for kind in (".label:not(.legal)", ".label.legal", ".plate text")]
    words += [(board.locator(".say"), "color", back), (page.locator("#keys"), "color", back)]
    words.append((board.locator(".count"), "fill", board.locator(".floor").first.evaluate(LUMINANCE, "fill")))
    for shown, name, behind in words:
        low, high = sorted((shown.first.evaluate(LUMINANCE, name), behind))
        assert (high + 0.05) / (low + 0.05) >= 4.5


COMPARE = """async ([drawing, moves]) => {
    const { BoardView } = await import("./board.js");
    const host = document.body.appendChild(document.createElement("div")), view = new BoardView(host);
    view.speed = 1e9;  // every step is made, and none takes time
    view.setDrawing(drawing);
    const wrong = [];
    for (const [before, mover, move] of moves) {
        const reached = await view.play(move, { frame: before, mover }, { frame: move.after, mover: move.mover });
        const drawn = view.heaps.map(heap => heap.length), most = drawing.most_pebbles;
        const after = move.after, parts = ["seeds", "stones", "scores"];
        if (!parts.every(part => reached[part].join() === after[part].join())
            || drawn.join() !== after.seeds.map(seeds => Math.min(seeds, most)).join()) wrong.push(move.move);
    }
    view.destroy();
    host.remove();
    return wrong;
}"""


def random_moves(rules: str, count: int) -> list[Any]:
    """Board, mover and move, for `count` random moves of games by `rules`."""
    rng, board, moves = np.random.default_rng(7), Board(rules), []
    while len(moves) < count:
        board = Board(rules) if board.outcome else board
        before, mover = Frame(tuple(board.seeds), tuple(board.stones), tuple(board.scores)), board.mover
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        assert board.last_trace is not None
        assert board.last_mark is not None
        move = {"mover": board.mover, **move_json(board.last_trace, board.last_mark)}
        moves.append([frame_json(before), mover, move])
    return moves


@pytest.mark.parametrize("rules", PRESET_NAMES)
def test_the_motion_ends_in_the_position_of_the_core(visit: Visit, server: PlayServer, rules: str) -> None:
    moves = random_moves(rules, 1000)
    assert visit(server.address).page.evaluate(COMPARE, [drawing(Rules.parse(rules)), moves]) == []


def test_who_wants_less_motion_gets_none(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed=None, reduced_motion="reduce")
    assert person.board.locator("select").input_value() == "none"
