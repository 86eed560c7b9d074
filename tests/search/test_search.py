"""Test compiled moves against the core, alpha-beta search against plain minimax, limits, signals, and players."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import PRESETS, Board, Core, Move, Positions, Rules, Termination
from oanquan_env.engine.move import can_play
from oanquan_env.players import RandomPolicy, make
from oanquan_env.players.search_player import MCTSPlayer
from oanquan_env.proofs.solver import Solver
from oanquan_env.search import alphabeta, deepening
from oanquan_env.search.deepening import Search
from oanquan_env.search.keys import marked
from oanquan_env.search.limits import Limits, SearchResult
from oanquan_env.search.maxn import MaxnSearch
from oanquan_env.search.mcts import RandomPlayouts
from oanquan_env.search.search_state import MIN_BUCKET_BITS, apply_move, compile_rules, new_memory
from oanquan_env.search.value_net import read_value_net
from tests import ROOT
from tests.helpers import strategies
from tests.helpers.boards import random_positions
from tests.helpers.nets import leaf_values, random_net
from tests.helpers.plain_search import endless, plain_maxn, plain_values, sides
from tests.helpers.strategies import TWO_PLAYER_PRESETS

VARIANTS = [
    *TWO_PLAYER_PRESETS,
    "mancala-world fields=3 seeds=2 leftovers=split",
    "mancala-world mandarin_seeds_capturable=False mandarin_seeds=3",
    "vietnamese quan_non=4 stone_value=3 sowing=clockwise mandarin_leftovers=split",
    "mancala-world fields=2 seeds=2 first_move_captures_mandarin=False",
]


def test_an_analysis_values_each_move_and_says_whether_it_is_proved() -> None:
    rules = "mancala-world sowing=anticlockwise"
    lesson = Board.parse("0,0,1,0,0,0*/0,0,0,0,3,0 56,0 0 30", rules)  # 3A ends the game; the leftovers are 1 : 3
    analysis, move = make("minimax:depth=12", rules).analyse(lesson), Move.parse("3A")
    assert (analysis.board, analysis.best, analysis.line) == (lesson, move, (move,))
    assert (analysis.value, analysis.proved, analysis.depth, analysis.values) == (8, True, 1, {move: 8})
    assert str(analysis) == "+8 points for South from here on, proved\nmoves  3A +8\nline   3A"
    for shown in ("+8 points for South from here on, proved", "<td>3A</td>", "<td>+8</td>"):
        assert shown in analysis._repr_html_()
    for name, custom, net in (
        ("minimax:depth=1,net=pretrained", "app stone_value=5", " with the net for any rules"),
        ("minimax:depth=1,net=any", "app", " with the net for any rules"),
        ("minimax:depth=1,net=pretrained", "app", ""),
        ("minimax:depth=1", "app", ""),
    ):
        shallow = make(name, custom).analyse(Board(custom))
        assert (shallow.proved, shallow.summary.partition("searched ")[2]) == (False, f"to depth 1{net}")


@settings(max_examples=60)
@given(strategies.rules(players=2) | st.sampled_from([PRESETS[name].rules for name in TWO_PLAYER_PRESETS]), st.data())
def test_compiled_play_is_the_cores(rules: Rules, data: st.DataObject) -> None:
    rules, rng = rules.replace(refill="borrow"), np.random.default_rng(data.draw(strategies.seeds))
    core = Core(rules)
    compiled, policy, positions = compile_rules(core), RandomPolicy(core), core.start(4)
    while len(positions):
        for row, legal in enumerate(core.legal_mask(positions).tolist()):
            own, _ = sides(positions, row)
            assert [can_play(compiled, own, action) for action in range(rules.actions)] == legal
        actions, before = policy.choose(positions, rng), positions.copy()
        core.play(positions, actions)
        won = core.standings(positions) - before.scores
        for row, mover in enumerate(before.mover):
            plies_left = rules.max_plies - int(positions.ply[row])
            found = apply_move(compiled, *sides(before, row), actions[row], plies_left)
            assert found == (*sides(positions, row), won[row, mover] - won[row, 1 - mover], positions.ended[row])
        positions = positions[~positions.over]


def test_a_game_that_too_many_seeds_end_is_over_for_searches_and_proofs() -> None:
    core = Core("mancala-world seeds=25")
    crowded = core.setup([[1, 0, 0, 0, 0, 125, 0, 0, 0, 0, 0, 125]], [[1, 1]], [[9, -9]], checked=False)
    after = crowded.copy()
    core.play(after, [0])
    assert after.ended[0] == Termination.TOO_MANY_SEEDS
    assert apply_move(compile_rules(core), *sides(crowded), 0)[2:] == (1, after.ended[0])  # the seed is its owner's
    values, proved = Search(core).proved_values(crowded, 6)
    assert values[0, :2].tolist() == [1, 1]
    assert proved[0, :2].all()
    solver = Solver(core, crowded, megabytes=1)
    assert [*solver.rounds()][-1].solved
    assert (solver.progress.lower, solver.progress.line) == (1, ("1A",))
    assert MCTSPlayer(RandomPlayouts(core), 20).search(crowded, np.random.default_rng(0))[0].sum() == 20


def assert_best(found: SearchResult, plain: np.ndarray) -> None:
    """Check that `found` has the value and best moves of plain minimax, whose (A,) values are `plain`."""
    best = (plain == plain.max()).nonzero()[0].tolist()
    assert (found.value, found.actions, found.action) == (plain.max(), tuple(best), best[0])


@pytest.mark.parametrize("leaves", ["no leaves", "a net"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rules", VARIANTS)
def test_values_and_best_moves_are_those_of_plain_minimax(rules: str, depth: int, leaves: str) -> None:
    """With a net, the leaves of plain minimax have the net's values, rounded to whole points."""
    core = endless(rules)
    net = random_net(str(core.rules)) if leaves == "a net" else None
    positions = random_positions(core, 16 // depth, seed=depth)
    positions = positions[positions.ply > 0] if net else Positions.concatenate([core.start(), positions])

    def horizon_values(running: Positions) -> np.ndarray:
        return np.floor(np.clip(leaf_values(core, net, running), -8000, 8000) + 0.5)

    plain = plain_values(core, positions, depth, leaf=horizon_values if net else None)
    for megabytes in (1, 0.01, 0):
        search = Search(core, table_megabytes=megabytes, threads=3, net=net, guess_depth=0)
        assert (np.nan_to_num(search.values(positions, depth), nan=-np.inf) == plain).all()
        for every_move in (False, True):
            results = search.best_moves(positions, Limits(depth=depth), every_move=every_move)
            for expected, found in zip(plain, results, strict=True):
                assert_best(found, expected)
                valued = np.isfinite(expected) if every_move else expected == expected.max()
                assert found.values == {int(action): expected[action] for action in valued.nonzero()[0]}
                assert found.proved or found.depth == depth


def test_a_search_keeps_the_boards_of_first_moves_apart() -> None:
    core = Core("first_move_captures_mandarin=False")
    compiled, (memory, table), (own, other) = compile_rules(core), new_memory(1, alphabeta.SLOT), sides(core.start())
    keys = [marked(compiled, own, core.rules.max_plies - ply) for ply in (1, 2, 3)]
    memory.bucket_bits = MIN_BUCKET_BITS
    alphabeta.store(memory, table, keys[0], other, alphabeta.TableEntry(alphabeta.EXACT, 7, 5, 1, 3))
    assert [alphabeta.probe(memory, table, key, other).value for key in keys] == [7, 7, 0]


def test_a_proved_value_holds_at_greater_depths_and_ends_the_search() -> None:
    core = endless("mancala-world fields=3 seeds=2")
    positions = random_positions(core, 60, seed=3)
    search = Search(core)
    values, proved = search.proved_values(positions, 6)
    assert proved.any()
    assert not proved[core.legal_mask(positions)].all()
    assert (values[proved] == search.values(positions, 9)[proved]).all()
    found = search.best_moves(positions, Limits(depth=60, nodes=200_000))
    assert any(result.proved and result.depth <= 8 for result in found)


@pytest.mark.parametrize("with_net", [False, True])
@pytest.mark.parametrize("rules", TWO_PLAYER_PRESETS)
def test_the_plies_that_are_left_are_counted(rules: str, with_net: bool) -> None:
    core = Core(rules)
    search = Search(core, table_megabytes=1, net=read_value_net("pretrained", rules) if with_net else None)
    for left in (1, 2, 3, 5):
        positions = random_positions(core, 12, seed=left)
        positions.ply[:] = core.rules.max_plies - left
        truth = plain_values(core, positions, left)
        for depth in range(1, left + 3):
            values, proved = search.proved_values(positions, depth)
            assert (values[proved] == truth[proved]).all()
            assert depth < left or (proved == np.isfinite(truth)).all()
        for expected, found in zip(truth, search.best_moves(positions, Limits(nodes=100_000)), strict=True):
            assert_best(found, expected)
            assert found.proved
            assert len(found.line) <= found.depth <= left


def test_the_best_line_is_worth_the_value() -> None:
    core = endless("mancala-world fields=3 seeds=3")
    positions = random_positions(core, 60, seed=4)
    whole = 0
    for row, result in enumerate(Search(core).best_moves(positions, Limits(depth=6))):
        game = positions[row : row + 1]
        mover, before = int(game.mover[0]), game.scores[0].copy()
        for action in result.line:
            core.play(game, [action])
        if game.over[0] or len(result.line) == result.depth:
            won = core.standings(game)[0] - before
            assert won[mover] - won[1 - mover] == result.value
            whole += 1
    assert whole > 30


OVER = Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9")
TWO = Positions.concatenate([Core().start(), OVER.positions])


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda search: search.best_moves(TWO, Limits(depth=2)), "row 1 is over"),
        (lambda search: search.best(TWO, Limits(depth=2)), "`best` searches one position; got 2"),
        (lambda _: Limits(), "needs a limit: depth, nodes or milliseconds"),
        (lambda _: Limits(depth=0), "depth must be 1 or more; got 0"),
        (lambda _: Limits(depth=128), "depth must be 127 or less; got 128"),
        (lambda _: Limits(milliseconds=float("nan")), "milliseconds must be 1 or more; got nan"),
        (lambda _: Limits(milliseconds=float("inf")), "milliseconds must be 1,000,000,000,000 or less; got inf"),
        (lambda _: Limits(nodes=10**30), "nodes must be 4,611,686,018,427,387,904 or less; got 1000"),
        (lambda _: make("minimax:depth=4").analyse(Board("tonkin")), "'mancala-world', but the board's are 'tonkin'"),
        (lambda _: make("minimax:depth=4").analyse(OVER), "the game is over .* nothing to"),
    ],
)
def test_what_cannot_be_searched_is_refused(refused: Callable[[Search], object], message: str) -> None:
    search = Search(Core())
    with pytest.raises(ValueError, match=message):
        refused(search)
    assert np.isnan(search.values(TWO, 2)).all(axis=1).tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "rules"), [("minimax:depth=4", "mancala-world"), ("maxn:depth=3", "three-player refill=forfeit")]
)
def test_it_plays_every_best_move_and_no_other(name: str, rules: str) -> None:
    core, player = Core(rules), make(name, rules)
    values = plain_maxn(core, core.start(), int(name[-1]))[0, :, 0]
    tied = (values == values.max()).nonzero()[0]
    chosen = np.bincount(player.choose(core.start(600), np.random.default_rng(0)), minlength=core.rules.actions)
    assert chosen.nonzero()[0].tolist() == tied.tolist()
    assert chosen[tied].min() > 600 / len(tied) / 2
    assert len(tied) > 1


