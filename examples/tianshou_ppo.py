"""PPO with Tianshou on the Gymnasium environment, against an opponent that moves within the step.

    pip install -e ".[tianshou]"
    python -m examples.tianshou_ppo --minutes 10 --output curve.jsonl

Tianshou's Q-learning looks for a mask beside the observation. Its policy gradients do not, so the actor does.
Where the time goes: environments are stepped one by one, and NumPy's overhead is paid for each of them.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from examples.features_gym import FeaturesGym
from examples.scoring import Curve, Features, add_learning_options, make_parser
from oanquan_env.arrays import Mask
from oanquan_env.observation import Observation


class WithMask(gymnasium.Wrapper[dict[str, Any], np.int64, npt.NDArray[np.float32], np.int64]):
    """The legal actions beside the observation, as Tianshou has them.

    Infos are left out. Tianshou keeps them in its buffer; an entry that only finished games have becomes NaN in all
    others there, which stops the training.
    """

    def __init__(self, env: FeaturesGym) -> None:
        super().__init__(env)
        self._masks = env.action_masks
        actions = env.action_space
        assert isinstance(actions, spaces.Discrete)
        self.observation_space = spaces.Dict({"obs": env.observation_space, "mask": spaces.MultiBinary(int(actions.n))})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """`obs` (size,) float32 and `mask` (A,) bool of a new game."""
        seen, _ = self.env.reset(seed=seed, options=options)
        return {"obs": seen, "mask": self._masks()}, {}

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play `action` and the replies to it."""
        seen, reward, terminated, truncated, _ = self.env.step(action)
        return {"obs": seen, "mask": self._masks()}, float(reward), terminated, truncated, {}


class Actor(DiscreteActor):
    """Logits of the legal actions."""

    def forward(self, obs: Batch, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Batches of N observations -> (N, A) logits."""
        logits, state = super().forward(obs.obs, state, info)
        return logits.masked_fill(~torch.as_tensor(obs.mask, dtype=torch.bool), -1e9), state


class Critic(DiscreteCritic):
    """Values of observations that have a mask beside them."""

    def forward(self, obs: Batch, state: Any = None, info: Any = None) -> torch.Tensor:
        """Batches of N observations -> (N, 1) values."""
        return super().forward(obs.obs, state, info)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = make_parser(__doc__, steps=2_000_000, every=25_000)
    add = parser.add_argument
    add("--opponent", default="greedy", help="a player's name, such as random or greedy (default: %(default)s)")
    add("--reward", default="margin", help="margin (points, at each step), outcome or mixed (default: %(default)s)")
    add("--envs", type=int, default=16, help="games at once (default: %(default)s)")
    add("--batch", type=int, default=2048, help="steps between two updates (default: %(default)s)")
    add_learning_options(parser)
    parser.set_defaults(epochs=4)
    return parser.parse_args(arguments)


def make_algorithm(options: argparse.Namespace, size: int, actions: spaces.Space[Any]) -> PPO:
    """Networks and PPO for observations of `size` numbers."""

    def trunk() -> Net:
        return Net(state_shape=size, hidden_sizes=[options.width, options.width])

    assert isinstance(actions, spaces.Discrete)
    actor = Actor(preprocess_net=trunk(), action_shape=int(actions.n), softmax_output=False)
    return PPO(
        policy=DiscreteActorPolicy(actor=actor, action_space=actions),
        critic=Critic(preprocess_net=trunk()),
        optim=AdamOptimizerFactory(lr=options.learning_rate),
        gamma=1.0,
        gae_lambda=options.gae_lambda,
        ent_coef=options.entropy,
        vf_coef=10.0,  # rewards are shares of all points, so errors of values are small numbers
        max_grad_norm=0.5,
        max_batchsize=options.batch,
    )


def main(arguments: list[str]) -> Curve:
    """Train and evaluate by turns; returns the learning curve."""
    options = parse(arguments)
    np.random.seed(options.seed)  # noqa: NPY002  (Tianshou shuffles minibatches by it)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    def make_env(number: int) -> WithMask:
        seed = options.seed * options.envs + number
        return WithMask(FeaturesGym(seed=seed, opponent=options.opponent, reward=options.reward))

    envs = DummyVectorEnv([lambda number=number: make_env(number) for number in range(options.envs)])
    features = Features()
    algorithm = make_algorithm(options, features.size, envs.action_space[0])
    collector = Collector[Any](algorithm, envs, VectorReplayBuffer(options.batch + options.envs, options.envs))
    trainer = algorithm.create_trainer(
        OnPolicyTrainerParams(
            training_collector=collector,
            epoch_num_steps=options.batch,
            collection_step_num_env_steps=options.batch,
            batch_size=options.minibatch,
            update_step_num_repetitions=options.epochs,
            show_progress=False,
            verbose=False,
        )
    )

    @torch.no_grad()
    def choose(observations: Observation, masks: Mask) -> npt.NDArray[Any]:
        logits, _ = algorithm.policy.actor(Batch(obs=features(observations), mask=masks))
        return logits.argmax(dim=1).numpy()

    curve = Curve(options, ("torch", "tianshou"))  # its clock starts when Tianshou has compiled what it needs
    curve.update(0, choose)
    trainer.reset()
    while not curve.over(collector.collect_step):
        trainer.execute_epoch()
        curve.update(collector.collect_step, choose)
    curve.finish()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
