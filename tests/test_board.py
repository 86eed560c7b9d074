"""One game for a person: moves pushed and popped, what a board says of itself, and positions set up by hand."""

import base64

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import (
    Board,
    Core,
    IllegalActionError,
    IllegalMoveError,
    NotationError,
    Outcome,
    PositionError,
    RunawayGameError,
    Termination,
)
from oanquan_env.render import svg
from tests.boards import boards, boards_of
from tests.strategies import PRESET_NAMES


@given(boards())
def test_pop_takes_back_what_push_did_and_a_copy_goes_its_own_way(board: Board) -> None:
    before, twin = board.text(), board.copy()
    assert (twin, twin.history) == (board, board.history)
    for earlier in reversed(twin.boards()[:-1]):
        move = twin.peek()
        assert twin.pop() == move
        assert twin == earlier
    assert (board.text(), twin, twin.history) == (before, board.start(), [])
    for way in (twin.pop, twin.peek):
        with pytest.raises(IndexError, match=r"no move to take back|no move has been played"):
            way()
    board.positions.squares[:] = 0  # a copy, too
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
    with pytest.raises(IllegalMoveError, match=r"legal: 1A, 2A, 3A, 4A, 5A$"):
        Board("tonkin").push("1C")
    assert (board.text(), board.history) == (before, [])
    runaway = Board.parse("0,0,0,0,1,127*/0,0,0,0,0,127* -205,0 0 0")
    with pytest.raises(RunawayGameError):
        runaway.push("5C")
    assert (runaway.seeds[4], runaway.history) == (1, [])


@pytest.mark.parametrize(
    ("text", "scores", "winner"),
    [
        ("1,0,0,0,0,0/2,0,0,0,0,0 33,34 0 9", (34, 36), 1),
        ("1,0,0,0,0,0/1,0,0,0,0,0 34,34 0 9", (35, 35), None),
        ("1,0,0,0,0,0/1,0,0,0,0,0/0,0,0,0,0,0 40,40,23 0 9", (41, 41, 23), None),
        ("1,0,0,0,0,0/1,0,0,0,0,0/0,0,0,0,0,0 40,39,24 0 9", (41, 40, 24), 0),
    ],
)
def test_players_who_tie_at_the_top_have_no_single_winner(
    text: str, scores: tuple[int, ...], winner: int | None
) -> None:
    board = Board.parse(text, f"mancala-world players={len(scores)}")
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
    ("rules", "text", "problems"),
    [
        ("", "5,5,5,5,5,0/5,5,5,5,5,0 10,10 0 0", []),
        ("", "5,5,5,5,5,0*/5,5,5,5,5,0* 3,0 0 0", ["make 73 points, not the 70"]),
        ("", "0,0,0,0,0,0*/5,5,5,5,5,0* 25,0 0 0", ["row of the mover, player 0, is empty"]),
        ("", "0,0,0,0,0,0*/5,5,5,5,5,0* 0,0 0 0", ["make 45 points", "row of the mover"]),
        ("", "5,5,5,5,5,0*/0,0,0,0,0,0* 25,0 0 0", []),
        ("ludii", "5,5,5,5,5,0*/0,0,0,0,0,0* 25,0 0 0", ["player 1 is empty: refill_when=at_once"]),
        ("", "5,5,5,5,5,0*/5,5,5,5,10,0* -5,0 0 0", []),
        ("refill=forfeit", "5,5,5,5,5,0*/5,5,5,5,10,0* -5,0 0 0", ["player 0 has -5 points"]),
        ("refill=forfeit", "0,0,0,0,0,0*/5,5,5,5,5,0* 4,21 0 0", []),
    ],
)
def test_the_status_names_what_is_wrong(rules: str, text: str, problems: list[str]) -> None:
    board = Board.parse(text, rules or "mancala-world", checked=False)
    assert all(problem in sentence for problem, sentence in zip(problems, board.status(), strict=True))
    assert eval(repr(board)) == board
    if "row of the mover" in "".join(problems):  # not ready to move
        assert (board.legal_moves, board.outcome) == ([], None)
        with pytest.raises(IllegalMoveError, match="legal: none"):
            board.push("1A")


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_board_shows_itself_as_text_and_as_a_picture(preset: str) -> None:
    board = Board(preset)
    plain, drawn = str(board), board._repr_html_()
    board.push("5A")
    assert board.last_mark is not None
    assert board.last_mark.label == "5A"
    assert "5A" in str(board)
    assert str(board) != plain
    assert board._repr_html_() != drawn
    before, data, after = drawn.split('"', 2)
    assert (before, after.partition(":")[0]) == ("<img src=", ' alt="Ô Ăn Quan')
    assert "max-width:100%" in after  # of its cell in a notebook
    assert base64.b64decode(data.removeprefix("data:image/svg+xml;base64,")).decode() == svg(Board(preset))
