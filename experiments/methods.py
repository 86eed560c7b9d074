"""Compare learning methods by distance from perfect play after equal CPU time on one core.

    python -m experiments.methods --minutes 1 --seeds 5  # resumes and keeps finished runs
    python -m experiments.methods --minutes 1 3 --rules mancala-world --jobs 2
    python -m tools.write_docs  # updates the tables

Each finished run is written to `experiments/results/methods.json`, so you can stop the command at any time. At the end,
the command draws `methods.png` and `first.png`. The first run of a method under some rules is timed, not counting
measurements. Later runs get the plies that earlier runs managed in that time, so they may run in parallel or on a
slower machine. Schedules span the whole budget, so each budget has its own runs. A run ends with the iteration whose
end is nearest to its budget. Tables use the test part of the suites, and curves the development part.
"""

import functools
import io
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO

from agents.config import Size, Threads, command, validated
from agents.parallel import spread
from agents.players.network_player import PPOPlayer
from agents.run import load_config, run_type
from examples import pqn, sb3_ppo
from experiments.common import RESULTS, Cells, head_of_results, over_runs, program, table_of
from oanquan_env import Core, Rules
from oanquan_env.benchmark.charts import png
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.benchmark.regret import Suite, regret
from oanquan_env.benchmark.statistics import Estimate, as_record
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.benchmark.tables import interval
from oanquan_env.errors import UsageError
from oanquan_env.files import read_json, write_atomically
from oanquan_env.observation import OBSERVATIONS
from oanquan_env.players import Policy, make
from oanquan_env.players.adapters import as_policy
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits

PROG = program("methods")
CONFIGS = Path(__file__).parents[1] / "configs"
TIMED = 40
"""Number of positions over which the time per move is measured, with one call for each position."""
NODES = 2_000, 20_000
SHARES = 0.1, 0.25, 0.5, 1.0
"""Shares of the budget at which regret is measured for the curve."""
CONSTANT = {"learning_rate": 1e-3, "batch_size": 512}
"""Hyperparameters with a constant learning rate and smaller batches than `oanquan_env.sb3.HYPERPARAMETERS`."""
FIRST = "MaskablePPO, planes"
"""The method that people try first, as in the README."""
SELF_PLIES, SELVES = 65_536, 4
"""Plies between two former selves, and number of former selves that are opponents."""
SEEDS = 5
"""Number of runs for each method and budget."""


class AgentsRun:
    """A run of `agents.run` whose schedules span the whole budget."""

    def __init__(self, config: str, changes: dict[str, Any], folder: Path, rules: str, seed: int) -> None:
        base = load_config(CONFIGS / config)
        values = {**base.model_dump(), **changes, "rules": rules, "seed": seed, "threads": 1}
        self.run = run_type(base.kind).create(folder, validated(type(base), values, config), PROG, lambda _: None)
        self.plies = 0

    def iterate(self, done: float) -> None:
        """Run one iteration; `done` is the estimated share of the budget that is spent when it ends."""
        run = self.run
        self.plies += run.iteration
        run.config = run.config.model_copy(update={"total_plies": round(self.plies / max(done, 1e-9))})
        run.iterate()
        run.plies = self.plies

    def players(self) -> dict[str, Policy]:
        """Return the trained player or the searches with the trained net, keyed by the suffixes of their table rows."""
        run: Any = self.run
        if run.config.kind == "td":
            search = Search(run.core, threads=1, net=run.network.export({}))
            return {f", {nodes:,} nodes": SearchPlayer(search, Limits(nodes=nodes)) for nodes in NODES}
        run.export()
        return {"": PPOPlayer(run.folder)}


class PQN:
    """A run of `examples.pqn`."""

    def __init__(self, folder: Path, rules: str, seed: int) -> None:
        self.options = pqn.parse_options(["--rules", rules, "--seed", str(seed)])
        torch.manual_seed(seed)
        self.core, self.plies = Core(rules), 0
        self.net, self.games = pqn.QNetwork(self.core.rules, self.options.width), pqn.TensorGames(self.options)
        self.optimizer = torch.optim.RAdam(self.net.parameters(), lr=self.options.learning_rate)

    def iterate(self, done: float) -> None:
        """Run one iteration of the example; `done` is the same as in `AgentsRun.iterate`."""
        pqn.learn(self.net, self.optimizer, self.games, done, self.options)
        self.plies += self.options.num_envs * self.options.num_steps

    def players(self) -> dict[str, Policy]:
        """Return the network as the only player."""
        return {"": as_policy(self.net, self.core)}


