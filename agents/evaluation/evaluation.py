"""One evaluation, from its settings to its report: a tournament, regret, best responses, or several of these."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import tyro
from pydantic import ConfigDict, Field
from rich.progress import Progress
from tyro.constructors import PrimitiveConstructorSpec

from agents.config import Count, OpeningPlies, Pairs, Seed, validated
from agents.evaluation.entrants import make_entrants
from agents.evaluation.finished_parts import PACKAGES, FinishedParts
from agents.support.code_hash import custom_code
from agents.support.parallel import spread
from agents.support.provenance import commit, processor, versions
from oanquan_env import Core, Rules
from oanquan_env.benchmark.evaluation import RUNS, default_openings, games_measured, rated
from oanquan_env.benchmark.exploit import exploit
from oanquan_env.benchmark.openings import Openings, load_openings, random_suite
from oanquan_env.benchmark.regret import Part, Regret
from oanquan_env.benchmark.report import PICTURE, Evaluation, SuitePart, markdown
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.benchmark.tournament import Pairing, Tournament
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, read_json, write_atomically

PARTS = "parts"  # subfolder of the output folder


AgentNames: TypeAlias = Annotated[
    tyro.conf.Positional[list[str]], Field(min_length=1), tyro.conf.arg(metavar="[PLAYER ...]", help_behavior_hint="")
]
SuiteNames: TypeAlias = Annotated[
    list[Literal["arena", "regret", "exploit"]],
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
"""Names of suites, separated by commas on the command line, as in `--suite arena,regret`."""
OpeningsName: TypeAlias = Annotated[str | None, tyro.conf.arg(metavar="OPENINGS", help_behavior_hint="")]


@dataclass(frozen=True)
class EvaluationSettings:
    """The settings of an evaluation: the options of `evaluate.py`, or the content of a YAML file for its `--config`."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    agents: AgentNames  # players by name; two or more for the arena
    suites: SuiteNames = field(default_factory=lambda: ["arena"])  # one or more, as in arena,regret
    part: Part = "test"  # part of the regret suite
    pairs: Pairs = 200  # openings of each pairing, each played in every seating
    openings: OpeningsName = (
        None  # `balanced`, `fair`, `random` or a file of game records (default: balanced if the package has them)
    )
    opening_plies: OpeningPlies = 4  # random plies of a random opening
    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    seed: Seed = 0  # seed of openings and players
    runs: Count = RUNS  # number of moves that a randomising player chooses in each position of the regret suite
    minutes: Annotated[float, Field(gt=0)] = 1.0  # minutes that the suite exploit searches for each player and seat
    time: bool = False  # also measure the mean time of a move


