"""Test max^n search for two to four players against a plain search in NumPy, with nets, limits and analyses."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Board, Core, Positions, Rules
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.loops import in_turn
from oanquan_env.players import RandomPolicy, make
from oanquan_env.search.limits import Limits
from oanquan_env.search.maxn import NET_UNIT, MaxnSearch, compile_multiplayer, play_and_rotate
from tests.helpers import strategies
from tests.helpers.boards import random_positions
from tests.helpers.nets import random_net
from tests.helpers.plain_search import plain_maxn

SMALL = "fields=2 seeds=2 mandarin_seeds=1"
RULES = [
    "mancala-world",
    "three-player",
    "four-player",
    f"three-player {SMALL} max_plies=20",
    "four-player sowing=clockwise refill_when=at_once",
    f"three-player {SMALL} first_move_captures_mandarin=False",
    "three-player capture=single quan_non=3 empty_mandarin=stop leftovers=split",
]
FORFEIT = [f"{preset} {SMALL} refill=forfeit" for preset in ("tonkin", "three-player", "four-player")]
FORFEIT += [f"{rules} refill_when=at_once" for rules in FORFEIT]
TINY = [f"{preset} {SMALL}" for preset in ("mancala-world", "three-player", "four-player")]
TINY += [f"three-player {SMALL} {other}" for other in ("max_plies=4", "leftovers=split")]


@pytest.mark.parametrize("rules", ["three-player", "four-player", "tonkin refill=forfeit"])
def test_an_analysis_is_worth_its_line(rules: str) -> None:
    core, player = Core(rules), make("maxn:depth=4", rules)
    batch = random_positions(core, 8, seed=8)
    wanted = plain_maxn(core, batch, 4)[np.arange(len(batch)), :, batch.mover]
    for row in range(len(batch)):
        board = Board.from_positions(core, batch, row)
        root, before = board.mover, np.array(board.scores)
        analysis = player.analyse(board)
        found = {move.action: value for move, value in analysis.values.items()}
        assert found == pytest.approx({move.action: wanted[row, move.action] for move in board.legal_moves})
        assert analysis.value == analysis.values[analysis.best] == max(analysis.values.values())
        assert (analysis.line[0], analysis.depth, analysis.proved) == (analysis.best, 4, False)
        for move in analysis.line:
            board.push(move)
        assert len(analysis.line) == 4 or board.outcome
        won = core.standings(board.positions) - before
        assert analysis.value == pytest.approx(relative_points(won)[0, root])
    assert re.match(r"\+\d+(\.\d)? points for South .*, searched to depth 4", str(player.analyse(Board(rules))))
    with pytest.raises(ValueError, match=f"'{rules}', but the board's are 'app'"):
        player.analyse(Board("app"))


@settings(max_examples=60)
@given(strategies.rules() | st.sampled_from([Rules.parse(name) for name in (*RULES, *FORFEIT)]), strategies.seeds)
def test_the_compiled_move_is_the_cores(rules: Rules, seed: int) -> None:
    core, rng, players = Core(rules), np.random.default_rng(seed), rules.players
    compiled, policy, positions = compile_multiplayer(core), RandomPolicy(core), core.start(3)
    while len(positions):
        before, actions = positions.copy(), policy.choose(positions, rng)
        core.play(positions, actions)
        standings = core.standings(positions)
        for row, action in enumerate(actions.tolist()):
            board, left = before[row : row + 1], rules.max_plies - int(positions.ply[row])
            sides, scores = (in_turn(players, one[0], board.mover[0]) for one in (board.words, board.scores))
            moved, mover = play_and_rotate(compiled, sides, scores, action, left), positions.mover[row]
            assert moved.sides == in_turn(players, positions.words[row], mover)
            assert moved.scores == in_turn(players, standings[row], mover)
            assert moved.ended == positions.ended[row]
        positions = positions[~positions.over]


def random_scores(core: Core, positions: Positions, rng: np.random.Generator) -> Positions:
    """Set random scores, some too low to pay for a refill, in place; return the positions."""
    positions.scores[:] = rng.integers(0, 2 * core.rules.fields, positions.scores.shape)
    return positions


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("rules", [*RULES, *TINY, *FORFEIT])
def test_values_are_those_of_a_plain_search(rules: str, depth: int) -> None:
    core, rng = Core(rules), np.random.default_rng(depth)
    positions, search = random_scores(core, random_positions(core, 24, seed=depth), rng), MaxnSearch(core, threads=2)
    wanted = plain_maxn(core, positions, depth)
    assert search.values(positions, depth) == pytest.approx(wanted, abs=1e-9)
    own = wanted[np.arange(len(positions)), :, positions.mover]
    for every_move in (False, True):
        found = search.best_moves(positions, Limits(depth=depth), every_move=every_move)
        for row, one in zip(own, found, strict=True):
            best = np.isclose(row, row.max()).nonzero()[0]
            assert (one.value, one.actions) == (pytest.approx(row.max()), tuple(best.tolist()))
            assert one.values == pytest.approx({int(action): row[action] for action in np.isfinite(row).nonzero()[0]})


@pytest.mark.parametrize("rules", TINY)
def test_a_net_values_running_positions_at_the_horizon(rules: str) -> None:
    """A few values may differ, because rounded weights can change the choice between nearly equal moves."""
    core, net = Core(rules), random_net(rules, 0.1)
    positions = random_positions(core, 24, seed=5)
    for depth, share in ((1, 1), (2, 0.98), (4, 0.95)):
        wanted, found = plain_maxn(core, positions, depth, net), MaxnSearch(core, net=net).values(positions, depth)
        legal = np.isfinite(wanted)
        assert (legal == np.isfinite(found)).all()
        assert (np.abs(found[legal] - wanted[legal]) <= 3 / NET_UNIT).mean() >= share


def test_a_depth_that_is_cut_off_counts_with_the_best_move_of_the_one_before() -> None:
    core = Core("three-player")
    positions = random_positions(core, 30, seed=7)
    search, cut = MaxnSearch(core), 0
    whole = search.values(positions, 4)
    for row, one in enumerate(search.best_moves(positions, Limits(depth=4, nodes=1500))):
        mover = positions.mover[row]
        if one.depth == 4 and len(one.values) < np.isfinite(whole[row, :, mover]).sum():
            cut += 1
            before = search.best_moves(positions[row : row + 1], Limits(depth=3))[0]
            assert set(one.values) & set(before.actions)
            assert one.values == {action: whole[row, action, mover] for action in one.values}
    assert cut > 5
