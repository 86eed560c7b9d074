"""Self-play PPO with RLlib's action-masking RLModule on its PettingZoo wrapper; one policy plays both seats.

    python -m venv .venv-pinned && .venv-pinned/bin/pip install -e ".[rllib]"    # ray[rllib] pins an older Gymnasium
    .venv-pinned/bin/python -m examples.rllib_ppo --minutes 10

A step's reward is the margin that the player wins or loses up to its next turn, so RLlib can treat players separately.
"""

import argparse
import sys
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper

from oanquan_env import raw_env
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra

with needing_extra("rllib", "examples.rllib_ppo" if __name__ == "__main__" else None):
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "runners": 0, "envs": 16, "batch": 4096, "minibatch": 256, "epochs": 6, "width": 256,
}
# fmt: on
KEYS = "observations", "action_mask"


class FloatMaskEnv(BaseWrapper):
    """A wrapper of `raw_env` for RLlib; observations have the keys `KEYS` and a float mask, 0 for a waiting player."""

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of observations, which is the same for both players."""
        parts = self.env.observation_space(agent)["observation"], spaces.Box(0, 1, (10,))
        return spaces.Dict(dict(zip(KEYS, parts, strict=True)))

    def observe(self, agent: str) -> dict[str, Any]:
        """Return a player's observation and mask."""
        observed = self.env.observe(agent)
        parts = observed["observation"], observed["action_mask"].astype(np.float32)
        return dict(zip(KEYS, parts, strict=True))


def make_env(context: Any) -> PettingZooEnv:
    """Make an environment for RLlib, seeded by the `seed`, worker index and vector index in `context`."""
    env = FloatMaskEnv(raw_env(reward="margin", opening_plies=6, observation="planes"))
    env.reset(seed=(context["seed"] * 100 + context.worker_index) * 100 + context.vector_index)
    return PettingZooEnv(env)


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    ray.init("local", num_cpus=options.runners + 1, include_dashboard=False, logging_level="ERROR")
    ray.tune.register_env("oanquan", make_env)
    network = DefaultModelConfig(fcnet_hiddens=[options.width] * 2, fcnet_activation="relu")
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network)
    config = PPOConfig().environment("oanquan", env_config={"seed": options.seed})
    # with complete episodes, every batch would start from the same seeds
    runners = {"num_env_runners": options.runners, "num_envs_per_env_runner": options.envs}
    config.env_runners(**runners, batch_mode="truncate_episodes")
    config.multi_agent(policies={"player"}, policy_mapping_fn=lambda agent, *args, **kwargs: "player")
    config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"player": module}))
    sizes = {"train_batch_size_per_learner": options.batch, "minibatch_size": options.minibatch}
    config.training(**sizes, num_epochs=options.epochs, lr=5e-4, gamma=1.0, lambda_=0.9, entropy_coeff=0.01)
    config.training(clip_param=0.2, use_kl_loss=False, grad_clip=0.5)
    algorithm = config.debugging(seed=options.seed, log_level="ERROR").build_algo()

    @torch.no_grad()
    def choose(observations: Any, masks: Any) -> Any:
        inputs = dict(zip(KEYS, (observations, masks.astype(np.float32)), strict=True))
        batch = {Columns.OBS: {name: torch.from_numpy(array) for name, array in inputs.items()}}
        logits = algorithm.get_module("player").forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
        return logits.argmax(dim=1).numpy()

    choose.observation = "planes"
    curve, steps = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed), 0
    while curve.update(steps, choose):
        steps = int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
    algorithm.stop()
    ray.shutdown()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
