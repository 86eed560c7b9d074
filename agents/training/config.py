"""The settings of all runs; field descriptions become the command line's help."""

from typing import ClassVar

from pydantic import Field

from agents.support.strict_yaml import Count, Positive, RulesName, Seed, Share, Strict


class StartsConfig(Strict):
    """Start positions of games."""

    set_up_share: Share = Field(0.2, description="share of games that begin at the set-up")
    max_plies: Count = Field(10, description="the others begin 1 to this many random plies in, unless over by then")


class EvaluationSchedule(Strict):
    """When a run is evaluated."""

    every_plies: Count = Field(1_000_000, description="plies between evaluations")


class RunConfig(Strict):
    """The settings that all runs share.

    Attributes:
        STEP_SIZES: the settings that are smaller in a run that does not diverge.
    """

    STEP_SIZES: ClassVar[str]

    kind: str
    rules: RulesName = Field("mancala-world", description="rules by name, with changes: 'vietnamese refill=forfeit'")
    total_plies: Count = Field(10_000_000, description="plies to train for")
    seed: Seed = Field(0, description="seed of everything random")
    threads: Count = Field(1, description="torch's threads; if busy, two may be slower than one")
    checkpoint_seconds: Positive = Field(60.0, description="seconds between checkpoints")
    starts: StartsConfig = Field(StartsConfig(), description="start positions")
    evaluation: EvaluationSchedule = Field(EvaluationSchedule(), description="evaluation during training")


def between(begin: float, end: float, done: float) -> float:
    """From `begin` to `end` in a straight line; beyond 1, as after the last rollout, the value stays at `end`.

    `done` is the share of the run that is done.
    """
    done = min(max(done, 0.0), 1.0)
    return begin * (1.0 - done) + end * done
