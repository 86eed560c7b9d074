"""MaskablePPO of sb3-contrib on the vector environment, against an opponent that moves within the step.

    python -m examples.sb3_ppo --minutes 10

One call of `OAnQuanVecEnv` steps many games. The rest of the program measures the learning curve. The observation
`moves` looks two plies ahead, so compare its results only with those of players that also look ahead.
"""

import argparse
import sys
from typing import Any

from oanquan_env.benchmark.curves import TrainingCurve
from oanquan_env.errors import needing_extra

with needing_extra("train", "examples.sb3_ppo" if __name__ == "__main__" else None):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback

    from oanquan_env.sb3 import HYPERPARAMETERS, OAnQuanVecEnv

# fmt: off
OPTIONS = {
    "steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0,
    "opponent": "greedy", "observation": "planes", "envs": 128,
    "n_steps": HYPERPARAMETERS["n_steps"], "minibatch": HYPERPARAMETERS["batch_size"], "width": 256,
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
    settings = {"rules": rules, "opponent": options.opponent, "observation": options.observation}
    return OAnQuanVecEnv(options.envs, **settings, seed=options.seed)


def make_model(options: argparse.Namespace, rules: str = "mancala-world", **others: Any) -> MaskablePPO:
    """Return an untrained model that holds its environment; `others` replace entries of `HYPERPARAMETERS`."""
    changes: dict[str, Any] = {"n_steps": options.n_steps, "batch_size": options.minibatch, "seed": options.seed}
    changes["policy_kwargs"] = {**HYPERPARAMETERS["policy_kwargs"], "net_arch": [options.width, options.width]}
    return MaskablePPO("MlpPolicy", make_games(options, rules), **{**HYPERPARAMETERS, **changes, **others})


def main(arguments: list[str]) -> TrainingCurve:
    """Train with regular evaluations; return the learning curve."""
    options = parse_options(arguments)
    torch.set_num_threads(1)
    curve = TrainingCurve(options.steps, options.minutes, options.every, options.pairs, options.seed)
    model = make_model(options)
    schedule = model.lr_schedule
    model.lr_schedule = lambda _: schedule(1 - curve.progress)  # falls over the budget, of time or of steps
    model.learn(sys.maxsize, callback=Measure(curve))
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
