"""Self-play PPO with TorchRL, through its `PettingZooWrapper` and the AEC environment's action masks.

    pip install -e ".[torchrl]" -c constraints.txt
    python -m examples.torchrl_ppo --minutes 10 --output curve.jsonl

Both players are one group of two agents with one network. At every ply each of them gets the points won or lost, and a
mask says who is to move. What one player wins the other loses, so one critic, which sees the position from the
mover's side, gives the values of both, and TorchRL's generalized advantage estimation works unchanged for each.

Where the time goes: the wrapper takes some milliseconds a ply, far more than game and network together.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import SerialEnv
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from examples.features_env import FeaturesEnv
from examples.scoring import Curve, Features, add_learning_options, make_parser
from oanquan_env.arrays import Mask
from oanquan_env.observation import Observation

GROUP = "player"
SEEN = (GROUP, "observation", "observation")


class Wrapper(PettingZooWrapper):
    """`PettingZooWrapper` without a slow look-up: it finds these through `dir()`, which takes a third of its time."""

    agents = property(lambda self: self._env.agents)
    agent_selection = property(lambda self: self._env.agent_selection)


class ZeroSumValue(nn.Module):
    """Values of a position for both players from a critic that looks from the mover's side.

    Args:
        critic: (..., features) -> (..., 1).
    """

    def __init__(self, critic: nn.Module) -> None:
        super().__init__()
        self.critic = critic

    def forward(self, seen: torch.Tensor, moves: torch.Tensor) -> torch.Tensor:
        """(..., 2, 1) values of (..., 2, features) observations; `moves` (..., 2) bool tells who is to move."""
        value = self.critic(seen)
        return torch.where(moves[..., None], value, -value.flip(-2))


class Learner:
    """The networks, and how they learn from a batch of plies.

    Args:
        options: of `parse`.
        size: length of an observation.
        actions: number of actions.
    """

    def __init__(self, options: argparse.Namespace, size: int, actions: int) -> None:
        self.options = options
        widths = {"num_cells": [options.width, options.width], "activation_class": nn.ReLU}
        self.net, critic = MLP(size, actions, **widths), MLP(size, 1, **widths)
        self.actor = ProbabilisticActor(
            TensorDictModule(self.net, [SEEN], [(GROUP, "logits")]),
            in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
            out_keys=[(GROUP, "action")],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
        )
        keys = {name: (GROUP, name) for name in ("advantage", "value_target", "value", "reward", "done", "terminated")}
        of_both = TensorDictModule(ZeroSumValue(critic), [SEEN, (GROUP, "mask")], [keys["value"]])
        self.advantages = GAE(gamma=1.0, lmbda=options.gae_lambda, value_network=of_both)
        self.advantages.set_keys(**keys)
        self.loss = ClipPPOLoss(
            self.actor,
            TensorDictModule(critic, [SEEN], [keys["value"]]),
            entropy_coeff=options.entropy,
            normalize_advantage=True,
        )
        self.loss.set_keys(
            action=(GROUP, "action"),
            sample_log_prob=(GROUP, "action_log_prob"),
            **{name: keys[name] for name in ("advantage", "value_target", "value")},
        )
        self.optimizer = torch.optim.Adam(self.loss.parameters(), lr=options.learning_rate)
        self.plies = ReplayBuffer(
            storage=LazyTensorStorage(options.batch), sampler=SamplerWithoutReplacement(), batch_size=options.minibatch
        )

    def learn(self, batch: TensorDictBase) -> None:
        """Some epochs over a batch (games, plies) as the collector gives it."""
        with torch.no_grad():
            self.advantages(batch)
        players = batch[GROUP]
        movers = players[players["mask"]]  # one of the two at each ply
        self.plies.empty()
        self.plies.extend(TensorDict({GROUP: movers}, batch_size=movers.batch_size))
        for _ in range(self.options.epochs):
            for minibatch in self.plies:
                losses = self.loss(minibatch)
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                self.optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(self.loss.parameters(), 0.5)
                self.optimizer.step()

    @torch.no_grad()
    def choose(self, observations: Observation, masks: Mask) -> npt.NDArray[Any]:
        """The likeliest legal actions; see `examples.scoring.Choose`."""
        logits = self.net(torch.from_numpy(Features()(observations))).numpy()
        return np.where(masks, logits, -np.inf).argmax(axis=1)


def make_env(seed: list[int]) -> PettingZooWrapper:
    """One game after another."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested", UserWarning)  # against 1.24.3
        env = FeaturesEnv(reward="margin", seed=seed)
        return Wrapper(env, use_mask=True, group_map={GROUP: env.possible_agents})


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = make_parser(__doc__, steps=1_000_000, every=20_000)
    add = parser.add_argument
    add("--envs", type=int, default=16, help="games at once (default: %(default)s)")
    add("--batch", type=int, default=2048, help="plies between two updates (default: %(default)s)")
    add_learning_options(parser)
    options = parser.parse_args(arguments)
    if options.batch % options.envs:
        parser.error(f"--batch {options.batch} must be a multiple of --envs {options.envs}")
    return options


def main(arguments: list[str]) -> Curve:
    """Train; returns the learning curve."""
    options = parse(arguments)
    torch.manual_seed(options.seed)
    makers = [lambda number=number: make_env([options.seed, number]) for number in range(options.envs)]
    env = SerialEnv(options.envs, makers)
    env.set_seed(options.seed)
    learner = Learner(options, env.observation_spec[SEEN].shape[-1], env.full_action_spec[GROUP, "action"].space.n)
    collector = Collector(
        env, learner.actor, frames_per_batch=options.batch, total_frames=-1, auto_register_policy_transforms=False
    )
    curve, steps = Curve(options, ("torch", "torchrl", "tensordict")), 0
    curve.update(steps, learner.choose)
    for batch in collector:
        learner.learn(batch)
        steps += batch.numel()
        curve.update(steps, learner.choose)
        if curve.over(steps):
            break
    collector.shutdown()
    curve.finish()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