class EvaluationRun:
    """One evaluation. Raises `ValueError` if the settings, players, openings or suite cannot be used.

    Finished parts are stored in the output folder, if there is one, so that a run with the same settings resumes. It
    measures players with custom code again, which may read files that we do not know, except with `reuse`.

    Attributes:
        tournament: the players and their openings.
        pairings: the results of the arena's pairings; empty until `run` has played them.
    """

    def __init__(self, settings: EvaluationSettings, output: Path | None = None, *, reuse: bool = False) -> None:
        self.settings = validated(EvaluationSettings, dataclasses.asdict(settings), "settings")
        if "exploit" in settings.suites and Rules.parse(settings.rules).players != 2:
            raise UsageError(f"the suite exploit needs rules for two players; got '{settings.rules}'")
        core, rng = Core(Rules.parse(settings.rules)), np.random.default_rng(settings.seed)
        entrants, self.pairings = make_entrants(settings.agents, core.rules), list[Pairing]()
        if "arena" not in settings.suites:
            openings = random_suite(core, 1, 0, rng)
        elif len(entrants) < 2:
            raise UsageError(f"a tournament needs at least two players; got {len(entrants)}")
        else:
            source = default_openings(core.rules) if settings.openings is None else settings.openings
            openings = load_openings(core, source, settings.pairs, settings.opening_plies, rng)
        again = [entrant.label for entrant in entrants if custom_code(entrant.name) and not reuse]
        self.finished = FinishedParts(output / PARTS if output else None, again)
        self.tournament = Tournament(core, entrants, openings, settings.seed, self.finished)
        self.suite = load_suite(core.rules).part(settings.part) if "regret" in settings.suites else None

    def run(self, command: str, progress: Progress, ray: str | None = None) -> Evaluation:
        """Play and measure everything unfinished, with bars in `progress`; return the report, which records `command`.

        If `ray` is the address of a Ray cluster, the cluster plays the pairings. The results are the same, except for
        players with a time limit. Raises `FileError` if a part in the output folder is damaged.
        """
        tournament, everyone = self.tournament, range(len(self.tournament.entrants))
        result, regrets, times = games_measured(tournament, []), dict[int, Regret](), dict[int, float]()
        if "arena" in self.settings.suites:
            schedule = tournament.every_pairing()
            task = progress.add_task("games", total=len(schedule) * tournament.games_of_pairing)
            elsewhere = functools.partial(play_on_ray, address=ray) if ray else None
            self.pairings = tournament.play(schedule, functools.partial(progress.advance, task), elsewhere)
            result = rated(games_measured(tournament, self.pairings), tournament, self.pairings)
            times = _times(self.pairings)
        else:
            result = dataclasses.replace(result, openings=None, openings_digest=None)
        if self.suite:
            task = progress.add_task("regret", total=len(everyone))
            for number in everyone:
                result_of_player, times[number] = tournament.measure_regret(number, self.suite, self.settings.runs)
                regrets[number] = dataclasses.replace(result_of_player, losses=[])
                progress.advance(task)
        exploited: dict[int, list[dict[str, Any]]] = {}
        if "exploit" in self.settings.suites:
            task = progress.add_task("best responses", total=len(everyone))
            for number in everyone:
                exploited[number] = self._exploited(number)
                progress.advance(task)
        return dataclasses.replace(
            result,
            players=[
                dataclasses.replace(
                    player,
                    regret=regrets.get(number),
                    exploited=exploited.get(number),
                    ms_per_move=times.get(number) if self.settings.time else None,
                )
                for number, player in enumerate(result.players)
            ],
            suite=SuitePart.of(self.suite, self.settings.part) if self.suite else None,
            command=command,
            commit=commit(),
            processor=processor(),
            versions=versions(PACKAGES),
            reused=self.finished.reused,
        )

    def _exploited(self, number: int) -> list[dict[str, Any]]:
        entrant, minutes, core = self.tournament.entrants[number], self.settings.minutes, self.tournament.core
        settings = {"agent": entrant.identity(), "rules": str(core.rules), "minutes": minutes}
        records: list[dict[str, Any]] | None = self.finished.find([entrant.label], settings, list[dict[str, Any]])
        if records is None:
            responses = [exploit(entrant.name, core.rules, seat, minutes, progress=False) for seat in range(2)]
            records = [response.to_dict() for response in responses]
            self.finished.store([entrant.label], settings, records)
        return records


def _times(pairings: list[Pairing]) -> dict[int, float]:
    """Return each player's mean wall time per move in ms, by the player's number."""
    seconds, moves = defaultdict[int, float](float), defaultdict[int, int](int)
    for pairing in pairings:
        for side, number in enumerate((pairing.a, pairing.b)):
            seconds[number] += pairing.seconds[side]
            moves[number] += pairing.moves[side]
    return {number: 1000 * seconds[number] / moves[number] for number in seconds if moves[number]}


def play_on_ray(tournament: Tournament, missing: list[tuple[int, int]], address: str) -> Iterator[Pairing]:
    """Yield the `missing` pairings as a Ray cluster finishes them. Raises `UsageError` if the cluster fails."""
    work = functools.partial(_play_pairing, str(tournament.core.rules), tournament.openings, tournament.seed)
    entrants = tournament.entrants
    players = [[(entrants[number].name, entrants[number].files) for number in pair] for pair in missing]
    for number, pairing in spread(work, players, ray=address):
        a, b = missing[number]
        yield dataclasses.replace(pairing, a=a, b=b)


def _play_pairing(rules: str, openings: Openings, seed: int, players: list[tuple[str, str]]) -> Pairing:
    """Play one pairing; `players` holds two names, each with a hash of files. In the result, they are players 0 and 1.

    Raises `UsageError` if a player's files here differ from the files on the machine that started the tournament.
    """
    entrants = make_entrants([f"{number}={name}" for number, (name, _) in enumerate(players)], Rules.parse(rules))
    for one, (name, files) in zip(entrants, players, strict=True):
        if one.files != files:
            raise UsageError(f"the files or the version of {name} differ between machines: share one folder among them")
    return Tournament(Core(rules), entrants, openings, seed).play_one(0, 1)


def read_evaluation(path: Path) -> Evaluation:
    """Read a report.json. Raises `FileError`, naming the file and the field, if the report is missing or invalid."""
    if not path.exists():
        raise FileError(f"{path}: there is no such file; evaluate.py --output FOLDER writes it")
    return validated(Evaluation, read_json(path), str(path))


def write_report(report: Evaluation, folder: Path) -> None:
    """Write report.json, report.md and, if the report has games, scores.png into an existing folder."""
    write_atomically(folder / "report.json", report.to_json().encode())
    if report.pairings:
        from agents.evaluation.pictures import draw_scores  # matplotlib takes a second to import
        from oanquan_env.benchmark.charts import png

        write_atomically(folder / PICTURE, png(draw_scores(report)))
    write_atomically(folder / "report.md", markdown(report, picture=True).encode())