class SB3:
    """A run of `examples.sb3_ppo`, whose opponent is `greedy`. It counts only the agent's own plies.

    The `kind` ` defaults` has 64 games and sb3-contrib's default hyperparameters, and ` constant` the hyperparameters
    in `CONSTANT`. In ` former selves`, copies of the model join the opponents and draw their moves: one after every
    `SELF_PLIES` plies, of which the latest `SELVES` stay.
    """

    def __init__(self, observation: str, kind: str, folder: Path, rules: str, seed: int) -> None:
        games = ["--envs", "64"] if kind == " defaults" else []
        options = sb3_ppo.parse_options(["--observation", observation, "--seed", str(seed), *games])
        self.core, self.plies, self.kind, self.selves = Core(rules), 0, kind, list[Policy]()
        if kind == " defaults":
            self.model = MaskablePPO("MlpPolicy", sb3_ppo.make_games(options, rules), seed=seed, device="cpu")
        else:
            self.model = sb3_ppo.make_model(options, rules, **(CONSTANT if kind == " constant" else {}))
        self.schedule = self.model.lr_schedule

    def iterate(self, done: float) -> None:
        """Run one rollout and learn from it; `done` is the same as in `AgentsRun.iterate`."""
        schedule = self.schedule
        self.model.lr_schedule = lambda _: schedule(1 - done)
        self.model.learn(self.model.n_envs * self.model.n_steps, reset_num_timesteps=False)
        self.plies = self.model.num_timesteps
        if self.kind == " former selves" and self.plies // SELF_PLIES > len(self.selves):
            file = io.BytesIO()
            self.model.save(file)
            self.selves.append(as_policy(MaskablePPO.load(file, device="cpu"), self.core, temperature=1.0))
            games: Any = self.model.get_env()
            games.set_opponent(["greedy", *self.selves[-SELVES:]])

    def players(self) -> dict[str, Policy]:
        """Return the model as the only player."""
        return {"": as_policy(self.model, self.core)}


def by_ppo(network: str) -> Callable[..., AgentsRun]:
    """Return a constructor of PPO runs with configs/quick.yaml and the network named `network`."""
    changes = {"network": {"name": network, "embed": 16, "width": 256, "leaf_width": 128}}
    return functools.partial(AgentsRun, "quick.yaml", changes)


@dataclass(frozen=True)
class Method:
    """A row of the table: the input of its network, and the constructor of runs with a folder, rules and a seed."""

    sees: str
    begin: Callable[..., AgentsRun | PQN | SB3]


METHODS = {
    "PQN": Method("observation", PQN),
    "PPO, observation": Method("observation", by_ppo("plain")),
    "PPO, afterstates": Method("afterstates", by_ppo("afterstates")),
    "PPO, replies": Method("afterstates, replies", by_ppo("two_ply")),
    "TD(λ)": Method("search", functools.partial(AgentsRun, "value.yaml", {})),
    **{
        f"MaskablePPO{kind}, {name}": Method(
            "observation" + " `moves`" * (name == "moves"), functools.partial(SB3, name, kind)
        )
        for kind in ("", " constant", " defaults", " former selves")
        for name in OBSERVATIONS
    },
}


def train(path: Path, wanted: tuple[float, str, int, str]) -> dict[str, Any]:
    """Train the run `wanted` (minutes, rules, seed and method), and return its entry for the results.

    The entry's seconds are processor time or, if `path` holds earlier runs of the method, plies divided by their speed.
    """
    torch.set_num_threads(1)
    minutes, rules, seed, method = wanted
    suite, speed = load_suite(Rules.parse(rules)), Results(path).speed(rules, method)
    parts: tuple[Suite, Suite] = suite.part("development"), suite.part("test")
    with tempfile.TemporaryDirectory() as folder:
        begin = METHODS[method].begin
        warm = begin(Path(folder) / "warm", rules, seed)  # keeps compilation and file reading out of the time
        warm.iterate(0.0)
        measured(warm.players(), suite.take(np.arange(TIMED)))
        run = begin(Path(folder) / "run", rules, seed)
        spent, last, due, curve = 0.0, 0.0, list(SHARES), []
        while due:
            began, before = time.process_time(), run.plies
            run.iterate(min((spent + last) / (60 * minutes), 1.0))
            last = (run.plies - before) / speed if speed else time.process_time() - began
            spent += last
            passed = sum(spent + last / 2 >= share * 60 * minutes for share in due)  # measured at the nearest iteration
            if passed:
                means = {name: estimate["mean"] for name, estimate in measured(run.players(), parts[0]).items()}
                curve += passed * [{"seconds": round(spent, 1), "plies": run.plies, "regret": means}]
                due = due[passed:]
        players = run.players()
        result = {"method": method, "rules": rules, "minutes": minutes, "seed": seed, "plies": run.plies}
        result |= {"seconds": round(spent, 1), "regret": measured(players, parts[1]), "curve": curve}
        return result | {"ms": {name: round(move_time(player, suite), 3) for name, player in players.items()}}


