"""MaskablePPO of sb3-contrib on the vector environment, against an opponent that moves within the step.

    python -m examples.sb3_ppo --minutes 10

One call of `OAnQuanVecEnv` steps many games. Networks learn faster from the observation `planes` than from counts, and
fastest from `moves`.
"""

import argparse
import sys

from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra

with needing_extra("train", "examples.sb3_ppo" if __name__ == "__main__" else None):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback

    from oanquan_env.sb3 import OAnQuanVecEnv

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "opponent": "greedy", "observation": "planes", "envs": 128, "n_steps": 32, "minibatch": 512, "width": 256,
}
# fmt: on


class Measure(BaseCallback):
    """A callback that updates the learning curve before each rollout, and stops training when the budget is spent."""

    def __init__(self, curve: TrainingCurve) -> None:
        super().__init__()
        self.curve = curve

    def _on_rollout_start(self) -> None:
        self.going = self.curve.update(self.num_timesteps, self.model)

    def _on_step(self) -> bool:
        return self.going


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help="default: %(default)s")
    return parser.parse_args(arguments)


def make_games(options: argparse.Namespace, rules: str) -> OAnQuanVecEnv:
    """Return the environment in which the model learns."""
    settings = {"rules": rules, "opponent": options.opponent, "reward": "margin", "opening_plies": 6}
    return OAnQuanVecEnv(options.envs, observation=options.observation, seed=options.seed, **settings)


def make_model(options: argparse.Namespace, rules: str = "mancala-world") -> MaskablePPO:
    """Return an untrained model that holds its environment, with hyperparameters that work well for this game."""
    return MaskablePPO(
        "MlpPolicy",
        make_games(options, rules),
        learning_rate=1e-3,
        n_steps=options.n_steps,
        batch_size=options.minibatch,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.9,
        ent_coef=0.01,
        vf_coef=10.0,  # value errors are small, as rewards are shares of all points
        policy_kwargs={"net_arch": [options.width, options.width], "activation_fn": torch.nn.ReLU},
        seed=options.seed,
        device="cpu",
    )


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    options = parse_options(arguments)
    torch.set_num_threads(1)
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    make_model(options).learn(sys.maxsize, callback=Measure(curve))
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
