"""Measure how often the intervals of `oanquan_env.benchmark.statistics` cover the value of the whole population.

Populations are the losses of players over all positions of suites, the games of a tournament from random openings, the
regrets of methods under held-out rule sets, and the results of runs: normal, lognormal, normal with a failure in one
run of ten, and those of `experiments.methods`.
A method's runs for the last two statistics differ in the share of moves that a weak player chooses.

`nice python -m experiments.coverage` takes about six minutes. Only with `--json FILE`, the same command resumes: it
keeps the rows in FILE if they are of the same number of samples.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from experiments import common
from experiments.common import Cells, Experiment, published
from oanquan_env import Core
from oanquan_env.array_types import Floats
from oanquan_env.benchmark.game_pairs import by_order
from oanquan_env.benchmark.generalisation import percent_of_random
from oanquan_env.benchmark.openings import random_suite
from oanquan_env.benchmark.regret import judge
from oanquan_env.benchmark.statistics import (
    ELO,
    LEAST,
    Estimate,
    comparisons,
    difference_estimate,
    fit,
    interquartile_differences,
    interquartile_estimate,
    interquartile_mean,
    loss_estimate,
    mean_estimate,
    probability_of_improvement,
    rate,
    score_estimate,
)
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.benchmark.tournament import Entrant, Tournament
from oanquan_env.files import read_json
from oanquan_env.players import make

RULES = "mancala-world"
LOSERS = {
    RULES: ("random", "greedy", "maxn:depth=2", "maxn:depth=4", "minimax:nodes=2000,net=pretrained"),
    "vietnamese": ("greedy", "minimax:nodes=2000"),
    "tonkin": ("minimax:nodes=2000,net=pretrained",),
}
PLAYERS = "greedy", "random", "maxn:depth=2", "maxn:depth=3"
POSITIONS, PAIRS, RUNS = (30, 100, 300, 1200), (2, 5, 10, 50, 200), (5, 6, 8, 10, 20)
RULE_SETS = 24, 32, 96
MANY = 100_000
"""Runs or openings that stand for a whole population."""


class Case(NamedTuple):
    """Statistics of samples of one size, their values in the populations, and a function that estimates them."""

    statistic: str
    size: str
    populations: list[str]
    truths: Floats
    estimate: Callable[[np.random.Generator], list[Estimate]]
    times: int = 1
    """how many times more samples than of other cases are simulated"""


def of_rows(statistic: str, size: int, tables: dict[str, Floats], by: Callable[[Floats], Estimate]) -> Case:
    """Return a case that draws `size` rows of each table, and estimates their mean."""

    def estimate(rng: np.random.Generator) -> list[Estimate]:
        return [by(rows[rng.integers(len(rows), size=size)]) for rows in tables.values()]

    return Case(statistic, str(size), list(tables), np.array([rows.mean() for rows in tables.values()]), estimate)


def of_positions() -> Iterator[Case]:
    """Yield the statistics of one player, and of the difference of two, over positions."""
    losses, shares = dict[str, Floats](), dict[str, Floats]()
    for rules, players in LOSERS.items():
        suite = load_suite(rules)
        for player in players:
            chosen = make(player, rules).choose(suite.positions.copy(), np.random.default_rng(0))
            moves, name = judge(suite, chosen), f"{player}, {rules}"
            losses[name] = moves.regret
            shares |= {f"best moves of {name}": moves.optimal, f"blunders of {name}": moves.blunder}
    own = [losses[f"{player}, {RULES}"] for player in LOSERS[RULES]]
    pairs = itertools.combinations(range(len(own)), 2)
    differences = {f"{LOSERS[RULES][a]} − {LOSERS[RULES][b]}": own[a] - own[b] for a, b in pairs}
    for size in POSITIONS:
        yield of_rows("regret", size, losses, loss_estimate)
        yield of_rows("share of best moves or blunders", size, shares, score_estimate)
        yield of_rows("difference of regrets", size, differences, difference_estimate)
    for runs, size in itertools.product((5, 10), (100, 300)):
        yield of_methods(own[0], own[3], runs, size)


def of_methods(weak: Floats, strong: Floats, runs: int, size: int) -> Case:
    """Return the difference of two methods over runs and positions, whose runs choose `weak` moves with a chance."""

    def chances(least: float, count: int, rng: np.random.Generator) -> Floats:
        return np.minimum(least * np.exp(0.5 * rng.normal(size=(count, 1))), 1)

    def estimate(rng: np.random.Generator) -> list[Estimate]:
        rows = rng.integers(len(weak), size=size)
        moves = [
            np.where(rng.random((runs, size)) < chances(chance, runs, rng), weak[rows], strong[rows])
            for chance in (0.1, 0.2)
        ]
        return interquartile_differences(moves, rng)[1][1:]

    means = [float(interquartile_mean(chances(chance, MANY, np.random.default_rng(0)))) for chance in (0.1, 0.2)]
    truth = (means[1] - means[0]) * (weak.mean() - strong.mean())
    name = f"a tenth or a fifth of moves by {LOSERS[RULES][0]}, others by {LOSERS[RULES][3]}"
    return Case("difference of interquartile means", f"{runs}, {size} positions", [name], np.array([truth]), estimate)


def of_rule_sets() -> Iterator[Case]:
    """Yield the mean over rule sets of the rows of `experiments.generalisation`, in percent of random play's regret."""
    runs = [run for run in published("generalisation")["runs"] if not run["seed"] and None not in run["regret"]]
    tables = {run["row"]: percent_of_random(np.array([run["regret"]]))[0] for run in runs}
    for size in RULE_SETS:
        # The lowest of many coverages near 93 % needs more samples than a thousand, whose standard error is 0.8 %.
        yield of_rows("mean over rule sets", size, tables, mean_estimate)._replace(times=20)


