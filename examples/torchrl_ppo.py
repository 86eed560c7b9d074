"""PPO with TorchRL on the Gymnasium environment, against an opponent that moves within the step.

pip install -e ".[torchrl]" -c constraints.txt
python -m examples.torchrl_ppo --minutes 10 --output curve.json
"""

import sys
from typing import Any

import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import GymWrapper, SerialEnv
from torchrl.modules import MLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from examples.shared import SIZE, Curve, FeaturesGym, features, parse


def main(arguments: list[str]) -> Curve:
    """Train; returns the learning curve."""
    options = parse(__doc__, arguments, opponent="greedy", envs=16, batch=2048, minibatch=256, epochs=4, width=256)
    torch.manual_seed(options.seed)
    keys, first, hidden = ("observation", "action_mask"), options.seed * options.envs, [options.width] * 2
    net = MLP(SIZE, 10, num_cells=hidden, activation_class=nn.ReLU)
    games = [FeaturesGym(keys, first + n, options.opponent) for n in range(options.envs)]
    makers = [lambda game=game: GymWrapper(game, categorical_action_encoding=True) for game in games]
    policy = TensorDictModule(lambda seen, mask: net(seen).masked_fill(mask == 0, -1e9), list(keys), ["logits"])
    actor = ProbabilisticActor(policy, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True)
    critic = ValueOperator(MLP(SIZE, 1, num_cells=hidden, activation_class=nn.ReLU))
    advantages = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    weights = [*net.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=5e-4)
    sampler = SamplerWithoutReplacement()
    buffer = ReplayBuffer(storage=LazyTensorStorage(options.batch), sampler=sampler, batch_size=options.minibatch)
    collector = Collector(SerialEnv(options.envs, makers), actor, frames_per_batch=options.batch, total_frames=-1)

    @torch.no_grad()
    def choose(observations: Any, masks: Any) -> Any:
        return np.where(masks, net(torch.from_numpy(features(observations))).numpy(), -np.inf).argmax(axis=1)

    curve, steps, batches = Curve(options, "torch", "torchrl", "tensordict"), 0, iter(collector)
    while curve.update(steps, choose):
        batch = next(batches)
        with torch.no_grad():
            advantages(batch)
        buffer.empty()
        buffer.extend(batch.reshape(-1))
        for minibatch in (part for _ in range(options.epochs) for part in buffer):
            losses = loss(minibatch)
            optimizer.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
        steps += batch.numel()
    collector.shutdown()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
