"""Test games and positions as tasks for language models."""

import inspect
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, IllegalMoveError
from oanquan_env.benchmark.rule_pairs import load_rule_pairs
from oanquan_env.benchmark.suites import find_suite
from oanquan_env.engine.notation import NotationError
from oanquan_env.text import TextDataset, TextGame, prompt
from oanquan_env.text.game import share_of_best

WON = "0,0,1,0,0,3*/4,1,0,2,0,0 22,27 0 0"  # 3A captures the last stone


def test_a_game_is_rewarded_by_its_margin() -> None:
    game = TextGame(opponent="greedy")
    game.reset(position=WON)
    with pytest.raises(IllegalMoveError, match="cannot play 4A; legal: 3A, 3C"):
        game.play("4A")
    with pytest.raises(NotationError, match="a move is a square's number"):
        game.play("my move")
    assert (game.board.text(), game.done) == (WON, False)
    text = game.play("3A")
    south, north = game.board.outcome.scores
    assert (game.reward, game.done) == (0.5 + (south - north) / 140, True)
    assert text.splitlines()[0] == "South plays 3A."
    assert text.splitlines()[-1] == f"Final points: South {south}, North {north}."


def test_the_reward_of_a_move_is_its_place_between_the_worst_and_the_best() -> None:
    values = [3.0, None, -1.0, 1.0]
    assert [share_of_best(values, action) for action in (0, 2, 3)] == [1, 0, 0.5]
    assert share_of_best([2.0, None, 2.0], 2) == 1
    with pytest.raises(ValueError, match="action 1 is illegal"):
        share_of_best(values, 1)


def test_trl_sees_one_tool_with_its_argument_and_a_game_that_needs_no_arguments() -> None:
    """TRL makes a tool of every public function of the class except `reset`, and reads its signature and docstring."""
    public = [name for name, _ in inspect.getmembers(TextGame, inspect.isfunction) if not name.startswith("_")]
    assert public == ["play", "reset"]
    signature = inspect.signature(TextGame.play)
    assert [parameter.annotation for name, parameter in signature.parameters.items() if name != "self"] == [str]
    assert signature.return_annotation is str
    assert "Args:\n            move: The move" in (TextGame.play.__doc__ or "")
    game = TextGame()
    text = game.reset(prompt=[{"role": "user", "content": ""}], unknown=3)
    assert text == prompt(Board(), answer="tool")
    assert "calling the tool `play`, such as play(move=" in text
    assert (game.board, game.reward, game.done) == (Board(), 0.0, False)


def test_a_row_of_a_suite_or_of_rule_pairs_is_one_move() -> None:
    game = TextGame(language="vi")
    for suite in (find_suite("vietnamese"), load_rule_pairs()[5].other):
        assert suite
        row, values = suite.rows()[0], suite.values[0]
        assert game.reset(**row) == prompt(suite.valued_board(0).board, language="vi", answer="tool")
        best = np.nanargmax(values)
        move = next(move for move in game.board.legal_moves if move.action == best)
        assert str(move) in game.play(f" {str(move).lower()} ")
        assert (game.reward, game.done) == (1.0, True)
        with pytest.raises(ValueError, match="the task is done"):
            game.play(str(move))


@pytest.mark.parametrize(("rules", "seat"), [("ludii", 1), ("three-player", 2), ("app fields=3", 0)])
def test_a_game_against_an_opponent_repeats_and_answers_with_the_replies(rules: str, seat: int) -> None:
    game, played = TextGame(rules, "random", seed=5), []
    for _ in range(2):
        texts = [game.reset(seat=seat)]
        while not game.done:
            assert game.board.mover == seat
            texts.append(game.play(str(game.board.legal_moves[0])))
            assert f"The position after {game.board.ply} moves" in texts[-1] or game.done
        played.append((texts, [str(move) for move in game.board.history]))
        assert 0 <= game.reward <= 1
    assert played[0] == played[1]
    other = TextGame(rules, "random", seed=6)
    other.reset(seat=seat)
    while not other.done:
        other.play(str(other.board.legal_moves[0]))
    assert [str(move) for move in other.board.history] != played[0][1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"values": [1.0]}, r"values must hold a number for each legal action, \[0, 1, 2"),
        ({"seat": 2}, "seat must be a whole number from 0 to 1"),
        ({"opponent": "gredy"}, "did you mean greedy"),
        ({"position": "0,0,0,0,0,0/0,0,0,0,0,0 35,35 0 9"}, "the game is over"),
    ],
)
def test_wrong_rows_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextGame().reset(**row)


def test_a_data_set_scores_answers_like_the_game() -> None:
    suite = find_suite("app")
    assert suite
    rows = suite.rows()[:5]
    dataset, game = TextDataset(rows, legal_moves=True), TextGame()
    assert len(dataset) == 5
    for index in range(len(dataset)):
        entry = dataset[index]
        board = Board.parse(rows[index]["position"], "app")
        assert entry["question"] == prompt(board, legal_moves=True)
        assert dataset.score_answer(entry["answer"], entry) == 1
        assert entry["metadata"] == {"source_dataset": "oanquan", "source_index": index, **rows[index]}
        for move in board.legal_moves:
            game.reset(**rows[index])
            game.play(str(move))
            assert dataset.score_answer(f"I play {move}.", entry) == game.reward
        assert dataset.score_answer(None, entry) == dataset.score_answer("9A", entry) == 0
