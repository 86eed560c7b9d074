"""The searching player: best moves, ties, names and their options."""

import numpy as np
import pytest

import agents
from agents.players.search_player import SearchPlayer
from agents.search.deepening import Limits, Search
from oanquan_env import Board, Core, Move
from tests.boards import random_positions
from tests.plain_search import plain_values


def test_it_plays_every_best_move_and_no_other() -> None:
    core = Core()
    start = core.start(400)
    best = plain_values(core, start[:1], 4)[0]
    tied = (best == best.max()).nonzero()[0]
    assert len(tied) > 1
    chosen = SearchPlayer(Search(core), Limits(depth=4)).choose(start, np.random.default_rng(0))
    assert sorted(set(chosen.tolist())) == tied.tolist()
    assert np.bincount(chosen)[tied].min() > 400 / len(tied) / 2


def test_a_single_legal_move_is_played() -> None:
    core = Core("tonkin")
    only = core.setup([[0, 0, 0, 0, 3, 10, 5, 5, 5, 5, 5, 10]], [[0, 0]], [[22, 0]])
    assert SearchPlayer(Search(core), Limits(depth=3)).choose(only, np.random.default_rng(0)).tolist() == [8]


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("minimax:depth=3", Limits(depth=3)),
        ("minimax:nodes=2000", Limits(nodes=2000)),
        ("minimax:ms=5", Limits(milliseconds=5.0)),
        ("minimax:depth=4,nodes=2000", Limits(depth=4, nodes=2000)),
    ],
)
def test_players_are_made_by_name(name: str, limits: Limits) -> None:
    player = agents.make(name)
    assert isinstance(player, SearchPlayer)
    assert player.limits == limits


def test_rules_that_cannot_be_searched_are_refused_by_name_too() -> None:
    for rules, message in (("three-player", "two players"), ("mancala-world refill=forfeit", "refill=borrow")):
        with pytest.raises(ValueError, match=message):
            agents.make("minimax:depth=2", rules)


def test_an_analysis_values_every_move_as_the_plain_search_does() -> None:
    player = SearchPlayer(Search(Core()), Limits(depth=3))
    batch = random_positions(player.core, 12, seed=6)
    for row in range(len(batch)):
        board = Board.from_positions(player.core, batch, row)
        analysis = player.analyse(board)
        plain = plain_values(player.core, board.positions, 3)[0]
        assert {move.action: value for move, value in analysis.values.items()} == {
            move.action: plain[move.action] for move in board.legal_moves
        }
        assert list(analysis.values.values()) == sorted(analysis.values.values(), reverse=True)
        assert (
            analysis.value == analysis.values[analysis.best] == plain[player.core.legal_mask(board.positions)[0]].max()
        )
        assert analysis.line[0] in analysis.values
        for move in analysis.line:
            board.push(move)


def test_an_analysis_says_whether_it_is_proved_and_shows_itself() -> None:
    rules = "mancala-world sowing=anticlockwise"
    lesson = Board.parse("0,0,1,0,0,0*/0,0,0,0,3,0 56,0 0 30", rules)  # the last stone, and the leftovers 1 : 3
    analysis = agents.make("minimax:depth=12", rules).analyse(lesson)
    move = Move.parse("3A")
    assert (analysis.board, analysis.best, analysis.line) == (lesson, move, (move,))
    assert (analysis.value, analysis.proved, analysis.depth, analysis.values) == (8, True, 1, {move: 8})
    assert str(analysis) == "+8 points for South from here on, proved\nmoves  3A +8\nline   3A"
    shown = analysis._repr_html_()
    assert "+8 points for South from here on, proved" in shown
    assert "<td>3A</td>" in shown
    assert "<td>+8</td>" in shown
    shallow = agents.make("minimax:depth=1").analyse(Board())
    assert (shallow.proved, shallow.values[Move.parse("5A")]) == (False, 11)
    assert "seen one ply ahead" in str(shallow)


def test_what_cannot_be_analysed_is_told() -> None:
    player = agents.make("minimax:depth=2")
    with pytest.raises(ValueError, match="the board has the rules 'tonkin', the player 'mancala-world'"):
        player.analyse(Board("tonkin"))
    with pytest.raises(ValueError, match=r"the game is over \(stones_captured\); there is nothing to analyse"):
        player.analyse(Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9"))
