"""Measure how methods generalise to rules that they were not trained on (see `oanquan_env.benchmark.generalisation`).

    python -m experiments.generalisation --publish --jobs 2  # trains and measures what is missing
    python -m experiments.generalisation --add result.json --label "my method"  # checks a result, and lists it

Searches have 2,000 nodes unless their name says otherwise. The training rule sets of a run are drawn by its seed.
Interrupted trainings continue in `--runs`. A specialist is a net for one rule set, which trains on this rule set only;
it is measured under the first and the fifth of each twelve rule sets of the test splits.
"""

import functools
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.config import OptionalFile, Threads
from agents.networks.nets import NetworkConfig
from agents.parallel import spread
from agents.run import RunConfig, StopTrainingError, load_config, run_type
from agents.sweep import stopping
from experiments import common
from experiments.common import RESULTS, Cells, Experiment
from experiments.many_rules_ppo import ManyRulesConfig, player_in
from oanquan_env import Rules, provenance
from oanquan_env.benchmark.charts import png
from oanquan_env.benchmark.curves import LearningCurve, draw_curves
from oanquan_env.benchmark.generalisation import (
    TEST_SPLITS,
    Generalisation,
    PlayerOfRules,
    cells_of,
    held_out_suites,
    mean_loss,
    mean_losses,
    percent_of_random,
    random_regret,
    read_generalisation,
)
from oanquan_env.benchmark.statistics import mean_estimate
from oanquan_env.benchmark.suites import rule_set_suites
from oanquan_env.benchmark.tables import interval
from oanquan_env.errors import UsageError
from oanquan_env.files import read_json, write_atomically
from oanquan_env.players.search_player import search_player
from oanquan_env.rule_sets import split as rules_of
from oanquan_env.search.any_rules_net import CONTEXT, INPUTS, PARTS, AnyRulesNet, read_any_rules_net
from oanquan_env.search.value_net import VALUE_NET_NAME, ValueNet, read_value_net

CONFIGS = Path(__file__).parents[1] / "configs"
NODES = 2_000
SIZES = 1, 4, 16, 64, 256, 1024, 16_384
"""Numbers of training rule sets."""
PPO_SIZES = 1, 64, 1024
SEEDS, FEW_SEEDS = 5, 3
PLIES = 2_000_000
"""Plies of a training under many rule sets; specialists have those of configs/value.yaml."""


# ---- players ---------------------------------------------------------------------------------------------------------

# A row of the table (`ROWS`) is a player, a search with or without a net, a method that trains on a number of rule
# sets, or the specialists. A function here makes the player of each row, from a run's trainings and seed.


def search_with(net: Callable[[Rules], ValueNet | None], nodes: int = NODES) -> PlayerOfRules:
    """Return a search for any rules; `net` returns its net for given rules."""
    return lambda rules: search_player(rules, nodes, net(rules))


def used_for_all(net: ValueNet) -> AnyRulesNet:
    """Return a net for any rules that evaluates all positions as `net` does, which has five fields."""
    changes = int(PARTS[-1]) + 1
    return AnyRulesNet(
        embedding=net.embedding,
        hidden_weight=net.hidden_weight,
        hidden_bias=net.hidden_bias,
        output_weight=net.output_weight,
        output_bias=net.output_bias,
        context_weight=np.zeros((len(INPUTS), CONTEXT), np.float32),
        context_bias=np.zeros(CONTEXT, np.float32),
        change_weight=np.zeros((CONTEXT, changes), np.float32),
        change_bias=np.zeros(changes, np.float32),
        origin=net.origin,
    )


