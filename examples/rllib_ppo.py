"""Self-play PPO with RLlib, with its own action-masking RLModule on its own PettingZoo wrapper.

    python -m venv .venv-pinned                       # of its own: ray[rllib] pins an older Gymnasium
    .venv-pinned/bin/pip install -e ".[rllib]"
    .venv-pinned/bin/python -m examples.rllib_ppo --minutes 10 --output curve.jsonl

One policy plays both seats. RLlib keeps an episode for each player; the reward of a step is all that the player won or
lost up to its next turn. So RLlib's PPO need not know that the game is zero-sum.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from examples.features_env import FeaturesEnv
from examples.scoring import Curve, Features, add_learning_options, make_parser
from oanquan_env.arrays import Mask
from oanquan_env.observation import Observation

POLICY = "player"


def make_env(context: EnvContext) -> PettingZooEnv:
    """One game after another; the masking module looks for the key `observations`."""
    seed = [context["seed"], context.worker_index, context.vector_index]
    return PettingZooEnv(FeaturesEnv(key="observations", reward="margin", seed=seed))


def make_algorithm(options: argparse.Namespace) -> Algorithm:
    """PPO with these options; all in this process unless there are `--runners`."""
    network = DefaultModelConfig(fcnet_hiddens=[options.width, options.width], fcnet_activation="relu")
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network)
    ray.tune.register_env("oanquan", make_env)
    config = (
        PPOConfig()
        .environment("oanquan", env_config={"seed": options.seed})
        .env_runners(
            num_env_runners=options.runners,
            num_envs_per_env_runner=options.envs,
            batch_mode="truncate_episodes",  # complete ones would begin each batch with the same seeds
        )
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, *args, **kwargs: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .training(
            train_batch_size_per_learner=options.batch,
            minibatch_size=options.minibatch,
            num_epochs=options.epochs,
            lr=options.learning_rate,
            gamma=1.0,
            lambda_=options.gae_lambda,
            entropy_coeff=options.entropy,
            clip_param=0.2,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .debugging(seed=options.seed, log_level="ERROR")
    )
    return config.build_algo()


def make_choose(algorithm: Algorithm) -> Any:
    """The policy's likeliest legal actions; see `examples.scoring.Choose`."""
    module, features = algorithm.get_module(POLICY), Features()

    @torch.no_grad()
    def choose(observations: Observation, masks: Mask) -> npt.NDArray[Any]:
        seen = {"observations": features(observations), "action_mask": masks.astype(np.float32)}
        batch = {Columns.OBS: {name: torch.from_numpy(array) for name, array in seen.items()}}
        logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
        return logits.argmax(dim=1).numpy()

    return choose


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = make_parser(__doc__, steps=1_000_000, every=20_000)
    add = parser.add_argument
    add("--runners", type=int, default=0, help="processes that play; 0 plays in this one (default: %(default)s)")
    add("--envs", type=int, default=16, help="games at once in each (default: %(default)s)")
    add("--batch", type=int, default=4096, help="plies between two updates (default: %(default)s)")
    add_learning_options(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> Curve:
    """Train; returns the learning curve."""
    options = parse(arguments)
    ray.init("local", num_cpus=options.runners + 1, include_dashboard=False, logging_level=logging.ERROR)
    algorithm = make_algorithm(options)
    try:
        curve, steps = Curve(options, ("ray", "torch")), 0
        curve.update(steps, make_choose(algorithm))
        while not curve.over(steps):
            steps = int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
            curve.update(steps, make_choose(algorithm))
        curve.finish()
    finally:
        algorithm.stop()
        ray.shutdown()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
