"""Test compiled moves against the core, alpha-beta search against plain minimax, limits, and search players."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import PRESETS, Board, Core, Move, Positions, Rules, Termination
from oanquan_env.engine.move import can_play
from oanquan_env.players import RandomPolicy, make
from oanquan_env.players.search_player import MCTSPlayer, SearchPlayer
from oanquan_env.proofs.solver import Solver
from oanquan_env.search import alphabeta, deepening
from oanquan_env.search.deepening import Search
from oanquan_env.search.keys import marked
from oanquan_env.search.limits import Limits, SearchResult
from oanquan_env.search.mcts import RandomPlayouts
from oanquan_env.search.search_state import MIN_BUCKET_BITS, apply_move, compile_rules, new_memory
from oanquan_env.search.value_net import read_value_net
from tests.helpers import strategies
from tests.helpers.boards import random_positions
from tests.helpers.plain_search import endless, plain_maxn, plain_values, sides
from tests.helpers.strategies import TWO_PLAYER_PRESETS

VARIANTS = [
    *TWO_PLAYER_PRESETS,
    "mancala-world fields=3 seeds=2 leftovers=split",
    "mancala-world mandarin_seeds_capturable=False mandarin_seeds=3",
    "vietnamese quan_non=4 stone_value=3 sowing=clockwise mandarin_leftovers=split",
    "mancala-world fields=2 seeds=2 first_move_captures_mandarin=False",
]


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


def compare(expected: np.ndarray, found: SearchResult) -> None:
    """Check that `found` has the value and best moves of plain minimax, whose (A,) values are `expected`."""
    best = (expected == expected.max()).nonzero()[0].tolist()
    assert (found.value, found.actions, found.action) == (expected.max(), tuple(best), best[0])


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rules", VARIANTS)
def test_values_and_best_moves_are_those_of_plain_minimax(rules: str, depth: int) -> None:
    core = endless(rules)
    positions = Positions.concatenate([core.start(), random_positions(core, 12, seed=depth)])
    plain = plain_values(core, positions, depth)
    search = Search(core, table_megabytes=1, threads=3)
    assert (np.nan_to_num(search.values(positions, depth), nan=-np.inf) == plain).all()
    for every_move in (False, True):
        results = search.best_moves(positions, Limits(depth=depth), every_move=every_move)
        for expected, found in zip(plain, results, strict=True):
            compare(expected, found)
            valued = np.isfinite(expected) if every_move else expected == expected.max()
            assert found.values == {int(action): expected[action] for action in valued.nonzero()[0]}
            assert found.proved or found.depth == depth


@pytest.mark.parametrize("rules", TWO_PLAYER_PRESETS)
def test_a_search_finds_the_same_with_and_without_its_table(rules: str) -> None:
    core = Core(rules)
    positions = random_positions(core, 24, seed=1)
    searches = [Search(core, table_megabytes=megabytes) for megabytes in (16, 0.01, 0)]
    found = [search.best_moves(positions, Limits(depth=7)) for search in searches]
    assert len({tuple((one.actions, one.value) for one in results) for results in found}) == 1
    assert sum(one.nodes for one in found[0]) < sum(one.nodes for one in found[2])
    assert (searches[0].values(positions, 7) == searches[2].values(positions, 7))[core.legal_mask(positions)].all()


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
    early = [(row, result) for row, result in enumerate(found) if result.proved and result.depth <= 8]
    assert early
    for row, result in early:
        assert result.value == plain_values(core, positions[row : row + 1], 8).max()


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
            compare(expected, found)
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


def test_what_cannot_be_searched_is_refused() -> None:
    core = Core()
    over = core.setup([[1, 0, 0, 0, 0, 0] * 2], [[0, 0]], [[40, 28]])
    search = Search(core)
    assert np.isnan(search.values(Positions.concatenate([over, core.start()]), 2)).all(axis=1).tolist() == [True, False]
    with pytest.raises(ValueError, match="row 1 is over"):
        search.best_moves(Positions.concatenate([core.start(), over]), Limits(depth=2))
    with pytest.raises(ValueError, match="`best` searches one position; got 2"):
        search.best(core.start(2), Limits(depth=2))
    for given_limits, message in (
        ({}, "needs a limit: depth, nodes or milliseconds"),
        ({"depth": 0}, "depth must be 1 or more; got 0"),
        ({"depth": 128}, "depth must be 127 or less; got 128"),
        ({"nodes": -5}, "nodes must be 1 or more; got -5"),
        ({"milliseconds": 0.0}, "milliseconds must be 1 or more"),
        ({"milliseconds": float("nan")}, "milliseconds must be 1 or more; got nan"),
        ({"milliseconds": float("inf")}, "milliseconds must be 1,000,000,000,000 or less; got inf"),
        ({"nodes": 10**30}, "nodes must be 4,611,686,018,427,387,904 or less; got 1000"),
    ):
        with pytest.raises(ValueError, match=message):
            Limits(**given_limits)
    player = make("minimax:depth=4,nodes=2000")
    assert isinstance(player, SearchPlayer)
    assert player.limits == Limits(depth=4, nodes=2000)
    only = Core("tonkin").setup([[0, 0, 0, 0, 3, 10, 5, 5, 5, 5, 5, 10]], [[0, 0]], [[22, 0]])
    assert make("minimax:depth=3", "tonkin").choose(only, np.random.default_rng(0)).tolist() == [8]
    with pytest.raises(ValueError, match="'mancala-world', but the board's are 'tonkin'"):
        player.analyse(Board("tonkin"))
    with pytest.raises(ValueError, match=r"the game is over \(stones_captured\); there is nothing to"):
        player.analyse(Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9"))


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


def test_an_analysis_says_whether_it_is_proved_and_shows_itself() -> None:
    rules = "mancala-world sowing=anticlockwise"
    lesson = Board.parse("0,0,1,0,0,0*/0,0,0,0,3,0 56,0 0 30", rules)  # 3A ends the game; the leftovers are 1 : 3
    analysis = make("minimax:depth=12", rules).analyse(lesson)
    move = Move.parse("3A")
    assert (analysis.board, analysis.best, analysis.line) == (lesson, move, (move,))
    assert (analysis.value, analysis.proved, analysis.depth, analysis.values) == (8, True, 1, {move: 8})
    assert str(analysis) == "+8 points for South from here on, proved\nmoves  3A +8\nline   3A"
    for shown in ("+8 points for South from here on, proved", "<td>3A</td>", "<td>+8</td>"):
        assert shown in analysis._repr_html_()
    shallow = make("minimax:depth=1").analyse(Board())
    assert (shallow.proved, shallow.values[Move.parse("5A")]) == (False, 11)
    assert "searched to depth 1\n" in str(shallow)
    for net, custom in (("pretrained", "app stone_value=5"), ("any", "app")):
        analysis = make(f"minimax:depth=1,net={net}", custom).analyse(Board(custom))
        assert analysis.summary.endswith("searched to depth 1 with the net for any rules")
    assert make("minimax:depth=1,net=pretrained").analyse(Board()).summary.endswith("searched to depth 1")


def test_a_search_of_limited_nodes_repeats_itself_whatever_was_searched_before() -> None:
    core = Core()
    positions = random_positions(core, 40, seed=5)
    limits = Limits(nodes=3000)
    fresh = [Search(core).best(positions[row : row + 1], limits) for row in range(len(positions))]
    used = Search(core, threads=1)
    used.best_moves(random_positions(core, 300, seed=6), Limits(depth=3))  # more than the table's generations
    assert used.best_moves(positions, limits) == fresh
    assert Search(core, threads=3).best_moves(positions, limits) == fresh
    assert max(result.nodes for result in fresh) < 3000 + core.rules.actions**2
    assert len({result.depth for result in fresh}) > 1
    result = used.best(core.start(), Limits(nodes=1))  # depth 1 is always completed
    assert (result.depth, result.value) == (1, plain_values(core, core.start(), 1).max())
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