@pytest.mark.parametrize(("kind", "rules"), [(Search, "mancala-world"), (MaxnSearch, "three-player")])
def test_a_search_of_limited_nodes_repeats_itself_whatever_was_searched_before(kind: Any, rules: str) -> None:
    core, depths = Core(rules), []
    positions, used = random_positions(core, 40, seed=5), kind(core, threads=1)
    used.best_moves(random_positions(core, 300, seed=6), Limits(depth=3))  # more than the table's generations
    for nodes in (1, 3000, 20_000):  # depth 1 is always completed
        limits = Limits(nodes=nodes)
        found = used.best_moves(positions, limits)
        assert kind(core, threads=3).best_moves(positions, limits) == found
        assert [kind(core, threads=1).best_moves(positions[row : row + 1], limits)[0] for row in range(9)] == found[:9]
        assert max(result.nodes for result in found) < nodes + core.rules.actions**2
        depths.append(np.mean([result.depth for result in found]))
    assert 1 == depths[0] < depths[1] < depths[2]
    assert 1 <= used.best(core.start(), Limits(milliseconds=50)).depth < 60


def test_a_search_that_is_stopped_before_it_begins_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, core = deepening.search_rows, Core()

    def late(tree: alphabeta.Tree, *arguments: object) -> None:
        while not tree.memory.stop:
            time.sleep(0.001)
        begun(tree, *arguments)

    search, limits = Search(core, threads=1), Limits(depth=8, milliseconds=1)
    with monkeypatch.context() as patch:
        patch.setattr(deepening, "search_rows", late)
        assert [result.depth for result in search.best_moves(core.start(2), limits)] == [1, 1]
    assert search.best(core.start(), Limits(depth=6)).depth == 6  # only the other search was stopped
    assert search.values(core.start(), 3).tolist() == Search(core).values(core.start(), 3).tolist()


