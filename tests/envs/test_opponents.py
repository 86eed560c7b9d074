"""Test players in every role without an adapter, drawn or exchanged opponents, and players in forked processes."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from oanquan_env import Core, Positions
from oanquan_env.array_types import Ints
from oanquan_env.envs.single import OAnQuanEnv
from oanquan_env.envs.vector import OAnQuanVectorEnv
from tests import ROOT
from tests.helpers.players import FirstMove


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
        counts = np.bincount(games.reset(seed=0)[1]["opponent"], minlength=4)
        assert counts[[0, 3]].tolist() == [0, 0]
        assert abs(counts[1] - 1500) < 80  # four standard deviations
    game, games = OAnQuanEnv(opponent=players, seat=1), OAnQuanVectorEnv(20, opponent=players, seat=1)
    for one in (game, games):
        one.set_opponent_weights(np.array([0, 3, 1, 0]))
    drawn = games.reset(seed=7)[1]["opponent"]
    assert [game.reset(seed=7 + row)[1]["opponent"] for row in range(20)] == drawn.tolist()
    games.set_opponent_weights([1, 0, 0, 0])
    masks, illegal = games.action_masks(), np.arange(20) < 8  # these games end
    _, _, terminated, _, info = games.step(np.where(illegal, masks.argmin(axis=1), masks.argmax(axis=1)))
    assert terminated[:8].all()
    assert (info["opponent"] == drawn).all()
    after = games.step(games.action_masks().argmax(axis=1))[4]["opponent"]
    assert (after == np.where(terminated, 0, drawn)).all()
    games.set_opponent(players)
    assert len(set(games.reset(seed=0)[1]["opponent"].tolist())) == 4  # equal weights again


@pytest.mark.parametrize(
    ("opponent", "call", "value", "message"),
    [
        *(
            (["greedy", "random"], "set_opponent_weights", bad, "weights must be 2 finite numbers, one per opponent")
            for bad in ([1], [1, 2, 3], [0, 0], [1, -1], [1, np.nan], [1, np.inf], None)
        ),
        ("greedy", "set_opponent", None, "the opponent cannot be set to None"),
        (None, "set_opponent", "greedy", "the opponent cannot be set to None"),
        ("greedy", "set_opponent", "gredy", "unknown player 'gredy'"),
    ],
)
def test_opponents_and_weights_that_cannot_be_set_are_refused(
    opponent: Any, call: str, value: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(OAnQuanEnv(opponent=opponent), call)(value)


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
