"""The results of an evaluation as typed data: the contents of `report.json`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from agents.config import Strict, validated
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.matches import MatchResult
from oanquan_env.benchmark.regret import RegretRow
from oanquan_env.files import FileError, read_json

ORDINALS = ("first", "second", "third", "fourth")  # when a player moves after the opening


class AgentResult(Strict):
    """A player that took part."""

    label: str = Field(description="its name in the report")
    name: str = Field(description="its name for `agents.make`")
    fingerprint: str = Field("", description="hash of its files and of how players play; empty in older reports")
    ms_per_move: float | None = Field(None, description="mean wall time of a move, ms, when many are chosen at once")


class OrderResult(Strict):
    """One part of a player's games of a pairing: those in which it moved first after the opening, or second, ..."""

    score: Estimate
    margin: Estimate


@dataclass(frozen=True)
class PairingResult(MatchResult):
    """A match, and the agent's games of it in which it moved first after the opening, second, and so on."""

    orders: list[OrderResult] = field(default_factory=list)


class Rating(Strict):
    """A player's rating, see `agents.evaluation.ratings`."""

    agent: str
    elo: Estimate
    score: float = Field(description="mean score against all others; with more seats, as one among each of them")


class ArenaResult(Strict):
    """A tournament: every pairing over the same openings."""

    openings: str = Field(description="`random`, `set-up` (no moves), or the file name of the suite")
    digest: str = Field(description="hash of the opening positions")
    players: int = Field(2, description="seats of a game; an even player's share of wins is 1 / players")
    pairings: list[PairingResult]
    anchor: str | None = Field(None, description="the player whose rating is 0")
    ratings: list[Rating] | None = Field(None, description="highest first")
    orders: list[Estimate] = Field([], description="value of moving first, second, and so on over moving last, Elo")

    @property
    def even_share(self) -> float:
        """Score of a player among equals, percent."""
        return 100 / self.players

    def score_of(self, agent: str, opponent: str) -> Estimate | None:
        """Score of one player, by label, against another one, 0 to 1; None if they did not meet."""
        for one in self.pairings:
            if (one.agent, one.opponent) == (agent, opponent):
                return one.score
            if (one.opponent, one.agent) == (agent, opponent) and self.players == 2:
                return Estimate(1 - one.score.mean, 1 - one.score.high, 1 - one.score.low)
        return None


class TableRow(Strict):
    """A player at all tables where it is not alone with itself."""

    agent: str
    score: Estimate = Field(description="share of wins, a shared one divided")
    margin: Estimate = Field(description="points over the mean of the others'")
    place: Estimate = Field(description="mean place, 1 for the most points; equal points share the mean of places")
    elo: Estimate = Field(description="see `agents.evaluation.ratings`; null runs included")
    alone: list[Estimate] = Field(description="null run: its score among itself by moving first, second, and so on")


class TablesResult(Strict):
    """Every multiset of the players, in every order, over the same openings."""

    openings: str
    digest: str = Field(description="hash of the opening positions")
    number: int = Field(description="of openings")
    games: int
    players: int = Field(description="seats of a table")
    rows: list[TableRow] = Field(description="the first agent given has Elo 0; highest first")
    orders: list[Estimate] = Field(description="value of moving first, second, and so on over moving last, Elo")


class RegretResult(Strict):
    """The players' regret over one part of one suite."""

    suite: str
    part: str
    positions: int
    moves: int = Field(description="legal moves in all of them")
    proved_moves: int = Field(description="moves whose value is proved, not only searched")
    proved: int = Field(description="positions in which every move's value is proved")
    agents: list[RegretRow]


class Report(Strict):
    """All results of one evaluation."""

    format: Literal[2] = 2
    command: str = Field(description="the command that made it")
    rules: str
    seed: int
    commit: str | None = Field(description="the clone's commit, marked if files differed from it; none outside a clone")
    kept_from: list[str] = Field([], description="other commits, at which reused parts of it were made")
    processor: str
    versions: dict[str, str] = Field(description="of Python and the packages that take part")
    agents: list[AgentResult]
    arena: ArenaResult | None = None
    tables: TablesResult | None = None
    regret: RegretResult | None = None

    def to_json(self) -> str:
        """The report as JSON that `read_report` reads back."""
        return self.model_dump_json(indent=1) + "\n"


def read_report(path: Path) -> Report:
    """Read a report.json; raises `FileError` naming the file and the field."""
    if not path.exists():
        raise FileError(f"{path}: no such file; evaluate.py --output FOLDER writes one")
    return validated(Report, read_json(path), str(path))


def origin(report: Report) -> str:
    """The command, the commits and the processor that made a report, in words."""
    where = f" at commit `{report.commit}`" if report.commit else ""
    kept = f" (parts of it at {', '.join(f'`{commit}`' for commit in report.kept_from)})" if report.kept_from else ""
    return f"by `{report.command}`{where}{kept}, {report.processor}"


def order_of_agents(report: Report) -> list[str]:
    """Labels in the order of tables: by rating, or else by regret, or else as given."""
    if report.arena and report.arena.ratings:
        return [rating.agent for rating in report.arena.ratings]
    if report.tables:
        return [row.agent for row in report.tables.rows]
    if report.regret:
        return [row.agent for row in sorted(report.regret.agents, key=lambda row: row.overall.regret.mean)]
    return [agent.label for agent in report.agents]
