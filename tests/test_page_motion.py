"""The motion of moves on the page."""

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


def test_a_move_is_shown_told_skipped_and_watched_again(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="slow", reduced_motion="no-preference")
    person.move("3A")
    person.waits_for("Lift 5 seeds from field 3 of South")
    assert "South plays 3A. Lift 5 seeds" in person.board.locator("[aria-live]").inner_text()
    assert person.fields.count() == 0
    person.press("skip")
    person.page.locator("#moves button").nth(1).wait_for()
    assert person.points == [6, 0]
    person.press("again")
    person.waits_for("Lift 5 seeds from field 3 of South")
    person.page.keyboard.press("s")
    person.waits_for("North")
    assert person.fields.count() == 4


def test_an_undo_in_the_middle_of_a_move_ends_it(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="slow", reduced_motion="no-preference")
    person.move("3A")
    person.waits_for("Lift")
    person.press("undo")
    person.waits_for("South")
    person.fields.first.wait_for(state="attached")
    assert (person.moves, person.points) == ([], [0, 0])
    labels = [person.board.locator(f"[data-square='{square}']").get_attribute("aria-label") for square in (2, 5)]
    assert labels[0] == "field 3 of South: 5 seeds. Enter chooses it"
    assert labels[1] == "the mandarin square after South: a mandarin stone"


def test_who_wants_less_motion_gets_none(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, speed="none", reduced_motion="reduce")
    person.page.evaluate("localStorage.clear()")
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.board.locator("select").input_value() == "none"
