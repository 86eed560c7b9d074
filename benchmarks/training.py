"""Measure the plies per second of self-play training, and where the time goes: `python -m benchmarks.training`."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from agents.ppo import PPOConfig, build_model, collect
from benchmarks import report
from oanquan_env import Core

NETWORKS = {
    "plain, 2 x 64": {"name": "plain", "embed": 4, "width": 64, "depth": 2},
    "plain, 2 x 256": {"name": "plain", "embed": 8, "width": 256, "depth": 2},
    "afterstates, 2 x 128": {"name": "afterstates", "embed": 8, "width": 128, "depth": 2},
    "two_ply, 2 x 128": {"name": "two_ply", "embed": 8, "width": 128, "depth": 2},
}
SETTINGS: dict[str, dict[str, Any]] = {"1 thread": {"threads": 1}, "2 threads": {"threads": 2}}
MORE_PLAYERS = ("three-player", "four-player")
"""Rules for which the networks are also measured, with one thread."""
HEADS = ("network", "collecting, plies/s", "in total, plies/s", "stepping", "network", "learning")
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


def measure(config: PPOConfig) -> dict[str, float]:
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
    plies, spent = ITERATIONS * config.ppo.n_envs * config.ppo.n_steps, clock.spent
    total = spent["collecting"] + spent["learning"]
    return {
        "collecting plies/s": plies / spent["collecting"],
        "plies/s": plies / total,
        "stepping": spent["stepping"] / total,
        "network while collecting": (spent["collecting"] - spent["stepping"]) / total,
        "learning": spent["learning"] / total,
    }


def table_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return the rows of the table, one for each network and setting; `HEADS` names the columns."""
    speeds, shares = ("collecting plies/s", "plies/s"), ("stepping", "network while collecting", "learning")
    return [
        [name, *(f"{row[speed]:,.0f}" for speed in speeds), *(f"{100 * row[part]:.0f} %" for part in shares)]
        for name, row in found["results"].items()
    ]


def main() -> None:
    """Measure the networks in each setting, and under the rules in `MORE_PLAYERS`."""
    options = report.read_options(report.Options, __doc__, "training")
    results: dict[str, dict[str, float]] = {}
    for name, network in NETWORKS.items():
        for setting, values in SETTINGS.items():
            config = PPOConfig.model_validate({"network": network, **values})
            results[f"{name}; {setting}"] = measure(config)
        for rules in MORE_PLAYERS:
            config = PPOConfig.model_validate({"network": network, "rules": rules, "threads": 1})
            results[f"{name}; 1 thread, {rules}"] = measure(config)
    content = {"ppo": PPOConfig().ppo.model_dump(), "results": results}
    report.show("self-play training", HEADS, table_rows(content))
    report.write(options, "training", content)


if __name__ == "__main__":
    main()
