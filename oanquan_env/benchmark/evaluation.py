"""How good is a player? `print(evaluate(player))`: games against reference players, and distance from perfect play."""

import dataclasses
import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.matches import MatchResult, chance, match_result
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.benchmark.pairs import play_paired_games
from oanquan_env.benchmark.progress import ProgressLine
from oanquan_env.benchmark.regret import Part, RegretRow, Suite, regret
from oanquan_env.benchmark.suites import find_suite, openings_path
from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnavailableError
from oanquan_env.players import Policy, as_policy, make
from oanquan_env.players.adapters import ObservedPolicy

REFERENCES = ("random", "greedy", "maxn:depth=2", "maxn:depth=3")
"""Opponents under all rules."""
STRONGEST = "maxn:depth=3,net=pretrained"
"""An opponent under rules of two players for which the package has a value net."""
OPENING_PLIES = 4
"""Length of random openings."""
Table = list[list[str]]
"""Rows of cells, the headings first."""


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `str` shows it, and so does a notebook.

    Attributes:
        player: the player's label.
        rules: as text.
        seed: of all chance.
        openings: where games began: `random`, or the name of a suite.
        digest: a hash of the opening positions.
        matches: the games against each opponent.
        suite: name of the suite of positions, None if there is none for the rules.
        part: which part of it.
        regret: points that the player's moves lose against the best ones, over all and by phase of the game.
        illegal: illegal actions of a model that does not see masks, each replaced by a random legal one.
    """

    player: str
    rules: str
    seed: int
    openings: str
    digest: str
    matches: list[MatchResult]
    suite: str | None
    part: Part
    regret: RegretRow | None
    illegal: int = 0

    def to_json(self) -> str:
        """All numbers as JSON."""
        return json.dumps({"format": 1, **dataclasses.asdict(self)}, indent=1) + "\n"

    def tables(self) -> list[tuple[str, Table]]:
        """Headings, and the tables below them, which `str` shows."""
        pairs = self.matches[0].pairs if self.matches else 0
        shown = []
        if self.matches:
            shown.append((f"{self.player}, {self.rules}: {pairs} pairs, {self.openings}", _match_table(self.matches)))
        if self.regret:
            heading = f"{self.player}: points lost a move over the {self.part} part of {self.suite}"
            shown.append((heading, _regret_table(self.regret)))
        return shown

    def _notes(self) -> list[str]:
        replaced = f"{self.illegal} illegal actions were replaced by random legal ones."
        return ["Numbers have 95 % intervals."] + [replaced] * bool(self.illegal)

    def __str__(self) -> str:
        parts = [f"{heading}\n{_text(table)}" for heading, table in self.tables()]
        return "\n\n".join([*parts, " ".join(self._notes())])

    def _repr_html_(self) -> str:
        parts = []
        for heading, table in self.tables():
            rows = [[html.escape(cell) for cell in row] for row in table]
            head, *body = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
            head = head.replace("td>", "th>")
            parts.append(f"<p>{html.escape(heading)}</p><table><tr>{'</tr><tr>'.join([head, *body])}</tr></table>")
        return "".join(parts) + f"<p>{' '.join(self._notes())}</p>"


def evaluate(
    player: object,
    rules: Rules | str = DEFAULT_PRESET,
    opponents: Sequence[object] | Mapping[str, object] | None = None,
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
        opponents: the same, or their labels and themselves; `reference_players(rules)` if left out. Without any, only
            regret is measured.
        pairs: openings, each played in every seating.
        seed: of all chance.
        label: in results; the player's name, or that of its class, if left out.
        openings: `balanced`, `random` or a file of game records; `balanced` if left out, `random` where the package
            has no such suite.
        part: of the regret suite: `development` for your choices, `test` for your report, or `all`.
        progress: whether to show a progress line; on a terminal and in a notebook if left out.

    Raises:
        ValueError: for what is no player, for rules, openings or a model that cannot be used, and for pairs below 1.
        IllegalActionError: if a player that sees masks chooses an illegal action.
    """
    if pairs < 1:
        raise ValueError(f"pairs must be 1 or more; got {pairs}")
    core = Core(as_rules(rules))
    mine, own = label or name_of(player), as_policy(player, core)
    against = reference_players(core.rules) if opponents is None else opponents
    named = against.items() if isinstance(against, Mapping) else [(name_of(other), other) for other in against]
    others = [(name, as_policy(other, core)) for name, other in named]
    source = openings or ("balanced" if openings_path(core.rules).is_file() else "random")
    begun = load_openings(core, source, pairs, OPENING_PLIES, np.random.default_rng(seed))
    line, matches = ProgressLine(progress), []
    replaced = own.illegal if isinstance(own, ObservedPolicy) else 0
    try:
        for name, other in others:
            line.begin(f"{mine} – {name}, games", pairs * core.rules.players)
            played = play_paired_games(core, own, other, begun.positions, chance(seed, mine, name), line.advance)
            matches.append(match_result(mine, name, played.results, seed))
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
        matches=matches,
        suite=suite.name if suite else None,
        part=part,
        regret=row,
        illegal=own.illegal - replaced if isinstance(own, ObservedPolicy) else 0,
    )


def reference_players(rules: Rules) -> list[str]:
    """The opponents that players are compared with under `rules`."""
    if rules.players > 2:
        return list(REFERENCES)
    try:
        make(STRONGEST, rules)
    except UnavailableError:  # there is no value net for the rules
        return list(REFERENCES)
    return [*REFERENCES, STRONGEST]


def seeded_regret(player: Policy, suite: Suite, seed: int, label: str) -> RegretRow:
    """The regret of a player, with the chance that belongs to it in an evaluation."""
    rng = chance(seed, label)
    player.choose(suite.positions[:1], rng)  # the first move also loads and compiles, for those who measure the time
    return regret(player, suite, rng, label)


def name_of(player: object) -> str:
    """The name of a player, or that of its class."""
    return player if isinstance(player, str) else str(getattr(player, "__name__", type(player).__name__))


# ---- tables ----------------------------------------------------------------------------------------------------------


def _match_table(matches: Sequence[MatchResult]) -> Table:
    rows = [["opponent", "score, %", "margin", "Elo", "normalised Elo"]]
    for one in matches:
        elo = _signed(one.elo, one.elo_error), _signed(*(one.normalised_elo or (None, None)))
        rows.append([one.opponent, plus_minus(one.score, ".1f", 100), plus_minus(one.margin, "+.1f"), *elo])
    return rows


def _regret_table(found: RegretRow) -> Table:
    rows = [["positions", "number", "regret, points", "best moves, %", "blunders, %"]]
    for name, one in {"all": found.overall, **found.phases}.items():
        shares = plus_minus(one.optimal, ".1f", 100), plus_minus(one.blunders, ".1f", 100)
        rows.append([name, str(one.positions), plus_minus(one.regret, ".2f"), *shares])
    return rows


def plus_minus(estimate: Estimate, form: str, factor: float = 1.0) -> str:
    """Mean and half the width of its interval."""
    return f"{factor * estimate.mean:{form}} ± {factor * (estimate.high - estimate.low) / 2:{form.lstrip('+')}}"


def _signed(value: float | None, error: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:+.0f}" + ("" if error is None else f" ± {error:.0f}")


def _text(table: Table) -> str:
    """Columns side by side, the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            f"{row[0]:<{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
