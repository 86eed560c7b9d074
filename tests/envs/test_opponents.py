"""One player in all places without an adapter; opponents that are drawn or exchanged; players in forked processes."""

import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from oanquan_env import Core, Positions, evaluate
from oanquan_env.arrays import Ints
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests import ROOT
from tests.players import FirstMove, random_legal


class DQN(torch.nn.Module):
    """Q-values of the actions, learned from one-step targets against `opponent`."""

    def __init__(self) -> None:
        super().__init__()
        self.q = torch.nn.Sequential(torch.nn.Linear(18, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

    def forward(self, observations: torch.Tensor) -> Any:
        return self.q(observations / 10)

    def learn(self, opponent: object, steps: int, discount: float = 0.5) -> None:
        """Each step is one action in each of 64 games, by chance in a fifth of them, and one step of the gradient."""
        games = OAnQuanVectorEnv(64, opponent=opponent, reward="margin", autoreset_mode="SameStep")
        optimizer, rng = torch.optim.Adam(self.parameters(), lr=3e-3), np.random.default_rng(0)
        seen, info = games.reset(seed=0)
        for _ in range(steps):
            values, mask = self(torch.as_tensor(seen, dtype=torch.float32)), info["action_mask"] == 1
            best = values.masked_fill(~torch.as_tensor(mask), -1e9).argmax(dim=1).numpy()
            actions = np.where(rng.random(64) < 0.2, random_legal(mask, rng), best)
            seen, rewards, terminated, truncated, info = games.step(actions)
            illegal, running = torch.as_tensor(info["action_mask"] == 0), torch.as_tensor(~(terminated | truncated))
            with torch.no_grad():
                after = self(torch.as_tensor(seen, dtype=torch.float32)).masked_fill(illegal, -1e9).amax(dim=1)
            target = torch.as_tensor(10 * rewards, dtype=torch.float32) + discount * after * running
            chosen = values.gather(1, torch.as_tensor(actions)[:, None])[:, 0]
            optimizer.zero_grad()
            torch.nn.functional.smooth_l1_loss(chosen, target).backward()
            optimizer.step()


def test_a_dqn_is_opponent_evaluated_player_and_entrant_without_an_adapter() -> None:
    torch.manual_seed(0)
    network, core = DQN(), Core()
    network.learn("random", steps=600)
    assert evaluate(network, opponents=["random"], pairs=100).pairings[0].score.mean > 0.55
    network.learn([network, "greedy"], steps=5)  # itself is a player, too
    found = evaluate("greedy", opponents={"dqn": network, "first": FirstMove(core)}, pairs=5)
    assert [pairing.opponent for pairing in found.pairings] == ["dqn", "first"]


class Noted(FirstMove):
    """As `FirstMove`; counts the positions that it was asked about."""

    asked = 0

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        self.asked += len(positions)
        return super().choose(positions, rng)


def test_one_of_several_opponents_is_drawn_for_each_game_and_plays_all_of_it() -> None:
    core = Core()
    players = [Noted(core) for _ in range(3)]
    games = OAnQuanVectorEnv(300, opponent=players, seat=1)
    _, info = games.reset(seed=0)
    first = [player.asked for player in players]
    assert sum(first) == 300
    assert min(first) > 70  # expected 100, standard deviation 8
    games.step(info["action_mask"].argmax(axis=1))
    assert [player.asked for player in players] == [2 * count for count in first]


def test_an_exchanged_opponent_plays_the_games_that_begin_afterwards() -> None:
    former, latter = Noted(Core()), Noted(Core())
    games = OAnQuanVectorEnv(4, opponent=former, seat=1, autoreset_mode="Disabled")
    games.reset(seed=0)
    assert former.asked == 4
    games.set_opponent(latter)
    actions = np.where(np.arange(4) < 2, games.action_masks().argmin(axis=1), games.action_masks().argmax(axis=1))
    assert games.action_masks()[np.arange(4), actions].tolist() == [False, False, True, True]  # illegal: the game ends
    games.step(actions)
    assert (former.asked, latter.asked) == (6, 0)
    games.reset(options={"reset_mask": np.array([True, True, False, False])})
    assert (former.asked, latter.asked) == (6, 2)
    games.step(games.action_masks().argmax(axis=1))
    assert (former.asked, latter.asked) == (8, 4)
    games.reset()
    assert (former.asked, latter.asked) == (8, 8)


def test_the_opponent_of_a_single_game_is_exchanged_and_the_self_play_view_has_none() -> None:
    former, latter = Noted(Core()), Noted(Core())
    game = OAnQuanEnv(opponent=former, seat=1)
    game.reset(seed=0)
    game.set_opponent(latter)
    game.step(int(game.action_masks().argmax()))
    assert (former.asked, latter.asked) == (2, 0)
    game.reset()
    assert (former.asked, latter.asked) == (2, 1)
    for one, opponent in ((game, None), (OAnQuanEnv(opponent=None), "greedy")):
        with pytest.raises(ValueError, match="only another opponent can be set"):
            one.set_opponent(opponent)
    with pytest.raises(ValueError, match="unknown player 'gredy'"):
        game.set_opponent("gredy")


def test_an_opponent_reaches_environments_in_other_processes() -> None:
    settings: Any = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}}
    games = gymnasium.make_vec("OAnQuan-v0", num_envs=2, opponent=FirstMove(Core()), **settings)
    games.call("set_opponent", "greedy")
    assert games.reset(seed=0)[0].shape == (2, 18)
    games.close()


FORKED = """
import multiprocessing, sys
import numpy as np, torch
import agents, gymnasium, oanquan_env
from oanquan_env import Core

torch.set_num_threads(2)
player, start = agents.make("ppo:pretrained"), Core().start(512)

def choose(_=None):
    return player.choose(start, np.random.default_rng(0))

choose()  # starts torch's threads
if sys.argv[1] == "pool":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all((found == choose()).all() for found in pool.map(choose, range(2)))
else:
    games = gymnasium.make_vec("OAnQuan-v0", num_envs=2, vectorization_mode="async", opponent="ppo:pretrained")
    _, info = games.reset(seed=0)
    games.step(np.stack(info["action_mask"]).argmax(axis=1))
    games.close()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.parametrize("way", ["pool", "async"])
def test_a_network_that_the_parent_has_used_plays_in_forked_children(way: str) -> None:
    threads = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    run = {"cwd": ROOT, "env": threads, "capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run([sys.executable, "-c", FORKED, way], check=False, **run)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
