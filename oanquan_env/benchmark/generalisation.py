"""Generalisation over rules: distance from perfect play under held-out rule sets, as a share of random play's distance.

Each of 96 rule sets, 32 of every test split of `oanquan_env.rule_sets`, has a suite of positions with the value of each
move. Positions were drawn before any value was known, and no net took part. Rule sets differ in scale, so a player's
regret is divided by the regret of a random legal move, which follows exactly from the values. 0 % is perfect play.

    result = evaluate_rules("minimax:nodes=2000,net=any")
    print(result)

The primary measure is the mean over the rule sets. Its interval over rule sets tells how it would change with other
rule sets, and its interval over runs how it would change with other seeds of training. The interquartile mean and the
performance profile are as in Agarwal et al. 2021 (arXiv 2108.13264).
"""

import dataclasses
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from oanquan_env.array_types import Floats
from oanquan_env.benchmark.regret import RUNS, Suite, regret
from oanquan_env.benchmark.statistics import Estimate, as_record, interquartile_estimate, mean_estimate
from oanquan_env.benchmark.suites import rule_set_suites
from oanquan_env.benchmark.tables import interval, table
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, naming_damage, one_line, read_json, short_hash
from oanquan_env.players import as_policy
from oanquan_env.progress import ProgressLine
from oanquan_env.provenance import origin
from oanquan_env.rule_sets import Split, split

TEST_SPLITS: tuple[Split, ...] = ("test: interpolation", "test: new combinations", "test: new values")
"""The splits whose rule sets no training and no choice of settings may use."""
LEVELS = 1, 2, 5, 10, 20, 50
"""Shares of random play's regret, in percent, at which the performance profile is given."""
CANARY = "oanquan rule-sets canary 45ca5696-6b08-43af-b77a-f2e0aaf02f9e: do not train on this data"
"""A text in the suites' files by which training data that holds them can be recognised."""
PlayerOfRules: TypeAlias = str | Callable[[Rules], object]
"""A player's name, or a function from rules to a player, in any form that `oanquan_env.players.as_policy` takes."""


def held_out(name: Split) -> list[Rules]:
    """Return the rule sets of a split that have suites: of a test split, the first eight of each twelve."""
    return [rules for number, rules in enumerate(split(name)) if name not in TEST_SPLITS or number % 12 < 8]


# ---- the suites ------------------------------------------------------------------------------------------------------


@functools.cache
def held_out_suites() -> tuple[tuple[Split, Suite], ...]:
    """Return the suite of each of the 96 rule sets, with the name of its split."""
    return tuple((name, suite) for name in TEST_SPLITS for suite in rule_set_suites(name))


@functools.cache
def suites_digest() -> str:
    """Return a short hash of all positions, values and bounds."""
    return short_hash(*(suite.digest().encode() for _, suite in held_out_suites()))


def random_regret(suite: Suite) -> float:
    """Return the mean points that a random legal move loses."""
    return float(np.nanmean(suite.move_losses(), axis=1).mean())


def percent_of_random(regrets: Floats) -> Floats:
    """Return (R, 96) mean points lost under each rule set in percent of the loss of a random legal move."""
    percent: Floats = 100 * regrets / np.array([random_regret(suite) for _, suite in held_out_suites()])
    return percent


# ---- results ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Generalisation:
    """Regret under the held-out rule sets. All estimates are in percent of the regret of a random legal move.

    Attributes:
        mean: mean over rule sets, the primary measure; interval over rule sets.
        over_runs: the same mean; interval over training runs, with the rule sets fixed.
        interquartile: interquartile mean over rule sets and runs; interval over runs.
        splits: mean over the rule sets of each split; interval over rule sets.
        profile: share of rule sets and runs, in percent, whose regret is at most each of `LEVELS`.
        regret: mean points lost under each rule set, by rules and run.
        suites, version: hash and version of the suites.
        command, commit, processor, versions: origin of the result; see `oanquan_env.provenance`.
    """

    mean: Estimate
    over_runs: Estimate
    interquartile: Estimate
    splits: dict[str, Estimate]
    profile: dict[str, float]
    regret: dict[str, list[float]] = field(repr=False)
    suites: str
    version: int
    command: str | None = None
    commit: str | None = None
    processor: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    format: Literal[1] = 1

    @classmethod
    def of(cls, regrets: Floats) -> "Generalisation":
        """Return the estimates for (R, 96) mean points lost in R runs under each rule set."""
        scores = percent_of_random(regrets)
        of_rules, names = scores.mean(axis=0), np.array([name for name, _ in held_out_suites()])
        rows = [str(suite.core.rules) for _, suite in held_out_suites()]
        return cls(
            mean=mean_estimate(of_rules),
            over_runs=mean_estimate(scores.mean(axis=1), 0.1),  # percent; runs may differ by less than 1
            interquartile=interquartile_estimate(scores, np.random.default_rng(0)),
            splits={name: mean_estimate(of_rules[names == name]) for name in TEST_SPLITS},
            profile={str(level): float(100 * (scores <= level).mean()) for level in LEVELS},
            regret=dict(zip(rows, regrets.T.tolist(), strict=True)),
            suites=suites_digest(),
            version=held_out_suites()[0][1].version,
        )

    def to_json(self) -> str:
        """Return the result as JSON, the file that `experiments.generalisation --add` takes."""
        return json.dumps(as_record(self), indent=1) + "\n"

    def __str__(self) -> str:
        cells = cells_of(self)
        return table(list(cells), [list(cells.values())], left=0, padded=True)

    _repr_markdown_ = __str__


