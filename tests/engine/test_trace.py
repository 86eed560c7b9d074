"""Test the trace of a move: an example of each way a turn can end, and random games compared with the core."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from

from oanquan_env import Board, IllegalMoveError, Rules, Termination
from oanquan_env.engine.notation import WORDS
from oanquan_env.engine.positions import TurnEnd
from oanquan_env.engine.trace import Capture, Lap, Refilling
from tests.helpers.strategies import PRESET_NAMES, rules, seeds

NORTH = "0,0,0,0,1,0*"  # a row that can move, and a stone, so that the game is not over


def lesson(south: str, north: str = NORTH, rules: str = "mancala-world", scores: str = "0,0") -> Board:
    """Return a board with South to move, without checking that it holds all points of a game."""
    return Board.parse(f"{south}/{north} {scores} 0 0", rules, checked=False)


def test_a_relay_and_a_chain_are_described_in_order() -> None:
    with pytest.raises(IllegalMoveError):
        Board().sowing("6A")
    trace = lesson("2,0,0,2,0,1*", "0,3,0,4,1,0*").sowing("1A")
    assert trace.laps == (Lap(0, 0, 2, (1, 2), False), Lap(3, 0, 2, (4, 5), False))
    assert trace.captures == (Capture(6, 7, 3, 0, 3), Capture(8, 9, 4, 0, 4))
    frames = ["200201030410", "011201030410", "011012030410", "011012000410", "011012000010"]
    assert ["".join(map(str, frame.seeds)) for frame in trace.frames()] == frames
    assert str(trace).splitlines() == [
        "South plays 1A.",
        "Pick up 2 seeds from square 1 of South; the last seed lands in square 3 of South.",
        "Pick up 2 seeds from square 4 of South; the last seed lands in the mandarin square after square 5 of South.",
        "Capture 3 seeds from square 2 of North, behind the gap at square 1 of North: 3 points.",
        "Capture 4 seeds from square 4 of North, behind the gap at square 3 of North: 4 points.",
        "The turn ends: the square after the capture is not empty.",
    ]


TURN_ENDS = [
    ("mancala-world", "0,0,0,1,0,0*", NORTH, "4A", 5, 0, TurnEnd.MANDARIN_AHEAD),
    ("mancala-world", "0,0,0,1,0,0", NORTH, "4A", 5, 0, TurnEnd.EMPTY_MANDARIN_AHEAD),
    ("vietnamese", "0,0,0,1,0,0", "2,0,0,0,1,0*", "4A", 5, 2, TurnEnd.NOTHING_BEHIND),
    ("mancala-world", "1,0,0,4,2,0*", NORTH, "1A", 2, 4, TurnEnd.NO_FURTHER_GAP),
    ("app", "1,0,0,4,0,0*", NORTH, "1A", 2, 4, TurnEnd.ONE_CAPTURE),
    ("mancala-world", "1,0,0,4,0,0*", NORTH, "1A", 2, 14, TurnEnd.NOTHING_BEHIND),
    ("mancala-world quan_non=5", "0,0,1,0,0,4*", NORTH, "3A", 4, 0, TurnEnd.UNRIPE_MANDARIN),
    ("mancala-world first_move_captures_mandarin=False", "1,0,0,4,0,9*", NORTH, "1A", 2, 4, TurnEnd.UNRIPE_MANDARIN),
    ("mancala-world mandarin_seeds_capturable=False", "0,0,1,0,0,3", NORTH, "3A", 4, 0, TurnEnd.SEEDS_STAY),
    ("mancala-world", "0,0,0,1,0,0*", "0,0,0,2,0,3*", "4C", 1, 0, TurnEnd.NOTHING_BEHIND),
]


@pytest.mark.parametrize(("text", "south", "north", "move", "ahead", "points", "end"), TURN_ENDS)
def test_how_turns_end(text: str, south: str, north: str, move: str, ahead: int, points: int, end: TurnEnd) -> None:
    trace = lesson(south, north, text).sowing(move)
    assert (trace.ahead, trace.captured, trace.turn_end) == (ahead, points, end)
    assert f"The turn ends: {WORDS['en']['turn_ends'][end]}." in str(trace)
    assert {case[-1] for case in TURN_ENDS} == {*TurnEnd} - {TurnEnd.NOT_COMPLETED}  # see test_board


def test_a_refill_states_what_was_borrowed_and_a_forfeit_is_described() -> None:
    bare = {"south": "0,0,0,1,0,0*", "north": "0,0,0,0,0,0*"}
    trace = lesson(**bare, scores="0,3").sowing("4A")
    assert trace.refillings == (Refilling(player=1, seeds=5, borrowed=2),)
    assert "North refills its row with 5 seeds, 2 of them borrowed." in str(trace)
    assert [frame.scores for frame in trace.frames()] == [(0, 3), (0, 3), (0, -2)]
    for scores, borrowed in (("0,-3", 5), ("0,9", 0)):
        assert lesson(**bare, scores=scores).sowing("4A").refillings[0].borrowed == borrowed
    trace = lesson(**bare, rules="mancala-world refill=forfeit", scores="0,3").sowing("4A")
    assert (trace.refillings, trace.termination) == ((), Termination.FORFEIT)
    assert str(trace).splitlines()[-4:] == [
        "The game is over: a player has too few points to refill its row.",
        "South gets 1 point for seeds left on the board.",
        "Nobody gets 2 stones.",
        "Final points: South 1, North 3.",
    ]


def test_a_stone_leaves_its_own_mandarin_square_on_the_smallest_board_of_four_players() -> None:
    board = Board.parse("1,1,0*/1,1,0*/0,2,0*/1,0,0* 0,0,0,0 2 0", "four-player fields=2", checked=False)
    trace = board.sowing("2A")
    assert trace.captures == (Capture(10, 11, 0, 1, 10),)
    assert trace.frames()[-1].stones == (1, 1, 1, 0)


@given(rules() | sampled_from([Rules.parse(preset) for preset in PRESET_NAMES]), seeds)
def test_traces_agree_with_the_core(game_rules: Rules, seed: int) -> None:
    rng, board = np.random.default_rng(seed), Board(game_rules)
    while board.outcome is None and board.ply < 60:
        move = board.legal_moves[rng.integers(len(board.legal_moves))]
        player, positions, trace = board.mover, board.positions, board.sowing(move)
        played = board.core.play(positions, [move.action])
        board.push(move)
        frames = trace.frames()
        assert (trace.player, trace.move) == (player, move)
        assert (trace.captured, len(trace.laps)) == (played.captured[0], played.laps[0])
        assert [list(column) for column in frames[-1]] == [board.seeds, board.stones, board.scores]
        assert trace.termination == positions.ended[0]
        assert trace.standings == (board.outcome.scores if board.outcome else ())
        for frame in frames:
            points = sum(frame.seeds) + game_rules.stone_value * sum(frame.stones) + sum(frame.scores)
            assert points == game_rules.total
            assert min(*frame.seeds, *frame.stones) >= 0
        captured = bool(trace.captures)
        allowed = {
            TurnEnd.EMPTY_MANDARIN_AHEAD: game_rules.empty_mandarin == "stop",
            TurnEnd.NO_FURTHER_GAP: captured,
            TurnEnd.UNRIPE_MANDARIN: game_rules.quan_non > 0 or not game_rules.first_move_captures_mandarin,
            TurnEnd.SEEDS_STAY: not game_rules.mandarin_seeds_capturable,
        }
        assert allowed.get(trace.turn_end, True)
        assert (trace.turn_end is TurnEnd.ONE_CAPTURE) == (captured and game_rules.capture == "single")
