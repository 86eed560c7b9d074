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
    make,
)


def test_random_plays_every_legal_move_equally_often_and_no_other() -> None:
    core = Core()
    position = parse_position(core, "0,3,0,0,2,0*/5,5,5,5,5,0* 20,0 0 4", checked=False)
    positions = position[np.zeros(8000, dtype=np.intp)]
    counts = np.bincount(RandomPolicy(core).choose(positions, np.random.default_rng(0)), minlength=10)
    assert counts.nonzero()[0].tolist() == [2, 3, 8, 9]
    assert abs(counts[[2, 3, 8, 9]] - 2000).max() < 200  # five standard deviations


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


@pytest.mark.parametrize("epsilon", [-0.1, 1.5])
def test_epsilon_is_a_probability(epsilon: float) -> None:
    with pytest.raises(ValueError, match=f"epsilon must be a probability, 0 to 1; got {epsilon}"):
        EpsilonPolicy(Core(), GreedyPolicy(Core()), epsilon)