class Trainings:
    """The trainings of one row's run: their folder, and the plies and processor seconds that they took."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plies, self.seconds = folder, 0, 0.0

    def train(self, name: str, config: RunConfig) -> Path:
        """Train with one thread, or continue a training; return its folder."""
        folder, kind = self.folder / name, run_type(config.kind)
        config = config.model_copy(update={"threads": 1})
        begun = (folder / "config.yaml").exists()
        run = kind.resume(folder, print) if begun else kind.create(folder, config, PROG, print)
        before, began = run.plies, time.process_time()
        with stopping() as stop:
            run.learn(lambda _: None, stop)
        share = (run.plies - before) / run.plies
        self.plies += run.plies
        self.seconds += (time.process_time() - began) / share if share else np.nan
        return folder


def plain(name: str, _: Trainings, __: int) -> PlayerOfRules:
    """Return the player with this name."""
    return name


def plain_search(nodes: int, _: Trainings, __: int) -> PlayerOfRules:
    """Return a search without a net."""
    return search_with(lambda _: None, nodes)


def best_preset(_: Trainings, __: int) -> PlayerOfRules:
    """Return the search with the net of the preset that is best under the development rule sets."""
    rng, suites = np.random.default_rng(0), rule_set_suites("development")
    nets = [read_value_net("pretrained", rules) for rules in rules_of("presets")]
    players = [search_with(used_for_all(net).for_rules) for net in nets]
    shares = [[mean_loss(player, suite, rng, 1) / random_regret(suite) for suite in suites] for player in players]
    scores = [np.mean(share) for share in shares]
    print(f"presets under the development rule sets: {[f'{100 * score:.1f} %' for score in scores]}")
    return players[int(np.argmin(scores))]


def package_net(_: Trainings, __: int) -> PlayerOfRules:
    """Return the search with the package's net for any rules."""
    return search_with(read_any_rules_net().for_rules)


def any_rules(size: int, reads: bool, training: Trainings, seed: int) -> PlayerOfRules:
    """Train a net for any rules on `size` rule sets; return the search with it."""
    config: Any = load_config(CONFIGS / "any-rules.yaml")
    settings = config.td.model_copy(update={"training_rule_sets": size, "reads_rules": reads})
    config = config.model_copy(update={"total_plies": PLIES, "seed": seed, "td": settings})
    folder = training.train(f"{'reads' if reads else 'blind'}-{size}-seed-{seed}", config)
    return search_with(read_any_rules_net(folder).for_rules)


def ppo(network: str, size: int, training: Trainings, seed: int) -> PlayerOfRules:
    """Train a PPO agent that reads the rules on `size` rule sets; return it."""
    folder = training.train(
        f"ppo-{network}-{size}-seed-{seed}",
        ManyRulesConfig(rule_sets=size, seed=seed, network=NetworkConfig(name=network), total_plies=PLIES),
    )
    return player_in(folder, ManyRulesConfig(network=NetworkConfig(name=network)))


def specialist(training: Trainings, seed: int) -> PlayerOfRules:
    """Return a function that trains a net for the rules that it is given, and returns the search with it."""

    def net(rules: Rules) -> ValueNet:
        number = [suite.core.rules for _, suite in held_out_suites()].index(rules)
        config = load_config(CONFIGS / "value.yaml").model_copy(update={"rules": str(rules), "seed": seed})
        folder = training.train(f"specialist-{number}-seed-{seed}", config)
        return ValueNet.from_bytes((folder / VALUE_NET_NAME).read_bytes())

    return search_with(net)


@dataclass(frozen=True)
class Row:
    """A row of the table: the number of its runs, and a function of a run's trainings and seed to its player."""

    runs: int
    make: Callable[[Trainings, int], PlayerOfRules]
    rule_sets: range = field(default=range(96))
    """The numbers of the rule sets under which it is measured."""


SPECIALIST = "specialists"
READS, BLIND = "search, net for any rules", "search, net that reads no rules"
PPO = {"PPO, observation": "plain", "PPO, afterstates": "afterstates"}
CURVES = {READS: SIZES, BLIND: SIZES, **dict.fromkeys(PPO, PPO_SIZES)}
"""The methods with a curve over the number of training rule sets, and these numbers."""
LINES = "greedy", "search", "search, 20,000 nodes"
"""The rows that the picture shows as lines."""


