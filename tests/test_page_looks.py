"""How the page looks on a phone, how moves look on it, and what it holds in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.engine.move_trace import Frame
from oanquan_env.play.picture import drawing, frame_json, move_json
from oanquan_env.play.server import PlayServer
from tests.browsers import Visit
from tests.strategies import PRESET_NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Locator


pytestmark = pytest.mark.slow  # a browser takes seconds

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(visit: Visit, persons: PlayServer, rules: str, scheme: str) -> None:
    person = visit(f"{persons.address}#rules={rules}", color_scheme=scheme, **PHONE)
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.fields.first.tap()
    for way in person.board.locator(".way circle").all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    sizes = """nodes => nodes.filter(node => node.textContent).map(
        node => parseFloat(getComputedStyle(node).fontSize) * node.ownerSVGElement.getScreenCTM().a
    )"""
    assert min(person.board.locator("text").evaluate_all(sizes)) >= 9.9  # pixels
    light = person.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light == {"light": "rgb(251, 248, 241)", "dark": "rgb(27, 25, 22)"}[scheme]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_lies_behind_them(visit: Visit, persons: PlayServer, scheme: str) -> None:
    person = visit(persons.address, color_scheme=scheme)
    colours = "(node, name) => getComputedStyle(node)[name].match(/[0-9.]+/g).slice(0, 3).map(Number)"

    def light(shown: Locator, name: str) -> float:
        """Relative luminance, as WCAG defines it."""
        parts = [part / 255 for part in shown.first.evaluate(colours, name)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    page, board = person.page.locator("body"), person.board
    written = [(board.locator(kind), "fill") for kind in (".label:not(.legal)", ".label.legal", ".plate text")]
    written += [(board.locator(".say"), "color"), (person.page.locator("#keys"), "color")]
    behind = [light(page, "backgroundColor")] * len(written) + [light(board.locator(".floor"), "fill")]
    for (words, name), back in zip([*written, (board.locator(".count"), "fill")], behind, strict=True):
        low, high = sorted((light(words, name), back))
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
    person = visit(persons.address, speed="none", reduced_motion="reduce")
    person.page.evaluate("localStorage.clear()")
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.board.locator("select").input_value() == "none"
