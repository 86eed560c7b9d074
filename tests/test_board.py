"""Test `Board`: moves that are pushed and popped, text and pictures, status, and positions set up by hand."""

import base64

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import (
    Board,
    Core,
    IllegalActionError,
    IllegalMoveError,
    Move,
    NotationError,
    Outcome,
    PositionError,
    Termination,
)
from oanquan_env.render import LastMove, image, svg
from oanquan_env.render.motion import film
from tests.helpers.boards import boards, boards_of


@given(boards())
def test_pop_takes_back_what_push_did_and_a_copy_goes_its_own_way(board: Board) -> None:
    before, twin = board.text(), board.copy()
    assert (twin, twin.history) == (board, board.history)
    for earlier in reversed(twin.boards()[:-1]):
        move = twin.history[-1]
        assert twin.pop() == move
        assert twin == earlier
    assert (board.text(), twin, twin.history) == (before, board.start(), [])
    with pytest.raises(IndexError, match="no move to take back"):
        twin.pop()
    board.positions.squares[:] = 0  # changes a copy only, like the next two lines
    board.history.clear()
    board.seeds.clear()
    assert (board.text(), len(board.history)) == (before, board.ply)


@given(boards())
def test_boards_are_equal_by_position_and_rules_and_the_repr_evaluates_to_an_equal_one(board: Board) -> None:
    again = eval(repr(board))
    assert (again, again.history, board.status()) == (board, [], [])
    assert repr(Board(board.rules)) == f"Board('{board.rules}')"
    assert board not in (board.text(), *board.boards()[:-1])
    assert Board("ludii") != Board()
    with pytest.raises(TypeError, match="unhashable"):
        hash(board)


def test_unreadable_and_illegal_moves_are_told_apart_and_change_nothing() -> None:
    board = Board.parse("0,5,5,5,5,5*/5,5,5,5,5,0* 0,0 0 4")
    before = board.text()
    with pytest.raises(NotationError, match=r"a move is .* such as 5A; got 'a5'"):
        board.push("a5")
    for illegal in ("1A", "6A", "9C"):
        with pytest.raises(IllegalMoveError, match=f"^South cannot play {illegal}; legal: 2A, 2C, 3A, 3C, 4A, 4C, 5A"):
            board.push(illegal)
    assert issubclass(IllegalMoveError, IllegalActionError)
    assert (board.text(), board.history) == (before, [])


def test_a_move_that_cannot_be_completed_ends_the_game_on_the_board_before_it() -> None:
    board = Board.parse("0,0,0,0,1,127*/0,0,0,0,0,127* -205,0 0 0")
    before = board.seeds, board.scores
    board.push("5C")
    assert (board.seeds, board.scores, board.history, board.ply) == (*before, [Move.parse("5C")], 1)
    assert board.outcome == Outcome((-204, 0), 1, Termination.TOO_MANY_SEEDS)
    assert board.last_mark == LastMove(4, (), 4, (), "5C")
    assert "The turn ends: the move cannot be completed.\nThe game is over: refills on" in str(board.last_trace)
    assert "too many seeds" in svg(board)
    assert [picture.last for picture in film(board.boards())][-1] == board.last_mark
    board.pop()
    assert (board.seeds, board.ply) == (before[0], 0)


def test_players_who_tie_at_the_top_have_no_single_winner() -> None:
    for points, scores, winner in (("33,34", (34, 35), 1), ("34,34", (35, 35), None)):
        board = Board.parse(f"1,0,0,0,0,0/1,0,0,0,0,0 {points} 0 9", checked=False)
        assert board.outcome == Outcome(scores, winner, Termination.STONES_CAPTURED)


def test_a_board_is_set_up_from_numbers_or_a_row_of_a_batch() -> None:
    board = Board.setup([5, 5, 5, 5, 5, 10] * 2, [0, 0], [0, 0], mover=1, ply=3, rules="tonkin")
    assert board.text() == "5,5,5,5,5,10/5,5,5,5,5,10 0,0 1 3"
    with pytest.raises(PositionError, match="make 69 points"):
        Board.setup(np.full(12, 5), [0, 0], [9, 0])
    core = Core("app")
    positions = core.start(3)
    core.play(positions, [0, 4, 8])
    shown = [Board.from_positions(core, positions, row) for row in (0, 1, -1)]
    core.play(positions, [2, 2, 2])
    assert shown == [boards_of(move, rules="app")[-1] for move in ("1A", "3A", "5A")]


@pytest.mark.parametrize(
    ("rules", "text", "problem"),
    [
        ("tonkin", "5,5,5,5,5,10/5,5,5,5,5,10 3,0 0 0", "make 73 points, not the 70"),
        ("mancala-world", "0,0,0,0,0,0*/5,5,5,5,5,0* 25,0 0 0", "row of the mover"),
        ("mancala-world", "5,5,5,5,5,0*/0,0,0,0,0,0* 25,0 0 0", None),
        ("ludii", "5,5,5,5,5,0*/0,0,0,0,0,0* 25,0 0 0", "player 1 is empty: refill_when=at_once"),
        ("refill=forfeit", "5,5,5,5,5,0*/5,5,5,5,10,0* -5,0 0 0", "player 0 has -5 points"),
    ],
)
def test_the_status_names_what_is_wrong(rules: str, text: str, problem: str | None) -> None:
    board = Board.parse(text, rules, checked=False)
    assert [problem in sentence for sentence in board.status()] == [True] * (problem is not None)
    assert eval(repr(board)) == board


def test_on_a_board_that_cannot_be_the_mover_has_no_move() -> None:
    board = Board.parse("0,0,0,0,0,0*/5,5,5,5,5,0* 25,0 0 0", checked=False)
    assert (board.legal_moves, board.outcome) == ([], None)
    with pytest.raises(IllegalMoveError, match="legal: none"):
        board.push("1A")


@pytest.mark.parametrize("preset", ["mancala-world", "three-player"])
def test_a_board_shows_itself_as_text_and_as_a_picture(preset: str) -> None:
    start, board = boards_of("5A", rules=preset)
    _, data, after = start._repr_html_().split('"', 2)
    assert base64.b64decode(data.removeprefix("data:image/svg+xml;base64,")).decode() == svg(start)
    assert "max-width:100%" in after  # the width of its cell in a notebook
    assert str(board).endswith(" played 5A")
    assert board._repr_html_() == image(svg(board, last=board.last_mark))
