"""Games advanced together: seats, limits, games that begin anew; random lines."""

import numpy as np
import pytest

from oanquan_env import Board, Core, Positions, choose_move, playing
from oanquan_env.arrays import Ints
from oanquan_env.players import RandomPolicy
from oanquan_env.playing import advance, play_randomly, random_lines, seated
from tests.players import FirstMove, LastMove


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


def first_moves(core: Core) -> playing.Choose:
    return lambda _, positions: core.legal_mask(positions).argmax(axis=1)


def test_a_player_chooses_a_move_on_a_board() -> None:
    board = Board()
    assert choose_move(FirstMove(board.core), board) == board.legal_moves[0]
    assert choose_move(LastMove(board.core), board) == board.legal_moves[-1]
    player = RandomPolicy(board.core)
    drawn = [choose_move(player, board, np.random.default_rng(seed)) for seed in range(20)]
    assert drawn == [choose_move(player, board, np.random.default_rng(seed)) for seed in range(20)]
    assert len(set(drawn)) > 3
    assert choose_move(player, board) in board.legal_moves
    assert board == Board()
    over = Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9")
    with pytest.raises(ValueError, match=r"the game is over \(stones_captured\); there is no move to choose"):
        choose_move(player, over)


@pytest.mark.parametrize("rules", ["mancala-world", "three-player"])
def test_games_are_those_played_one_by_one(rules: str) -> None:
    core = Core(rules)
    seating = np.random.default_rng(0).integers(0, 2, (6, core.rules.players))
    players = FirstMove(core), LastMove(core)
    finals = core.start(6)
    played: list[list[int]] = [[] for _ in range(6)]
    for rows, actions in advance(core, finals, seated(players, seating, np.random.default_rng(0))):
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            played[row].append(action)
    for row in range(6):
        board = Board(rules)
        while not board.outcome:
            board.push(board.legal_moves[-seating[row, board.mover]])  # 0 is the first move, -1 the last
        assert played[row] == [move.action for move in board.history]
        assert finals[row : row + 1].same(board.positions).all()


def test_each_game_has_its_own_limit(core: Core) -> None:
    positions = core.start(4)
    batches = [rows.tolist() for rows, _ in advance(core, positions, first_moves(core), [3, 0, 1, 2])]
    assert batches == [[0, 2, 3], [0, 3], [0]]
    assert positions.ply.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("plies", [None, 9])
def test_games_end_at_the_ply_limit_of_the_rules(plies: int | None) -> None:
    core = Core("mancala-world max_plies=5")
    old = Board.parse("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 3", core.rules).positions
    positions = Positions.concatenate([core.start(), old])
    batches = [rows.tolist() for rows, _ in advance(core, positions, first_moves(core), plies)]
    assert batches == [[0, 1], [0, 1], [0], [0], [0]]
    assert positions.ply.tolist() == [5, 5]
    assert positions.over.all()


def test_finished_games_are_left_alone(core: Core) -> None:
    over = core.start()
    play_randomly(core, over, None, np.random.default_rng(0))
    assert over.over.all()
    positions = Positions.concatenate([over, core.start()])
    assert [rows.tolist() for rows, _ in advance(core, positions, first_moves(core), 2)] == [[1], [1]]
    assert positions[:1].same(over).all()


def test_a_game_put_in_the_place_of_a_finished_one_is_played_too(core: Core) -> None:
    positions, begun = core.start(2), 2
    for rows, _ in advance(core, positions, first_moves(core)):
        for row in rows[positions.over[rows]].tolist():
            if begun < 5:
                positions[row : row + 1] = core.start()
                begun += 1
    assert begun == 5
    assert positions.over.all()


def test_illegal_choices_are_noticed_before_anything_changes(core: Core) -> None:
    positions = core.start(2)

    def choose(rows: Ints, _: Positions) -> Ints:
        return np.array([0, 77])

    with pytest.raises(ValueError, match="illegal action 77 in row 1"):
        next(advance(core, positions, choose))
    assert positions.same(core.start(2)).all()


def test_random_lines_lead_to_their_positions(core: Core) -> None:
    positions, lines = random_lines(core, 50, 6, np.random.default_rng(0))
    replayed = core.start(50)
    for ply in range(6):
        core.play(replayed, lines[:, ply])
    assert positions.same(replayed).all()
    assert not positions.over.any()


def test_lines_end_before_the_ply_limit() -> None:
    core = Core("mancala-world max_plies=4")
    positions, lines = random_lines(core, 5, 3, np.random.default_rng(0))
    assert (positions.ply.tolist(), lines.shape) == ([3] * 5, (5, 3))
    assert not positions.over.any()
    with pytest.raises(ValueError, match="no game is running after 4 plies: the rules have max_plies=4"):
        random_lines(core, 5, 4, np.random.default_rng(0))


def test_lines_longer_than_games_are_given_up(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"random games of 'mancala-world' was running after 150 plies: take fewer"):
        random_lines(core, 2000, 150, np.random.default_rng(0))
    monkeypatch.setattr(playing, "MAX_FAILED_GAMES", 400)  # fewer than it takes for all, more than for one
    positions, lines = random_lines(core, 10, 40, np.random.default_rng(0))
    assert set(positions.ply.tolist()) == {40}
    assert lines.shape == (10, 40)


def test_random_play_stops_with_the_last_game(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many plies are allowed: a game that is over costs no ply more."""
    positions = core.start(3)
    play_randomly(core, positions, None, np.random.default_rng(0))
    assert positions.over.all()
    asked = []
    monkeypatch.setattr(playing.RandomPolicy, "choose", lambda *arguments: asked.append(arguments))
    play_randomly(core, positions, 10**12, np.random.default_rng(0))
    play_randomly(core, positions, [10**12, 0, 5], np.random.default_rng(0))
    assert asked == []
