"""Measure millions of moves and steps per second in random games on one core, by the number of parallel games.

The first table measures `Core.play`, including the test for legal actions, the refills and the end test. The second
measures `make_vec("OAnQuan-v0")`. A step is one ply in each game, with observation, mask, reward and restart; with an
opponent it includes the reply. Gymnasium's CartPole is timed the same way. Other rows have only one game: Gymnasium's
single environments (unwrapped; a reset counts with the step before it), turns of PettingZoo's AEC interface, and
OpenSpiel's mancala (Kalah, with observation, mask and rewards). Speeds are medians over several rounds.

The clock stops while actions are drawn, also for CartPole, and while the games of the first table restart. OpenSpiel's
games are drawn beforehand and replayed, because one ply takes about a microsecond. The table omits OpenSpiel if it is
not installed; --publish needs it: `pip install -e ".[openspiel]"`. Run the benchmark on an idle machine; it takes a few
minutes: `python -m experiments.speed`.
"""

import importlib
import itertools
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

import oanquan_env
from experiments import common
from experiments.common import Cells, Experiment
from oanquan_env import Core
from oanquan_env.errors import MissingExtraError, needing_extra

SIZES = (1, 16, 64, 256, 1024, 4096)
PATHS = {"compiled": True, "NumPy": False}
RULES = ("mancala-world", "tonkin", "three-player", "four-player")
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "make_vec": {"opponent": None},
    "make_vec, greedy replies": {"opponent": "greedy"},
    "make_vec, three players": {"opponent": None, "rules": "three-player"},
    "make_vec, four players": {"opponent": None, "rules": "four-player"},
    "make_vec, random replies": {"opponent": "random"},
    "make_vec, openings of 10 plies": {"opponent": None, "opening_plies": 10},
    "make_vec, same step": {"opponent": None, "autoreset_mode": "SameStep"},
    "make_vec, two threads": {"opponent": None, "threads": 2},
}
SINGLE = {"one environment": None, "one environment, greedy replies": "greedy"}
"""The opponent of each single environment."""
WARM_UP_STEPS = 60
"""Untimed steps at the start, which compile everything and spread the games over all stages, as in a long run."""
ROUNDS = 5
OPEN_SPIEL_GAMES = 400

Name: TypeAlias = tuple[str, str, int]
"""Table, row, and number of parallel games."""
Contestant: TypeAlias = Callable[[float], float]
"""A function that runs for the given number of seconds, and returns its speed in operations per second."""
Speeds: TypeAlias = dict[str, dict[str, float]]
"""Operations per second, by the name of a table's row and then by the number of parallel games, as text."""


