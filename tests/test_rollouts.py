"""Test playing batches of games: choosing moves, ply limits, replaced games and random lines."""

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, choose_move, rollouts
from oanquan_env.array_types import Ints
from oanquan_env.engine import core as engine_core
from oanquan_env.engine.core import advance
from oanquan_env.players import RandomPolicy
from oanquan_env.rollouts import play_randomly, random_lines, restart
from tests.helpers.players import FirstMove, LastLegalMove

CORE = Core()


def first_moves(rows: Ints, positions: Positions) -> Ints:
    return CORE.legal_mask(positions).argmax(axis=1)


def test_a_player_chooses_a_move_on_a_board() -> None:
    board, player = Board(), RandomPolicy(CORE)
    assert choose_move(FirstMove(CORE), board) == board.legal_moves[0]
    assert choose_move(LastLegalMove(CORE), board) == board.legal_moves[-1]
    drawn, again = ([choose_move(player, board, np.random.default_rng(seed)) for seed in range(20)] for _ in range(2))
    assert drawn == again
    assert len(set(drawn)) > 3
    assert choose_move(player, board) in board.legal_moves
    assert board == Board()
    with pytest.raises(ValueError, match=r"the game is over \(stones_captured\); there is no move to choose"):
        choose_move(player, Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9"))


def test_each_game_has_its_own_limit_and_the_rules_have_one() -> None:
    positions = CORE.start(4)
    batches = [rows.tolist() for rows, _ in advance(CORE, positions, first_moves, [3, 0, 1, 2])]
    assert batches == [[0, 2, 3], [0, 3], [0]]
    assert positions.ply.tolist() == [3, 0, 1, 2]
    core = Core("mancala-world max_plies=5")
    old = Board.parse("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 3", core.rules).positions
    for plies in (None, 9):
        positions = Positions.concatenate([core.start(), old])
        batches = [rows.tolist() for rows, _ in advance(core, positions, first_moves, plies)]
        assert batches == [[0, 1], [0, 1], [0], [0], [0]]
        assert positions.over.all()
        assert list(advance(core, positions, first_moves)) == []  # finished games are not played


def test_a_game_put_in_the_place_of_a_finished_one_is_played_too() -> None:
    positions, begun = CORE.start(2), 2
    for rows, _ in advance(CORE, positions, first_moves):
        for row in rows[positions.over[rows]].tolist():
            if begun < 5:
                positions[row : row + 1] = CORE.start()
                begun += 1
    assert begun == 5
    assert positions.over.all()


def test_lines_lead_to_their_running_positions_and_finished_games_are_restarted() -> None:
    rng, plies = np.random.default_rng(0), np.array([0, 3, 7, 1])
    positions, lines = random_lines(CORE, 4, plies, rng)
    assert positions.ply.tolist() == (lines >= 0).sum(axis=1).tolist() == plies.tolist()
    for row, line in enumerate(lines):
        replayed = CORE.start()
        for action in line[line >= 0]:
            CORE.play(replayed, [action])
        assert positions[row : row + 1].same(replayed).all()
    play_randomly(CORE, positions, [1000, 0, 1000, 0], rng)
    before = positions.copy()
    assert restart(CORE, positions, rng, [2, 5]).tolist() == [0, 2]
    assert positions.ply.tolist() == [2, 3, 5, 1]
    assert positions.same(before).tolist() == [False, True, False, True]
    assert restart(CORE, positions, rng).size == 0
    positions, lines = random_lines(Core("max_plies=4"), 5, 3, rng)
    assert (positions.ply.tolist(), lines.shape, positions.over.any()) == ([3] * 5, (5, 3), False)


def test_lines_longer_than_games_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="4 plies are too many, as the rules have max_plies=4"):
        random_lines(Core("max_plies=4"), 5, 4, rng)
    with pytest.raises(ValueError, match=r"random games of 'mancala-world' ended within 150 plies: take fewer"):
        random_lines(CORE, 2000, 150, rng)
    monkeypatch.setattr(rollouts, "MAX_FAILED_GAMES", 400)  # fewer failures than ten lines take, more than one takes
    positions, lines = random_lines(CORE, 10, 40, rng)
    assert set(positions.ply.tolist()) == {40}
    assert lines.shape == (10, 40)


def test_random_play_stops_with_the_last_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """No further plies are tried after all games have ended, however many are allowed."""
    positions = CORE.start(3)
    play_randomly(CORE, positions, None, np.random.default_rng(0))
    assert positions.over.all()
    monkeypatch.setattr(engine_core, "sample_actions", lambda *arguments: pytest.fail("a finished game was played"))
    for plies in (10**12, [10**12, 0, 5]):
        play_randomly(CORE, positions, plies, np.random.default_rng(0))
