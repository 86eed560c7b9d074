"""The rules shown on the page: positions, each with a move that shows one rule. The words are the page's."""

from typing import NamedTuple

from oanquan_env.board import Board
from oanquan_env.engine.move_trace import Frame
from oanquan_env.play.picture import Json, drawing, frame_json, move_json


class Lesson(NamedTuple):
    """A position of the default rules with South to move, and the move that is shown in it, if any."""

    name: str
    position: str
    move: str | None


LESSONS = (
    Lesson("board", "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", None),
    Lesson("sow", "0,3,1,2,0,0*/5,0,4,3,6,0* 11,15 0 20", "2A"),
    Lesson("relay", "2,1,0,1,0,0*/4,4,0,5,3,0* 14,16 0 20", "1A"),
    Lesson("capture", "2,1,0,0,6,0*/4,0,5,1,3,0* 13,15 0 20", "1A"),
    Lesson("chain", "1,0,0,4,0,1*/4,0,5,1,3,0* 16,15 0 20", "1A"),
    Lesson("refill", "1,0,0,0,2,2*/0,0,0,0,0,0* 22,23 0 30", "1A"),
    Lesson("end", "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30", "3A"),
)


def lessons() -> list[Json]:
    """All lessons with their drawings and moves, as the page shows them."""
    return [_lesson(lesson) for lesson in LESSONS]


def _lesson(lesson: Lesson) -> Json:
    board = Board.parse(lesson.position)
    start = Frame(tuple(board.seeds), tuple(board.stones), tuple(board.scores))
    shown = {"name": lesson.name, "drawing": drawing(board.rules), "start": frame_json(start), "move": None}
    if lesson.move is not None:
        board.push(lesson.move)
        assert board.last_trace is not None
        assert board.last_mark is not None
        shown["move"] = move_json(board.last_trace, board.last_mark)
    return shown
