"""The typed training configuration: one YAML file a run; field descriptions become the command line's help."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from agents.networks.config import NetworkConfig, check_reward
from agents.support.strict_yaml import (
    Count,
    CountOrZero,
    Positive,
    PositiveOrZero,
    RulesName,
    Seed,
    Share,
    Strict,
    read_yaml,
    validated,
)
from oanquan_env.rewards import RewardName

MOST_PLIES = 2**24
"""Largest rollout: a machine's memory holds no larger one."""


class StartsConfig(Strict):
    """Where games begin."""

    set_up_share: Share = Field(0.2, description="share of games that begin at the set-up")
    max_plies: Count = Field(10, description="the others begin 1 to this many random plies in, unless over by then")


class PPOConfig(Strict):
    """Proximal policy optimisation, in stable-baselines3's terms."""

    n_envs: Count = Field(1024, description="games played side by side")
    n_steps: Count = Field(16, description="plies of each game in one rollout")
    batch_size: Count = Field(2048, description="plies in one minibatch")
    n_epochs: Count = Field(2, description="passes over a rollout")
    learning_rate: Positive = Field(1e-3, description="Adam's step size at the start")
    learning_rate_end: Positive = Field(1e-4, description="Adam's step size at the end; linear in between")
    gamma: Share = Field(1.0, description="discount of one ply")
    gae_lambda: Share = Field(0.8, description="how far advantages look beyond the value of the next position")
    clip_range: Positive = Field(0.2, description="largest change of an action's probability ratio that is rewarded")
    ent_coef: PositiveOrZero = Field(0.01, description="weight of the entropy at the start")
    ent_coef_end: PositiveOrZero = Field(0.001, description="weight of the entropy at the end")
    vf_coef: PositiveOrZero = Field(10.0, description="weight of the value loss; margins are shares of all points")
    max_grad_norm: Positive = Field(0.5, description="gradients longer than this are scaled down to it")

    @model_validator(mode="after")
    def _minibatches_have_a_spread(self) -> PPOConfig:
        rollout = self.n_envs * self.n_steps
        if rollout > MOST_PLIES:
            raise ValueError(f"n_envs * n_steps must be {MOST_PLIES:,} or less; got {rollout:,}")
        if 1 in (rollout, self.batch_size, rollout % self.batch_size):
            raise ValueError(
                f"a rollout of {rollout} plies in minibatches of batch_size={self.batch_size} has one of a single ply, "
                "whose advantage has no spread to be divided by; choose another batch_size"
            )
        return self


class OpponentsConfig(Strict):
    """Who holds the other seats; without players and past selves, the latest self holds all in every game."""

    share: Share = Field(0.5, description="share of games in which an opponent, if there is any, holds seats")
    players: list[str] = Field([], description="opponents by name, as evaluate.py takes them: minimax:depth=2, ...")
    past_selves: CountOrZero = Field(0, description="past selves kept as opponents, the newest ones")
    every_plies: Count = Field(500_000, description="plies after which the latest self joins the past ones")


class TeacherConfig(Strict):
    """Regression of the value on search, between two iterations of PPO, see agents/training/teacher.py.

    Where the network has a value net, the search has it at its leaves.
    """

    depths: list[Count] = Field([], description="plies searched; several share the run equally, none: no teacher")
    positions: Count = Field(16_384, description="positions valued after each iteration")
    threads: CountOrZero = Field(0, description="threads that search; 0: as many as torch's")
    random_plies: CountOrZero = Field(6, description="they are 0 to this many random plies off those of the games")
    mixed_share: Share = Field(0.0, description="share of them that is from games of mixed strength, not the rollout")
    replay: Count = Field(262_144, description="newest positions that minibatches are drawn from")
    minibatches: Count = Field(32, description="gradient steps after each iteration")
    batch_size: Count = Field(2048, description="positions in one minibatch")
    learning_rate: Positive = Field(3e-3, description="Adam's step size at the start")
    learning_rate_end: Positive = Field(3e-5, description="Adam's step size at the end; linear in between")
    muon: PositiveOrZero = Field(0.0, description="Muon's step size for matrices, shrinking too; 0: Adam for all")


class EvaluationConfig(Strict):
    """Periodic matches against fixed opponents; regret is measured too where there is a suite for the rules.

    An opponent holds all seats but one, and the agent each seat in turn.
    """

    every_plies: Count = Field(1_000_000, description="plies between evaluations")
    opponents: list[str] = Field(["random", "greedy"], description="players by name, as evaluate.py takes them")
    pairs: Count = Field(200, description="openings against each opponent, each played in every seat")
    opening_plies: Count = Field(4, description="random plies of an opening")


class TrainConfig(Strict):
    """Everything that a training run depends on."""

    kind: Literal["ppo"] = Field("ppo", description="what is trained: an agent by PPO; `value` is a value net")
    rules: RulesName = Field("mancala-world", description="rules by name, with changes: 'vietnamese refill=forfeit'")
    reward: RewardName = Field("margin", description="what a ply pays, see oanquan_env/rewards.py")
    total_plies: Count = Field(10_000_000, description="plies to train for")
    init_from: str | None = Field(
        None,
        description="folder of a trained agent whose weights to start from; its rules and value net may differ, "
        "its network, reward and numbers of players and fields may not",
    )
    seed: Seed = Field(0, description="seed of everything random")
    threads: Count = Field(1, description="torch's threads; if busy, two may be slower than one")
    device: str = Field("cpu", description="torch's device: cpu, cuda, ...")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="of matrix products in training; for large networks bfloat16 is faster where processors have it",
    )
    checkpoint_seconds: Positive = Field(60.0, description="seconds between checkpoints")
    network: NetworkConfig = Field(NetworkConfig(), description="the network")
    starts: StartsConfig = Field(StartsConfig(), description="start positions")
    ppo: PPOConfig = Field(PPOConfig(), description="the optimisation")
    opponents: OpponentsConfig = Field(OpponentsConfig(), description="opponents besides the latest self")
    teacher: TeacherConfig = Field(TeacherConfig(), description="search that teaches the value")
    evaluation: EvaluationConfig = Field(EvaluationConfig(), description="evaluation during training")

    @model_validator(mode="after")
    def _one_unit(self) -> TrainConfig:
        check_reward(self.reward, self.network)
        if self.teacher.depths and self.ppo.gamma < 1:
            raise ValueError(f"teacher.depths must be empty with ppo.gamma={self.ppo.gamma}: search discounts nothing")
        return self

    @property
    def search_threads(self) -> int:
        """Threads of the teacher's search; none without a teacher."""
        return (self.teacher.threads or self.threads) if self.teacher.depths else 0

    @property
    def processors(self) -> int:
        """Processors that a run keeps busy: torch's threads and those of the teacher's search."""
        return self.threads + self.search_threads


def load_config(path: Path) -> TrainConfig:
    """Read a configuration; raises `ConfigError` naming file and field."""
    return parse_config(read_yaml(path), str(path))


def parse_config(values: dict[str, Any], where: str) -> TrainConfig:
    """A configuration of nested mappings; raises `ConfigError` naming `where` and the field."""
    return validated(TrainConfig, values, where)
