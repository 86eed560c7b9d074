"""Test players in every role without an adapter, drawn or exchanged opponents, and players in forked processes."""

import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from oanquan_env import Core, Positions, evaluate
from oanquan_env.array_types import Ints
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests import ROOT
from tests.helpers.players import FirstMove, random_legal


def test_a_torch_module_is_opponent_evaluated_player_and_entrant_without_an_adapter() -> None:
    torch.manual_seed(0)
    network, core = torch.nn.Linear(18, 10), Core()
    games = OAnQuanVectorEnv(8, opponent=[network, "greedy"])
    _, info = games.reset(seed=0)
    games.step(random_legal(info["action_mask"], np.random.default_rng(0)))
    assert evaluate(network, opponents=["random"], pairs=5).pairings[0].pairs == 5
    found = evaluate("greedy", opponents={"net": network, "first": FirstMove(core)}, pairs=5)
    assert [pairing.opponent for pairing in found.pairings] == ["net", "first"]


class Counting(FirstMove):
    """A `FirstMove` that counts the moves that it has chosen."""

    chosen = 0

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        self.chosen += len(positions)
        return super().choose(positions, rng)


def test_one_of_several_opponents_is_drawn_for_each_game_and_plays_all_of_it() -> None:
    core = Core()
    players = [Counting(core) for _ in range(3)]
    games = OAnQuanVectorEnv(300, opponent=players, seat=1)
    _, info = games.reset(seed=0)
    first = [player.chosen for player in players]
    assert sum(first) == 300
    assert min(first) > 70  # expected 100, standard deviation 8
    games.step(info["action_mask"].argmax(axis=1))
    assert [player.chosen for player in players] == [2 * count for count in first]


def test_an_exchanged_opponent_plays_the_games_that_begin_afterwards() -> None:
    former, latter = Counting(Core()), Counting(Core())
    games = OAnQuanVectorEnv(4, opponent=former, seat=1, autoreset_mode="Disabled")
    games.reset(seed=0)
    assert former.chosen == 4
    games.set_opponent(latter)
    actions = np.where(np.arange(4) < 2, games.action_masks().argmin(axis=1), games.action_masks().argmax(axis=1))
    assert games.action_masks()[np.arange(4), actions].tolist() == [False, False, True, True]  # illegal: the game ends
    games.step(actions)
    assert (former.chosen, latter.chosen) == (6, 0)
    games.reset(options={"reset_mask": np.array([True, True, False, False])})
    assert (former.chosen, latter.chosen) == (6, 2)
    games.step(games.action_masks().argmax(axis=1))
    assert (former.chosen, latter.chosen) == (8, 4)
    games.reset()
    assert (former.chosen, latter.chosen) == (8, 8)


def test_weights_decide_who_plays_the_games_that_begin_afterwards() -> None:
    """Weights also apply to games that replace one ended by the opponent; `OAnQuanEnv` draws the same opponents."""
    players = ["random", "greedy", "saver", "random"]
    for rules, seat in (("mancala-world", 1), ("mancala-world max_plies=1", "random")):
        games = OAnQuanVectorEnv(2000, rules, opponent=players, seat=seat)
        games.set_opponent_weights([0, 3, 1, 0])
        drawn = games.reset(seed=0)[1]["opponent"]
        counts = np.bincount(drawn, minlength=4)
        assert counts[[0, 3]].tolist() == [0, 0]
        assert abs(counts[1] - 1500) < 80  # four standard deviations
    game = OAnQuanEnv(opponent=players, seat=1)
    game.set_opponent_weights(np.array([0, 3, 1, 0]))
    first = OAnQuanVectorEnv(20, opponent=players, seat=1)
    first.set_opponent_weights((0, 3, 1, 0))
    drawn = first.reset(seed=7)[1]["opponent"]
    assert [game.reset(seed=7 + row)[1]["opponent"] for row in range(20)] == drawn.tolist()
    first.set_opponent_weights([1, 0, 0, 0])
    masks = first.action_masks()
    illegal = np.arange(20) < 8  # these games end
    _, _, terminated, _, info = first.step(np.where(illegal, masks.argmin(axis=1), masks.argmax(axis=1)))
    over = terminated & illegal
    assert over.tolist() == illegal.tolist()
    assert (info["opponent"] == drawn).all()
    after = first.step(first.action_masks().argmax(axis=1))[4]["opponent"]
    assert (after[over] == 0).all()
    assert (after[~terminated] == drawn[~terminated]).all()
    first.set_opponent(players)
    assert len(set(first.reset(seed=0)[1]["opponent"].tolist())) == 4  # equal weights again


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [0, 0], [1, -1], [1, np.nan], [1, np.inf], None])
def test_impossible_weights_are_an_error(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights must be 2 finite numbers, one per opponent"):
        OAnQuanEnv(opponent=["greedy", "random"]).set_opponent_weights(weights)


def test_only_another_player_can_be_set_and_in_the_self_play_view_none() -> None:
    game = OAnQuanEnv(opponent=FirstMove(Core()), seat=1)
    game.set_opponent("greedy")
    for one, opponent in ((game, None), (OAnQuanEnv(opponent=None), "greedy")):
        with pytest.raises(ValueError, match="the opponent cannot be set to None"):
            one.set_opponent(opponent)
    with pytest.raises(ValueError, match="unknown player 'gredy'"):
        game.set_opponent("gredy")


@pytest.mark.slow
def test_an_opponent_reaches_environments_in_other_processes() -> None:
    settings: Any = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}}
    games = gymnasium.make_vec("OAnQuan-v0", num_envs=2, opponent=FirstMove(Core()), **settings)
    games.call("set_opponent", "greedy")
    assert games.reset(seed=0)[0].shape == (2, 18)
    games.close()


FORKED = """
import sys, numpy as np, torch
import gymnasium, oanquan_env

torch.set_num_threads(2)
player = "ppo:pretrained"
if sys.argv[1] == "module":
    player = torch.nn.Sequential(torch.nn.Linear(18, 512), torch.nn.Linear(512, 512), torch.nn.Linear(512, 10))
elif sys.argv[1] == "model":
    from sb3_contrib import MaskablePPO
    from oanquan_env.sb3 import OAnQuanVecEnv
    player = MaskablePPO("MlpPolicy", OAnQuanVecEnv(2, opponent="random"), policy_kwargs={"net_arch": [512, 512]})
policy = oanquan_env.players.as_policy(player)
policy.choose(oanquan_env.Core().start(512), np.random.default_rng(0))  # starts torch's threads
games = gymnasium.make_vec("OAnQuan-v0", num_envs=2, vectorization_mode="async", opponent=player)
_, info = games.reset(seed=0)
games.step(np.stack(info["action_mask"]).argmax(axis=1))
games.close()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.parametrize("player", ["agent", "module", "model"])
def test_a_network_that_the_parent_has_used_plays_in_forked_children(player: str) -> None:
    threads = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, "-c", FORKED, player]
    done = subprocess.run(command, cwd=ROOT, env=threads, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
