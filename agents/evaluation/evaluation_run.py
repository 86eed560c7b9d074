"""A run of `evaluate.py`, from its settings to its report, with one or several of its suites.

Finished parts of a long run are stored (see `agents.evaluation.finished_parts`), so that an interrupted run can resume.
"""

import dataclasses
import functools
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
import tyro
from pydantic import ConfigDict, Field
from rich.progress import Progress
from tyro.constructors import PrimitiveConstructorSpec

from agents.config import Count, OpeningPlies, OptionalFile, Pairs, Seed, validated
from agents.evaluation.code_hashes import code_hashes, custom_code
from agents.evaluation.finished_parts import FinishedParts
from agents.parallel import spread
from oanquan_env import Core, Rules
from oanquan_env.benchmark.evaluation import default_openings, games_measured, rated
from oanquan_env.benchmark.exploit import exploit_seats
from oanquan_env.benchmark.game_pairs import rng_for
from oanquan_env.benchmark.generalisation import Generalisation, evaluate_rules, suites_digest
from oanquan_env.benchmark.openings import Openings, load_openings, random_suite
from oanquan_env.benchmark.regret import RUNS, Part, Regret
from oanquan_env.benchmark.results import Evaluation, SuitePart
from oanquan_env.benchmark.rule_pairs import PATH, RuleFollowing, follow_rules, load_rule_pairs, named
from oanquan_env.benchmark.statistics import as_record
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.benchmark.tournament import Entrant, Pairing, Tournament
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.errors import UsageError
from oanquan_env.files import short_hash
from oanquan_env.players import as_policy
from oanquan_env.players.making import kinds
from oanquan_env.players.names import parse
from oanquan_env.proofs.certificates import certificate_path
from oanquan_env.provenance import origin
from oanquan_env.search.any_rules_net import net_path

PARTS = "parts"  # subfolder of the output folder
Result = TypeVar("Result")
_LABEL = re.compile(r"\s*([^\s:=,][^:=,]*?)\s*=\s*(.+)", re.DOTALL)

