"""PPO with TorchRL on the Gymnasium environment, against an opponent that moves within the step.

pip install -e ".[torchrl]" -c constraints.txt
python -m examples.torchrl_ppo --minutes 10
"""

import argparse
import sys
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TransformObservation

from oanquan_env import Core
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra
from oanquan_env.observation import Encoder

with needing_extra("torchrl", "examples.torchrl_ppo" if __name__ == "__main__" else None):
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

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "opponent": "greedy", "envs": 16, "batch": 2048, "minibatch": 256, "epochs": 4, "width": 256,
}
# fmt: on
KEYS = "observation", "action_mask"
ENCODER = Encoder(Core(), "planes")


def make_env(seed: int, opponent: str) -> gymnasium.Env:
    """Make a seeded game whose observations are planes and a float mask, under the names in `KEYS`."""
    settings = {"reward": "margin", "opening_plies": 6, "observation": "planes"}
    env = gymnasium.make("OAnQuan-v0", opponent=opponent, **settings)
    space = spaces.Dict(dict(zip(KEYS, (env.observation_space, spaces.Box(0, 1, (10,))), strict=True)))
    masks = env.get_wrapper_attr("action_masks")

    def see(observation: Any) -> dict[str, Any]:
        return dict(zip(KEYS, (observation, masks().astype(np.float32)), strict=True))

    env.reset(seed=seed)
    return TransformObservation(env, see, space)


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    first, hidden = options.seed * options.envs, [options.width] * 2
    net = MLP(ENCODER.size, 10, num_cells=hidden, activation_class=nn.ReLU)
    games = [make_env(first + n, options.opponent) for n in range(options.envs)]
    makers = [lambda game=game: GymWrapper(game, categorical_action_encoding=True) for game in games]
    policy = TensorDictModule(lambda seen, mask: net(seen).masked_fill(mask == 0, -1e9), list(KEYS), ["logits"])
    actor = ProbabilisticActor(policy, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True)
    critic = ValueOperator(MLP(ENCODER.size, 1, num_cells=hidden, activation_class=nn.ReLU))
    advantages = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    weights = [*net.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=5e-4)
    sampler = SamplerWithoutReplacement()
    buffer = ReplayBuffer(storage=LazyTensorStorage(options.batch), sampler=sampler, batch_size=options.minibatch)
    collector = Collector(SerialEnv(options.envs, makers), actor, frames_per_batch=options.batch, total_frames=-1)

    @torch.no_grad()
    def choose(observations: Any, masks: Any) -> Any:
        return np.where(masks, net(torch.from_numpy(observations)).numpy(), -np.inf).argmax(axis=1)

    choose.observation = "planes"
    steps, batches = 0, iter(collector)
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
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
