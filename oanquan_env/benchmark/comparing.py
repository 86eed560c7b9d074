"""Comparisons of players, and of methods with several runs each, on the same positions, openings and opponents.

print(compare_runs({"A": ["ppo:runs/a/seed-0", ...], "B": ["ppo:runs/b/seed-0", ...]}, opponents=()))
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.evaluation import EvaluationSettings, measured
from oanquan_env.benchmark.regret import RUNS, Part
from oanquan_env.benchmark.report import explanation, origin_phrase
from oanquan_env.benchmark.results import Evaluation
from oanquan_env.benchmark.statistics import (
    Estimate,
    difference_estimate,
    interquartile_differences,
    probability_of_improvement,
)
from oanquan_env.benchmark.suites import SuiteSource
from oanquan_env.benchmark.tables import interval, name, of_runs, table
from oanquan_env.benchmark.tournament import Pairing
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import UsageError


@dataclass(frozen=True)
class Comparison:
    """Paired differences between two players, the first minus the second, with intervals.

    There is no interval if the players differ in fewer than ten positions or openings.

    Attributes:
        regret: points per move, over the positions of the suite; None for rules without a suite.
        score: percentage points of wins against the same opponents from the same openings; None without opponents.
        note: the players, rules, opponents, openings and suite, and the command and commit that measured them.
    """

    regret: Estimate | None
    score: Estimate | None
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        shown = (("regret, points", self.regret), ("score, %", self.score))
        rows = [[measure, interval(difference, "+.4g")] for measure, difference in shown if difference]
        return f"{table(['first minus second', 'difference (95 %)'], rows, padded=True)}\n\n{self.note}"


def compare(
    player: object,
    other: object,
    rules: Rules | str = DEFAULT_PRESET,
    opponents: object = None,
    pairs: int = 100,
    seed: int = 0,
    *,
    openings: str | None = None,
    suite: SuiteSource = None,
    part: Part = "test",
    runs: int = RUNS,
) -> Comparison:
    """Measure the difference between two players on the same positions, openings and opponents.

    Most of the spread of a regret comes from the positions, which both players share, so the interval of the difference
    is narrower than the two intervals suggest. Each position or opening is one sample; a player's runs are averaged.
    The arguments and errors are the same as in `evaluate`.
    """
    settings = EvaluationSettings(rules, opponents, pairs, seed, openings, suite, part, runs)
    both = [measured(either, settings) for either in (player, other)]
    differences = (np.subtract(*samples) for samples in zip(*(_samples(*result) for result in both), strict=True))
    regret, score = (difference_estimate(difference) if len(difference) else None for difference in differences)
    first, second = (name(result.players[0].name) for result, _ in both)
    said = f"Players: {first} and {second}. If they differ in fewer than ten samples, there is no interval."
    return Comparison(regret, score, _note(both, said))


@dataclass(frozen=True)
class MethodRuns:
    """One measure of a method's runs, with intervals over runs and positions, or openings.

    Attributes:
        values: the measure of each run.
        mean: interquartile mean over the runs.
        difference: `mean` minus the first method's.
        improvement: probability that a run is better than a run of the first method; interval over runs.
    """

    values: list[float]
    mean: Estimate
    difference: Estimate
    improvement: Estimate

    def __str__(self) -> str:
        return of_runs(self.values, self.mean, ".4g")


@dataclass(frozen=True)
class RunsComparison:
    """Comparison of methods; `str` and notebooks show it as a Markdown table.

    Attributes:
        regret: points per move, by method; empty for rules without a suite.
        score: percent of wins against the same opponents, by method; empty without opponents.
        note: the rules, opponents, openings and suite, and the command and commit that measured the methods.
    """

    regret: dict[str, MethodRuns] = field(default_factory=dict)
    score: dict[str, MethodRuns] = field(default_factory=dict)
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        heads, rows = ["method", "runs"], dict[str, list[str]]()
        for measure, methods in (("regret, points", self.regret), ("score, %", self.score)):
            if methods:
                first = next(iter(methods))
                heads += [f"{measure} (95 %)", f"minus {first} (95 %)", f"better than {first}, % (95 %)"]
            for method, runs in methods.items():
                cells = rows.setdefault(method, [name(method), str(len(runs.values))])
                beside = interval(runs.difference, "+.4g"), interval(runs.improvement, ".0f", 100)
                cells += [str(runs), *(("", "") if method == first else beside)]
        return f"{table(heads, list(rows.values()))}\n\n{self.note}"

    _repr_markdown_ = __str__


def compare_runs(
    methods: Mapping[str, Sequence[object]],
    rules: Rules | str = DEFAULT_PRESET,
    opponents: object = None,
    pairs: int = 100,
    seed: int = 0,
    *,
    openings: str | None = None,
    suite: SuiteSource = None,
    part: Part = "test",
    runs: int = RUNS,
) -> RunsComparison:
    """Compare methods whose runs differ only in their seed; `methods` maps each name to the players of its runs.

    All players meet the same positions, openings and opponents. The bootstrap draws the runs of each method separately,
    and the same positions or openings for all methods. With fewer than five runs of a method, there is no interval,
    and the table shows the range of its runs. The other arguments and errors are the same as in `evaluate`.
    """
    if (
        not isinstance(methods, Mapping)
        or len(methods) < 2
        or any(isinstance(players, str) or not len(players) for players in methods.values())
    ):
        raise UsageError("methods must map the names of two or more methods to lists of players, one for each run")
    measures: list[dict[str, MethodRuns]] = []
    settings = EvaluationSettings(rules, opponents, pairs, seed, openings, suite, part, runs)
    results = [[measured(run, settings) for run in runs_of_method] for runs_of_method in methods.values()]
    of_methods = [[_samples(*result) for result in results_of_method] for results_of_method in results]
    for number, sign in enumerate((-1, 1)):  # less regret is better, and a higher score
        samples = [np.stack([run[number] for run in of_method]) for of_method in of_methods]
        measures.append(dict(zip(methods, _method_runs(samples, sign, seed), strict=True)) if samples[0].size else {})
    said = (
        "Numbers are interquartile means over runs, with intervals bootstrapped over runs and positions or openings; "
        "fewer than five runs have their range instead. Runs: "
    )
    for method, of_method in zip(methods, results, strict=True):
        players = dict.fromkeys(name(result.players[0].name) for result, _ in of_method)
        said += f"{name(method)} has {', '.join(players)}; "
    return RunsComparison(measures[0], measures[1], _note(list(itertools.chain(*results)), f"{said[:-2]}."))


def _note(results: list[tuple[Evaluation, list[Pairing]]], said: str) -> str:
    evaluation = dataclasses.replace(results[0][0], players=[result.players[0] for result, _ in results])
    opponents = ", ".join(f"`{pairing.opponent}`" for pairing in evaluation.pairings)
    made = f"Made {origin_phrase(evaluation)}. Rules `{evaluation.rules}`, seed {evaluation.seed}."
    parts = [made, said, *([f"Opponents: {opponents}."] if opponents else []), explanation(evaluation)]
    return " ".join(parts)


def _method_runs(samples: list[Floats], sign: int, seed: int) -> list[MethodRuns]:
    means, differences = interquartile_differences(samples, np.random.default_rng(seed))
    values = [method.mean(axis=1) for method in samples]
    first = sign * values[0][:, None]
    improvements = [probability_of_improvement(sign * method[:, None], first) for method in values]
    lists = [method.tolist() for method in values]
    return [MethodRuns(*row) for row in zip(lists, means, differences, improvements, strict=True)]


def _samples(result: Evaluation, games: list[Pairing]) -> tuple[Floats, Floats]:
    """Return (N,) losses of a player in the suite's positions, and (K,) scores in percent in openings; maybe empty."""
    scores = [100 * pairing.results.score.mean(axis=1) for pairing in games]
    return np.array(result.losses), np.mean(scores, axis=0) if scores else np.array([])