def cells_of(result: Generalisation) -> dict[str, str]:
    """Return the cells of a table's row, by their headings."""
    runs = result.over_runs
    return {
        "regret, % of random (95 % over rule sets)": interval(result.mean, ".1f"),
        "95 % over runs": "" if math.isnan(runs.low) else f"{runs.low:.1f} to {runs.high:.1f}",
        "interquartile mean": f"{result.interquartile.mean:.1f}",
        **{name.removeprefix("test: "): f"{part.mean:.1f}" for name, part in result.splits.items()},
        **{f"≤ {level} %": f"{share:.0f}" for level, share in result.profile.items()},
    }


def read_generalisation(path: Path) -> Generalisation:
    """Read a result and compute its estimates again from the points lost. Raises `FileError` if it is impossible."""
    with naming_damage(path, "not a result under the held-out rule sets"):
        data: Any = read_json(path)
        if data["format"] != 1:
            raise ValueError(f"expected a result with format 1; got {data['format']!r}")
        regrets = {rules: _points_of(rules, runs) for rules, runs in data["regret"].items()}
        suites = str(data["suites"])
        made: dict[str, Any] = {name: str(data[name]) for name in ("command", "commit", "processor") if data.get(name)}
        versions = {str(package): str(version) for package, version in data.get("versions", {}).items()}
    if suites != suites_digest():
        raise FileError(f"{path}: it was measured with other suites ({suites}); these are {suites_digest()}")
    wanted = {str(suite.core.rules): suite for _, suite in held_out_suites()}
    for problem, rule_sets in (("lacks", wanted.keys() - regrets), ("has the unknown", regrets.keys() - wanted)):
        if rule_sets:
            raise FileError(f"{path}: it {problem} rule set '{one_line(min(rule_sets))}'; expected the {len(wanted)}")
    if len(numbers := {len(runs) for runs in regrets.values()}) != 1:
        raise FileError(f"{path}: expected the same number of runs under each rule set; got {sorted(numbers)}")
    for rules, suite in wanted.items():
        most = float(np.nanmax(suite.move_losses(), axis=1).mean())
        for points in regrets[rules]:
            if not 0 <= points <= most + 1e-9:
                raise FileError(f"{path}: {rules}: a regret must be 0 to {most:.3f} points; got {points}")
    columns = [regrets[rules] for rules in wanted]
    return dataclasses.replace(Generalisation.of(np.array(columns).T), **made, versions=versions)


def _points_of(rules: str, runs: Any) -> list[float]:
    if not isinstance(runs, list) or not runs or any(type(points) not in (int, float) for points in runs):
        raise ValueError(f"{rules}: expected a list with a number for each run; got {runs!r}")
    return [float(points) for points in runs]


# ---- measuring -------------------------------------------------------------------------------------------------------


def evaluate_rules(
    players: PlayerOfRules | Sequence[PlayerOfRules], *, seed: int = 0, runs: int = RUNS, progress: bool | None = None
) -> Generalisation:
    """Measure how far a player, or the runs of a method, stay from perfect play under the 96 held-out rule sets.

    Args:
        players: a player's name such as `minimax:nodes=2000,net=any`, a function from `Rules` to a player, or a
            sequence of them, one for each run of a method.
        seed: seed of the players' random choices, 0 or more.
        runs: number of times that a randomising player chooses a move in each position.
        progress: whether to show a progress line; shown by default in a terminal or notebook.

    Raises:
        ValueError: if a player is neither a name nor a function of rules, or cannot play one of the rule sets.
        IllegalActionError: if a player chooses an illegal action.
    """
    methods = list(players) if isinstance(players, Sequence) and not isinstance(players, str) else [players]
    if not methods:
        raise UsageError("players must name one or more players; got none")
    for method in methods:
        _check_method(method)
    line, regrets = ProgressLine(progress), np.zeros((len(methods), len(held_out_suites())))
    line.begin("rule sets", regrets.size)
    try:
        for run, method in enumerate(methods):
            for number, points in enumerate(mean_losses(method, range(len(held_out_suites())), seed, runs)):
                regrets[run, number] = points
                line.advance(1)
    finally:
        line.end()
    made: dict[str, Any] = origin()
    return dataclasses.replace(Generalisation.of(regrets), **made)


def _check_method(method: object) -> None:
    if isinstance(method, str):
        return
    try:
        inspect.signature(method).bind("rules")  # type: ignore[arg-type]  # a TypeError unless it can be called
    except TypeError:
        raise UsageError(
            f"a player must be a name or a function that takes Rules and returns a player; got {method!r}; "
            "for a player that reads no rules, write `lambda rules: player`"
        ) from None


def mean_losses(player: PlayerOfRules, numbers: Iterable[int], seed: int = 0, runs: int = RUNS) -> Iterator[float]:
    """Yield the `mean_loss` of a player in the suites with these numbers; each has a random generator of its own."""
    for number in numbers:
        yield mean_loss(player, held_out_suites()[number][1], np.random.default_rng([seed, number]), runs)


def mean_loss(player: PlayerOfRules, suite: Suite, rng: np.random.Generator, runs: int) -> float:
    """Return the mean points that a player loses in a suite's positions. Raises `UsageError` if it cannot play them."""
    rules = suite.core.rules
    try:
        policy = as_policy(player if isinstance(player, str) else player(rules), suite.core)
    except ValueError as error:
        raise UsageError(f"under the held-out rules '{rules}': {error}") from error
    return regret(policy, suite, rng, by_phase=False, runs=runs).mean
