"""Max^n search for three and four players: NumPy beside brute force, compiled beside NumPy; nets, limits, players."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Board, Core, Positions, Rules, RunawayGameError
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.move import RUNAWAY, RUNNING
from oanquan_env.players import MaxnPolicy, RandomPolicy, make
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.limits import Limits
from oanquan_env.search.many import compile_many, mover_first, play
from oanquan_env.search.maxn import ManySearch
from oanquan_env.search.numpy_maxn import NET_UNIT, MaxnSearch
from oanquan_env.search.value_net import ValueNet, read_value_net
from tests import strategies
from tests.boards import random_positions
from tests.nets import random_net
from tests.plain_search import after_each_move

SMALL = "fields=2 seeds=2 mandarin_seeds=1"
RULES = [
    "three-player",
    "four-player",
    f"three-player {SMALL} max_plies=20",
    "four-player sowing=clockwise refill_when=at_once",
    "three-player capture=single quan_non=3 empty_mandarin=stop leftovers=split",
]


@settings(max_examples=60)
@given(
    strategies.rules(players=3) | strategies.rules(players=4) | st.sampled_from([Rules.parse(name) for name in RULES]),
    strategies.seeds,
)
def test_the_compiled_move_is_the_cores(rules: Rules, seed: int) -> None:
    core, rng = Core(rules.replace(refill="borrow")), np.random.default_rng(seed)
    compiled, policy, positions = compile_many(core), RandomPolicy(core), core.start(3)
    while len(positions):
        before, actions = positions.copy(), policy.choose(positions, rng)
        core.play(positions, actions)  # a runaway game is an error
        won, expected = core.standings(positions) - before.scores, mover_first(positions)
        for row, sides in enumerate(mover_first(before)):
            points = np.zeros(4, dtype=np.int64)
            state = play(compiled, sides, points, actions[row], rules.max_plies - int(positions.ply[row]))
            assert (sides == expected[row]).all()
            assert (state == RUNNING) == (not positions.over[row])
            mine = points[(np.arange(rules.players) - positions.mover[row]) % rules.players]
            assert len(set((won[row] - mine).tolist())) == 1  # but for what all get alike
        positions = positions[~positions.over]


def test_what_the_core_refuses_as_a_runaway_game_is_told_apart() -> None:
    core = Core("three-player seeds=15")
    seeds = [1, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 80, 1, 0, 0, 0, 0, 80]
    crowded = core.setup([seeds], [[1] * 3], [[0] * 3], checked=False)
    with pytest.raises(RunawayGameError):
        core.play(crowded.copy(), [0])
    assert play(compile_many(core), mover_first(crowded)[0], np.zeros(4, dtype=np.int64), 0, 100) == RUNAWAY


TINY = [f"{preset} {SMALL}" for preset in ("mancala-world", "three-player", "four-player")]
TINY += [f"three-player {SMALL} {other}" for other in ("max_plies=4", "refill=forfeit", "leftovers=split")]


def margins(points: list[int]) -> list[Fraction]:
    """Each player's points less the mean of the others'."""
    return [Fraction(own) - Fraction(sum(points) - own, len(points) - 1) for own in points]


def brute_force(core: Core, position: Positions, depth: int, net: ValueNet | None = None) -> list[int]:
    """Final points of all players, in units, at the end of the line that goes up from one position, move by move."""
    if depth == 0 or position.over[0]:
        points, players = NET_UNIT * core.standings(position)[0], core.rules.players
        if net is not None and not position.over[0]:
            points = points + np.rint(net.margins(position)[0] * np.float32(NET_UNIT * (players - 1) / players))
        return [int(one) for one in points]
    lines = [brute_force(core, child, depth - 1, net) for child in after_each_move(core, position).values()]
    return max(lines, key=lambda line: margins(line)[int(position.mover[0])])  # the first of equals


@pytest.mark.parametrize("with_net", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("rules", TINY)
def test_values_are_those_of_brute_force(rules: str, depth: int, with_net: bool) -> None:
    core, net = Core(rules), random_net(rules, 0.1) if with_net and "forfeit" not in rules else None
    positions = random_positions(core, 10, seed=depth)
    near = 0 if net is None else 2.1 / NET_UNIT  # a net's values, rounded, depend on the size of a batch
    found, chunked = (MaxnSearch(core, depth, net=net, chunk=chunk).values(positions) for chunk in (1024, 3))
    np.testing.assert_allclose(chunked, found, rtol=0, atol=near)
    for row, values in enumerate(found):
        position = positions[row : row + 1]
        children = after_each_move(core, position)
        assert np.isfinite(values[:, 0]).nonzero()[0].tolist() == list(children)
        for action, child in children.items():
            won = np.array(brute_force(core, child, depth - 1, net)) - NET_UNIT * position.scores[0]
            wanted = [float(one) / NET_UNIT for one in margins(won.tolist())]
            assert values[action] == pytest.approx(wanted, abs=near or 1e-9)


def test_no_call_plays_more_than_a_chunk_and_none_a_single_move(monkeypatch: pytest.MonkeyPatch) -> None:
    core, sizes = Core("three-player sowing=clockwise"), list[int]()
    expand = core.expand
    monkeypatch.setattr(core, "expand", lambda positions: sizes.append(len(positions)) or expand(positions))
    MaxnSearch(core, 3, chunk=7).values(random_positions(core, 12, seed=5))
    assert max(sizes) <= 7
    sizes.clear()
    seeds = [0, 0, 0, 0, 3, 10, *[5, 5, 5, 5, 5, 10] * 2]
    only = core.setup([seeds], [[1, 1, 1]], [[0, 0, 0]], checked=False)
    assert MaxnPolicy(core, 3).choose(only, np.random.default_rng(0)).tolist() == [9]
    assert sizes == []


def test_what_cannot_be_searched_is_refused() -> None:
    core = Core("three-player max_plies=1")
    positions = Positions.concatenate([core.start(), core.expand(core.start()).positions[:1]])
    with pytest.raises(ValueError, match=r"the game in row 1 is over \(max_plies\); there is nothing to search"):
        MaxnSearch(core, 2).values(positions)
    with pytest.raises(ValueError, match="row 1 is over"):
        ManySearch(core).best_moves(positions, Limits(depth=1))
    with pytest.raises(ValueError, match="chunk must be 1 or more; got 0"):
        MaxnSearch(core, 2, chunk=0)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("rules", RULES)
def test_the_compiled_search_finds_what_numpy_finds(rules: str, depth: int) -> None:
    core = Core(rules)
    positions = random_positions(core, 24, seed=depth)
    search, numpy_search = ManySearch(core, threads=2), MaxnSearch(core, depth)
    assert (search.values(positions, depth) == numpy_search.values(positions)).all()
    values = numpy_search.movers_values(positions)
    for every_move in (False, True):
        found = search.best_moves(positions, Limits(depth=depth), every_move=every_move)
        for row, one in zip(values, found, strict=True):
            assert (one.value, one.actions) == (row.max(), tuple((row == row.max()).nonzero()[0].tolist()))
            assert one.values == {int(action): row[action] for action in np.isfinite(row).nonzero()[0]}


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_with_a_net_it_finds_the_same_but_for_rounding(rules: str) -> None:
    core, net = Core(rules), read_value_net("pretrained", rules)
    positions = random_positions(core, 40, seed=5)
    search = ManySearch(core, net=net)
    for depth in (1, 3):
        wanted, found = MaxnSearch(core, depth, net=net).values(positions), search.values(positions, depth)
        legal = np.isfinite(wanted)
        assert (legal == np.isfinite(found)).all()
        near = np.abs(found[legal] - wanted[legal]) <= 0.2
        assert near.mean() > 0.98  # a choice between near equals may turn out otherwise
    search.use(None)
    assert (search.values(positions, 1) == ManySearch(core).values(positions, 1)).all()


def test_a_search_of_limited_nodes_repeats_itself_and_goes_deeper_with_more() -> None:
    core = Core("three-player")
    positions = random_positions(core, 20, seed=6)
    depths = []
    for nodes in (1, 500, 20_000):
        limits = Limits(nodes=nodes)
        one, three = (ManySearch(core, threads=threads).best_moves(positions, limits) for threads in (1, 3))
        assert one == three
        assert max(found.nodes for found in one) <= nodes + core.rules.actions**2
        depths.append(np.mean([found.depth for found in one]))
    assert 1 == depths[0] < depths[1] < depths[2]
    assert 1 <= ManySearch(core).best(core.start(), Limits(milliseconds=30)).depth < 20


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


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_an_analysis_is_worth_its_line(rules: str, compiled: bool) -> None:
    core = Core(rules)
    player = SearchPlayer(ManySearch(core), Limits(depth=4)) if compiled else MaxnPolicy(core, 4)
    batch = random_positions(core, 8, seed=8)
    wanted = MaxnSearch(core, 4).movers_values(batch)
    for row in range(len(batch)):
        board = Board.from_positions(core, batch, row)
        root, before = board.mover, np.array(board.scores)
        analysis = player.analyse(board)
        assert {move.action: value for move, value in analysis.values.items()} == {
            move.action: wanted[row, move.action] for move in board.legal_moves
        }
        assert analysis.value == analysis.values[analysis.best] == max(analysis.values.values())
        assert (analysis.line[0], analysis.depth, analysis.proved) == (analysis.best, 4, False)
        for move in analysis.line:
            board.push(move)
        assert len(analysis.line) == 4 or board.outcome
        won = core.standings(board.positions)[0] - before
        assert analysis.value == pytest.approx(float(margins(won.tolist())[root]))
    assert re.match(r"\+\d+(\.\d)? points for South from here on, seen 4 plies", str(player.analyse(Board(rules))))
    with pytest.raises(ValueError, match=f"the board has the rules 'tonkin', the player '{rules}'"):
        player.analyse(Board("tonkin"))


def test_without_numba_a_search_of_depth_remains(without_numba: None) -> None:
    assert isinstance(make("maxn:depth=2,net=pretrained", "three-player"), MaxnPolicy)
    with pytest.raises(ImportError, match="this needs numba"):
        make("maxn:nodes=2000", "four-player")


def test_the_net_of_the_package_makes_search_better() -> None:
    assert len(read_value_net("pretrained", "four-player").to_bytes()) < 300_000
    rules = Rules.parse("three-player")
    with_net, without = (
        regret(make(name, rules), load_suite(rules), np.random.default_rng(0)).mean
        for name in ("maxn:depth=2,net=pretrained", "maxn:depth=2")
    )
    assert with_net < 0.9 * without
