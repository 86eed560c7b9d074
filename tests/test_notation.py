"""Moves and positions as text: what is written, what is read back, and where a wrong text is said to be wrong."""

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import PRESETS, Board, Core, Move, NotationError
from oanquan_env.engine.notation import format_position, parse_position
from tests.boards import boards, mutated, played_board
from tests.strategies import PRESET_NAMES

START = "5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


@pytest.mark.parametrize(("text", "action"), [("1A", 0), ("1C", 1), ("3A", 4), ("5A", 8), ("5C", 9)])
def test_a_move_is_a_field_from_the_movers_left_and_a_direction(text: str, action: int) -> None:
    move = Move.parse(text)
    assert (move.action, move.field, move.direction) == (action, action // 2, action % 2)
    assert str(move) == text
    assert Move.parse(text.lower()) == move == Move.from_action(action)
    assert eval(repr(move)) == move


@pytest.mark.parametrize(
    ("text", "column"),
    [("", 1), ("A5", 1), ("0A", 1), ("5", 2), ("5B", 2), ("55A", 2), ("5AC", 3), ("5A ", 3), ("５A", 1), ("-1A", 1)],
)
def test_a_text_that_is_no_move_is_refused_at_its_column(text: str, column: int) -> None:
    with pytest.raises(NotationError, match=f"^column {column}: a move is ") as refusal:
        Move.parse(text)
    assert refusal.value.column == column


def test_a_move_of_no_field_or_direction_cannot_be_made() -> None:
    for field, direction in ((-1, 0), (0, 2), (9, 0)):
        with pytest.raises(ValueError, match="no move has field"):
            Move(field, direction)


def test_any_row_of_a_batch_can_be_written(core: Core) -> None:
    positions = core.start(3)
    core.play(positions, [8, 4, 0])
    texts = [format_position(core, positions, row) for row in (0, 1, 2, -1)]
    assert len(set(texts)) == 3
    assert texts[3] == texts[2]
    assert texts[0] == "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1"
    for row in range(3):
        assert parse_position(core, texts[row]).same(positions[row : row + 1]).all()


@given(boards())
def test_every_position_of_play_is_read_back_the_same(board: Board) -> None:
    core = board.core
    again = parse_position(core, board.text())
    assert again.same(board.positions).all()
    assert format_position(core, again) == board.text()


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "4 words"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0", 32, "4 words"),
        ("5,5,5,5,5,0* 0,0 0 0", 13, "2 sides"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0*/5 0,0 0 0", 27, "2 sides"),
        ("5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", 11, "6 squares on side 1"),
        ("5,5,5,5,5,0*/5,5,5,5,0* 0,0 0 0", 24, "6 squares on side 2"),
        ("5,5,-5,5,5,0*/5,5,5,5,5,0* 0,0 0 0", 5, "field 3 of South must be a whole number"),
        ("5,5,5,5,5,0*/5,5,,5,5,0* 0,0 0 0", 18, "field 3 of North must be"),
        ("5,5,5,5,5,**/5,5,5,5,5,0* 0,0 0 0", 11, "the mandarin square after South must be"),
        ("5,5,5,5,05,0*/5,5,5,5,5,0* 0,0 0 0", 9, "field 5 of South"),
        ("5,5,300,5,5,0*/5,5,5,5,5,0* 0,0 0 0", 5, "seeds must be 0 to 255"),
        ("99,99,5,5,5,0*/5,55,5,5,5,0* 0,-218 0 0", 1, "288 seeds are more than 255"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0 0 0", 28, "2 scores"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,x 0 0", 29, "score 2 must be whole points"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,-0 0 0", 29, "score 2 must be whole points"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 1,0 0 0", 1, "make 71 points, not the 70"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 2 0", 31, "mover must be 0 to 1"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 S 0", 31, "the mover must be a whole number"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 201", 33, "ply must be 0 to 200"),
        ("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 " + "9" * 5000, 33, "the ply must be a whole number"),
        ("0,0,0,0,0,0*/5,5,5,5,5,0* 0,25 0 4", 32, "player 0, is empty: not ready to move"),
    ],
)
def test_a_text_that_is_no_position_is_refused_at_its_column(core: Core, text: str, column: int, reason: str) -> None:
    with pytest.raises(NotationError, match=reason) as refusal:
        parse_position(core, text)
    assert str(refusal.value).startswith(f"column {column}: ")
    assert len(str(refusal.value)) < 250


def test_a_stone_is_refused_where_the_rules_have_none_and_more_blanks_are_not(core: Core) -> None:
    with pytest.raises(NotationError, match=r"^column 16: the stones must be 0 to 0"):
        parse_position(Core("tonkin fields=3"), "5,5,5,10/5,5,5,10* 0,0 0 0")
    assert parse_position(core, f"\t {START.replace(' ', '   ')}\n").same(core.start()).all()


@pytest.mark.parametrize("count", [3000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_mutated_positions_are_read_right_or_refused_with_their_place(count: int) -> None:
    rng = np.random.default_rng(20)
    games = [(PRESETS[name].rules, seed) for name in PRESET_NAMES for seed in range(5)]
    boards = [played_board(rules, seed, plies=4 * seed) for rules, seed in games]
    accepted = 0
    for number in range(count):
        core, text = boards[number % 35].core, mutated(boards[number % 35].text(), rng)
        try:
            good = format_position(core, parse_position(core, text)) == " ".join(text.split())
            accepted += good
        except NotationError as error:
            good = 1 <= error.column <= len(text) + 1
        assert good, f"add it to tests/fuzz_corpus/notation.json: {text!r}"
    assert 0 < accepted < count / 2
