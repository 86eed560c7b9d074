"""Compiled max^n and paranoid search beside NumPy's full-width search; their limits, lines and players."""

import sys

import numpy as np
import pytest
from hypothesis import given

import agents
from agents.players.search_player import SearchPlayer
from agents.search.limits import Limits
from agents.search.many import compile_many, mover_first, play
from agents.search.maxn import ManySearch
from oanquan_env import Board, Core, Positions, Rules, RunawayGameError
from oanquan_env.engine.move import RUNAWAY, RUNNING
from oanquan_env.players import FullWidthPolicy, RandomPolicy
from oanquan_env.players import make as make_policy
from oanquan_env.players.full_width import AIMS, Aim, FullWidthSearch
from oanquan_env.players.value_net import read_value_net
from tests import strategies
from tests.boards import random_positions

SMALL = "fields=2 seeds=2 mandarin_seeds=1"
RULES = [
    "three-player",
    "four-player",
    f"three-player {SMALL} max_plies=20",
    "four-player sowing=clockwise refill_when=at_once",
    "three-player capture=single quan_non=3 empty_mandarin=stop leftovers=split",
]


def play_beside(rules: Rules, games: int, seed: int) -> None:
    """Play whole games by the core and by the compiled move at once."""
    core, rng = Core(rules), np.random.default_rng(seed)
    compiled, policy, positions = compile_many(core), RandomPolicy(core), core.start(games)
    while len(positions):
        before = positions.copy()
        actions = policy.choose(positions, rng)
        core.play(positions, actions)
        won, expected = core.standings(positions) - before.scores, mover_first(positions)
        for row, sides in enumerate(mover_first(before)):
            points = np.zeros(4, dtype=np.int64)
            state = play(compiled, sides, points, actions[row], rules.max_plies - int(positions.ply[row]))
            assert (sides == expected[row]).all()
            assert (state == RUNNING) == (not positions.over[row])
            mine = points[(np.arange(rules.players) - positions.mover[row]) % rules.players]
            assert len(set((won[row] - mine).tolist())) == 1  # but for what all get alike
        positions = positions[~positions.over]


@pytest.mark.parametrize("rules", RULES)
def test_the_compiled_move_is_the_cores(rules: str) -> None:
    play_beside(Rules.parse(rules), games=20, seed=1)


@given(strategies.rules(players=3) | strategies.rules(players=4), strategies.seeds)
def test_the_compiled_move_is_the_cores_under_random_rules(rules: Rules, seed: int) -> None:
    try:
        play_beside(rules.replace(refill="borrow"), games=2, seed=seed)
    except RunawayGameError:
        pytest.fail(f"an endless relay under {rules}")


def test_what_the_core_refuses_as_a_runaway_game_is_told_apart() -> None:
    core = Core("three-player seeds=15")
    crowded = core.setup(
        [[1, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 80, 1, 0, 0, 0, 0, 80]], [[1] * 3], [[0] * 3], checked=False
    )
    with pytest.raises(RunawayGameError):
        core.play(crowded.copy(), [0])
    assert play(compile_many(core), mover_first(crowded)[0], np.zeros(4, dtype=np.int64), 0, 100) == RUNAWAY


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("rules", RULES)
def test_both_aims_find_what_full_width_search_finds(rules: str, depth: int) -> None:
    core = Core(rules)
    positions = random_positions(core, 24, seed=depth)
    assert (ManySearch(core).values(positions, depth) == FullWidthSearch(core, depth).values(positions)).all()
    for aim in AIMS:
        values = FullWidthSearch(core, depth, aim).movers_values(positions)
        best = [tuple((row == row.max()).nonzero()[0].tolist()) for row in values]
        for every_move in (False, True):
            found = ManySearch(core, aim, threads=2).best_moves(positions, Limits(depth=depth), every_move=every_move)
            assert [one.actions for one in found] == best
            assert [one.value for one in found] == values.max(axis=1).tolist()
        for row, one in zip(values, found, strict=True):
            assert one.values == {int(action): row[action] for action in np.isfinite(row).nonzero()[0]}


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_a_net_at_the_leaves_is_that_of_full_width_search_but_for_rounding(rules: str) -> None:
    core, net = Core(rules), read_value_net("pretrained", rules)
    positions = random_positions(core, 40, seed=5)
    search = ManySearch(core, net=net)
    for depth in (1, 3):
        wanted, found = FullWidthSearch(core, depth, net=net).values(positions), search.values(positions, depth)
        legal = np.isfinite(wanted)
        assert (legal == np.isfinite(found)).all()
        near = np.abs(found[legal] - wanted[legal]) <= 0.2
        assert near.mean() > 0.98  # a choice between near equals may turn out otherwise
    plain = ManySearch(core).values(positions, 1)
    search.use(None)
    assert (search.values(positions, 1) == plain).all()