def measured(players: dict[str, Policy], suite: Suite) -> dict[str, dict[str, float]]:
    """Return each player's regret, with its interval over the positions."""
    losses = {name: regret(player, suite, np.random.default_rng(0), by_phase=False) for name, player in players.items()}
    ends = {name: as_record(Estimate(loss.mean, loss.low, loss.high)) for name, loss in losses.items()}
    return {name: {end: round(value, 4) for end, value in record.items()} for name, record in ends.items()}


def move_time(player: Policy, suite: Suite) -> float:
    """Return the processor time per move in ms, with one call for each position."""
    rng = np.random.default_rng(0)
    for row in range(TIMED + 1):
        if row == 1:  # skip the first call, which may load or compile
            began = time.process_time()
        player.choose(suite.positions[row : row + 1], rng)
    return 1000 * (time.process_time() - began) / TIMED


def search_as_long(ms: float, suite: Suite) -> dict[str, Any]:
    """Return the nodes and the regret of plain search with `ms` milliseconds per move."""
    search = Search(suite.core, threads=1)
    speed = max(NODES) / move_time(SearchPlayer(search, Limits(nodes=max(NODES))), suite)
    nodes = max(int(float(f"{ms * speed:.2g}")), 10)
    return {"ms": ms, "nodes": nodes, **measured({"": SearchPlayer(search, Limits(nodes=nodes))}, suite.part("test"))}


# ---- the results -----------------------------------------------------------------------------------------------------


