"""PPO with Tianshou on the Gymnasium environment, against an opponent that moves within the step.

python -m venv .venv-pinned && .venv-pinned/bin/pip install -e ".[tianshou]"  # Tianshou pins an older filelock
.venv-pinned/bin/python -m examples.tianshou_ppo --minutes 10
"""

import argparse
import sys
from typing import Any

import gymnasium
import numpy as np

from oanquan_env import Core
from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra
from oanquan_env.observation import Encoder

with needing_extra("tianshou", "examples.tianshou_ppo" if __name__ == "__main__" else None):
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Batch, Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OnPolicyTrainerParams
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "opponent": "greedy", "envs": 16, "batch": 2048, "minibatch": 256, "epochs": 4, "width": 256,
}
# fmt: on
ENCODER = Encoder(Core(), "planes")


class FeaturesEnv(gymnasium.Wrapper):
    """A seeded environment with planes and a mask as observations; infos are empty, because Tianshou stacks infos."""

    def __init__(self, seed: int, opponent: str) -> None:
        settings = {"reward": "margin", "opening_plies": 6, "observation": "planes"}
        super().__init__(gymnasium.make("OAnQuan-v0", opponent=opponent, **settings))
        self.env.reset(seed=seed)

    def see(self, observation: Any) -> dict[str, Any]:
        """Return an observation together with the mask."""
        mask = self.get_wrapper_attr("action_masks")()
        return {"obs": observation, "mask": mask.astype(np.float32)}

    def reset(self, **options: Any) -> Any:
        """Start a game; return its observation and an empty info."""
        return self.see(self.env.reset(**options)[0]), {}

    def step(self, action: Any) -> Any:
        """Play an action and the opponent's reply; return the results with an empty info."""
        observation, *results, _ = self.env.step(action)
        return self.see(observation), *results, {}


class Actor(DiscreteActor):
    """An actor that masks the logits of illegal actions, because Tianshou's policy gradients ignore the masks."""

    def forward(self, obs: Batch, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Map a batch of N observations to (N, A) masked logits; return the logits and the state."""
        logits, state = super().forward(obs.obs, state, info)
        return logits.masked_fill(torch.as_tensor(obs.mask) == 0, -1e9), state


class Critic(DiscreteCritic):
    """A critic that ignores the masks in its observations."""

    def forward(self, obs: Batch, **kwargs: Any) -> torch.Tensor:
        """Map a batch of N observations to (N, 1) values."""
        return super().forward(obs.obs, **kwargs)


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help="default: %(default)s")
    options = parser.parse_args(arguments)
    np.random.seed(options.seed)  # noqa: NPY002  (Tianshou shuffles minibatches by it)
    torch.manual_seed(options.seed)
    first = options.seed * options.envs
    makers = [lambda n=n: FeaturesEnv(first + n, options.opponent) for n in range(options.envs)]
    envs, (hidden, actions) = DummyVectorEnv(makers), ([options.width] * 2, makers[0]().action_space)
    nets = [Net(state_shape=ENCODER.size, hidden_sizes=hidden) for _ in range(2)]
    actor = Actor(preprocess_net=nets[0], action_shape=10, softmax_output=False)
    critic = Critic(preprocess_net=nets[1])
    policy, optim = DiscreteActorPolicy(actor=actor, action_space=actions), AdamOptimizerFactory(lr=5e-4)
    weights = {"ent_coef": 0.01, "vf_coef": 10.0, "max_grad_norm": 0.5}  # rewards are shares of all points
    ppo = PPO(policy=policy, critic=critic, optim=optim, gamma=1.0, gae_lambda=0.9, **weights)
    collector = Collector[Any](ppo, envs, VectorReplayBuffer(options.batch + options.envs, options.envs))
    sizes = {"epoch_num_steps": options.batch, "collection_step_num_env_steps": options.batch}
    uses = {"batch_size": options.minibatch, "update_step_num_repetitions": options.epochs}
    params = OnPolicyTrainerParams(training_collector=collector, **sizes, **uses, show_progress=False, verbose=False)
    trainer = ppo.create_trainer(params)

    @torch.no_grad()
    def choose(observations: Any, masks: Any) -> Any:
        return actor(Batch(obs=observations, mask=masks))[0].argmax(dim=1).numpy()

    choose.observation = "planes"
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    trainer.reset()
    while curve.update(collector.collect_step, choose):
        trainer.execute_epoch()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