@pytest.mark.parametrize("aim", AIMS)
def test_a_search_of_limited_nodes_repeats_itself_and_goes_deeper_with_more(aim: Aim) -> None:
    core = Core("three-player")
    positions = random_positions(core, 20, seed=6)
    depths = []
    for nodes in (1, 500, 20_000):
        first, second = (
            ManySearch(core, aim, threads=threads).best_moves(positions, Limits(nodes=nodes)) for threads in (1, 3)
        )
        assert first == second
        assert max(one.nodes for one in first) <= nodes + core.rules.actions**2
        depths.append(np.mean([one.depth for one in first]))
    assert 1 == depths[0] < depths[1] < depths[2]


def test_a_depth_that_is_cut_off_counts_with_the_best_move_of_the_one_before() -> None:
    core = Core("three-player")
    positions = random_positions(core, 30, seed=7)
    search, cut = ManySearch(core), 0
    whole = search.values(positions, 4)
    for row, one in enumerate(search.best_moves(positions, Limits(depth=4, nodes=1500))):
        mover = positions.mover[row]
        if one.depth == 4 and len(one.values) < np.isfinite(whole[row, :, mover]).sum():
            cut += 1
            before = search.best_moves(positions[row : row + 1], Limits(depth=3))[0]
            assert set(one.values) & set(before.actions)
            assert one.values == {action: whole[row, action, mover] for action in one.values}
    assert cut > 5


def test_a_limit_of_time_stops_a_search_that_would_take_hours() -> None:
    core = Core("four-player")
    found = ManySearch(core).best(core.start(), Limits(milliseconds=30))
    assert 1 <= found.depth < 20


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_an_analysis_is_worth_its_line(rules: str) -> None:
    core = Core(rules)
    player = SearchPlayer(ManySearch(core), Limits(depth=4))
    batch = random_positions(core, 8, seed=8)
    for row in range(len(batch)):
        board = Board.from_positions(core, batch, row)
        root, before = board.mover, np.array(board.scores)
        analysis = player.analyse(board)
        assert analysis.values.keys() == set(board.legal_moves)
        for move in analysis.line:
            board.push(move)
        assert len(analysis.line) == 4 or board.outcome
        won = core.standings(board.positions)[0] - before
        others = (won.sum() - won[root]) / (core.rules.players - 1)
        assert analysis.value == pytest.approx(won[root] - others)
        assert not analysis.proved


def test_limits_of_nodes_and_time_are_the_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Core("four-player").start(2)
    for name in ("maxn:nodes=2000,net=pretrained", "paranoid:ms=5", "maxn:depth=9,nodes=500,epsilon=0.5"):
        assert len(make_policy(name, "four-player").choose(start, np.random.default_rng(0))) == 2
    monkeypatch.setitem(sys.modules, "agents.players.make", None)  # as if it were not installed
    with pytest.raises(ValueError, match="without `agents` of the project's clone"):
        make_policy("maxn:nodes=2000", "four-player")


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("maxn:nodes=2000", "mancala-world", "three and four players; for two there is alpha-beta"),
        ("paranoid:ms=5", "three-player refill=forfeit", "needs refill=borrow"),
        ("maxn:nodes=0", "three-player", "nodes must be 1 or more; got 0"),
    ],
)
def test_what_cannot_be_searched_is_told(name: str, rules: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(name, rules)
    core = Core("three-player max_plies=1")
    ended = core.expand(core.start()).positions[:1]
    with pytest.raises(ValueError, match="row 1 is over"):
        ManySearch(core).best_moves(Positions.concatenate([core.start(), ended]), Limits(depth=1))


def test_rules_without_a_compiled_search_keep_that_of_numpy() -> None:
    for name, rules in (("maxn:depth=2", "mancala-world"), ("paranoid:depth=2", "three-player refill=forfeit")):
        assert isinstance(agents.make(name, rules), FullWidthPolicy)
