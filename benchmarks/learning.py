"""Learning methods by their distance from perfect play: each trains for a budget of processor time of one core.

    python -m benchmarks.learning --minutes 1 --seeds 5                # resumes: runs that are finished are kept
    python -m benchmarks.learning --minutes 1 3 --rules mancala-world
    python -m benchmarks.readme                                        # renews the table

Every run is written to `benchmarks/results/methods.json` as it ends, so the command may be stopped at any time; it then
draws `methods.png`. Schedules follow the processor time, so each budget is a run of its own. Measuring is not counted.
Regret is over the test part of the suites; curves are over the development part.
"""

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro

from agents.config import Count, command, validated
from agents.players.network_player import PPOPlayer
from agents.reports.pictures import png
from agents.run import load_config, run_type
from benchmarks.report import RESULTS, describe_machine
from examples import pqn, shared
from oanquan_env import Core, Rules
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.markdown import interval, table
from oanquan_env.benchmark.regret import Suite, regret
from oanquan_env.benchmark.seeds import interquartile_estimate
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.files import read_json, write_atomically
from oanquan_env.players import Policy
from oanquan_env.players.adapters import as_policy
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.deepening import Limits, Search

PROG = "python -m benchmarks.learning"
CONFIGS = Path(__file__).parents[1] / "configs"
SHARES = 0.1, 0.25, 0.5, 1.0
"""Shares of the budget after which the curve is measured."""
TIMED = 40
"""Positions in which the time of a move is measured, one by one."""
NODES = 2_000, 20_000
FIRST_PLIES = 10**12
"""Length of a run before its speed is known: its schedules stand at their beginnings."""


class Training:
    """A run of `agents.run`, whose schedules follow the processor time."""

    def __init__(self, folder: Path, config: str, changes: dict[str, Any], rules: str, seed: int) -> None:
        base = load_config(CONFIGS / config)
        values = {**base.model_dump(), **changes, "rules": rules, "seed": seed, "threads": 1}
        self.run = run_type(base.kind).create(folder, validated(type(base), values, config), PROG, lambda _: None)

    @property
    def plies(self) -> int:
        """Plies so far."""
        return self.run.plies

    def iterate(self, done: float) -> None:
        """Play and learn; `done` is the share of the budget that is spent at the end of it."""
        total = round((self.plies + self.run.iteration) / done) if done else FIRST_PLIES
        self.run.config = self.run.config.model_copy(update={"total_plies": total})
        self.run.iterate()
        self.run.plies += self.run.iteration

    def players(self) -> dict[str, Policy]:
        """The trained player, or the searches with the trained net."""
        run: Any = self.run
        if run.config.kind == "td":
            search = Search(run.core, threads=1, net=run.network.export({}))
            return {f", {nodes:,} nodes": SearchPlayer(search, Limits(nodes=nodes)) for nodes in NODES}
        run.export()
        return {"": PPOPlayer(run.folder)}


class PQN:
    """A run of `examples.pqn`."""

    def __init__(self, folder: Path, rules: str, seed: int) -> None:
        self.options = shared.parse(pqn.__doc__, ["--rules", rules, "--seed", str(seed)], **pqn.OPTIONS)
        torch.manual_seed(seed)
        self.core, self.plies = Core(rules), 0
        self.net, self.games = pqn.QNetwork(self.core.rules, self.options.width), pqn.Games(self.options)
        self.optimizer = torch.optim.RAdam(self.net.parameters(), lr=self.options.learning_rate)

    def iterate(self, done: float) -> None:
        """Play and learn, as the example does."""
        options = self.options
        self.optimizer.param_groups[0]["lr"] = options.learning_rate * (1 - 0.95 * done)
        epsilon = options.epsilon + (options.epsilon_end - options.epsilon) * min(done / options.exploration, 1.0)
        pqn.learn(self.net, self.optimizer, self.games.collect(self.net, epsilon, options), options)
        self.plies += options.num_envs * options.num_steps

    def players(self) -> dict[str, Policy]:
        """The network as a player."""
        return {"": as_policy(self.net, self.core)}


