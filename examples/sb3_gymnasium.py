"""Plain MaskablePPO of sb3-contrib on the Gymnasium environment, against an opponent that moves within the step.

    python -m examples.sb3_gymnasium --minutes 10 --output curve.jsonl
    python -m examples.sb3_gymnasium --vector --envs 128 --n-steps 32 --minibatch 512

sb3-contrib finds the legal actions by itself, in the environment's `action_masks()`.

Where the time goes: stable-baselines3 steps environments one by one, and NumPy's overhead is paid for each of them.
`--vector` puts a batch of games under its interface instead, many times as fast.
"""

from __future__ import annotations

import argparse
import sys

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from examples.features_gym import FeaturesGym
from examples.sb3_vector import GamesVecEnv
from examples.scoring import Choose, Curve, Features, make_parser
from oanquan_env.arrays import Ints, Mask
from oanquan_env.observation import Observation


class Measure(BaseCallback):
    """Adds to the learning curve between rollouts, and stops training when its time is up.

    Args:
        curve: the curve.
        choose: the agent.
    """

    def __init__(self, curve: Curve, choose: Choose) -> None:
        super().__init__()
        self.curve = curve
        self.choose = choose

    def _on_rollout_start(self) -> None:
        self.curve.update(self.num_timesteps, self.choose)

    def _on_step(self) -> bool:
        return not self.curve.over(self.num_timesteps)

    def _on_training_end(self) -> None:
        self.curve.update(self.num_timesteps, self.choose)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = make_parser(__doc__, steps=2_000_000, every=25_000)
    add = parser.add_argument
    add(
        "--opponent", default="greedy", help="a player's name, such as random or minimax:depth=2 (default: %(default)s)"
    )
    add("--reward", default="margin", help="margin (points, at each step), outcome or mixed (default: %(default)s)")
    add("--vector", action="store_true", help="step all games as one batch")
    add("--envs", type=int, default=16, help="games at once (default: %(default)s)")
    add("--n-steps", type=int, default=128, help="steps of each game between two updates (default: %(default)s)")
    add("--minibatch", type=int, default=256, help="steps of a gradient step (default: %(default)s)")
    add("--epochs", type=int, default=4, help="times that each rollout is used (default: %(default)s)")
    add("--width", type=int, default=256, help="of both hidden layers (default: %(default)s)")
    add("--learning-rate", type=float, default=1e-3, help="falls linearly to a tenth (default: %(default)s)")
    add("--gae-lambda", type=float, default=0.9, help="how far advantages look ahead (default: %(default)s)")
    add("--entropy", type=float, default=0.01, help="weight of the entropy (default: %(default)s)")
    add("--save", metavar="FILE", help="write the trained model here, as stable-baselines3 does")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> Curve:
    """Train and evaluate by turns; returns the learning curve."""
    options = parse(arguments)
    torch.set_num_threads(1)
    features, curve = Features(), Curve(options, ("torch", "stable-baselines3", "sb3-contrib"))

    def learning_rate(steps_left: float) -> float:
        gone = max(1 - steps_left, curve.seconds / (60 * options.minutes))
        return float(options.learning_rate * (1 - 0.9 * min(gone, 1.0)))

    def make_env(number: int) -> FeaturesGym:
        seed = options.seed * options.envs + number
        return FeaturesGym(seed=seed, opponent=options.opponent, reward=options.reward)

    if options.vector:
        envs: VecEnv = GamesVecEnv(options.envs, options.opponent, options.reward)
    else:
        envs = DummyVecEnv([lambda number=number: make_env(number) for number in range(options.envs)])
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        learning_rate=learning_rate,
        n_steps=options.n_steps,
        batch_size=options.minibatch,
        n_epochs=options.epochs,
        gamma=1.0,
        gae_lambda=options.gae_lambda,
        ent_coef=options.entropy,
        vf_coef=10.0,  # rewards are shares of all points, so errors of values are small numbers
        policy_kwargs={"net_arch": [options.width, options.width], "activation_fn": torch.nn.ReLU},
        seed=options.seed,
        device="cpu",
    )

    def choose(observations: Observation, masks: Mask) -> Ints:
        return model.predict(features(observations), action_masks=masks, deterministic=True)[0]

    model.learn(options.steps, callback=Measure(curve, choose))
    if options.save:
        model.save(options.save)
    curve.finish()
    return curve


if __name__ == "__main__":
    main(sys.argv[1:])
