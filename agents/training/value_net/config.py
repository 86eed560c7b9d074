"""The typed configuration of a value net's run; field descriptions become the command line's help."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from agents.search.memory import MAX_DEPTH
from agents.support.strict_yaml import Count, CountOrZero, Positive, Seed, Strict
from oanquan_env import Rules

Depth = Annotated[int, Field(ge=1, le=MAX_DEPTH)]


DEPTHS = [6, 6], [4, 3]
POSITIONS = [500_000, 2_000_000], [120_000, 300_000]
"""What is taken where they are left out: for two players, whose search is compiled, and for more."""


def _told(defaults: tuple[list[int], list[int]]) -> str:
    return f"{defaults[0]}, with more than two players {defaults[1]}"


class FitConfig(Strict):
    """Regression of the net on values."""

    samples: Count = Field(30_000_000, description="positions shown, each one many times")
    batch_size: Count = Field(1536, description="positions in one minibatch")
    learning_rate: Positive = Field(1e-2, description="Adam's step size at the start; it falls to 0 as a cosine")
    huber: Positive = Field(10.0, description="errors above this, in points, count linearly, those below by squares")


class ValueConfig(Strict):
    """Everything that a value net depends on."""

    kind: Literal["value"] = Field("value", description="what is trained: a value net")
    rules: str = Field("mancala-world", description="rules by name, with changed fields: 'vietnamese stone_value=5'")
    depths: list[Depth] = Field(
        [],
        description="a generation for each: plies of the search that values its positions, in the first one without a "
        f"net, later with the net of the generation before; left out: {_told(DEPTHS)}",
    )
    positions: list[Count] = Field([], description=f"positions valued in each generation; left out: {_told(POSITIONS)}")
    random_plies: CountOrZero = Field(3, description="positions are up to so many random plies off those of the games")
    seed: Seed = Field(0, description="seed of everything random")
    threads: Count = Field(2, description="threads that search; the same net comes of any number")
    fit: FitConfig = Field(FitConfig(), description="the regression, from random weights in each generation")
    evaluation_nodes: list[Count] = Field(
        [2000, 20_000],
        description="moves that searches with the net may play where their regret is measured, after each generation",
    )

    @field_validator("rules")
    @classmethod
    def _rules_for_search(cls, text: str) -> str:
        rules = Rules.parse(text)
        if rules.players == 2 and rules.refill == "forfeit":
            raise ValueError(f"value nets of two players are for refill=borrow; {text!r} is not")
        return str(rules)

    @model_validator(mode="after")
    def _as_many_positions_as_depths(self) -> ValueConfig:
        if len(self.positions) != len(self.depths):
            raise ValueError(f"a number of positions for each of the {len(self.depths)} depths; got {self.positions}")
        return self

    def resolved(self) -> ValueConfig:
        """The configuration with everything that was left out."""
        many = int(Rules.parse(self.rules).players > 2)
        left_out = {"depths": DEPTHS[many], "positions": POSITIONS[many]} if not self.depths else {}
        return self.model_copy(update=left_out)
