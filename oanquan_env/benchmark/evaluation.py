"""Evaluation of a player by games against reference players and by its distance from perfect play.

result = evaluate(player, "ludii", pairs=200)
result.regret.mean, result.pairings[0].score, result.to_json()
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oanquan_env.benchmark.game_pairs import MOST_PAIRS, by_order, pairing_result
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.policy_cache import repeats
from oanquan_env.benchmark.regret import RUNS, Part, check_part
from oanquan_env.benchmark.results import Evaluation, PlayerResult, SuitePart
from oanquan_env.benchmark.statistics import mean_estimate, rate, score_estimate
from oanquan_env.benchmark.suites import SuiteSource, find_suite, how_to_make, openings_path
from oanquan_env.benchmark.tournament import Entrant, Pairing, Tournament
from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnavailableError, UsageError, as_whole
from oanquan_env.players import Policy, as_policy, make
from oanquan_env.players.observed import ObservedPolicy
from oanquan_env.progress import ProgressLine
from oanquan_env.provenance import origin

REFERENCES = ("random", "greedy", "maxn:depth=2", "maxn:depth=3")
"""Default opponents under all rules."""
STRONGEST = "maxn:depth=3,net=pretrained"
"""An additional opponent under two-player rules for which the package has a value net."""
ANCHOR = "greedy"
"""The player whose rating is 0 in a tournament; if it does not take part, the first player has the rating 0."""
OPENING_PLIES = 4
"""Length of random openings in plies."""


def evaluate(
    player: object,
    rules: Rules | str = DEFAULT_PRESET,
    opponents: object = None,
    pairs: int = 100,
    seed: int = 0,
    *,
    label: str | None = None,
    openings: str | None = None,
    suite: SuiteSource = None,
    part: Part = "test",
    runs: int = RUNS,
    progress: bool | None = None,
) -> Evaluation:
    """Measure a player by pairs of games against other players, and by its regret over fixed positions.

    Results depend on all arguments except labels and `progress`. They agree with the results of `evaluate.py` for the
    same openings and seed.

    Args:
        player: anything that `oanquan_env.players.as_policy` takes: a name, MODULE:NAME, an object with `choose`, a
            function of observations and masks, an sb3 or sb3-contrib model, or a torch module.
        rules: a `Rules` or its text.
        opponents: a player, a sequence of players, or a mapping from labels to players; defaults to
            `reference_players(rules)`. With an empty sequence only regret is measured.
        pairs: number of openings, each played in every seating; 1 to `MOST_PAIRS`.
        seed: seed of all random choices, 0 or more.
        label: name in the results; defaults to the name of the player or of its class.
        openings: `balanced`, `fair`, `random` or a file of game records; defaults to `balanced`, or to `random` if the
            package has no such suite.
        suite: a `Suite` or the path of its file, over which regret is measured; defaults to the package's suite for the
            rules. Without a suite, `result.regret` raises an error that says how to make one.
        part: part of the regret suite: `development` for choosing settings, `test` for reporting results, or `all`.
        runs: number of times that a randomising player chooses a move in each position of the suite, 1 or more.
        progress: whether to show a progress line; shown by default in a terminal or notebook.

    Raises:
        ValueError: if the player, the rules, the openings or a model cannot be used, or an argument is out of range;
            the message names the argument.
        IllegalActionError: if a player chooses an illegal action, unless it is a model without action masks.
    """
    return measured(
        player, EvaluationSettings(rules, opponents, pairs, seed, openings, suite, part, runs), label, progress
    )[0]


@dataclass(frozen=True)
class EvaluationSettings:
    """The arguments of `evaluate` that its results depend on, besides the player."""

    rules: Rules | str
    opponents: object
    pairs: int
    seed: int
    openings: str | None
    suite: SuiteSource
    part: Part
    runs: int


def measured(
    player: object, settings: EvaluationSettings, label: str | None = None, progress: bool | None = None
) -> tuple[Evaluation, list[Pairing]]:
    """Return the result of `evaluate`, which explains the arguments, and the games."""
    pairs, seed = as_whole("pairs", settings.pairs, 1, MOST_PAIRS), as_whole("seed", settings.seed, 0)
    runs = as_whole("runs", settings.runs, 1)
    check_part(settings.part)
    core, name = Core(as_rules(settings.rules)), name_of(player)
    mine = Entrant(_checked_label("label", name if label is None else label), name, as_policy(player, core))
    opponents = reference_players(core.rules) if settings.opponents is None else settings.opponents
    entrants = [mine, *_opponents(opponents, core)]
    source = default_openings(core.rules) if settings.openings is None else settings.openings
    openings = load_openings(core, source, pairs, OPENING_PLIES, np.random.default_rng(seed))
    tournament = Tournament(core, entrants, openings, seed)
    schedule = [(0, other) for other in range(1, len(entrants))]
    full_suite = find_suite(core.rules, settings.suite)
    if full_suite is None and not schedule:
        raise UsageError(f"nothing to measure: there are no opponents, and {how_to_make(core.rules)}")
    judged = full_suite and full_suite.part(settings.part)
    replaced, line = _illegal(mine.policy), ProgressLine(progress)
    try:
        line.begin(f"{mine.label}, games", len(schedule) * tournament.games_of_pairing)
        pairings = tournament.play(schedule, line.advance)
        regret = tournament.measure_regret(0, judged, runs)[0] if judged else None
    finally:
        line.end()
    games = games_measured(tournament, pairings)
    evaluation = dataclasses.replace(
        games,
        players=[dataclasses.replace(games.players[0], regret=regret)],
        suite=SuitePart.of(judged, settings.part) if judged else None,
        illegal=_illegal(mine.policy) - replaced,
        **origin(),
    )
    return evaluation, pairings


def _illegal(policy: Policy) -> int:
    return policy.illegal if isinstance(policy, ObservedPolicy) else 0


def _opponents(opponents: object, core: Core) -> list[Entrant]:
    if isinstance(opponents, Mapping):
        named = [(_checked_label("a label in opponents", label), player) for label, player in opponents.items()]
    else:
        listed = opponents if isinstance(opponents, Sequence) and not isinstance(opponents, str) else [opponents]
        named = [(name_of(player), player) for player in listed]
    return [Entrant(label, name_of(player), as_policy(player, core)) for label, player in named]


def _checked_label(argument: str, label: object) -> str:
    if not isinstance(label, str) or not label:
        raise UsageError(f"{argument} must be a non-empty string; got {label!r}")
    return label


def reference_players(rules: Rules | str) -> list[str]:
    """Return the names of the default opponents under `rules`."""
    rules = as_rules(rules)
    if rules.players > 2:
        return list(REFERENCES)
    try:
        make(STRONGEST, rules)
    except UnavailableError:  # there is no value net for the rules
        return list(REFERENCES)
    return [*REFERENCES, STRONGEST]


def default_openings(rules: Rules | str) -> str:
    """Return the default openings: `balanced`, or `random` if the package has no balanced suite."""
    return "balanced" if openings_path(as_rules(rules)).is_file() else "random"


def name_of(player: object) -> str:
    """Return the name of a player or of its class."""
    return player if isinstance(player, str) else str(getattr(player, "__name__", type(player).__name__))


# ---- from games to numbers -------------------------------------------------------------------------------------------


def games_measured(tournament: Tournament, pairings: list[Pairing]) -> Evaluation:
    """Return an evaluation with the results of each pairing, but not of individual players."""
    entrants, openings = tournament.entrants, tournament.openings
    return Evaluation(
        rules=str(tournament.core.rules),
        seed=tournament.seed,
        players=[
            PlayerResult(each.label, each.name, each.files, repeats=repeats(each.policy, openings.positions))
            for each in entrants
        ],
        openings=openings.name,
        openings_digest=openings.digest(),
        pairings=[
            pairing_result(entrants[pairing.a].label, entrants[pairing.b].label, pairing.results, openings.positions)
            for pairing in pairings
        ],
    )


def rated(games: Evaluation, tournament: Tournament, pairings: list[Pairing]) -> Evaluation:
    """Return the round robin `games` with each player's score and margin and, for two-player rules, Elo ratings."""
    players = [_against_all(number, player, pairings) for number, player in enumerate(games.players)]
    if tournament.core.rules.players > 2:
        return dataclasses.replace(games, players=players)
    anchor = next((number for number, entrant in enumerate(tournament.entrants) if entrant.name == ANCHOR), 0)
    by_opening = np.stack([by_order(pairing.results.score, tournament.openings.positions) for pairing in pairings])
    ratings = rate(
        [(pairing.a, pairing.b) for pairing in pairings] + [(pairing.b, pairing.a) for pairing in pairings],
        np.concatenate([by_opening[..., 0], 1 - by_opening[..., 1]]).T,  # by_opening: (pairing, K, 2)
        anchor,
        np.random.default_rng([tournament.seed, len(players)]),
    )
    players = [dataclasses.replace(player, elo=elo) for player, elo in zip(players, ratings.players, strict=True)]
    return dataclasses.replace(games, players=players, anchor=players[anchor].label, first=ratings.first)


def _against_all(number: int, player: PlayerResult, pairings: list[Pairing]) -> PlayerResult:
    """Return a copy of `player` with its score and margin against all others; each opening is one sample."""
    own = [(pairing.results.score, pairing.results.margin) for pairing in pairings if pairing.a == number]
    if pairings[0].results.score.shape[1] == 2:
        own += [(1 - pairing.results.score, -pairing.results.margin) for pairing in pairings if pairing.b == number]
    scores, margins = (np.mean([table.mean(axis=1) for table in tables], axis=0) for tables in zip(*own, strict=True))
    return dataclasses.replace(player, score=score_estimate(scores), margin=mean_estimate(margins))
