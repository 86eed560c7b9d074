"""Shared parts of the examples: options, features of an observation, and the learning curve against random and greedy.

Shapes: N observations, D numbers in each, A actions. Needs NumPy, the environment and the package `agents`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.support.provenance import commit, processor, versions
from oanquan_env import Core
from oanquan_env.arrays import Mask
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.files import write_atomically
from oanquan_env.observation import Encoder, Observation
from oanquan_env.players import make
from oanquan_env.players.adapters import ObservedPolicy
from oanquan_env.playing import random_openings

Choose = Callable[[Observation, Mask], npt.NDArray[Any]]
"""An agent: (N, D) observations and (N, A) bool masks -> (N,) legal actions."""

BASELINES = ("random", "greedy")
OPENING_PLIES = 4
COUNTS = 16
"""Seeds 0 .. COUNTS - 1 of a square are told apart one by one; more look the same, except for their number."""


class Features:
    """Turns observations into what a small network learns from: sowing is a sharp function of exact counts.

    Every square's seeds are one-hot up to `COUNTS - 1` and also given as a number; then the stones, and the plies left
    as a share of all. The score so far is left out: margins yet to come do not depend on it.
    """

    def __init__(self, core: Core | None = None) -> None:
        encoder = Encoder(core or Core())
        self._layout = encoder.layout
        self._most_plies = int(encoder.high[-1])
        self.size = self(np.zeros((1, encoder.size))).shape[1]

    def __call__(self, observations: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """(N, size) float32 features of (N, D) observations."""
        seeds = observations[:, self._layout["seeds"]]
        counts = (np.minimum(seeds, COUNTS - 1)[:, :, None] == np.arange(COUNTS)).reshape(len(seeds), -1)
        stones, plies = observations[:, self._layout["stones"]], observations[:, self._layout["plies"]]
        return np.concatenate([counts, seeds / 10, stones, plies / self._most_plies], axis=1, dtype=np.float32)


def make_parser(doc: str | None, *, steps: int, every: int) -> argparse.ArgumentParser:
    """The options that every example has.

    Args:
        doc: what the example does; its first line names it.
        steps: default of `--steps`.
        every: default of `--every`.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--steps", type=int, default=steps, help="environment steps to train for (default: %(default)s)")
    add("--minutes", type=float, default=10.0, help="training stops after so many (default: %(default)s)")
    add("--every", type=int, default=every, help="steps between two evaluations (default: %(default)s)")
    add("--pairs", type=int, default=200, help="game pairs against each baseline (default: %(default)s)")
    add("--seed", type=int, default=0, help="of all chance (default: %(default)s)")
    add("--output", type=Path, metavar="FILE", help="append the learning curve here, one JSON object a line")
    add("--result", type=Path, metavar="FILE", help="write command, versions and curve here as one JSON file")
    return parser


def add_learning_options(parser: argparse.ArgumentParser) -> None:
    """The options of PPO that examples through a framework share; the parser's `set_defaults` changes defaults."""
    add = parser.add_argument
    add("--minibatch", type=int, default=256, help="samples of a gradient step (default: %(default)s)")
    add("--epochs", type=int, default=6, help="times that each batch is used (default: %(default)s)")
    add("--width", type=int, default=256, help="of both hidden layers (default: %(default)s)")
    add("--learning-rate", type=float, default=5e-4, help="of Adam (default: %(default)s)")
    add("--gae-lambda", type=float, default=0.9, help="how far rewards are followed (default: %(default)s)")
    add("--entropy", type=float, default=0.01, help="weight of the entropy bonus (default: %(default)s)")


class Curve:
    """The learning curve of a run: scores against the baselines in pairs of games from random openings.

    Args:
        options: as parsed by `make_parser`'s parser.
        packages: whose versions matter.

    Attributes:
        rows: the points so far: `steps`, `seconds` of training and `cpu_seconds` of this process in it, and for
            `random` and `greedy` the agent's `score` with its 95 % interval `low` to `high`.
    """

    def __init__(self, options: argparse.Namespace, packages: tuple[str, ...]) -> None:
        self.options = options
        self.packages = packages
        self.rows: list[dict[str, Any]] = []
        self._core = Core()
        for path in (options.output, options.result):
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
        self._began, self._cpu_began = time.perf_counter(), time.process_time()
        self._next = 0

    @property
    def seconds(self) -> float:
        """Seconds of training, those of evaluation not counted."""
        return time.perf_counter() - self._began

    def over(self, steps: int) -> bool:
        """Whether steps or time are used up."""
        return bool(steps >= self.options.steps or self.seconds >= 60 * self.options.minutes)

    def update(self, steps: int, choose: Choose) -> None:
        """Add a point if one is due after `steps` steps; the first and the last are always due."""
        if steps >= self._next or self.over(steps):
            self.add(steps, choose)
            self._next = steps - steps % self.options.every + self.options.every

    def add(self, steps: int, choose: Choose) -> None:
        """Play the baselines, print the scores and write them down."""
        began, cpu_began, seconds = time.perf_counter(), time.process_time(), self.seconds
        row: dict[str, Any] = {"steps": steps, "seconds": round(seconds, 1)}
        row.update(cpu_seconds=round(cpu_began - self._cpu_began, 1), **self.scores(choose))
        self.keep(row, f"{steps:>11,} steps")
        self._began += time.perf_counter() - began
        self._cpu_began += time.process_time() - cpu_began

    def keep(self, row: dict[str, Any], when: str) -> None:
        """Print the scores of a point and write it down; `when` says where it stands."""
        self.rows.append(row)
        told = ", ".join(f"{name} {100 * row[name]['score']:.1f} %" for name in BASELINES)
        print(f"{when} {row['seconds']:>6.0f} s: score against {told}", flush=True)
        if self.options.output:
            with self.options.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def scores(self, choose: Choose) -> dict[str, dict[str, float]]:
        """Score against each baseline; every call plays the same openings."""
        results = {}
        for name in BASELINES:
            rng = np.random.default_rng(self.options.seed)
            openings = random_openings(self._core, self.options.pairs, OPENING_PLIES, rng)
            played = play_pairs(self._core, ObservedPolicy(self._core, choose), make(name), openings, rng)
            score = score_interval(played)
            values = {"score": score.mean, "low": score.low, "high": score.high}
            results[name] = {end: round(value, 4) for end, value in values.items()}
        return results

    def finish(self) -> None:
        """Write the result file that `--result` asks for."""
        if not self.options.result:
            return
        name = Path(sys.argv[0]).stem
        settings = {key: value for key, value in vars(self.options).items() if key not in ("output", "result")}
        result = {
            "command": shlex.join(["python", "-m", f"examples.{name}", *sys.argv[1:]]),
            "commit": commit(),
            "processor": processor(),
            "versions": versions(("numpy", "gymnasium", "pettingzoo", *self.packages)),
            "options": settings,
            "curve": self.rows,
        }
        write_atomically(self.options.result, (json.dumps(result, indent=1) + "\n").encode())