class Results:
    """The content of `methods.json`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = read_json(path) if path.exists() else {"searches": {}, "runs": []}
        self.runs: list[dict[str, Any]] = self.content["runs"]
        self.rules = list(dict.fromkeys(run["rules"] for run in self.runs))

    def write(self) -> None:
        """Write the file, with one run per line."""
        rest = json.dumps({**head_of_results(PROG), "searches": self.content["searches"]}, indent=1)
        runs = ",\n".join(json.dumps(run, ensure_ascii=False) for run in self.runs)
        write_atomically(self.path, f'{rest[:-2]},\n "runs": [\n{runs}\n]}}\n'.encode())

    def of(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return the runs whose fields have the given values."""
        return [run for run in self.runs if all(run[name] == value for name, value in wanted.items())]

    def speed(self, rules: str, method: str) -> float | None:
        """Return the plies per second over all runs of a method under `rules`, or None if there are no runs."""
        runs = self.of(rules=rules, method=method)
        return sum(run["plies"] for run in runs) / sum(run["seconds"] for run in runs) if runs else None

    def rows(self, rules: str) -> Iterator[tuple[str, str, str]]:
        """Yield the table's rows as (name, method, suffix); the name is the method followed by the suffix."""
        for method in dict.fromkeys(run["method"] for run in self.runs):
            for ending in next((run["regret"] for run in self.of(rules=rules, method=method)), ()):
                yield method + ending, method, ending

    def table(self, rules: str) -> str:
        """Return the table for `rules`: one row for each name in `rows`, with regret and plies for each budget."""
        budgets = sorted({run["minutes"] for run in self.of(rules=rules)})
        rows = []
        for name, method, ending in self.rows(rules):
            regrets, plies = Cells(), Cells()
            for minutes in budgets:
                runs = self.of(rules=rules, method=method, minutes=minutes)
                estimates = [Estimate(**run["regret"][ending]) for run in runs]
                seeds = f"; {len(runs)} run{'s' * (len(runs) > 1)}" * (len(runs) < SEEDS)
                regrets[f"{minutes:g} min"] = interval(over_runs(estimates), ".2f") + seeds if runs else ""
                mean = f"{np.mean([run['plies'] for run in runs]) / 1e6:.2f}" if runs else ""
                plies[f"million plies, {minutes:g} min"] = mean
            search = self.content["searches"][rules][name]
            last = {
                "ms a move": f"{search['ms']:.2g}",
                "plain search in that time": f"{search['']['mean']:.2f} ({search['nodes']:,} nodes)",
            }
            rows.append({"method": name, "sees": METHODS[method].sees, **regrets, **plies, **last})
        return f"Rules `{rules}`:\n\n{table_of(rows, left=2)}"

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the PNG of each figure: the curves of all methods, and of `FIRST` beside `greedy`."""
        yield "methods.png", png(draw_curves(self._curves(self.rules, METHODS)))
        rules = self.rules[0]
        if self.of(rules=rules, method=FIRST):
            suite = load_suite(Rules.parse(rules)).part("development")
            level = regret(make("greedy", rules), suite, np.random.default_rng(0), by_phase=False).mean
            yield "first.png", png(draw_curves(self._curves([rules], [FIRST]), {"greedy": level}))

    def _curves(self, rule_sets: Sequence[str], methods: Iterable[str]) -> dict[str, dict[str, LearningCurve]]:
        """Return the learning curves of the runs with the largest budget, with one panel per set of rules."""
        panels: dict[str, dict[str, LearningCurve]] = {}
        for rules in rule_sets:
            curves = panels[f"minutes of one core ({rules})"] = {}
            longest = max(run["minutes"] for run in self.of(rules=rules) if run["method"] in methods)
            for name, method, ending in self.rows(rules):
                runs = [run["curve"] for run in self.of(rules=rules, method=method, minutes=longest)]
                if runs and method in methods:
                    regrets = [[point["regret"][ending] for point in run] for run in runs]
                    curves[name] = LearningCurve.of([longest * share for share in SHARES], regrets)
        return panels


def tables() -> str:
    """Return the tables for the page, and a line on their origin."""
    results = Results(RESULTS / "methods.json")
    command, machine = results.content["command"], results.content["measured_on"]
    note = f"Measured by `{command}`, last at `{machine['commit']}` ({machine['processor']})."
    return "\n\n".join([*map(results.table, results.rules), note])


# ---- the command -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    minutes: tuple[Annotated[float, tyro.conf.arg(metavar="MINUTES")], ...] = (1.0, 3.0, 10.0)  # budgets
    rules: tuple[str, ...] = ("mancala-world", "ludii")  # presets that have a regret suite
    seeds: Size = SEEDS  # runs of each method and budget
    methods: tuple[str, ...] = tuple(METHODS)  # names of the table's rows
    jobs: Threads = 1  # number of runs at a time
    output: Path = RESULTS  # folder of methods.json and methods.png


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Train the missing runs, and draw the picture."""
    options.output.mkdir(parents=True, exist_ok=True)
    results = Results(options.output / "methods.json")
    if unknown := set(options.methods) - set(METHODS):
        raise UsageError(f"--methods: {', '.join(sorted(unknown))}: must be among {'; '.join(METHODS)}")
    tasks = list(itertools.product(options.minutes, options.rules, range(options.seeds), options.methods))
    finished = {(run["minutes"], run["rules"], run["seed"], run["method"]) for run in results.runs}
    missing = [task for task in tasks if task not in finished]
    runs = spread(functools.partial(train, results.path), missing, processes=options.jobs)
    for number, (place, entry) in enumerate(runs, len(tasks) - len(missing) + 1):
        minutes, rules, seed, method = missing[place]
        searches = results.content["searches"].setdefault(rules, {})
        for ending, ms in entry["ms"].items():
            if method + ending not in searches:
                searches[method + ending] = search_as_long(ms, load_suite(Rules.parse(rules)))
        results.runs.append(entry)
        results.write()
        shown = ", ".join(f"{estimate['mean']:.2f}{ending}" for ending, estimate in entry["regret"].items())
        print(f"{number} of {len(tasks)}: {method}, {rules}, {minutes:g} min, seed {seed}: regret {shown}", flush=True)
    for name, picture in Results(results.path).pictures():
        write_atomically(options.output / name, picture)


if __name__ == "__main__":
    raise SystemExit(main())
