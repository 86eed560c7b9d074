"""One evaluation from settings to report: a tournament, regret, or both."""

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

from agents.config import OpeningPlies, Pairs, Seed, validated
from agents.evaluation.finished_parts import FinishedParts
from agents.evaluation.ratings import rate
from agents.evaluation.results import AgentResult, ArenaResult, Rating, RegretResult, Report, WinShare
from agents.evaluation.tournament import Entrant, Pairing, TimedPolicy, Tournament, make_entrants
from agents.support.provenance import commit, processor, versions
from oanquan_env import Core, Rules
from oanquan_env.benchmark.estimates import mean_estimate, score_estimate
from oanquan_env.benchmark.evaluation import default_openings, seeded_regret
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.pairs import by_order, pairing_result
from oanquan_env.benchmark.regret import Part, Regret, Suite
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.rules import DEFAULT_PRESET

PACKAGES = ("numpy", "numba", "torch")
REGRET_FOLDER = "parts/regret"
ANCHOR = "greedy"
"""The player whose rating is 0; the first one where it does not take part."""


AgentNames: TypeAlias = Annotated[
    tyro.conf.Positional[list[str]], Field(min_length=1), tyro.conf.arg(metavar="[AGENT ...]", help_behavior_hint="")
]
SuiteNames: TypeAlias = Annotated[
    list[Literal["arena", "regret"]],
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
Openings: TypeAlias = Annotated[str | None, tyro.conf.arg(metavar="OPENINGS", help_behavior_hint="")]


@dataclass(frozen=True)
class EvaluationSettings:
    """Everything that an evaluation depends on, the options of `evaluate.py`, or as YAML a file for its `--config`."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    agents: AgentNames  # agents by name; two or more for the arena
    suites: SuiteNames = field(default_factory=lambda: ["arena"])  # arena, regret, or both, as in arena,regret
    part: Part = "test"  # part of the regret suite
    pairs: Pairs = 200  # openings of each pairing, each played in every seating
    openings: Openings = (
        None  # `balanced`, `fair`, `random` or a file of game records (default: balanced, where there are some)
    )
    opening_plies: OpeningPlies = 4  # random plies of a random opening
    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    seed: Seed = 0  # seed of openings and players
    time: bool = False  # also measure the mean time of a move


class EvaluationRun:
    """Carries out an evaluation; raises `ValueError` for settings, players, openings or a suite that cannot be used.

    With an output folder finished parts are kept there, and the same settings continue from them.

    Attributes:
        tournament: who plays, for the records of the games; None without the arena.
        pairings: its games, once they are played.
    """

    def __init__(self, settings: EvaluationSettings, output: Path | None = None) -> None:
        self.settings = validated(EvaluationSettings, dataclasses.asdict(settings), "settings")
        self.core = Core(Rules.parse(settings.rules))
        self.entrants = make_entrants(settings.agents, self.core.rules)
        self.tournament: Tournament | None = None
        if "arena" in settings.suites:
            rng, source = np.random.default_rng(settings.seed), settings.openings
            source = default_openings(self.core.rules) if source is None else source
            openings = load_openings(self.core, source, settings.pairs, settings.opening_plies, rng)
            self.tournament = Tournament(self.core, self.entrants, openings, settings.seed, output)
        self.pairings: list[Pairing] = []
        self.finished = FinishedParts(output / REGRET_FOLDER if output else None)
        self.suite = load_suite(self.core.rules).part(settings.part) if "regret" in settings.suites else None

    def run(self, command: str, progress: Progress, ray: str | None = None) -> Report:
        """Play and measure what is not finished already; the report names `command` as its origin.

        A Ray cluster at the address `ray` may play the pairings; the results are the same, except those of players with
        a time limit. Raises `FileError` if a part in the output folder is damaged.
        """
        arena = None
        if self.tournament:
            games = len(self.tournament.schedule()) * self.tournament.games_of_pairing
            task = progress.add_task("games", total=games)
            self.pairings = self.tournament.play(functools.partial(progress.advance, task), ray)
            arena = summarize(self.tournament, self.pairings)
        regret, times = self._measure(self.suite, progress) if self.suite else (None, _times(self.pairings))
        if not self.settings.time:
            times = {}
        return Report(
            command=command,
            rules=str(self.core.rules),
            seed=self.settings.seed,
            commit=commit(),
            processor=processor(),
            versions=versions(PACKAGES),
            agents=[
                AgentResult(label=one.label, name=one.name, files=one.files, ms_per_move=times.get(number))
                for number, one in enumerate(self.entrants)
            ],
            arena=arena,
            regret=regret,
        )

    def _measure(self, suite: Suite, progress: Progress) -> tuple[RegretResult, dict[int, float]]:
        """Regret of every entrant, and its time of a move in ms."""
        task = progress.add_task("regret", total=len(self.entrants))
        found, times = {}, {}
        for number, entrant in enumerate(self.entrants):
            found[entrant.label], times[number] = self._measure_one(entrant, suite)
            progress.advance(task)
        result = RegretResult(
            suite=suite.name,
            part=self.settings.part,
            positions=len(suite),
            moves=int(np.isfinite(suite.values).sum()),
            proved_moves=int(suite.proved.sum()),
            proved=int(suite.all_proved().sum()),
            agents=found,
        )
        return result, times

    def _measure_one(self, entrant: Entrant, suite: Suite) -> tuple[Regret, float]:
        """Regret of one entrant, and its time of a move in ms."""
        settings = {"agent": entrant.identity(), "seed": self.settings.seed, "suite": suite.digest()}
        kept = self.finished.find([entrant.label], settings)
        if kept is not None:
            return TypeAdapter(Regret).validate_python(kept["regret"]), kept["ms"]
        player = TimedPolicy(entrant.policy)
        found = seeded_regret(player, suite, self.settings.seed, entrant.label)
        ms = 1000 * player.seconds / player.moves
        self.finished.store([entrant.label], settings, {"regret": dataclasses.asdict(found), "ms": ms})
        return found, ms


def _times(pairings: list[Pairing]) -> dict[int, float]:
    """Mean wall time of a move of each player, ms."""
    seconds: defaultdict[int, float] = defaultdict(float)
    moves: defaultdict[int, int] = defaultdict(int)
    for pairing in pairings:
        for side, number in enumerate((pairing.a, pairing.b)):
            seconds[number] += pairing.seconds[side]
            moves[number] += pairing.moves[side]
    return {number: 1000 * seconds[number] / moves[number] for number in seconds if moves[number]}


# ---- the numbers of a tournament -------------------------------------------------------------------------------------


def summarize(tournament: Tournament, pairings: list[Pairing]) -> ArenaResult:
    """The numbers of a tournament: of each pairing, and of each player."""
    labels, openings = [one.label for one in tournament.entrants], tournament.openings
    result = ArenaResult(
        openings=openings.name,
        digest=openings.digest(),
        players=tournament.core.rules.players,
        pairings=[pairing_result(labels[one.a], labels[one.b], one.results, openings.positions) for one in pairings],
    )
    numbers = _ratings(tournament, pairings) if result.players == 2 else {"shares": _shares(labels, pairings)}
    return result.model_copy(update=numbers)


def _ratings(tournament: Tournament, pairings: list[Pairing]) -> dict[str, Any]:
    """Elo of players of two, by games of whoever moves first after the opening."""
    entrants = tournament.entrants
    anchor = next((number for number, one in enumerate(entrants) if one.name == ANCHOR), 0)
    games = [(one.a, one.b) for one in pairings] + [(one.b, one.a) for one in pairings]
    scores = np.stack(
        [by_order(one.results.score, tournament.openings.positions) for one in pairings]
    )  # (pairing, K, 2)
    scores = np.concatenate([scores[..., 0], 1 - scores[..., 1]]).T
    rng = np.random.default_rng([tournament.seed, len(entrants)])
    found = rate(games, scores, anchor, rng)
    rows = []
    for number, one in enumerate(entrants):
        own = [pairing.results.score.mean() for pairing in pairings if pairing.a == number]
        own += [1 - pairing.results.score.mean() for pairing in pairings if pairing.b == number]
        rows.append(Rating(agent=one.label, elo=found.players[number], score=float(np.mean(own))))
    rows.sort(key=lambda row: -row.elo.mean)
    return {"anchor": entrants[anchor].label, "ratings": rows, "first": found.first}


def _shares(labels: list[str], pairings: list[Pairing]) -> list[WinShare]:
    """Wins and margins of each player of three or four, one among copies of another, the mean over all others."""
    rows = []
    for number, label in enumerate(labels):
        own = [one.results for one in pairings if one.a == number]
        wins, margins = (
            np.mean([table.mean(axis=1) for table in tables], axis=0)
            for tables in ([one.score for one in own], [one.margin for one in own])
        )  # (K,), the mean of each opening
        rows.append(WinShare(agent=label, wins=score_estimate(wins), margin=mean_estimate(margins)))
    return sorted(rows, key=lambda row: -row.wins.mean)