def row_name(kind: str, size: int) -> str:
    """Return the name of the row of a method that trains on `size` rule sets."""
    return f"{kind}, {size:,} rule set{'s' * (size > 1)}"


ROWS: dict[str, Row] = {
    "random": Row(1, functools.partial(plain, "random")),
    "greedy": Row(1, functools.partial(plain, "greedy")),
    "search": Row(1, functools.partial(plain_search, NODES)),
    "search, 20,000 nodes": Row(1, functools.partial(plain_search, 20_000)),
    "search, best preset's net": Row(1, best_preset),
    "search, the package's net (15 M plies)": Row(1, package_net),
    **{row_name(READS, size): Row(SEEDS, functools.partial(any_rules, size, True)) for size in SIZES},
    **{row_name(BLIND, size): Row(FEW_SEEDS, functools.partial(any_rules, size, False)) for size in SIZES},
    **{
        row_name(kind, size): Row(FEW_SEEDS, functools.partial(ppo, network, size))
        for kind, network in PPO.items()
        for size in PPO_SIZES
    },
    SPECIALIST: Row(1, specialist, range(0, 96, 4)),
}


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    runs: Path = Path("runs/generalisation")
    """folder of the trainings"""
    rows: tuple[str, ...] = tuple(ROWS)
    """the rows to measure"""
    jobs: Threads = 1
    """number of runs at a time"""
    add: OptionalFile = None
    """a result of `evaluate_rules` to check and list; nothing else is measured"""
    label: str = "added"
    """the name of the row of --add"""


def measured(folder: Path, case: tuple[int, str]) -> dict[str, Any]:
    """Train and measure a run of a row, given as (seed, row); return its entry for the results."""
    seed, name = case
    training, row = Trainings(folder), ROWS[name]
    player = row.make(training, seed)
    points = dict(zip(row.rule_sets, mean_losses(player, row.rule_sets, seed), strict=True))
    entry: dict[str, Any] = {"row": name, "seed": seed, "commit": provenance.commit(), "plies": training.plies}
    entry["seconds"] = round(training.seconds, 1) if np.isfinite(training.seconds) else None
    return entry | {"regret": [round(points[number], 5) if number in points else None for number in range(96)]}


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure what is missing in the results so far; yield the results after each run."""
    path = options.json
    if path is None or (options.add and not path.exists()):
        path = RESULTS / "generalisation.json"
    results: dict[str, Any] = read_json(path) if path.exists() else {"runs": [], "added": {}}
    # Many calls made the runs, each of which names its commit; one call without options makes what is missing.
    results = {"command": PROG, "runs": results["runs"], "added": results["added"]}
    if options.add:
        added, label = read_generalisation(options.add), " ".join(options.label.split())
        entry = {"regret": added.regret, "command": added.command, "commit": added.commit}
        if not label or label in ROWS or results["added"].get(label, entry) != entry:
            raise UsageError(f"--label must be a new name in the table; got {options.label!r}")
        results["added"][label] = entry
        yield results
        return
    finished = {(run["seed"], run["row"]) for run in results["runs"]}
    cases = [
        case
        for case in itertools.product(range(SEEDS), options.rows)
        if case[0] < ROWS[case[1]].runs and case not in finished
    ]
    if not cases:
        yield results
    runs = spread(functools.partial(measured, options.runs), cases, processes=options.jobs)
    try:
        for number, (place, entry) in enumerate(runs, 1):
            results["runs"].append(entry)
            print(f"{number} of {len(cases)}: {cases[place][1]}, seed {cases[place][0]}", flush=True)
            yield results
    except StopTrainingError:  # the training has been saved
        raise KeyboardInterrupt from None
    if options.publish and (drawn := picture(results)):
        write_atomically(RESULTS / "generalisation.png", drawn)


# ---- tables ----------------------------------------------------------------------------------------------------------


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each method that is measured under all rule sets, and for each added result."""
    for name, row in ROWS.items():
        runs = [run for run in results["runs"] if run["row"] == name]
        if runs and len(row.rule_sets) == len(held_out_suites()):
            result = Generalisation.of(np.array([run["regret"] for run in runs]))
            yield {"method": name, "runs": str(len(runs)), **cells_of(result), **_costs(runs)}
    for name, added in results["added"].items():
        regrets = np.array([added["regret"][str(suite.core.rules)] for _, suite in held_out_suites()]).T
        yield {"method": name, "runs": str(len(regrets)), **cells_of(Generalisation.of(regrets))}


