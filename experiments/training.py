"""Measure the plies per second of self-play training, and where the time goes: `python -m experiments.training`."""

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from agents.ppo import PPOConfig, build_model, collect
from experiments.common import Cells, Experiment, Options
from oanquan_env import Core
from oanquan_env.players import as_policy
from oanquan_env.sb3 import HYPERPARAMETERS, OAnQuanVecEnv

NETWORKS = {
    "plain, 2 x 64": {"name": "plain", "embed": 4, "width": 64, "depth": 2},
    "plain, 2 x 256": {"name": "plain", "embed": 8, "width": 256, "depth": 2},
    "afterstates, 2 x 128": {"name": "afterstates", "embed": 8, "width": 128, "depth": 2},
    "two_ply, 2 x 128": {"name": "two_ply", "embed": 8, "width": 128, "depth": 2},
}
CASES: dict[str, dict[str, Any]] = {
    "1 thread": {"threads": 1},
    "2 threads": {"threads": 2},
    "1 thread, three-player": {"threads": 1, "rules": "three-player"},
    "1 thread, four-player": {"threads": 1, "rules": "four-player"},
}
"""Settings in which each network is measured."""
ITERATIONS = 6
WARM_UP = 1


class Clock:
    """A clock that accumulates the time spent in named parts."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of a `with` block to the part `name`."""
        begin = time.perf_counter()
        yield
        self.spent[name] += time.perf_counter() - begin

    def wrap(self, owner: Any, method: str, name: str) -> None:
        """Replace a method of `owner` with one that adds the time of each call to the part `name`."""
        original: Callable[..., Any] = getattr(owner, method)

        def timed(*arguments: Any, **options: Any) -> Any:
            with self.part(name):
                return original(*arguments, **options)

        setattr(owner, method, timed)


def sb3_speed(opponent: str) -> dict[str, float]:
    """Return the same for sb3-contrib's `MaskablePPO` with `HYPERPARAMETERS`, against `opponent` or a sampled self."""
    torch.set_num_threads(1)
    games = OAnQuanVecEnv(128, opponent="greedy")
    model = MaskablePPO("MlpPolicy", games, **HYPERPARAMETERS, seed=0)
    if opponent == "self":
        games.set_opponent(as_policy(model, temperature=1.0))
    clock, plies = Clock(), games.num_envs * model.n_steps
    for owner, method, name in (
        (games, "step_wait", "stepping"),
        (games, "action_masks", "stepping"),
        (model, "collect_rollouts", "collecting"),
        (model, "train", "learning"),
    ):
        clock.wrap(owner, method, name)
    for iterations in (WARM_UP, ITERATIONS):
        clock.spent.clear()
        model.learn(iterations * plies, reset_num_timesteps=False)
    return shares(clock, ITERATIONS * plies)


def speed(config: PPOConfig) -> dict[str, float]:
    """Return plies per second (collecting, and in total) and the shares of time for stepping, network and learning."""
    torch.set_num_threads(config.threads)
    env, model = build_model(config, Core(config.rules))
    clock = Clock()
    clock.wrap(env, "step_wait", "stepping")
    clock.wrap(env, "action_masks", "stepping")
    for iteration in range(WARM_UP + ITERATIONS):
        if iteration == WARM_UP:  # the first iteration is slower
            clock.spent.clear()
        with clock.part("collecting"):
            collect(env, model)
        with clock.part("learning"):
            model.train()
    return shares(clock, ITERATIONS * config.ppo.n_envs * config.ppo.n_steps)


def shares(clock: Clock, plies: int) -> dict[str, float]:
    """Return speeds and shares from the time of the parts `stepping`, `collecting` and `learning` of `plies` plies."""
    spent = clock.spent
    total = spent["collecting"] + spent["learning"]
    return {
        "collecting plies/s": plies / spent["collecting"],
        "plies/s": plies / total,
        "stepping": spent["stepping"] / total,
        "network while collecting": (spent["collecting"] - spent["stepping"]) / total,
        "learning": spent["learning"] / total,
    }


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each network and setting."""
    for name, row in results["results"].items():
        yield {
            "network": name,
            "collecting, plies/s": f"{row['collecting plies/s']:,.0f}",
            "in total, plies/s": f"{row['plies/s']:,.0f}",
            "stepping": f"{100 * row['stepping']:.0f} %",
            "inference": f"{100 * row['network while collecting']:.0f} %",
            "learning": f"{100 * row['learning']:.0f} %",
        }


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure the networks in each setting, and yield the results after each."""
    results: dict[str, dict[str, float]] = {}
    for (name, network), (case, settings) in itertools.product(NETWORKS.items(), CASES.items()):
        results[f"{name}; {case}"] = speed(PPOConfig.model_validate({"network": network, **settings}))
        yield {"ppo": PPOConfig().ppo.model_dump(), "results": results}
    for opponent in ("greedy", "self"):
        results[f"MaskablePPO, 2 x 256; 1 thread, against {opponent}"] = sb3_speed(opponent)
        yield {"ppo": PPOConfig().ppo.model_dump(), "results": results}


EXPERIMENT = Experiment("training", __doc__, Options, measure, {"training": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
