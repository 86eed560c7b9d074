"""One evaluation from settings to report: a tournament, mixed tables, regret, or some of them."""

import dataclasses
import functools
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import tyro
from pydantic import ConfigDict, Field, TypeAdapter
from rich.progress import Progress
from tyro.constructors import PrimitiveConstructorSpec

from agents.config import Count, CountOrZero, Seed, validated
from agents.evaluation.result_cache import ResultCache
from agents.evaluation.results import AgentResult, RegretResult, Report
from agents.evaluation.summaries import summarize_tournament
from agents.evaluation.tables import Tables
from agents.evaluation.tournament import Entrant, Pairing, TimedPolicy, Tournament, make_entrants
from agents.support.provenance import processor, versions
from oanquan_env import Core, Rules
from oanquan_env.benchmark.evaluation import seeded_regret
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.regret import Part, RegretRow, Suite
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.rules import DEFAULT_PRESET

PACKAGES = ("numpy", "numba", "torch")
REGRET_FOLDER = "parts/regret"


AgentNames: TypeAlias = Annotated[
    tyro.conf.Positional[list[str]], Field(min_length=1), tyro.conf.arg(metavar="[AGENT ...]", help_behavior_hint="")
]
SuiteNames: TypeAlias = Annotated[
    list[Literal["arena", "tables", "regret"]],
    Field(min_length=1),
    tyro.conf.arg(name="suite"),
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="SUITES",
        instance_from_str=lambda texts: texts[0].split(","),
        is_instance=lambda value: isinstance(value, list),
        str_from_instance=lambda names: [",".join(names)],
    ),
]
"""As an option of a command: `--suite arena,regret`."""


@dataclass(frozen=True)
class EvaluationSettings:
    """Everything that an evaluation depends on, the options of `evaluate.py`, or as YAML a file for its `--config`."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    agents: AgentNames  # agents by name; two or more for the arena
    suites: SuiteNames = field(default_factory=lambda: ["arena"])  # arena, tables, regret, or some, as in arena,regret
    part: Part = "test"  # part of the regret suite
    pairs: Count = 200  # openings of each pairing, each played in every seating
    openings: str = "random"  # `random`, `balanced` or a file of game records
    opening_plies: CountOrZero = 4  # random plies of a random opening
    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    seed: Seed = 0  # seed of openings and players
    time: bool = False  # also measure the mean time of a move


class EvaluationRun:
    """Carries out an evaluation; raises `ValueError` for settings, players, openings or a suite that cannot be used.

    With an output folder finished parts are stored there, and the same settings continue from them.

    Attributes:
        tournament: who plays, for the records of the games; None without the arena.
        pairings: its games, once they are played.
    """

    def __init__(self, settings: EvaluationSettings, output: Path | None = None) -> None:
        self.settings = validated(EvaluationSettings, dataclasses.asdict(settings), "settings")
        self.output = output
        self.core = Core(Rules.parse(settings.rules))
        self.entrants = make_entrants(settings.agents, self.core.rules)
        self.tournament: Tournament | None = None
        self.tables: Tables | None = None
        if {"arena", "tables"} & set(settings.suites):
            rng = np.random.default_rng(settings.seed)
            openings = load_openings(self.core, settings.openings, settings.pairs, settings.opening_plies, rng)
            games = self.core, self.entrants, openings, settings.seed, output
            self.tournament = Tournament(*games) if "arena" in settings.suites else None
            self.tables = Tables(*games) if "tables" in settings.suites else None
        self.pairings: list[Pairing] = []
        self.cache = ResultCache(output / REGRET_FOLDER if output else None)
        self.suite = load_suite(self.core.rules).part(settings.part) if "regret" in settings.suites else None

    def run(self, command: str, progress: Progress, ray: str | None = None) -> Report:
        """Play and measure what is not stored already; the report names `command` as its origin.

        A Ray cluster at the address `ray` may play the arena's pairings; the results are the same, except those of
        players with a time limit. Raises `FileError` if the output folder holds parts of other settings, or
        damaged ones.
        """
        arena, tables, caches = None, None, [self.cache]
        if self.tournament:
            self.pairings = self._play(self.tournament, progress, ray)
            arena = summarize_tournament(self.tournament, self.pairings)
            caches.append(self.tournament.cache)
        if self.tables:
            task = progress.add_task("tables", total=self.tables.games)
            tables = self.tables.result(functools.partial(progress.advance, task))
            caches.append(self.tables.cache)
        regrets, times = self._measure(self.suite, progress) if self.suite else (None, _arena_times(self.pairings))
        if not self.settings.time:
            times = {}
        return Report(
            command=command,
            rules=str(self.core.rules),
            seed=self.settings.seed,
            commit=self.cache.commit,
            kept_from=sorted(set().union(*(cache.made_at for cache in caches)) - {str(self.cache.commit)}),
            processor=processor(),
            versions=versions(PACKAGES),
            agents=[
                AgentResult(label=one.label, name=one.name, fingerprint=one.fingerprint, ms_per_move=times.get(number))
                for number, one in enumerate(self.entrants)
            ],
            arena=arena,
            tables=tables,
            regret=regrets,
        )

    def _play(self, tournament: Tournament, progress: Progress, ray: str | None) -> list[Pairing]:
        games = len(tournament.schedule()) * tournament.games_of_pairing
        task = progress.add_task("arena", total=games)
        advance = functools.partial(progress.advance, task)
        if ray:
            return tournament.play_on_cluster(ray, advance)
        return list(tournament.play(advance, lambda name: progress.update(task, description=name)))

    def _measure(self, suite: Suite, progress: Progress) -> tuple[RegretResult, dict[int, float]]:
        """Regret of every entrant, and its time of a move in ms."""
        task = progress.add_task("regret", total=len(self.entrants))
        rows, times = [], {}
        for number, entrant in enumerate(self.entrants):
            progress.update(task, description=f"regret of {entrant.label}")
            row, times[number] = self._measure_one(entrant, suite)
            rows.append(row)
            progress.advance(task)
        result = RegretResult(
            suite=suite.name,
            part=self.settings.part,
            positions=len(suite),
            moves=int(np.isfinite(suite.values).sum()),
            proved_moves=int(suite.proved.sum()),
            proved=int(suite.all_proved().sum()),
            agents=rows,
        )
        return result, times

    def _measure_one(self, entrant: Entrant, suite: Suite) -> tuple[RegretRow, float]:
        """Regret of one entrant, and its time of a move in ms."""
        settings = {"agent": entrant.identity(), "seed": self.settings.seed, "suite": suite.digest()}

        def read(content: dict[str, Any]) -> tuple[RegretRow, float]:
            return TypeAdapter(RegretRow).validate_python(content["row"]), float(content["ms"])

        found = self.cache.find([entrant.label], settings, read)
        if found is None:
            player = TimedPolicy(entrant.policy)
            row = seeded_regret(player, suite, self.settings.seed, entrant.label)
            found = row, 1000 * player.seconds / player.moves
            self.cache.store([entrant.label], settings, {"row": dataclasses.asdict(found[0]), "ms": found[1]})
        return found


def _arena_times(pairings: list[Pairing]) -> dict[int, float]:
    """Mean wall time of a move of each player, ms."""
    seconds: defaultdict[int, float] = defaultdict(float)
    moves: defaultdict[int, int] = defaultdict(int)
    for pairing in pairings:
        for side, number in enumerate((pairing.a, pairing.b)):
            seconds[number] += pairing.seconds[side]
            moves[number] += pairing.moves[side]
    return {number: 1000 * seconds[number] / moves[number] for number in seconds if moves[number]}