def _costs(runs: list[dict[str, Any]]) -> Cells:
    seconds = [run["seconds"] for run in runs if run["seconds"]]
    if not runs[0]["plies"]:
        return {}
    minutes = f"{np.mean(seconds) / 60:.1f}" if seconds else ""
    return {"million plies": f"{runs[0]['plies'] / 1e6:.1f}", "processor minutes a run": minutes}


def specialist_rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield the rows of nets under the rule sets of the specialists."""
    chosen = list(ROWS[SPECIALIST].rule_sets)
    for name in ROWS:
        runs = [run for run in results["runs"] if run["row"] == name]
        if runs and (name == SPECIALIST or name.startswith("search")):
            scores = percent_of_random(np.array([run["regret"] for run in runs], np.float64))[:, chosen]
            means = mean_estimate(scores.mean(axis=0))
            yield {"method": name, "regret, % of random (95 % over rule sets)": interval(means, ".1f"), **_costs(runs)}


def labels() -> str:
    """Return a table of the suites' labels: the share of proved values in each split."""
    rows = []
    for split in TEST_SPLITS:
        suites = [suite for name, suite in held_out_suites() if name == split]
        moves = sum(int(np.isfinite(suite.values).sum()) for suite in suites)
        proved, positions = sum(int(suite.proved.sum()) for suite in suites), sum(map(len, suites))
        known = sum(int(suite.all_proved().sum()) for suite in suites)
        cells = {
            "split": f"`{split}`",
            "rule sets": str(len(suites)),
            "positions": f"{positions:,}",
            "moves": f"{moves:,}",
        }
        shares = {
            "proved values, %": f"{100 * proved / moves:.0f}",
            "positions with all proved, %": f"{100 * known / positions:.0f}",
        }
        rows.append({**cells, **shares})
    return common.table_of(rows)


def picture(results: dict[str, Any]) -> bytes | None:
    """Return a PNG with the regret over the number of training rule sets; None if no curve is complete."""
    curves = dict[str, LearningCurve]()
    for kind, sizes in CURVES.items():
        names = [row_name(kind, size) for size in sizes]
        runs = [_percents(results, name) for name in names]
        if all(runs):
            curves[kind] = LearningCurve.of(sizes, list(zip(*runs, strict=False)))
    if not curves:
        return None
    lines = {name: scores[0] for name in LINES if (scores := _percents(results, name))}
    figure = draw_curves({"training rule sets": curves}, lines)
    (axes,) = figure.axes
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    axes.set_ylabel("regret, % of random play's")
    return png(figure)


def _percents(results: dict[str, Any], name: str) -> list[float]:
    """Return the mean over rule sets of each run of a row, by seed."""
    runs = sorted((run for run in results["runs"] if run["row"] == name), key=lambda run: int(run["seed"]))
    if not runs:
        return []
    means: list[float] = percent_of_random(np.array([run["regret"] for run in runs])).mean(axis=1).tolist()
    return means


EXPERIMENT = Experiment(
    "generalisation", __doc__, Options, measure, {"generalisation": rows, "specialists": specialist_rows}
)
PROG = common.program(EXPERIMENT.name)


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
