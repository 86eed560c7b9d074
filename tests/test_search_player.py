"""The searching player, the limits of a search, its imports, and the cache of compiled functions."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from oanquan_env import Board, Core, Move
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.compiled import SearchRules
from oanquan_env.search.deepening import Limits, Search, root
from oanquan_env.search.memory import Memory
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


def test_a_search_of_limited_nodes_repeats_itself_whatever_was_searched_before() -> None:
    core = Core()
    positions = random_positions(core, 40, seed=5)
    limits = Limits(nodes=3000)
    fresh = [Search(core).best(positions[row : row + 1], limits) for row in range(len(positions))]
    used = Search(core, threads=1)
    used.best_moves(random_positions(core, 300, seed=6), Limits(depth=3))  # more than the table has generations
    assert used.best_moves(positions, limits) == fresh
    assert Search(core, threads=3).best_moves(positions, limits) == fresh
    assert max(result.nodes for result in fresh) < 3000 + core.rules.actions**2
    assert len({result.depth for result in fresh}) > 1


def test_a_search_always_completes_depth_1() -> None:
    core = Core()
    for nodes in (1, core.rules.actions):  # so many does depth 1 take
        result = Search(core).best(core.start(), Limits(nodes=nodes))
        assert result.depth == 1
        assert result.value == plain_values(core, core.start(), 1).max()


def test_a_search_that_is_told_to_stop_before_it_begins_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of a busy machine may run out while the search is still being set up."""
    begun, core = root.search_rows, Core()

    def late(rules: SearchRules, memory: Memory, *arguments: object) -> None:
        while not memory.stop:
            time.sleep(0.001)
        begun(rules, memory, *arguments)

    search, limits = Search(core, threads=1), Limits(depth=8, milliseconds=1)
    with monkeypatch.context() as patch:
        patch.setattr(root, "search_rows", late)
        assert [result.depth for result in search.best_moves(core.start(2), limits)] == [1, 1]
    assert search.best(core.start(), Limits(depth=6)).depth == 6  # the stop was for the other search alone
    assert search.values(core.start(), 3).tolist() == Search(core).values(core.start(), 3).tolist()


def test_time_limits_stop_a_search_that_would_take_hours() -> None:
    core = Core()
    search = Search(core)
    search.best(core.start(), Limits(depth=2))
    result = search.best(core.start(), Limits(milliseconds=50))
    assert 1 <= result.depth < 60


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "needs a limit: depth, nodes or milliseconds"),
        ({"depth": 0}, "depth must be 1 or more; got 0"),
        ({"depth": 128}, "depth must be 127 or less; got 128"),
        ({"nodes": -5}, "nodes must be 1 or more; got -5"),
        ({"milliseconds": 0.0}, "milliseconds must be 1 or more"),
        ({"milliseconds": float("nan")}, "milliseconds must be 1 or more; got nan"),
        ({"milliseconds": float("inf")}, "milliseconds must be 1,000,000,000,000 or less; got inf"),
        ({"nodes": 10**30}, "nodes must be 4,611,686,018,427,387,904 or less; got 1000"),
    ],
)
def test_impossible_limits_are_refused(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**limits)


def test_naming_players_imports_neither_numba_nor_torch() -> None:
    code = "import sys, agents, oanquan_env; agents.make('greedy'); assert not {'numba', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
