"""From a configuration to what trains: the games, the learner and its teacher."""

from __future__ import annotations

import torch

from agents.networks.networks import make_network
from agents.support.strict_yaml import ConfigError, naming_field
from agents.training.config import TrainConfig
from agents.training.opponents import Opponents
from agents.training.policy import SelfPlayPolicy
from agents.training.rollout_buffer import ZeroSumRolloutBuffer
from agents.training.schedules import between
from agents.training.selfplay import RandomStarts, SelfPlayVecEnv
from agents.training.teacher import TaughtPPO, make_teacher
from oanquan_env import Core


def build_model(config: TrainConfig, core: Core) -> tuple[SelfPlayVecEnv, TaughtPPO]:
    """The games and the learner of a configuration; raises `ConfigError` for one that cannot be."""
    _check_device(config.device)
    ppo = config.ppo
    with naming_field("network.net"):
        features, _ = make_network(core, config.network)
    starts = RandomStarts(core, seed=config.seed, **config.starts.model_dump())
    opponents = None
    if config.opponents.players or config.opponents.past_selves:
        with naming_field("opponents.players"):
            opponents = Opponents(config.opponents, features, n_envs=ppo.n_envs, seed=config.seed)
    env = SelfPlayVecEnv(
        features,
        starts,
        n_envs=ppo.n_envs,
        reward=config.reward,
        gamma=ppo.gamma,
        trail_steps=ppo.n_steps,
        opponents=opponents,
    )
    bfloat16 = config.precision == "bfloat16"
    model = TaughtPPO(
        SelfPlayPolicy,
        env,
        learning_rate=lambda left: between(ppo.learning_rate, ppo.learning_rate_end, 1.0 - left),
        **ppo.model_dump(exclude={"n_envs", "learning_rate", "learning_rate_end", "ent_coef_end"}),
        rollout_buffer_class=ZeroSumRolloutBuffer,
        rollout_buffer_kwargs={"trail": env.trail, "players": core.rules.players},
        policy_kwargs={"rules": config.rules, "network": config.network, "use_bfloat16": bfloat16},
        seed=None,
        device=config.device,
    )
    model.teacher = make_teacher(config, model, features)
    return env, model


def _check_device(name: str) -> None:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device: must be one that torch knows, such as cpu or cuda; got {name!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device: torch {torch.__version__} finds no GPU for {name!r}; use cpu")
