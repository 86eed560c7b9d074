"""Compare the environment on a CUDA device with the CPU, and measure its steps per second.

    python -m experiments.cuda --check 10_000_000 --speed --json cuda.json

`--check` divides its steps among all presets, each without an opponent, against `random` and against `greedy`, and
compares the observation, mask, reward and flags of every step. `--speed` uses CUDA events to time complete steps of
random games, with observation, mask, reward and restart; the actions are drawn outside of the measured time. `--ppo`
times the parts of a rollout of `examples.cleanrl_ppo`: the games' steps, the network's moves, and the learning.
"""

import functools
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numba
import numpy as np
import torch
from numba import cuda

from agents.config import Flag
from examples import cleanrl_ppo
from experiments import common
from experiments.common import Experiment
from oanquan_env import PRESETS
from oanquan_env.cuda import CudaGames

OPPONENTS = (None, "random", "greedy")
SIZES = tuple(2**power for power in range(12, 23, 2))
CHECKED_GAMES = 4096
STEPS = 50


def check(steps: int) -> dict[str, Any]:
    """Compare at least `steps` steps and return a summary. Raises `SystemExit` at the first difference."""
    combinations = [(preset, opponent) for preset in PRESETS for opponent in OPPONENTS]
    each, compared, began = -(-steps // (len(combinations) * CHECKED_GAMES)), 0, time.perf_counter()
    rng = np.random.default_rng(0)
    for number, (preset, opponent) in enumerate(combinations):
        reward = ("outcome", "margin", "mixed")[number % 3]
        settings: dict[str, Any] = {"rules": preset, "opponent": opponent, "reward": reward, "opening_plies": 4}
        host = gymnasium.make_vec("OAnQuan-v0", CHECKED_GAMES, autoreset_mode="SameStep", **settings)
        device = CudaGames(CHECKED_GAMES, **settings)
        observations, info = host.reset(seed=number)
        mask = info["action_mask"]
        compare(preset, opponent, -1, (observations, mask), device.reset(seed=number))
        for step in range(each):
            actions = (mask * rng.random(mask.shape, dtype=np.float32)).argmax(axis=1)
            illegal = rng.random(CHECKED_GAMES) < 0.005
            actions[illegal] = rng.integers(0, mask.shape[1], illegal.sum())
            observations, rewards, terminated, truncated, info = host.step(actions)
            mask = info["action_mask"]
            expected = observations, mask, rewards.astype(np.float32), terminated, truncated
            compare(preset, opponent, step, expected, device.step(torch.from_numpy(actions).cuda()))
            compared += CHECKED_GAMES
        print(f"{preset}, opponent {opponent}, {reward}: {compared:,} steps compared, 0 differences", flush=True)
    return {"steps": compared, "differences": 0, "seconds": round(time.perf_counter() - began, 1)}


def compare(preset: str, opponent: str | None, step: int, expected: Any, got: Any) -> None:
    """Raise `SystemExit`, naming preset, opponent and step, if an array of the host differs from the device's array."""
    for name, mine, theirs in zip(
        ("observation", "mask", "reward", "terminated", "truncated"), expected, got, strict=False
    ):
        other = theirs.numpy(force=True)
        if not np.array_equal(mine, other):
            row = int((mine != other).reshape(len(mine), -1).any(axis=1).argmax())
            raise SystemExit(f"{preset}, opponent {opponent}, step {step}, row {row}: {name} {mine[row]} {other[row]}")


@cuda.jit
def draw_actions(masks: Any, actions: Any, turn: int) -> None:
    """Write a random legal action for each game to `actions`, drawn from a hash of the game's index and `turn`."""
    row = cuda.grid(1)
    if row < len(masks):
        number = (row * 0x9E3779B1 + turn * 0x85EBCA77) & 0xFFFFFFFF
        number = ((number ^ (number >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
        number = ((number ^ (number >> 15)) * 0x846CA68B) & 0xFFFFFFFF
        number ^= number >> 16
        count = 0
        for action in range(masks.shape[1]):
            count += masks[row, action]
        skipped = (number * count) >> 32
        for action in range(masks.shape[1]):
            if masks[row, action]:
                if skipped == 0:
                    actions[row] = action
                skipped -= 1


def step_times(games: CudaGames) -> Iterator[float]:
    """Play random steps; yield the milliseconds that each step takes."""
    games.reset(seed=0)
    actions = torch.zeros(len(games.reward), dtype=torch.int64, device="cuda")
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    masks, drawn = cuda.as_cuda_array(games.mask, sync=False), cuda.as_cuda_array(actions, sync=False)
    turn = 0
    while True:
        draw_actions[-(-len(actions) // 128), 128, stream](masks, drawn, turn)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        games.step(actions)
        end.record()
        end.synchronize()
        yield begin.elapsed_time(end)
        turn += 1


def median_speed(games: CudaGames, steps: int = STEPS) -> float:
    """Return the median speed over `steps` steps, in millions of steps per second, after 60 warm-up steps."""
    times = step_times(games)
    for _ in range(60):
        next(times)
    return len(games.reward) / statistics.median(next(times) for _ in range(steps)) / 1e3


def speed() -> dict[str, Any]:
    """Measure the speed for each setting and number of games, in millions of steps per second."""
    speeds: dict[str, Any] = {}
    for preset, opponent in (*(("mancala-world", name) for name in OPPONENTS), ("four-player", None)):
        row = {size: round(median_speed(CudaGames(size, preset, opponent=opponent)), 1) for size in SIZES}
        speeds[f"{preset}, {opponent or 'no opponent'}"] = row
        shown = " ".join(f"{size:,}: {steps:,}" for size, steps in row.items())
        print(f"{preset}, {opponent or 'no opponent'}: {shown}", flush=True)
    return speeds


PPO = ["--device", "cuda", "--num-envs", "65536", "--num-steps", "16", "--minibatch", "131072", "--epochs", "3"]
PPO += ["--learning-rate", "2e-3"]
"""Options of `examples.cleanrl_ppo` that suit a GPU, because they launch few but large kernels."""


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call `function`; return the seconds until all its work on the device is done, and its result."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return time.perf_counter() - begin, result


def ppo(rollouts: int = 20) -> dict[str, Any]:
    """Measure the median milliseconds of each part of a PPO rollout, and the plies per second in total."""
    options = cleanrl_ppo.parse_options(PPO)
    torch.set_float32_matmul_precision("high")
    games, agent = cleanrl_ppo.DeviceGames(options), cleanrl_ppo.Agent(options.width).cuda()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-4, fused=True)
    actions = torch.zeros(options.num_envs, dtype=torch.int64, device="cuda")
    times: dict[str, list[float]] = {"games": [], "collect": [], "learn": []}
    for _ in range(rollouts):
        seconds, rollout = timed(lambda: cleanrl_ppo.collect(games, agent, options))
        times["collect"].append(seconds)
        seconds, _ = timed(functools.partial(cleanrl_ppo.learn, agent, optimizer, rollout, options))
        times["learn"].append(seconds)
    for _ in range(rollouts):
        seconds, _ = timed(lambda: [games.env.step(actions) for _ in range(options.num_steps)])
        times["games"].append(seconds)
    medians = {name: 1000 * statistics.median(results) for name, results in times.items()}
    plies = options.num_envs * options.num_steps
    results = {
        "games_ms": round(medians["games"], 2),
        "network_that_plays_ms": round(medians["collect"] - medians["games"], 2),
        "learning_ms": round(medians["learn"], 2),
        "million_plies_per_second": round(plies / (medians["collect"] + medians["learn"]) / 1000, 2),
    }
    print(" ".join(PPO), *(f"{name} {number:,}" for name, number in results.items()), sep="\n", flush=True)
    return {"options": PPO, **results}


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line, which select the parts."""

    check: int = 0
    """compare this many steps with the CPU"""
    speed: Flag = False
    """time steps by the number of games"""
    ppo: Flag = False
    """time the parts of a rollout of PPO"""


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Run the parts that the options select; yield the results after each part."""
    results: dict[str, Any] = {"device": torch.cuda.get_device_name()}
    print(results["device"], torch.__version__, numba.__version__, cuda.__name__, flush=True)
    parts: dict[str, Callable[[], Any]] = {"check": lambda: check(options.check), "speed": speed, "ppo": ppo}
    for name, part in parts.items():
        if getattr(options, name):
            results[name] = part()
            yield results


EXPERIMENT = Experiment("cuda", __doc__, Options, measure, {})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
