"""Turns a second through PettingZoo's AEC interface, beside PettingZoo's own board games in the same run.

A turn is `last()` and `step()`; the time to draw a random legal action is not counted. `python -m benchmarks.aec`.
"""

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import oanquan_env
from benchmarks import report
from oanquan_env.errors import MissingExtraError, needing_extra

ROUNDS = 5


def turns_per_second(game: Any, seconds: float) -> float:
    """Uniformly random play for `seconds`."""
    rng = np.random.default_rng(0)
    spent, turns = 0.0, 0
    game.reset()
    while spent < seconds:
        if not game.agents:
            game.reset()
        begin = time.perf_counter()
        observation, _, terminated, truncated, _ = game.last()
        spent += time.perf_counter() - begin
        over = terminated or truncated
        action = None if over else int(rng.choice(observation["action_mask"].nonzero()[0]))
        begin = time.perf_counter()
        game.step(action)
        spent += time.perf_counter() - begin
        turns += 1
    return turns / spent


def games() -> dict[str, Any]:
    """The games compared, by name; ours alone where pygame is not installed, which PettingZoo's need."""
    modules: dict[str, Any] = {"oanquan": oanquan_env}
    try:
        with needing_extra("human"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's old way of importing its games
            from pettingzoo.classic import connect_four_v3, tictactoe_v3
        modules |= {"connect_four": connect_four_v3, "tictactoe": tictactoe_v3}
    except MissingExtraError as error:
        print(f"PettingZoo's games are left out: {error}")
    return {
        f"{name} {kind}": getattr(module, kind)() for name, module in modules.items() for kind in ("raw_env", "env")
    }


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    seconds: float = 0.5
    """seconds of each game in each of the rounds"""


def main() -> None:
    """Measure all games in turn, several rounds, and report each one's median."""
    options = report.read_options(Options, __doc__, "aec")
    speeds = report.median_speeds(
        {name: partial(turns_per_second, game) for name, game in games().items()}, ROUNDS, options.seconds
    )
    base = speeds.get("connect_four raw_env")
    rows = [[name, f"{speed:,.0f}", f"{speed / base:.2f}" if base else ""] for name, speed in speeds.items()]
    report.show("AEC turns a second, one core", ["environment", "turns/s", "of connect_four raw_env"], rows)
    report.write(options, "aec", {"unit": "turns/s", "speeds": speeds})


if __name__ == "__main__":
    main()
