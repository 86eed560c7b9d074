"""The result of an evaluation: players, games and regret, as they are stored in report.json."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from oanquan_env.benchmark.game_pairs import PairingResult
from oanquan_env.benchmark.generalisation import Generalisation
from oanquan_env.benchmark.regret import Part, Regret, Suite
from oanquan_env.benchmark.report import markdown, summary_cells
from oanquan_env.benchmark.rule_pairs import RuleFollowing
from oanquan_env.benchmark.statistics import Estimate, as_record
from oanquan_env.benchmark.suites import how_to_make
from oanquan_env.benchmark.tables import latex
from oanquan_env.errors import UsageError

FORBID = {"extra": "forbid"}  # for pydantic, which reads these classes from files


@dataclass(frozen=True)
class PlayerResult:
    """A player, and its results against all others and in the regret suite.

    Attributes:
        label: name in the report.
        name: name for `oanquan_env.players.make`, or the name of the player's class.
        files: hash of the files that the name mentions; empty if there are none.
        elo: rating, for two-player rules only; see `oanquan_env.benchmark.statistics`.
        score: share of wins, 0 to 1, averaged over all opponents; a shared win is divided among the winners. With more
            than two seats, copies of one opponent take all other seats.
        margin: points minus the mean of the other players' points.
        regret: points that its moves lose compared with the best moves.
        ms_per_move: mean wall time of a move in ms, when many are chosen at once.
        exploited: best response found in each seat, in the form of `BestResponse.to_dict`; None if not searched.
        following: which of two rule sets its moves follow; None if not measured.
        generalisation: regret under held-out rule sets; None if not measured.
        repeats: whether it repeated its moves when asked again with an equal generator; None if it was not asked.
    """

    __pydantic_config__ = FORBID

    label: str
    name: str
    files: str = ""
    elo: Estimate | None = None
    score: Estimate | None = None
    margin: Estimate | None = None
    regret: Regret | None = None
    ms_per_move: float | None = None
    exploited: list[dict[str, Any]] | None = None
    following: RuleFollowing | None = None
    generalisation: Generalisation | None = None
    repeats: bool | None = None


@dataclass(frozen=True)
class SuitePart:
    """The positions over which regret was measured.

    Attributes:
        name, version, digest: name and version of the suite, and a hash of these positions and their values.
        part: part of the suite.
        positions: number of positions.
        moves: number of legal moves in all these positions.
        proved_moves: number of moves whose value is proved, not only searched.
        proved: number of positions in which every move's value is proved.
    """

    __pydantic_config__ = FORBID

    name: str
    version: int
    digest: str
    part: Part
    positions: int
    moves: int
    proved_moves: int
    proved: int

    @classmethod
    def of(cls, suite: Suite, part: Part) -> "SuitePart":
        """Return a description of `suite`, which must hold only the positions of `part`."""
        moves, proved = int(np.isfinite(suite.values).sum()), int(suite.proved.sum())
        return cls(
            suite.name, suite.version, suite.digest(), part, len(suite), moves, proved, int(suite.all_proved().sum())
        )


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation; `str` and notebooks show its report.

    Attributes:
        rules: rules as text.
        seed: seed of all random choices.
        players: the players that were measured.
        openings: where games began: `random`, `set-up` (no moves), or the name of a suite; None without games.
        openings_digest: hash of the opening positions.
        pairings: results of each pairing of two players.
        anchor: label of the player whose rating is 0, if there are ratings.
        first: advantage of moving first after the opening, in Elo, if there are ratings.
        suite: the positions over which regret was measured; None if regret was not measured.
        illegal: number of illegal actions by a model that does not see masks, each replaced by a random legal one.
        command, commit, processor, versions: origin of the result; see `oanquan_env.provenance`.
        reused: results from earlier sessions, such as `games greedy – random`, and when they were measured.
    """

    __pydantic_config__ = FORBID

    rules: str
    seed: int
    players: list[PlayerResult]
    openings: str | None = None
    openings_digest: str | None = None
    pairings: list[PairingResult] = field(default_factory=list)
    anchor: str | None = None
    first: Estimate | None = None
    suite: SuitePart | None = None
    illegal: int = 0
    command: str | None = None
    commit: str | None = None
    processor: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    reused: dict[str, str] = field(default_factory=dict)
    format: Literal[4] = 4

    @property
    def regret(self) -> Regret:
        """Regret of the first player with its interval: `regret.mean`, `regret.phases` and more.

        Raises `UsageError` if it was not measured, because there is no suite for the rules.
        """
        if (regret := self.players[0].regret) is None:
            raise UsageError(f"regret was not measured: {how_to_make(self.rules)}")
        return regret

    @property
    def losses(self) -> list[float]:
        """Points that the first player's move loses in each position of the suite, averaged over its runs."""
        return regret.losses if (regret := self.players[0].regret) else []

    def player(self, label: str) -> PlayerResult:
        """Return the player with this label; raise `KeyError` if there is none."""
        return {player.label: player for player in self.players}[label]

    def ranked(self) -> list[PlayerResult]:
        """Return the players in the order of tables: by rating if all have one, or else by score, or else by regret."""
        if all(player.elo for player in self.players):
            return sorted(self.players, key=lambda player: -player.elo.mean if player.elo else 0)
        if all(player.score for player in self.players):
            return sorted(self.players, key=lambda player: -player.score.mean if player.score else 0)
        return sorted(self.players, key=lambda player: player.regret.mean if player.regret else 0)

    def score_of(self, label: str, opponent: str) -> Estimate | None:
        """Return the score of one player against another, 0 to 1; None if they did not meet."""
        for pairing in self.pairings:
            if (pairing.agent, pairing.opponent) == (label, opponent):
                return pairing.score
            if (pairing.opponent, pairing.agent) == (label, opponent) and pairing.pentanomial:
                return Estimate(1 - pairing.score.mean, 1 - pairing.score.high, 1 - pairing.score.low)
        return None

    def to_json(self) -> str:
        """Return the evaluation as JSON."""
        return json.dumps(as_record(self), indent=1) + "\n"

    def to_latex(self) -> str:
        """Return the table of players as LaTeX code, which needs the package booktabs."""
        return latex(*summary_cells(self))

    def __str__(self) -> str:
        return markdown(self, heading=False, padded=True)

    def _repr_markdown_(self) -> str:
        return markdown(self, heading=False)