PlayerNames: TypeAlias = Annotated[
    tyro.conf.Positional[list[str]], Field(min_length=1), tyro.conf.arg(metavar="[PLAYER ...]", help_behavior_hint="")
]
SuiteNames: TypeAlias = Annotated[
    list[Literal["arena", "regret", "exploit", "pairs", "rule-sets"]],
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
class EvaluationRunSettings:
    """The settings of a run: the options of `evaluate.py`, or the content of a YAML file for its `--config`."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    players: PlayerNames  # players by name; two or more for the arena
    suites: SuiteNames = field(default_factory=lambda: ["arena"])  # one or more, as in arena,regret
    regret_suite: OptionalFile = None  # file of a regret suite (default: the package's)
    part: Part = "test"  # part of the regret suite
    pairs: Pairs = 200  # openings of each pairing, each played in every seating
    openings: OpeningsName = None  # balanced, fair, random or a file of records (default: balanced if there are any)
    opening_plies: OpeningPlies = 4  # random plies of a random opening
    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    seed: Seed = 0  # seed of openings and players
    runs: Count = RUNS  # number of moves that a randomising player chooses in each position of a suite
    minutes: Annotated[float, Field(gt=0)] = 1.0  # minutes that the suite exploit searches for each player and seat
    time: bool = False  # also measure the mean time of a move


class EvaluationRun:
    """One run of `evaluate.py`. Raises `ValueError` if the settings, players, openings or suite cannot be used.

    Finished parts are stored in the output folder, if there is one, so that a run with the same settings resumes. It
    measures players with custom code again, which may read files that we do not know, except with `reuse`.

    Attributes:
        tournament: the players and their openings.
        pairings: the results of the arena's pairings; empty until `run` has played them.
    """

    def __init__(self, settings: EvaluationRunSettings, output: Path | None = None, *, reuse: bool = False) -> None:
        self.settings = validated(EvaluationRunSettings, dataclasses.asdict(settings), "settings")
        if "exploit" in settings.suites and Rules.parse(settings.rules).players != 2:
            raise UsageError(f"the suite exploit needs rules for two players; got '{settings.rules}'")
        if settings.regret_suite and "regret" not in settings.suites:
            raise UsageError("--regret-suite needs --suite regret, which measures regret")
        core, rng = Core(Rules.parse(settings.rules)), np.random.default_rng(settings.seed)
        entrants, self.pairings = make_entrants(settings.players, core.rules), list[Pairing]()
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
        self.suite = None
        if "regret" in settings.suites:
            self.suite = load_suite(core.rules, settings.regret_suite).part(settings.part)

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

        def of_all(what: str, measure: Callable[[int], Result]) -> dict[int, Result]:
            """Measure all players, with a bar called `what`; return the results by the player's number."""
            task, results = progress.add_task(what, total=len(everyone)), dict[int, Result]()
            for number in everyone:
                results[number] = measure(number)
                progress.advance(task)
            return results

        asked = self.settings.suites
        if self.suite:
            measured = of_all("regret", self._regret)
            regrets = {number: dataclasses.replace(regret, losses=[]) for number, (regret, _) in measured.items()}
            times = {number: ms for number, (_, ms) in measured.items()}
        exploited = of_all("best responses", self._exploited) if "exploit" in asked else {}
        following = of_all("rule pairs", self._following) if "pairs" in asked else {}
        generalisation = of_all("rule sets", self._generalisation) if "rule-sets" in asked else {}
        return dataclasses.replace(
            result,
            players=[
                dataclasses.replace(
                    player,
                    regret=regrets.get(number),
                    exploited=exploited.get(number),
                    following=following.get(number),
                    generalisation=generalisation.get(number),
                    ms_per_move=times.get(number) if self.settings.time else None,
                )
                for number, player in enumerate(result.players)
            ],
            suite=SuitePart.of(self.suite, self.settings.part) if self.suite else None,
            **origin(command),
            reused=self.finished.reused,
        )

    def _regret(self, number: int) -> tuple[Regret, float]:
        assert self.suite
        return self.tournament.measure_regret(number, self.suite, self.settings.runs)

    def _stored(self, number: int, settings: dict[str, Any], kind: Any, measure: Callable[[Entrant], Any]) -> Any:
        """Return a player's finished part as a value of type `kind`, or measure the player and store the result."""
        entrant = self.tournament.entrants[number]
        settings = {"agent": entrant.identity(), **settings}
        result = self.finished.find([entrant.label], settings, kind)
        if result is None:
            result = measure(entrant)
            self.finished.store([entrant.label], settings, result if isinstance(result, list) else as_record(result))
        return result

    def _exploited(self, number: int) -> list[dict[str, Any]]:
        rules, minutes = str(self.tournament.core.rules), self.settings.minutes

        def measure(entrant: Entrant) -> list[dict[str, Any]]:
            return [response.to_dict() for response in exploit_seats(entrant.name, rules, minutes, progress=False)]

        records: list[dict[str, Any]] = self._stored(
            number, {"rules": rules, "minutes": minutes}, list[dict[str, Any]], measure
        )
        return records

    def _following(self, number: int) -> RuleFollowing:
        runs, seed = self.settings.runs, self.settings.seed

        def measure(entrant: Entrant) -> RuleFollowing:
            return follow_rules(named(entrant.name), load_rule_pairs(), rng_for(seed), runs)

        settings = {"runs": runs, "seed": seed, "rule_pairs": short_hash(PATH.read_bytes())}
        result: RuleFollowing = self._stored(number, settings, RuleFollowing, measure)
        return result

    def _generalisation(self, number: int) -> Generalisation:
        runs, seed = self.settings.runs, self.settings.seed

        def measure(entrant: Entrant) -> Generalisation:
            return evaluate_rules(entrant.name, seed=seed, runs=runs, progress=False)

        settings = {"runs": runs, "seed": seed, "rule_sets": suites_digest()}
        result: Generalisation = self._stored(number, settings, Generalisation, measure)
        return result


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
    for entrant, (name, files) in zip(entrants, players, strict=True):
        if entrant.files != files:
            raise UsageError(f"the files or the version of {name} differ between machines: share one folder among them")
    return Tournament(Core(rules), entrants, openings, seed).play_one(0, 1)


# ---- entrants --------------------------------------------------------------------------------------------------------


def make_entrants(players: Sequence[str], rules: Rules) -> list[Entrant]:
    """Make an entrant from each `NAME` or `LABEL=NAME`, as in `quick=ppo:runs/quick`; a label has no `:`, `=` or `,`.

    Raises `UsageError` if two players share a label, and `ValueError` if a player cannot be made.
    """
    entrants: list[Entrant] = []
    for text in players:
        label, name = labelled(text)
        if any(label == other.label for other in entrants):
            example = shlex.join([f"A={name}", f"B={name}"])
            raise UsageError(f"two players are called {label!r}; give them different labels, as in {example}")
        entrants.append(Entrant(label, name, as_policy(name, rules), hash_of_files(name, rules)))
    return entrants


def labelled(text: str) -> tuple[str, str]:
    """Split `NAME` or `LABEL=NAME` into label and name; the label defaults to the name."""
    match = _LABEL.fullmatch(text)
    return (match[1], match[2]) if match else (text, text)


def hash_of_files(name: str, rules: Rules) -> str:
    """Return a hash of the files that a player's name refers to; it changes when an agent is retrained.

    A name can refer to an agent's files, a value net, the package's book or a custom player's code, which includes the
    files that it names. If it refers to no file, the hash is empty, and the package's version identifies the player.
    """
    content = [f"{module} {hashed}\n".encode() for module, hashed in code_hashes(custom_code(name), files=True).items()]
    if name.partition(":")[0] not in (player_kinds := kinds()):
        return short_hash(*content)
    parsed = parse(name, player_kinds)
    if parsed.agent:
        from agents.players.agent_files import agent_folder  # torch takes a second to import

        content += [path.read_bytes() for path in sorted(agent_folder(parsed.agent, rules).glob("agent.*"))]
    if parsed.net:
        content.append(net_path(parsed.net, rules).read_bytes())
    if parsed.fallback:
        content.append(hash_of_files(parsed.fallback, rules).encode())
        content += [path.read_bytes() for path in [certificate_path(rules)] if path.is_file()]
    return short_hash(*content) if any(content) else ""
