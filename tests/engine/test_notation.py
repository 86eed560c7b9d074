"""Test moves and positions as text: formatting, parsing, and the column and reason of each error."""

import pytest
from hypothesis import given

from oanquan_env import Board, Core, Move, NotationError
from oanquan_env.engine.notation import format_position, parse_position
from tests.helpers.boards import boards

BASE = "1,2,3,4,5,0*/6,7,8,9,5,0* 0,0 0 0"


def test_a_move_is_a_field_from_the_movers_left_and_a_direction() -> None:
    for text, action in (("1A", 0), ("1C", 1), ("3A", 4), ("5A", 8), ("5C", 9)):
        move = Move.parse(text)
        assert (move.action, move.field, move.direction, str(move)) == (action, action // 2, action % 2, text)
        assert Move.parse(text.lower()) == move == Move.from_action(action) == eval(repr(move))
    for field, direction in ((-1, 0), (0, 2), (9, 0)):
        with pytest.raises(ValueError, match="a move has field 0 to 8"):
            Move(field, direction)


def test_a_text_that_is_no_move_is_refused_at_its_column() -> None:
    for column, texts in ((1, ("", "A5", "0A", "５A", "-1A")), (2, ("5", "5B", "55A")), (3, ("5AC", "5A "))):
        for text in texts:
            with pytest.raises(NotationError, match=f"^column {column}: a move is ") as refusal:
                Move.parse(text)
            assert refusal.value.column == column


@given(boards())
def test_every_position_of_play_is_read_back_the_same_from_any_row(board: Board) -> None:
    core, spaced = board.core, f"\t {board.text().replace(' ', '   ')}\n"
    assert parse_position(core, board.text()).same(board.positions).all()
    assert parse_position(core, spaced).same(board.positions).all()
    batch = core.start(3)
    batch[1:2] = board.positions
    assert [format_position(core, batch, row) for row in (1, -2, -1)] == [board.text()] * 2 + [Board(core.rules).text()]


WRONG = """\
0 0 0 | 0 0 | 32 | 4 words
0*/6,7,8,9,5,0* | 0* | 13 | 2 sides
9,5,0* | 9,5,0*/5 | 27 | 2 sides
4,5, | 4, | 11 | 6 squares on side 1
3,4 | -3,4 | 5 | square 3 of South must be a whole number
8, | , | 18 | square 3 of North must be
5,0*/ | 05,0*/ | 9 | square 5 of South
0*/ | **/ | 11 | the mandarin square after square 5 of South must be
3,4 | 300,4 | 5 | seeds must be 0 to 255
1,2 | 240,2 | 1 | there are 289 seeds; at most 255
0,0 | 0 | 28 | 2 scores
0,0 | 0,x | 29 | score 2 must be whole points
0,0 | 1,0 | 1 | make 71 points, not the 70
0 0 0 | 0 2 0 | 31 | mover must be 0 to 1
0 0 0 | 0 0 201 | 33 | ply must be 0 to 200
1,2,3,4,5,0*/6,7,8,9,5,0* 0,0 | 0,0,0,0,0,0*/6,7,8,9,5,0* 15,0 | 32 | player 0, is empty, so it cannot move
"""
"""Each line has a part of BASE, its replacement, the column of the error, and the reason in the error's message."""


def test_a_text_that_is_no_position_is_refused_at_its_column() -> None:
    for old, new, column, reason in (line.split(" | ") for line in WRONG.splitlines()):
        with pytest.raises(NotationError, match=f"^column {column}: .*{reason}"):
            parse_position(Core(), BASE.replace(old, new))
    with pytest.raises(NotationError, match=r"^column 16: the stones must be 0 to 0"):
        parse_position(Core("tonkin fields=3"), "5,5,5,10/5,5,5,10* 0,0 0 0")
