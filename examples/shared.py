"""Shared parts of the examples: options, features of an observation, environments with them, and the learning curve.

Shapes: N observations, D numbers in each, A actions. Needs NumPy, the environment and the package `agents`.
"""

import argparse
import json
import math
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper

from agents.support.provenance import commit, processor, versions
from oanquan_env import Core, evaluate, raw_env
from oanquan_env.arrays import Mask
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import write_atomically
from oanquan_env.observation import Encoder, Observation
from oanquan_env.playing import random_openings

Choose = Callable[[Observation, Mask], npt.NDArray[Any]]
"""An agent: (N, D) observations and (N, A) bool masks -> (N,) legal actions."""
BASELINES = ("random", "greedy")
COUNTS = 16
"""0 .. COUNTS - 2 seeds of a square are told apart; more look the same, except for their number."""
PLIES = 6
"""Games begin with 0 .. PLIES random plies: from the set-up alone, self-play soon keeps to a few lines."""


def features(observations: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """(N, SIZE) float32 of (N, D) observations under the default rules: one-hot counts, as sowing is sharp in them.

    Counts as numbers, stones and the plies left follow. Margins yet to come do not depend on the scores so far.
    """
    layout = Encoder(Core()).layout
    seeds, stones, plies = (observations[:, layout[name]] for name in ("seeds", "stones", "plies"))
    counts = (np.minimum(seeds, COUNTS - 1)[:, :, None] == np.arange(COUNTS)).reshape(len(seeds), -1)
    return np.concatenate([counts, seeds / 10, stones, plies / 200], axis=1, dtype=np.float32)


SIZE = features(np.zeros((1, Encoder(Core()).size))).shape[1]


def space(keys: tuple[str, str]) -> spaces.Dict:
    """The space of features and of masks beside them, by these keys."""
    box = spaces.Box(0.0, np.inf, (SIZE,), np.float32)
    return spaces.Dict({keys[0]: box, keys[1]: spaces.Box(0.0, 1.0, (Core().rules.actions,), np.float32)})


class FeaturesEnv(BaseWrapper):  # type: ignore[misc]
    """`raw_env` with features and a float mask by these keys."""

    def __init__(self, keys: tuple[str, str], seed: int | list[int]) -> None:
        super().__init__(raw_env(reward="margin"))
        self.keys, self.rng = keys, np.random.default_rng(seed)

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same for both players."""
        return space(self.keys)

    def observe(self, agent: str) -> dict[str, Any]:
        """What a player sees; the mask is zero unless it is to move."""
        seen = self.env.observe(agent)
        parts = features(seen["observation"][None])[0], seen["action_mask"].astype(np.float32)
        return dict(zip(self.keys, parts, strict=True))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game some random plies in."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        plies = int(self.rng.integers(PLIES + 1))
        self.env.reset(options={"position": random_openings(Core(), 1, plies, self.rng)})


class FeaturesGym(gymnasium.Wrapper[dict[str, Any], np.int64, Observation, np.int64]):
    """`OAnQuan-v0` with features and a float mask by these keys. Infos are left out: some frameworks stack them."""

    def __init__(self, keys: tuple[str, str], seed: int, opponent: str) -> None:
        super().__init__(gymnasium.make("OAnQuan-v0", opponent=opponent, reward="margin", opening_plies=PLIES))
        self.keys, self.seed = keys, seed
        self.observation_space = space(keys)

    def _seen(self, observation: Observation) -> dict[str, Any]:
        mask = self.get_wrapper_attr("action_masks")().astype(np.float32)
        return dict(zip(self.keys, (features(observation[None])[0], mask), strict=True))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a game; the first one is seeded in any case."""
        seed, self.seed = self.seed if seed is None else seed, None
        return self._seen(self.env.reset(seed=seed)[0]), {}

    def step(self, action: Any) -> Any:
        """Play an action and the reply to it."""
        observation, reward, terminated, truncated, _ = self.env.step(action)
        return self._seen(observation), float(reward), terminated, truncated, {}


def parse(doc: str | None, arguments: list[str], **defaults: Any) -> argparse.Namespace:
    """The command line: the options of all examples, and one more for each of `defaults`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    common = {"steps": 1_000_000, "minutes": 10.0, "every": 20_000, "pairs": 200, "seed": 0}
    for name, value in {**common, **defaults}.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help="default: %(default)s")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write command, versions and curve here, as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the regret here, as PNG or SVG")
    return parser.parse_args(arguments)


class Curve:
    """The learning curve of a run, by `oanquan_env.evaluate`: scores from balanced openings, and regret in points.

    Attributes:
        rows: `steps`, `minutes` of training, `regret` over the development part (NaN for rules that have no suite),
            score against each of `BASELINES`.
    """

    def __init__(self, options: argparse.Namespace, *packages: str, rules: str = DEFAULT_PRESET) -> None:
        self.options, self.packages, self.rules = options, packages, rules
        self.rows: list[dict[str, float]] = []
        self._began, self._due = time.perf_counter(), 0

    def update(self, steps: int, choose: Choose) -> bool:
        """Measure the agent if that is due after so many steps; whether training goes on."""
        options, began = self.options, time.perf_counter()
        minutes = (began - self._began) / 60
        over = steps >= options.steps or minutes >= options.minutes
        if steps >= self._due or over:
            found = evaluate(choose, self.rules, BASELINES, options.pairs, options.seed, part="development")
            regret = found.regret.mean if found.regret else math.nan
            row = {"steps": steps, "minutes": round(minutes, 2), "regret": round(regret, 3)}
            self.rows.append(row | {match.opponent: round(match.score.mean, 4) for match in found.pairings})
            print(", ".join(f"{name} {number:,}" for name, number in self.rows[-1].items()), flush=True)
            self._due = steps - steps % options.every + options.every
            self._began += time.perf_counter() - began
        if over and options.output:
            command = shlex.join(["python", "-m", f"examples.{Path(sys.argv[0]).stem}", *sys.argv[1:]])
            made = {"command": command, "commit": commit(), "processor": processor()}
            made |= {"versions": versions(("numpy", "gymnasium", "pettingzoo", *self.packages)), "curve": self.rows}
            write_atomically(options.output, (json.dumps(made, indent=1) + "\n").encode())
        if over and options.plot:
            regrets = [row["regret"] for row in self.rows]
            found = LearningCurve.of([row["steps"] for row in self.rows], [regrets])
            draw_curves({"plies": {"regret": found}}).savefig(options.plot)
        return not over