def of_network(name: str) -> Callable[..., Training]:
    """PPO by configs/quick.yaml with this network."""
    network = {"name": name, "embed": 16, "width": 256, "leaf_width": 128}
    return lambda folder, rules, seed: Training(folder, "quick.yaml", {"network": network}, rules, seed)


def of_values(folder: Path, rules: str, seed: int) -> Training:
    """TD(lambda) by configs/value.yaml."""
    return Training(folder, "value.yaml", {}, rules, seed)


METHODS: dict[str, tuple[str, Callable[..., Training | PQN]]] = {
    "PQN": ("observation", PQN),
    "PPO, observation": ("observation", of_network("plain")),
    "PPO, afterstates": ("afterstates", of_network("afterstates")),
    "PPO, replies": ("afterstates, replies", of_network("two_ply")),
    "TD(λ)": ("search", of_values),
}
"""What each sees, and how a run begins: from a folder, rules and a seed."""


def train(method: str, rules: str, minutes: float, seed: int, suite: Suite) -> dict[str, Any]:
    """A run as the results hold it."""
    parts: tuple[Suite, Suite] = suite.part("development"), suite.part("test")
    with tempfile.TemporaryDirectory() as folder:
        begin = METHODS[method][1]
        warm = begin(Path(folder) / "warm", rules, seed)  # what is compiled or read at first is not counted
        warm.iterate(0.0)
        measured(warm.players(), parts[0])
        run = begin(Path(folder) / "run", rules, seed)
        spent, last, due, curve = 0.0, 0.0, list(SHARES), []
        while due:
            began = time.process_time()
            run.iterate(min((spent + last) / (60 * minutes), 1.0))
            last = time.process_time() - began
            spent += last
            passed = sum(spent >= share * 60 * minutes for share in due)
            if passed:
                means = {name: found["mean"] for name, found in measured(run.players(), parts[0]).items()}
                curve += passed * [{"seconds": round(spent, 1), "plies": run.plies, "regret": means}]
                due = due[passed:]
        players = run.players()
        result = {"method": method, "rules": rules, "minutes": minutes, "seed": seed, "plies": run.plies}
        result |= {"seconds": round(spent, 1), "regret": measured(players, parts[1]), "curve": curve}
        return result | {"ms": {name: round(move_time(player, suite), 3) for name, player in players.items()}}


def measured(players: dict[str, Policy], suite: Suite) -> dict[str, dict[str, float]]:
    """Regret of each player with its interval over the positions."""
    found = {name: regret(one, suite, np.random.default_rng(0), by_phase=False) for name, one in players.items()}
    return {name: {end: round(getattr(one, end), 4) for end in ("mean", "low", "high")} for name, one in found.items()}


def move_time(player: Policy, suite: Suite) -> float:
    """Processor time of a move, ms, each position asked by itself."""
    rng, began = np.random.default_rng(0), time.process_time()
    for row in range(TIMED):
        player.choose(suite.positions[row : row + 1], rng)
    return 1000 * (time.process_time() - began) / TIMED


def search_as_long(ms: float, suite: Suite) -> dict[str, Any]:
    """Plain search of so much time a move: its nodes and its regret."""
    search = Search(suite.core, threads=1)
    speed = max(NODES) / move_time(SearchPlayer(search, Limits(nodes=max(NODES))), suite)
    nodes = max(int(float(f"{ms * speed:.2g}")), 10)
    return {"ms": ms, "nodes": nodes, **measured({"": SearchPlayer(search, Limits(nodes=nodes))}, suite.part("test"))}


# ---- the table -------------------------------------------------------------------------------------------------------


def rows_of(results: dict[str, Any], rules: str) -> Iterator[tuple[str, str, str]]:
    """Name of a row, its method and the ending of its player's name."""
    for method in METHODS:
        found = [run for run in results["runs"] if (run["method"], run["rules"]) == (method, rules)]
        for ending in found[0]["regret"] if found else ():
            yield method + ending, method, ending