DEEP = """
import sys, numpy as np
from oanquan_env import Core
from oanquan_env.players import make
from tests import ROOT
core = Core(sys.argv[2])
player = make(sys.argv[1], core.rules)
shallow = make(sys.argv[1].replace("40", "2"), core.rules)
shallow.choose(core.start(), np.random.default_rng(0))  # compiles what a signal must not interrupt
print("searching", flush=True)
player.choose(core.start(int(sys.argv[3])), np.random.default_rng(0))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("player", "rules", "games"),
    [
        ("minimax:depth=40", "mancala-world", "1"),
        ("minimax:depth=40", "ludii", "9"),
        ("maxn:depth=40", "three-player", "2"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_deep_search_notices_a_signal(player: str, rules: str, games: str, number: signal.Signals) -> None:
    command = [sys.executable, "-c", DEEP, player, rules, games]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        try:
            assert run.stdout
            assert "searching\n" in run.stdout
            with pytest.raises(subprocess.TimeoutExpired):
                run.wait(1.5)  # it is still running
            run.send_signal(number)
            assert run.wait(30) != 0
        finally:
            run.kill()


def test_a_search_is_the_same_whichever_thread_plays_it() -> None:
    """A search that may take long runs in its own thread, so that the calling thread can handle signals."""
    core, limits = Core(), Limits(depth=5)
    search = Search(core, threads=1, table_megabytes=1)
    positions = core.expand(core.start()).positions
    found = search.best_moves(positions, limits)
    lasting = search.best_moves(positions, Limits(depth=5, milliseconds=10**6))
    assert [result.values for result in found] == [result.values for result in lasting]
    assert np.isfinite([result.value for result in found]).all()
