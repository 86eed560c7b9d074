"""The results of an evaluation as typed data: the contents of `report.json`."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.config import validated
from oanquan_env.benchmark.estimates import Estimate
from oanquan_env.benchmark.pairs import PairingResult
from oanquan_env.benchmark.regret import Regret
from oanquan_env.files import FileError, read_json


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentResult(_Result):
    """A player that took part."""

    label: str = Field(description="its name in the report")
    name: str = Field(description="its name for `oanquan_env.players.make`")
    files: str = Field("", description="hash of the files that its name mentions; empty for none")
    ms_per_move: float | None = Field(None, description="mean wall time of a move, ms, when many are chosen at once")


class Rating(_Result):
    """A player of two in a tournament."""

    agent: str
    elo: Estimate = Field(description="see `agents.evaluation.ratings`")
    score: float = Field(description="mean score against all others")


class WinShare(_Result):
    """A player of three or four in a tournament: one among copies of another, the mean over all others."""

    agent: str
    wins: Estimate = Field(description="share of wins, a shared one divided")
    margin: Estimate = Field(description="points over the mean of the others'")


class ArenaResult(_Result):
    """A tournament: every pairing over the same openings."""

    openings: str = Field(description="`random`, `set-up` (no moves), or the file name of the suite")
    digest: str = Field(description="hash of the opening positions")
    players: int = Field(2, description="seats of a game; a player's fair share of wins is 1 / players")
    pairings: list[PairingResult]
    anchor: str | None = Field(None, description="the player of two whose rating is 0")
    ratings: list[Rating] = Field([], description="of players of two, highest first")
    first: Estimate | None = Field(None, description="value of moving first after the opening, Elo")
    shares: list[WinShare] = Field([], description="of players of three or four, highest first")

    def score_of(self, agent: str, opponent: str) -> Estimate | None:
        """Score of one player, by label, against another one, 0 to 1; None if they did not meet."""
        for one in self.pairings:
            if (one.agent, one.opponent) == (agent, opponent):
                return one.score
            if (one.opponent, one.agent) == (agent, opponent) and self.players == 2:
                return Estimate(1 - one.score.mean, 1 - one.score.high, 1 - one.score.low)
        return None


class RegretResult(_Result):
    """The players' regret over one part of one suite."""

    suite: str
    part: str
    positions: int
    moves: int = Field(description="legal moves in all of them")
    proved_moves: int = Field(description="moves whose value is proved, not only searched")
    proved: int = Field(description="positions in which every move's value is proved")
    agents: dict[str, Regret] = Field(description="by label")


class Report(_Result):
    """All results of one evaluation."""

    format: Literal[3] = 3
    command: str = Field(description="the command that made it")
    rules: str
    seed: int
    commit: str | None = Field(description="the clone's commit, marked if files differed from it; none outside a clone")
    processor: str
    versions: dict[str, str] = Field(description="of Python and the packages that take part")
    agents: list[AgentResult]
    arena: ArenaResult | None = None
    regret: RegretResult | None = None

    def to_json(self) -> str:
        """The report as JSON that `read_report` reads back."""
        return self.model_dump_json(indent=1) + "\n"

    @property
    def origin(self) -> str:
        """The command, the commit and the processor that made it, in words."""
        where = f" at commit `{self.commit}`" if self.commit else ""
        return f"by `{self.command}`{where}, {self.processor}"

    def order_of_agents(self) -> list[str]:
        """Labels in the order of tables: by rating, or else by regret, or else as given."""
        if self.arena:
            return [row.agent for row in self.arena.ratings or self.arena.shares]
        if self.regret:
            return sorted(self.regret.agents, key=lambda agent: self.regret.agents[agent].mean if self.regret else 0)
        return [agent.label for agent in self.agents]


def read_report(path: Path) -> Report:
    """Read a report.json; raises `FileError` naming the file and the field."""
    if not path.exists():
        raise FileError(f"{path}: no such file; evaluate.py --output FOLDER writes one")
    return validated(Report, read_json(path), str(path))