def methods() -> str:
    """The table of docs/benchmark.md."""
    results = read_json(RESULTS / "methods.json")
    parts = []
    for rules in dict.fromkeys(run["rules"] for run in results["runs"]):
        budgets = sorted({run["minutes"] for run in results["runs"] if run["rules"] == rules})
        heads = ["method", "sees", *(f"{minutes:g} min" for minutes in budgets)]
        heads += [f"million plies in {budgets[-1]:g} min", "ms a move", "plain search of that time"]
        cells = []
        for name, method, ending in rows_of(results, rules):
            row = [name, METHODS[method][0]]
            for minutes in budgets:
                runs = _runs(results, rules, method, minutes)
                found = [run["regret"][ending]["mean"] for run in runs]
                row.append(interval(_over_runs(found), ".2f") + f"; {len(runs)} runs" * (len(runs) < 5) if runs else "")
            plies = [run["plies"] for run in runs]
            row.append(f"{np.mean(plies) / 1e6:.2f}" if plies else "")
            other = results["searches"][rules][name]
            cells.append([*row, f"{other['ms']:.2g}", f"{other['']['mean']:.2f} ({other['nodes']:,} nodes)"])
        parts.append(f"Rules `{rules}`:\n\n{table(heads, cells, left=2)}")
    machine = results["measured_on"]
    made = f"Measured by `{PROG}` at commit `{machine['commit']}`, {machine['processor']}, one core of a busy machine."
    return "\n\n".join([*parts, made])


def _runs(results: dict[str, Any], rules: str, method: str, minutes: float) -> list[dict[str, Any]]:
    wanted = rules, method, minutes
    return [run for run in results["runs"] if (run["rules"], run["method"], run["minutes"]) == wanted]


def _over_runs(regrets: Sequence[float]) -> Estimate:
    return interquartile_estimate([[one] for one in regrets], np.random.default_rng(0))


def picture(results: dict[str, Any]) -> bytes:
    """The curves of the longest runs: a panel for each of the rules."""
    panels = {}
    for rules in dict.fromkeys(run["rules"] for run in results["runs"]):
        curves = panels[f"minutes of one core ({rules})"] = dict[str, LearningCurve]()
        for name, method, ending in rows_of(results, rules):
            longest = max(run["minutes"] for run in results["runs"] if (run["rules"], run["method"]) == (rules, method))
            runs = [run["curve"] for run in _runs(results, rules, method, longest)]
            regrets = [[point["regret"][ending] for point in run] for run in runs]
            curves[name] = LearningCurve.of([longest * share for share in SHARES], regrets)
    return png(draw_curves(panels, logarithmic=True))


def _write(path: Path, results: dict[str, Any]) -> None:
    """The results, one run a line."""
    rest = json.dumps({"measured_on": describe_machine(), "searches": results["searches"]}, indent=1)
    runs = ",\n".join(json.dumps(run, ensure_ascii=False) for run in results["runs"])
    write_atomically(path, f'{rest[:-2]},\n "runs": [\n{runs}\n]}}\n'.encode())


# ---- the command -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """The command line."""

    minutes: tuple[Annotated[float, tyro.conf.arg(metavar="MINUTES")], ...] = (1.0, 3.0, 10.0)  # budgets
    rules: tuple[str, ...] = ("mancala-world", "ludii")  # presets, which must have a suite
    seeds: Count = 5  # runs of each method and budget
    output: Path = RESULTS  # folder of methods.json and methods.png


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Train what is missing."""
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "methods.json"
    results = read_json(path) if path.exists() else {"runs": [], "searches": {}}
    wanted = list(itertools.product(options.minutes, options.rules, range(options.seeds), METHODS))
    finished = {(run["minutes"], run["rules"], run["seed"], run["method"]) for run in results["runs"]}
    for number, key in enumerate(wanted, 1):
        minutes, rules, seed, method = key
        if key in finished:
            continue
        suite = load_suite(Rules.parse(rules))
        found = train(method, rules, minutes, seed, suite)
        searches = results["searches"].setdefault(rules, {})
        for ending, ms in found.pop("ms").items():
            if method + ending not in searches:
                searches[method + ending] = search_as_long(ms, suite)
        results["runs"].append(found)
        _write(path, results)
        shown = ", ".join(f"{one['mean']:.2f}{ending}" for ending, one in found["regret"].items())
        print(f"{number} of {len(wanted)}: {method}, {rules}, {minutes:g} min, seed {seed}: regret {shown}", flush=True)
    write_atomically(options.output / "methods.png", picture(results))


if __name__ == "__main__":
    sys.exit(main())
