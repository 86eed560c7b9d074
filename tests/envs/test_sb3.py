"""Test the vector environment with stable-baselines3's interface against the one with Gymnasium's."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

pytest.importorskip("stable_baselines3")

from sb3_contrib import MaskablePPO

from oanquan_env import Core
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.players import as_policy
from oanquan_env.sb3 import OAnQuanVecEnv
from tests.players import random_legal


def test_it_is_the_vector_environment_with_monitor_entries() -> None:
    games = OAnQuanVecEnv(6, opponent="greedy", reward="margin", seed=5)
    plain = OAnQuanVectorEnv(6, opponent="greedy", reward="margin", autoreset_mode=AutoresetMode.SAME_STEP)
    (expected, _), rng, earned, ended = plain.reset(seed=5), np.random.default_rng(0), np.zeros(6), 0
    assert (games.reset() == expected).all()
    for _ in range(120):
        actions = random_legal(games.action_masks(), rng)
        seen, rewards, done, infos = games.step(actions)
        expected, wanted, terminated, truncated, info = plain.step(actions)
        earned += wanted
        assert (seen == expected).all()
        assert rewards == pytest.approx(wanted)
        assert (done == (terminated | truncated)).all()
        for row in done.nonzero()[0]:
            assert (infos[row]["terminal_observation"] == info["final_obs"][row]).all()
            assert infos[row]["episode"]["r"] == pytest.approx(earned[row])
            earned[row], ended = 0, ended + 1
    assert ended > 20
    assert games.env_method("action_masks")[0].shape == (6, 10)
    with pytest.raises(NotImplementedError, match="share one object"):
        games.set_attr("seed", 1)


def test_maskable_ppo_learns_on_planes_and_takes_another_opponent() -> None:
    games = OAnQuanVecEnv(8, opponent="random", observation="planes")
    model = MaskablePPO("MlpPolicy", games, n_steps=32, batch_size=64, seed=0, device="cpu")
    model.learn(512)
    games.set_opponent(["greedy", "random"])
    games.set_opponent_weights([1, 3])
    model.learn(512)
    assert len(model.ep_info_buffer or ()) > 5
    assert games.observation_space.shape == (12 * 17 + 3,)
    core = Core()
    player = as_policy(model, core)  # it gets the observation that it was trained on
    assert core.legal_mask(core.start())[0, player.choose(core.start(), np.random.default_rng(0))[0]]
