"""Random and greedy players, and players by name."""

import sys

import numpy as np
import pytest

from oanquan_env import Core
from oanquan_env.engine.notation import parse_position
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.players import (
    EpsilonPolicy,
    GreedyPolicy,
    Policy,
    RandomPolicy,
    best_actions,
    make,
    move_gains,
)


def test_random_plays_every_legal_move_equally_often_and_no_other() -> None:
    core = Core()
    position = parse_position(core, "0,3,0,0,2,0*/5,5,5,5,5,0* 20,0 0 4", checked=False)
    positions = position[np.zeros(8000, dtype=np.intp)]
    counts = np.bincount(RandomPolicy(core).choose(positions, np.random.default_rng(0)), minlength=10)
    assert counts.nonzero()[0].tolist() == [2, 3, 8, 9]
    assert abs(counts[[2, 3, 8, 9]] - 2000).max() < 200  # five standard deviations


def test_gains_count_captures_refills_and_leftovers() -> None:
    core = Core()
    capture = parse_position(core, "1,0,0,4,1,0*/1,0,0,0,0,0* 0,0 0 0", checked=False)
    assert move_gains(core, capture)[0].tolist() == [4, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    finishing = parse_position(core, "2,0,1,0,0,3*/0,2,1,0,0,2 0,10 0 0", checked=False)
    assert move_gains(core, finishing)[0, 4] == 15 + 3 - 1  # two captures, and what the rows still hold
    starving = parse_position(core, "0,0,0,1,1,0*/0,0,0,0,0,3* 10,7 0 0", checked=False)
    assert move_gains(core, starving)[0, 6] == 5  # the opponent pays for its refill


def test_gains_of_illegal_actions_are_zero() -> None:
    core = Core("tonkin")
    assert (move_gains(core, core.start())[:, 1::2] == 0).all()


def test_greedy_takes_the_most() -> None:
    core = Core()
    positions = parse_position(core, "1,0,0,4,1,0*/1,0,0,0,0,0* 0,0 0 0", checked=False)[np.zeros(50, dtype=np.intp)]
    assert (GreedyPolicy(core).choose(positions, np.random.default_rng(0)) == 0).all()  # 1A alone captures


def test_ties_are_broken_at_random_and_illegal_actions_never_win() -> None:
    values = np.tile([1.0, 3.0, 3.0, 9.0], (4000, 1))
    mask = np.tile([True, True, True, False], (4000, 1))
    counts = np.bincount(best_actions(values, mask, np.random.default_rng(0)), minlength=4)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert abs(counts[1] - 2000) < 160


@pytest.mark.parametrize("preset", ["mancala-world", "tonkin", "three-player", "four-player"])
def test_greedy_plays_legal_moves_for_any_number_of_players(preset: str) -> None:
    core, rng = Core(preset), np.random.default_rng(0)
    positions = core.start(64)
    for _ in range(12):
        core.play(positions, GreedyPolicy(core).choose(positions, rng))
        positions = positions[~positions.over]


def test_players_by_name() -> None:
    assert isinstance(make("greedy"), GreedyPolicy)
    assert isinstance(make("random", "tonkin"), Policy)
    with pytest.raises(ValueError, match=r"unknown player 'gredy' \(did you mean greedy\?\)"):
        make("gredy")


def test_any_player_errs_as_often_as_its_name_says_without_the_agents_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.players.make", None)
    player = make("greedy:epsilon=0.25")
    assert isinstance(player, EpsilonPolicy)
    assert (player.epsilon, type(player.policy)) == (0.25, GreedyPolicy)


def test_players_of_the_agents_package_by_name() -> None:
    searching = pytest.importorskip("agents.players.search_player")
    game = OAnQuanEnv(opponent="minimax:depth=2", seat=1)
    game.reset(seed=0)
    assert game.positions.ply[0] == 1
    assert isinstance(make("minimax:depth=2"), searching.SearchPlayer)


def test_without_the_agents_package_two_players_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.players.make", None)
    with pytest.raises(ValueError, match=r"unknown player 'minimax': without .*only random, greedy"):
        make("minimax")


@pytest.mark.parametrize("epsilon", [-0.1, 1.5])
def test_epsilon_is_a_probability(epsilon: float) -> None:
    with pytest.raises(ValueError, match=f"epsilon must be a probability, 0 to 1; got {epsilon}"):
        EpsilonPolicy(Core(), GreedyPolicy(Core()), epsilon)