def of_games() -> Iterator[Case]:
    """Yield the statistics of game pairs and of tournaments."""
    core, names = Core(RULES), list(PLAYERS)
    openings = random_suite(core, 1000, 4, np.random.default_rng(0))
    games = Tournament(core, [Entrant(name, name, make(name, RULES)) for name in names], openings, 0)
    pairings = [games.play_one(*pair) for pair in games.every_pairing()]
    titles = [f"{names[pairing.a]} against {names[pairing.b]}" for pairing in pairings]
    ordered = [by_order(pairing.results.score, openings.positions) for pairing in pairings]
    scores = {title: pairing.results.score.mean(axis=1) for title, pairing in zip(titles, pairings, strict=True)}
    scores |= {f"{title}, moving first": table[:, 0] for title, table in zip(titles, ordered, strict=True)}
    margins = {title: pairing.results.margin.mean(axis=1) for title, pairing in zip(titles, pairings, strict=True)}
    both = [(pairing.a, pairing.b) for pairing in pairings] + [(pairing.b, pairing.a) for pairing in pairings]
    points = np.concatenate([[table[:, 0] for table in ordered], [1 - table[:, 1] for table in ordered]]).T
    truth = ELO * fit(comparisons(np.array(both)), MANY * points.mean(axis=0)[None], np.full((1, len(both)), MANY))[0]
    truth = np.append(truth[1:-1] - truth[0], truth[-1])

    def ratings(size: int) -> Callable[[np.random.Generator], list[Estimate]]:
        def estimate(rng: np.random.Generator) -> list[Estimate]:
            rated = rate(both, points[rng.integers(len(points), size=size)], 0, rng, samples=200)
            return [*rated.players[1:], rated.first]

        return estimate

    for size in PAIRS:
        yield of_rows("score", size, scores, score_estimate)
        if size >= LEAST:
            yield of_rows("margin", size, margins, mean_estimate)
            yield Case("Elo", str(size), [*names[1:], "moving first"], truth, ratings(size))


