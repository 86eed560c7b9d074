"""Steps a second of `gymnasium.make_vec("OAnQuan-v0")` and of `make`, beside PettingZoo's and OpenSpiel's games.

A step is one ply in one game, with observation, mask, reward and reset; against greedy, the reply too. The time to draw
a random legal action is not counted. OpenSpiel's mancala (Kalah) is measured from Python where OpenSpiel is installed,
and --publish needs it: `pip install -e ".[openspiel]"`. Run it on an idle machine: `python -m benchmarks.vector`.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from benchmarks import report
from benchmarks.aec import games, turns_per_second
from oanquan_env.envs.vector import OAnQuanVectorEnv

SIZES = (1, 64, 1024, 4096, 16384)
WARM_UP_STEPS = 60
"""Steps before the clock starts: the games are then of all ages, as in a long run."""
ROUNDS = 5
OPEN_SPIEL_GAMES = 400

Contestant = Callable[[float], float]
"""Seconds to play for -> plies a second."""


class Batch:
    """Random play of `num_envs` games, going on from call to call."""

    def __init__(self, num_envs: int, opponent: str | None) -> None:
        made = gymnasium.make_vec("OAnQuan-v0", num_envs=num_envs, opponent=opponent)
        assert isinstance(made, OAnQuanVectorEnv)
        self.env = made
        self.rng = np.random.default_rng(0)
        self.env.reset(seed=0)
        for _ in range(WARM_UP_STEPS):
            self.step()

    def step(self) -> float:
        """One step of all games; the seconds it took."""
        mask = self.env.action_masks()
        actions = (self.rng.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1)
        begin = time.perf_counter()
        self.env.step(actions)
        return time.perf_counter() - begin

    def __call__(self, seconds: float) -> float:
        """Steps a second, of all games together."""
        spent, steps = 0.0, 0
        while spent < seconds:
            spent += self.step()
            steps += 1
        return steps * self.env.num_envs / spent


class Single:
    """Random play of one environment, `gymnasium.make`, going on from call to call."""

    def __init__(self, opponent: str | None) -> None:
        self.env = gymnasium.make("OAnQuan-v0", opponent=opponent)
        self.rng = np.random.default_rng(0)
        _, self.info = self.env.reset(seed=0)

    def __call__(self, seconds: float) -> float:
        """Steps a second."""
        spent, steps = 0.0, 0
        while spent < seconds:
            mask = self.info["action_mask"]
            action = (self.rng.random(len(mask)) * mask).argmax()
            begin = time.perf_counter()
            _, _, terminated, truncated, self.info = self.env.step(action)
            if terminated or truncated:
                _, self.info = self.env.reset()
            spent += time.perf_counter() - begin
            steps += 1
        return steps / spent


class OpenSpielMancala:
    """Random games. They are drawn beforehand and played again on the clock, as one ply takes only a microsecond."""

    def __init__(self, pyspiel: Any, *, observe: bool) -> None:
        self.game, self.observe = pyspiel.load_game("mancala"), observe
        rng = np.random.default_rng(0)
        self.actions = [self.draw_game(rng) for _ in range(OPEN_SPIEL_GAMES)]

    def draw_game(self, rng: np.random.Generator) -> list[int]:
        """The actions of one game."""
        state, actions = self.game.new_initial_state(), []
        while not state.is_terminal():
            actions.append(int(rng.choice(state.legal_actions())))
            state.apply_action(actions[-1])
        return actions

    def __call__(self, seconds: float) -> float:
        """Plies a second; with `observe`, the mover's observation, the mask and the rewards are asked for too."""
        plies, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            for actions in self.actions:
                state = self.game.new_initial_state()
                for action in actions:
                    if self.observe:
                        state.observation_tensor(state.current_player())
                        state.legal_actions_mask()
                        state.rewards()
                    else:
                        state.legal_actions()
                    state.apply_action(action)
                plies += len(actions)
        return plies / (time.perf_counter() - begin)


def contestants(*, all_needed: bool) -> dict[str, Contestant]:
    """All that is measured, by name. Raises ModuleNotFoundError if all are needed and OpenSpiel is not installed."""
    connect_four = games().get("connect_four raw_env")
    made: dict[str, Contestant] = {f"oanquan make_vec, num_envs={n:,}": Batch(n, None) for n in SIZES}
    made["oanquan make_vec, num_envs=4,096, greedy replies"] = Batch(4096, "greedy")
    made["oanquan make"] = Single(None)
    made["oanquan make, greedy replies"] = Single("greedy")
    if connect_four is not None:
        made["PettingZoo connect_four raw_env, turns"] = lambda seconds: turns_per_second(connect_four, seconds)
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ModuleNotFoundError:
        if all_needed:
            raise
        print("OpenSpiel is left out: it is not installed")
        return made
    made["OpenSpiel mancala, observation, mask and rewards"] = OpenSpielMancala(pyspiel, observe=True)
    made["OpenSpiel mancala, moves and legal moves alone"] = OpenSpielMancala(pyspiel, observe=False)
    return made


@dataclass(frozen=True)
class Options(report.Options):
    """The command line."""

    seconds: float = 0.5
    """seconds of each contestant in each of the rounds"""


def main() -> None:
    """Measure all in turn, several rounds, and report each one's median."""
    options = report.read_options(Options, __doc__, "vector")
    speeds = report.median_speeds(contestants(all_needed=options.publish), ROUNDS, options.seconds)
    report.show(
        "steps a second, one core", ["", "steps/s"], [[name, f"{speed:,.0f}"] for name, speed in speeds.items()]
    )
    report.write(options, "vector", {"unit": "steps/s", "speeds": speeds})


if __name__ == "__main__":
    main()
