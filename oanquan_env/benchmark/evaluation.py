"""How good is a player? `print(evaluate(player))`: games against reference players, and distance from perfect play."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oanquan_env.benchmark.markdown import name, pairings_table, regret_table
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.pairs import MOST_PAIRS, PairingResult, chance, pairing_result, play_paired_games
from oanquan_env.benchmark.progress import ProgressLine
from oanquan_env.benchmark.regret import Part, Regret, Suite, check_part, regret
from oanquan_env.benchmark.suites import find_suite, openings_path
from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnavailableError, UsageError, as_whole
from oanquan_env.players import Policy, as_policy, make
from oanquan_env.players.adapters import ObservedPolicy

REFERENCES = ("random", "greedy", "maxn:depth=2", "maxn:depth=3")
"""Opponents under all rules."""
STRONGEST = "maxn:depth=3,net=pretrained"
"""An opponent under rules of two players for which the package has a value net."""
OPENING_PLIES = 4
"""Length of random openings."""


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `str` shows it, and so does a notebook.

    Attributes:
        player: the player's label.
        rules: as text.
        seed: of all chance.
        openings: where games began: `random`, or the name of a suite.
        digest: a hash of the opening positions.
        pairings: the games against each opponent.
        suite: name of the suite of positions, None if there is none for the rules.
        part: which part of it.
        regret: points that the player's moves lose against the best ones: a number with its interval, `regret.mean`;
            beside it the shares of best moves and blunders, and `regret.phases`.
        illegal: illegal actions of a model that does not see masks, each replaced by a random legal one.
    """

    player: str
    rules: str
    seed: int
    openings: str
    digest: str
    pairings: list[PairingResult]
    suite: str | None
    part: Part
    regret: Regret | None
    illegal: int = 0

    def to_json(self) -> str:
        """All numbers as JSON."""
        return json.dumps({"format": 2, **dataclasses.asdict(self)}, indent=1) + "\n"

    def __str__(self) -> str:
        return self._markdown(padded=True)

    def _repr_markdown_(self) -> str:
        return self._markdown(padded=False)

    def _markdown(self, *, padded: bool) -> str:
        parts = []
        if self.pairings:
            games = f"{self.pairings[0].pairs} openings of {self.openings}, each played in every seating."
            parts += [f"{name(self.player)}, `{self.rules}`: {games}", pairings_table(self.pairings, padded=padded)]
        if self.regret:
            parts.append(f"Points lost a move over the {self.part} part of {self.suite}:")
            parts.append(regret_table({self.player: self.regret}, ("all", *self.regret.phases), padded=padded))
        if self.illegal:
            parts.append(f"{self.illegal} illegal actions were replaced by random legal ones.")
        return "\n\n".join(parts)


def evaluate(
    player: object,
    rules: Rules | str = DEFAULT_PRESET,
    opponents: object = None,
    pairs: int = 100,
    seed: int = 0,
    *,
    label: str | None = None,
    openings: str | None = None,
    part: Part = "test",
    progress: bool | None = None,
) -> Evaluation:
    """Measure a player by games in pairs against others, and by its regret over fixed positions.

    Results depend on nothing but the arguments. They agree with those of `evaluate.py`, if that is given the same
    openings and seed.

    Args:
        player: all that `oanquan_env.players.as_policy` takes: a name, MODULE:NAME, an object with `choose`, a
            function of observations and masks, an sb3 or sb3-contrib model, a torch module.
        rules: a `Rules` or its text.
        opponents: one player, a sequence of players, or a mapping from labels to players; `reference_players(rules)` if
            left out. With an empty sequence only regret is measured.
        pairs: openings, each played in every seating; 1 to `MOST_PAIRS`.
        seed: of all chance, 0 or more.
        label: in results; the player's name, or that of its class, if left out.
        openings: `balanced`, `fair`, `random` or a file of game records; `balanced` if left out, `random` where the
            package has no such suite.
        part: of the regret suite: `development` for your choices, `test` for your report, or `all`.
        progress: whether to show a progress line; on a terminal and in a notebook if left out.

    Raises:
        ValueError: for what is no player, for rules, openings or a model that cannot be used, and for other arguments
            out of range; it names the argument.
        IllegalActionError: if a player that sees masks chooses an illegal action.
    """
    pairs, seed = as_whole("pairs", pairs, 1, MOST_PAIRS), as_whole("seed", seed, 0)
    check_part(part)
    core = Core(as_rules(rules))
    mine, own = _checked_label("label", name_of(player) if label is None else label), as_policy(player, core)
    against = reference_players(core.rules) if opponents is None else opponents
    if isinstance(against, Mapping):
        named = [(_checked_label("a label of opponents", opponent), other) for opponent, other in against.items()]
    else:
        listed: Sequence[object] = (
            against if isinstance(against, Sequence) and not isinstance(against, str) else [against]
        )
        named = [(name_of(other), other) for other in listed]
    others = [(opponent, as_policy(other, core)) for opponent, other in named]
    source = default_openings(core.rules) if openings is None else openings
    begun = load_openings(core, source, pairs, OPENING_PLIES, np.random.default_rng(seed))
    line, pairings = ProgressLine(progress), []
    replaced = own.illegal if isinstance(own, ObservedPolicy) else 0
    try:
        for opponent, other in others:
            line.begin(f"{mine} – {opponent}, games", pairs * core.rules.players)
            played = play_paired_games(core, own, other, begun.positions, chance(seed, mine, opponent), line.advance)
            pairings.append(pairing_result(mine, opponent, played.results, begun.positions))
        suite = find_suite(core.rules)
        row = None if suite is None else seeded_regret(own, suite.part(part), seed, mine)
    finally:
        line.end()
    return Evaluation(
        player=mine,
        rules=str(core.rules),
        seed=seed,
        openings=begun.name,
        digest=begun.digest(),
        pairings=pairings,
        suite=suite.name if suite else None,
        part=part,
        regret=row,
        illegal=own.illegal - replaced if isinstance(own, ObservedPolicy) else 0,
    )


def _checked_label(argument: str, label: object) -> str:
    if not isinstance(label, str) or not label:
        raise UsageError(f"{argument} must be a text that is not empty; got {label!r}")
    return label


def reference_players(rules: Rules | str) -> list[str]:
    """The opponents that players are compared with under `rules`."""
    rules = as_rules(rules)
    if rules.players > 2:
        return list(REFERENCES)
    try:
        make(STRONGEST, rules)
    except UnavailableError:  # there is no value net for the rules
        return list(REFERENCES)
    return [*REFERENCES, STRONGEST]


def default_openings(rules: Rules | str) -> str:
    """Where games begin unless something else is asked for: `balanced`, or `random` without such a suite."""
    return "balanced" if openings_path(as_rules(rules)).is_file() else "random"


def seeded_regret(player: Policy, suite: Suite, seed: int, label: str) -> Regret:
    """The regret of a player, with the chance that belongs to it in an evaluation."""
    rng = chance(seed, label)
    player.choose(suite.positions[:1], rng)  # the first move also loads and compiles, for those who measure the time
    return regret(player, suite, rng)


def name_of(player: object) -> str:
    """The name of a player, or that of its class."""
    return player if isinstance(player, str) else str(getattr(player, "__name__", type(player).__name__))
