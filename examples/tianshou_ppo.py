"""PPO with Tianshou on the Gymnasium environment, against an opponent that moves within the step.

python -m venv .venv-pinned && .venv-pinned/bin/pip install -e ".[tianshou]"    # it pins an older filelock
.venv-pinned/bin/python -m examples.tianshou_ppo --minutes 10
"""

import argparse
import sys
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from oanquan_env import Core
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.observation import Encoder

OPTIONS = {
    "steps": 1_000_000,
    "minutes": 10.0,
    "every": 20_000,
    "pairs": 200,
    "seed": 0,
    "opponent": "greedy",
    "envs": 16,
    "batch": 2048,
    "minibatch": 256,
    "epochs": 4,
    "width": 256,
}
KEYS = "obs", "mask"
ENCODER = Encoder(Core())


def make_env(seed: int, opponent: str) -> gymnasium.Env:
    """A seeded game whose observations are features and a float mask, by the names in `KEYS`."""
    env = gymnasium.make("OAnQuan-v0", opponent=opponent, reward="margin", opening_plies=6)
    sizes = zip(KEYS, (ENCODER.feature_size, 10), strict=True)
    space = spaces.Dict({key: spaces.Box(0.0, np.inf, (size,), np.float32) for key, size in sizes})
    masks = env.get_wrapper_attr("action_masks")

    def see(observation: Any) -> dict[str, Any]:
        return dict(zip(KEYS, (ENCODER.features(observation[None])[0], masks().astype(np.float32)), strict=True))

    env.reset(seed=seed)
    return TransformObservation(env, see, space)


class Actor(DiscreteActor):
    """Logits of the legal actions: Tianshou's policy gradients do not look for a mask beside the observation."""

    def forward(self, obs: Batch, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Batches of N observations -> (N, A) logits."""
        logits, state = super().forward(obs.obs, state, info)
        return logits.masked_fill(torch.as_tensor(obs.mask) == 0, -1e9), state


class Critic(DiscreteCritic):
    """Values of observations that have a mask beside them."""

    def forward(self, obs: Batch, **kwargs: Any) -> torch.Tensor:
        """Batches of N observations -> (N, 1) values."""
        return super().forward(obs.obs, **kwargs)


def main(arguments: list[str]) -> TrainingCurve:
    """Train and evaluate by turns; returns the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    np.random.seed(options.seed)  # noqa: NPY002  (Tianshou shuffles minibatches by it)
    torch.manual_seed(options.seed)
    first = options.seed * options.envs
    makers = [lambda n=n: make_env(first + n, options.opponent) for n in range(options.envs)]
    envs, (hidden, actions) = DummyVectorEnv(makers), ([options.width] * 2, makers[0]().action_space)
    actor = Actor(
        preprocess_net=Net(state_shape=ENCODER.feature_size, hidden_sizes=hidden), action_shape=10, softmax_output=False
    )
    critic = Critic(preprocess_net=Net(state_shape=ENCODER.feature_size, hidden_sizes=hidden))
    policy, optim = DiscreteActorPolicy(actor=actor, action_space=actions), AdamOptimizerFactory(lr=5e-4)
    weights = {"ent_coef": 0.01, "vf_coef": 10.0, "max_grad_norm": 0.5}  # errors of shares of points are small
    ppo = PPO(policy=policy, critic=critic, optim=optim, gamma=1.0, gae_lambda=0.9, **weights)
    collector = Collector[Any](ppo, envs, VectorReplayBuffer(options.batch + options.envs, options.envs))
    sizes = {"epoch_num_steps": options.batch, "collection_step_num_env_steps": options.batch}
    uses = {"batch_size": options.minibatch, "update_step_num_repetitions": options.epochs}
    params = OnPolicyTrainerParams(training_collector=collector, **sizes, **uses, show_progress=False, verbose=False)
    trainer = ppo.create_trainer(params)

    @torch.no_grad()
    def choose(observations: Any, masks: Any) -> Any:
        return actor(Batch(obs=ENCODER.features(observations), mask=masks))[0].argmax(dim=1).numpy()

    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    trainer.reset()
    while curve.update(collector.collect_step, choose):
        trainer.execute_epoch()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
