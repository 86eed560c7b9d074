"""The typed configuration of TD(lambda) self-play; field descriptions become the command line's help."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from agents.support.strict_yaml import Count, CountOrZero, Positive, Share, Strict
from agents.training.config import EvaluationSchedule, RunConfig
from oanquan_env import Rules
from oanquan_env.search.memory import MAX_DEPTH

DEPTHS = 2, 1
"""Plies of the search for two players, which is compiled, and for more, where they are left out."""
Depth = Annotated[CountOrZero, Field(le=MAX_DEPTH)]


class TDConfig(Strict):
    """Self-play, its targets, and the gradient steps on them."""

    depth: Depth = Field(
        0, description=f"plies searched for each move value; 0: {DEPTHS[0]}, for more than two players {DEPTHS[1]}"
    )
    games: Count = Field(512, description="games played side by side")
    steps: Count = Field(8, description="plies of each game in one rollout")
    lam: Share = Field(0.4, description="lambda: how far targets look ahead")
    slip: Positive = Field(1.0, description="a move this many points or more below the best one ends the look ahead")
    temperature: Positive = Field(1.0, description="of play, points; falls to a third")
    random_moves: Share = Field(0.05, description="share of the moves that are any legal ones")
    learning_rate: Positive = Field(4e-3, description="Adam's step size at the start; falls to a twentieth as a cosine")
    batch_size: Count = Field(1024, description="positions in one minibatch")
    uses: Count = Field(8, description="times that a position is used")
    replay: Count = Field(16, description="newest rollouts that minibatches are drawn from")


class NetEvaluationConfig(EvaluationSchedule):
    """Periodic measurements of the regret of searches with the net."""

    nodes: list[Count] = Field([2_000, 20_000], description="moves that the searches may play")


class ValueConfig(RunConfig):
    """Everything that a value net depends on."""

    STEP_SIZES: ClassVar[str] = "td.learning_rate"

    kind: Literal["value"] = Field("value", description="kind of run: a value net by TD(lambda) self-play")
    total_plies: Count = Field(3_000_000, description="plies to train for")
    td: TDConfig = Field(TDConfig(), description="TD(lambda)")
    evaluation: NetEvaluationConfig = Field(NetEvaluationConfig(), description="evaluation during training")

    @field_validator("rules")
    @classmethod
    def _rules_for_search(cls, text: str) -> str:
        if Rules.parse(text).refill == "forfeit":
            raise ValueError(f"value nets are for refill=borrow; {text!r} is not")
        return text

    @property
    def depth(self) -> int:
        """Plies searched for each move value."""
        return self.td.depth or DEPTHS[Rules.parse(self.rules).players > 2]
