"""The typed configuration of self-play PPO; field descriptions become the command line's help."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from agents.networks.config import NetworkConfig, check_reward
from agents.support.strict_yaml import Count, Positive, PositiveOrZero, Share, Strict
from agents.training.config import EvaluationSchedule, RunConfig
from oanquan_env.rewards import RewardName

MOST_PLIES = 2**24
"""Largest rollout: a machine's memory holds no larger one."""


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
    clip_range: Positive = Field(0.2, le=10, description="largest rewarded change of an action's probability ratio")
    ent_coef: PositiveOrZero = Field(0.01, description="weight of the entropy at the start")
    ent_coef_end: PositiveOrZero = Field(0.001, description="weight of the entropy at the end")
    vf_coef: PositiveOrZero = Field(10.0, description="weight of the value loss; margins are shares of all points")
    max_grad_norm: Positive = Field(0.5, description="gradients longer than this are scaled down to it")

    @model_validator(mode="after")
    def _minibatches_have_a_spread(self) -> Self:
        rollout = self.n_envs * self.n_steps
        if rollout > MOST_PLIES:
            raise ValueError(f"n_envs * n_steps must be {MOST_PLIES:,} or less; got {rollout:,}")
        if 1 in (rollout, self.batch_size, rollout % self.batch_size):
            raise ValueError(
                f"a rollout of {rollout} plies in minibatches of batch_size={self.batch_size} has one of a single ply, "
                "whose advantage has no spread to be divided by; choose another batch_size"
            )
        return self


class EvaluationConfig(EvaluationSchedule):
    """Periodic matches against fixed opponents; regret is measured too where there is a suite for the rules.

    An opponent holds all seats but one, and the agent each seat in turn.
    """

    opponents: list[str] = Field(["random", "greedy"], description="players by name, as evaluate.py takes them")
    pairs: Count = Field(200, le=10**6, description="openings against each opponent, each played in every seat")
    opening_plies: Count = Field(4, description="random plies of an opening")


class TrainConfig(RunConfig):
    """Everything that training an agent depends on."""

    STEP_SIZES: ClassVar[str] = "ppo.learning_rate or ppo.max_grad_norm"

    kind: Literal["ppo"] = Field("ppo", description="kind of run: an agent by PPO; `value` is a value net")
    reward: RewardName = Field("margin", description="reward of a ply, see oanquan_env/rewards.py")
    device: str = Field("cpu", description="torch's device: cpu, cuda, ...")
    network: NetworkConfig = Field(NetworkConfig(), description="the network")
    ppo: PPOConfig = Field(PPOConfig(), description="the optimisation")
    evaluation: EvaluationConfig = Field(EvaluationConfig(), description="evaluation during training")

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self
