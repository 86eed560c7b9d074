"""MaskablePPO of sb3-contrib on the batch of games, against an opponent that moves within the step.

    python -m examples.sb3_ppo --minutes 10

`MaskablePPO("MlpPolicy", gymnasium.make("OAnQuan-v0"))` works as it is; `GamesVecEnv` steps many games with one call
instead of one after another.
"""

import argparse
import sys
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from oanquan_env import Core
from oanquan_env.arrays import Mask
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.observation import Encoder

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "opponent": "greedy", "envs": 128, "n_steps": 32, "minibatch": 512, "width": 256,
}
# fmt: on
ENCODER = Encoder(Core())


class GamesVecEnv(VecEnv):
    """`gymnasium.make_vec("OAnQuan-v0", n)` under stable-baselines3's interface, with features for observations."""

    render_mode = None

    def __init__(self, n: int, opponent: str, seed: int) -> None:
        settings = {"opponent": opponent, "reward": "margin", "opening_plies": 6, "autoreset_mode": "SameStep"}
        self.games = gymnasium.make_vec("OAnQuan-v0", n, **settings)
        super().__init__(n, gymnasium.spaces.Box(0.0, np.inf, (ENCODER.feature_size,)), self.games.single_action_space)
        self._first = seed

    def reset(self) -> Any:
        """(N, ENCODER.feature_size) features of fresh games."""
        observations, info = self.games.reset(seed=self._first)
        self._masks = info["action_mask"].astype(np.bool_)
        return ENCODER.features(observations)

    def step_async(self, actions: Any) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> Any:
        """One step of every game: features, rewards, finished flags, infos."""
        observations, rewards, terminated, truncated, info = self.games.step(self._actions)
        self._masks, done = info["action_mask"].astype(np.bool_), terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in done.nonzero()[0]:  # a game cut short has its score, as any other: nothing is bootstrapped
            last = ENCODER.features(info["final_obs"][row][None])[0]
            infos[row] = {"terminal_observation": last, "TimeLimit.truncated": False}
        return ENCODER.features(observations), rewards.astype(np.float32), done, infos

    def action_masks(self) -> Mask:
        """(N, A) bool, the legal actions."""
        return self._masks

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """The rows of what `action_masks` returns."""
        return list(getattr(self, method_name)(*args, **kwargs))

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once for each game."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games share one object."""
        raise NotImplementedError("the games share one object: set its attributes directly")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""


class Measure(BaseCallback):
    """Adds to the curve before each rollout, and stops training when it is over."""

    def __init__(self, curve: TrainingCurve) -> None:
        super().__init__()
        self.curve = curve

    def _on_rollout_start(self) -> None:
        self.going = self.curve.update(self.num_timesteps, self.choose)

    def choose(self, observations: Any, masks: Mask) -> Any:
        """The likeliest legal actions."""
        return self.model.predict(ENCODER.features(observations), action_masks=masks, deterministic=True)[0]

    def _on_step(self) -> bool:
        return self.going


def main(arguments: list[str]) -> TrainingCurve:
    """Train and evaluate by turns; returns the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    model = MaskablePPO(
        "MlpPolicy",
        GamesVecEnv(options.envs, options.opponent, options.seed),
        learning_rate=1e-3,
        n_steps=options.n_steps,
        batch_size=options.minibatch,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.9,
        ent_coef=0.01,
        vf_coef=10.0,  # rewards are shares of all points, so errors of values are small numbers
        policy_kwargs={"net_arch": [options.width, options.width], "activation_fn": torch.nn.ReLU},
        seed=options.seed,
        device="cpu",
    )
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    model.learn(sys.maxsize, callback=Measure(curve))
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