def draw(mask: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw (N,) random legal actions, one for each row of an (N, A) mask; 0 if none is legal."""
    draws = 1 - rng.random(mask.shape, dtype=np.float32)  # positive, so that a legal action always wins
    actions: npt.NDArray[np.intp] = (draws * mask).argmax(axis=1)
    return actions


def core_times(core: Core, size: int) -> Iterator[float]:
    """Play `size` random games at once, and yield the seconds that each call of `Core.play` takes."""
    set_up, positions, rng = core.start(), core.start(size), np.random.default_rng(0)
    while True:
        actions = draw(core.legal_mask(positions), rng)
        begin = time.perf_counter()
        core.play(positions, actions)
        yield time.perf_counter() - begin
        positions[positions.over] = set_up


def environment_times(env: Any) -> Iterator[float]:
    """Yield the seconds of each step of a vector environment; without masks (CartPole), all actions are allowed."""
    any_action, rng = np.ones((env.num_envs, env.single_action_space.n)), np.random.default_rng(0)
    _, info = env.reset(seed=0)
    while True:
        actions = draw(info.get("action_mask", any_action), rng)
        begin = time.perf_counter()
        *_, info = env.step(actions)
        yield time.perf_counter() - begin


def single_times(env: Any) -> Iterator[float]:
    """Yield the seconds of each step of a single environment; a reset counts with the step before it."""
    any_action, rng = np.ones(env.action_space.n), np.random.default_rng(0)
    _, info = env.reset(seed=0)
    while True:
        action = int(draw(info.get("action_mask", any_action)[None], rng)[0])
        begin = time.perf_counter()
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
        yield time.perf_counter() - begin


def turn_times(game: Any) -> Iterator[float]:
    """Yield the seconds of each turn, `last()` and `step()`, of random play in a PettingZoo AEC game."""
    rng = np.random.default_rng(0)
    while True:
        game.reset()
        while game.agents:
            begin = time.perf_counter()
            observation, _, terminated, truncated, _ = game.last()
            spent = time.perf_counter() - begin
            over = terminated or truncated
            action = None if over else int(rng.choice(observation["action_mask"].nonzero()[0]))
            begin = time.perf_counter()
            game.step(action)
            yield spent + time.perf_counter() - begin


def aec_games() -> dict[str, Any]:
    """Make the AEC games to compare; omit PettingZoo's games if pygame, which they need, is not installed."""
    modules: dict[str, Any] = {"oanquan": oanquan_env}
    try:
        with needing_extra("human"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # from PettingZoo's own imports
            from pettingzoo.classic import connect_four_v3, tictactoe_v3
        modules |= {"connect_four": connect_four_v3, "tictactoe": tictactoe_v3}
    except MissingExtraError as error:
        print(f"The table omits PettingZoo's games: {error}")
    return {
        f"{name} {kind}": getattr(module, kind)() for name, module in modules.items() for kind in ("raw_env", "env")
    }


def open_spiel_times(game: Any, lines: list[list[int]]) -> Iterator[float]:
    """Yield the seconds of each replay of all `lines`, which are lists of actions."""
    while True:
        begin = time.perf_counter()
        for line in lines:
            state = game.new_initial_state()
            for action in line:
                state.observation_tensor(state.current_player())
                state.legal_actions_mask()
                state.rewards()
                state.apply_action(action)
        yield time.perf_counter() - begin


def open_spiel_line(game: Any, rng: np.random.Generator) -> list[int]:
    """Play a random game; return its actions."""
    state, actions = game.new_initial_state(), []
    while not state.is_terminal():
        actions.append(int(rng.choice(state.legal_actions())))
        state.apply_action(actions[-1])
    return actions


def per_second(times: Iterator[float], plies: int, seconds: float) -> float:
    """Return plies per second, measured for `seconds`; each item of `times` is the seconds that `plies` plies took."""
    spent, calls = 0.0, 0
    while spent < seconds:
        spent += next(times)
        calls += 1
    return calls * plies / spent


def side_by_side(size: int) -> dict[Name, Contestant]:
    """Make and warm up the contestants that play `size` games at once."""
    times: dict[tuple[str, str], Iterator[float]] = {}
    for rules, (path, compiled) in itertools.product(RULES, PATHS.items()):
        times["core", f"{rules}, {path}"] = core_times(Core(rules, compiled), size)
    for name, options in ENVIRONMENTS.items():
        times["vector", name] = environment_times(gymnasium.make_vec("OAnQuan-v0", num_envs=size, **options))
    cart_pole = gymnasium.make_vec("CartPole-v1", num_envs=size, vectorization_mode="vector_entry_point")
    times["vector", "Gymnasium CartPole"] = environment_times(cart_pole)
    for timed in times.values():
        sum(itertools.islice(timed, WARM_UP_STEPS))
    return {(*name, size): partial(per_second, timed, size) for name, timed in times.items()}


def one_game(*, all_needed: bool) -> dict[Name, Contestant]:
    """Make the contestants with one game. If OpenSpiel is missing, omit it or, if `all_needed`, raise its error."""
    contestants: dict[Name, Contestant] = {}
    single = {name: gymnasium.make("OAnQuan-v0", opponent=opponent) for name, opponent in SINGLE.items()}
    single["one CartPole"] = gymnasium.make("CartPole-v1")
    for name, env in single.items():
        contestants["vector", name, 1] = partial(per_second, single_times(env.unwrapped), 1)
    for name, game in aec_games().items():
        contestants["vector", f"AEC, {name}", 1] = partial(per_second, turn_times(game), 1)
    try:
        game = importlib.import_module("pyspiel").load_game("mancala")
    except ModuleNotFoundError:
        if all_needed:
            raise
        print("The table omits OpenSpiel, which is not installed.")
        return contestants
    rng = np.random.default_rng(0)
    lines = [open_spiel_line(game, rng) for _ in range(OPEN_SPIEL_GAMES)]
    replay = partial(per_second, open_spiel_times(game, lines), sum(map(len, lines)))
    return {**contestants, ("vector", "OpenSpiel mancala", 1): replay}


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    seconds: float = 0.2
    """seconds for each contestant in each round"""


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure all contestants in turn for several rounds; yield the medians."""
    alone = one_game(all_needed=options.publish)
    contestants = {name: contestant for size in SIZES for name, contestant in side_by_side(size).items()} | alone
    tables: dict[str, Speeds] = {"core": {}, "vector": {}}
    for (table, row, size), speed in median_speeds(contestants, ROUNDS, options.seconds).items():
        tables[table].setdefault(row, {})[str(size)] = speed
    yield {"unit": "1/s", "seconds": options.seconds, **tables}


def median_speeds(contestants: Mapping[Name, Contestant], rounds: int, seconds: float) -> dict[Name, float]:
    """Return each contestant's median speed over `rounds` rounds, in which all take turns of `seconds` seconds."""
    measured: dict[Name, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            measured[name].append(contestant(seconds))
    return {name: statistics.median(speeds) for name, speeds in measured.items()}


def millions(speed: float) -> str:
    """Format a speed in millions, with one decimal or, below one million, with two significant digits."""
    return f"{speed / 1e6:.1f}" if speed >= 995_000 else f"{speed / 1e6:#.2g}"


def by_size(speeds: Speeds, form: Callable[[float], str] = millions) -> list[Cells]:
    """Return the rows of a table of speeds, in millions per second; columns are numbers of games."""
    return [
        {"games": name, **{f"{int(size):,}": form(speed) for size, speed in row.items()}}
        for name, row in speeds.items()
    ]


TABLES = {
    "core": lambda results: by_size(results["core"]),
    "vector": lambda results: by_size(results["vector"]),
}
EXPERIMENT = Experiment("speed", __doc__, Options, measure, TABLES)


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