def of_runs() -> Iterator[Case]:
    """Yield the statistics of several runs."""
    rng, normal, groups = np.random.default_rng(0), np.random.default_rng(1).normal(size=MANY), dict[Any, list[float]]()
    for run in published("methods")["runs"]:
        for player, regret in run["regret"].items():
            groups.setdefault((run["method"], run["rules"], run["minutes"], player), []).append(regret["mean"])
    ratios = [np.array(group) / np.mean(group) for group in groups.values() if len(group) >= LEAST]
    runs = {
        "normal": normal,
        "lognormal": np.exp(normal / 2),
        "one in ten fails": normal + 5 * (rng.random(MANY) < 0.1),
        "published": np.concatenate(ratios),
    }
    means = np.array([interquartile_mean(population[:, None]) for population in runs.values()])
    shifted = {
        f"{name}, the other {shift} standard deviations higher": (population, shift * population.std())
        for name, population in runs.items()
        for shift in (0, 1, 2)
    }
    improved = np.array(
        [(rng.choice(group, MANY) < rng.choice(group, MANY) + more).mean() for group, more in shifted.values()]
    )

    def draw(population: Floats, size: int, rng: np.random.Generator) -> Floats:
        return population[rng.integers(len(population), size=size)][:, None]

    def of_one(size: int) -> Callable[[np.random.Generator], list[Estimate]]:
        return lambda rng: [interquartile_estimate(draw(population, size, rng), rng) for population in runs.values()]

    def of_two(size: int) -> Callable[[np.random.Generator], list[Estimate]]:
        return lambda rng: [
            probability_of_improvement(draw(population, size, rng) + more, draw(population, size, rng))
            for population, more in shifted.values()
        ]

    for size in RUNS:
        yield Case("interquartile mean", str(size), list(runs), means, of_one(size))
        yield Case("probability of improvement", str(size), list(shifted), improved, of_two(size))


def simulated(case: Case, samples: int) -> Iterator[dict[str, Any]]:
    """Yield how often the intervals of `samples` samples exist, how often these cover, and their median width."""
    rng = np.random.default_rng(0)
    drawn = [case.estimate(rng) for _ in range(samples * case.times)]
    for number, (population, truth) in enumerate(zip(case.populations, case.truths.tolist(), strict=True)):
        low, high = np.array([(estimates[number].low, estimates[number].high) for estimates in drawn]).T
        exist = np.isfinite(low)
        result = {"statistic": case.statistic, "size": case.size, "population": population, "value": truth}
        covered = float(((low <= truth) & (truth <= high))[exist].mean()) if exist.any() else None
        width = float(np.median((high - low)[exist])) if exist.any() else None
        yield {**result, "exist": float(exist.mean()), "covered": covered, "width": width}


def lowest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row with the lowest coverage among those in which half of the samples or more have an interval."""
    return min((row for row in rows if row["exist"] >= 0.5), key=lambda row: row["covered"])


def rows(results: dict[str, Any]) -> Iterator[Cells]:
    """Yield a row for each statistic and size of the sample."""
    groups = dict[tuple[str, str], list[dict[str, Any]]]()
    for row in results["rows"]:
        groups.setdefault((row["statistic"], row["size"]), []).append(row)
    for (statistic, size), group in groups.items():
        worst = lowest(group)
        yield {
            "statistic": statistic,
            "runs, pairs, positions or rule sets": size,
            "populations": str(len(group)),
            "lowest coverage, %": f"{100 * worst['covered']:.1f}",
            "of": f"`{worst['population']}`",
            "value": f"{worst['value']:.3g}",
            "median width": f"{worst['width']:.2g}",
            "samples with an interval, %": f"{100 * min(row['exist'] for row in group):.0f} or more",
        }


@dataclass(frozen=True)
class Options(common.Options):
    """The options of the command line."""

    samples: int = 1000
    """number of simulated samples of each size; for means over rule sets 20 times as many"""


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Simulate all statistics; yield the results after each size of the sample."""
    stored = read_json(options.json) if options.json and options.json.exists() else {}
    done: list[dict[str, Any]] = stored["rows"] if stored.get("samples") == options.samples else []
    finished = {(row["statistic"], row["size"]) for row in done}
    for case in itertools.chain(of_positions(), of_rule_sets(), of_games(), of_runs()):
        if (case.statistic, case.size) not in finished:
            done += simulated(case, options.samples)
            yield {"samples": options.samples, "rows": done}


EXPERIMENT = Experiment("coverage", __doc__, Options, measure, {"coverage": rows})


if __name__ == "__main__":
    raise SystemExit(EXPERIMENT.main())
