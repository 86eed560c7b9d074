"""A run that trains an agent by self-play PPO."""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.networks.agent_files import AgentCard, save_agent
from agents.networks.networks import make_network
from agents.players.network_player import PPOPlayer
from agents.support.strict_yaml import naming_field, read_yaml
from agents.training.checkpoint import State
from agents.training.config import between
from agents.training.ppo.config import TrainConfig
from agents.training.ppo.games import SelfPlayVecEnv
from agents.training.ppo.policy import SelfPlayPolicy
from agents.training.ppo.rollout_buffer import ZeroSumRolloutBuffer
from agents.training.run import Run
from agents.training.run_folder import RUN_NAME
from agents.training.starts import RandomStarts
from oanquan_env import Core, IllegalActionError
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import Policy, make
from oanquan_env.playing import random_openings

LOOKAHEAD = {"afterstates": "one ply", "two_ply": "two plies"}
"""Why a network plays well before it is trained."""


def build_model(config: TrainConfig, core: Core) -> tuple[SelfPlayVecEnv, MaskablePPO]:
    """The games and the learner of a configuration; raises `UsageError` for one that cannot be."""
    _check_device(config.device)
    ppo = config.ppo
    features, _ = make_network(core, config.network)
    starts = RandomStarts(core, seed=config.seed, **config.starts.model_dump())
    env = SelfPlayVecEnv(features, starts, n_envs=ppo.n_envs, reward=config.reward)
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        learning_rate=lambda left: between(ppo.learning_rate, ppo.learning_rate_end, 1.0 - left),
        **ppo.model_dump(exclude={"n_envs", "learning_rate", "learning_rate_end", "ent_coef_end"}),
        rollout_buffer_class=ZeroSumRolloutBuffer,
        rollout_buffer_kwargs={"players": core.rules.players},
        policy_kwargs={"rules": config.rules, "network": config.network},
        seed=None,
        device=config.device,
    )
    return env, model


def _check_device(name: str) -> None:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"device: must be one that torch knows, such as cpu or cuda; got {name!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"device: torch {torch.__version__} finds no GPU for {name!r}; use cpu")


class PPORun(Run[TrainConfig]):
    """One run in one folder, whose agent is in its `agent.safetensors` and `agent.yaml`."""

    config_type = TrainConfig

    def __init__(self, folder: Path, config: TrainConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.iteration = config.ppo.n_envs * config.ppo.n_steps
        with naming_field("evaluation.opponents"):
            for name in config.evaluation.opponents:
                make(name, self.core.rules)
        with naming_field("evaluation.opening_plies"):
            rng, settings = np.random.default_rng(config.seed), config.evaluation
            random_openings(self.core, settings.pairs, settings.opening_plies, rng)
        random.seed(config.seed)
        np.random.seed(config.seed)  # noqa: NPY002  (stable-baselines3 draws minibatches from it)
        torch.manual_seed(config.seed)
        self.env, self.model = build_model(config, self.core)
        self.network = cast(SelfPlayPolicy, self.model.policy).network

    @property
    def plies(self) -> int:
        """Plies trained so far."""
        return int(self.model.num_timesteps)

    @property
    def usage(self) -> str:
        """The agent, and a command that plays it."""
        return f"the agent is in {self.folder}; {self.try_out(f'ppo:{self.folder} greedy random')}"

    def train(self, between_iterations: Callable[[], None]) -> None:
        """Train to `planned_plies`."""
        assert self.logger
        self.model.set_logger(self.logger)
        remaining = self.config.total_plies - self.plies
        if remaining <= 0:
            return
        callback = _BetweenIterations(self.config, between_iterations)
        try:
            self.model.learn(remaining, callback=callback, reset_num_timesteps=False)
        except IllegalActionError:  # logits above the one that stands for an illegal action
            raise self.diverged("the policy plays illegal actions") from None

    def state(self) -> State:
        """Everything that the next rollout depends on."""
        model, env, state = self.model, self.env, State()
        state.put_learner("network", self.network, model.policy.optimizer)
        state.put_games(env.positions)
        state.tensors["games.first_ply"] = torch.from_numpy(env.first_ply.copy())
        state.tensors["last_episode_starts"] = torch.as_tensor(model._last_episode_starts)
        state.put_chance(model.device)
        counters = {"plies": model.num_timesteps, "updates": model._n_updates, "starts": env.starts.drawn}
        state.texts |= {name: str(count) for name, count in counters.items()}
        return state

    def restore(self, state: State) -> None:
        """Take over what `state` gave; the random generators are restored too."""
        model, env = self.model, self.env
        state.restore_learner("network", self.network, model.policy.optimizer)
        model.num_timesteps, model._n_updates = state.count("plies"), state.count("updates")
        env.positions = state.games(env.core, env.num_envs)
        env.first_ply = state.array("games.first_ply", np.int32, (env.num_envs,))
        if not ((env.first_ply >= 0) & (env.first_ply <= env.positions.ply)).all():
            raise ValueError("a game's first ply is after its last, or below 0")
        env.starts.drawn = state.count("starts")
        model._last_obs = env.observe()
        model._last_episode_starts = state.array("last_episode_starts", np.bool_, (env.num_envs,))
        state.restore_chance(model.device)

    def export(self) -> None:
        """Write the agent, with where it comes from."""
        config, made = self.config, read_yaml(self.folder / RUN_NAME)
        history = {"plies": self.plies, "seconds": round(self.seconds), "seed": config.seed, **made}
        card = AgentCard(rules=config.rules, reward=config.reward, network=config.network, training=history)
        save_agent(self.folder, self.network, card)

    def measure(self) -> tuple[dict[str, Any], str]:
        """Play the configured opponents and measure regret."""
        try:
            player = PPOPlayer(self.folder, self.core.rules)
            player.evaluate(self.core.start())
        except FileError as error:  # weights too large to play with
            raise self.diverged(str(error)) from None
        results = {name: self._score(player, name) for name in self.config.evaluation.opponents}
        row: dict[str, Any] = {"results": results}
        players = self.core.rules.players
        counted = "score" if players == 2 else f"share of wins (fair: {100 / players:.1f} %)"
        scores = ", ".join(f"{name} {100 * result['score']:.1f} %" for name, result in results.items())
        said = f"{counted} against {scores}"
        found = self.regret_of(player, "regret")
        if found:
            row["regret"] = dataclasses.asdict(found)
            said += f"; regret {found.regret.mean:.2f} points, best moves {100 * found.optimal.mean:.1f} %"
        ahead = LOOKAHEAD.get(self.config.network.name)
        if ahead and not self.plies:
            said += f" (not trained yet; the network looks {ahead} ahead)"
        return row, said

    def _score(self, player: Policy, opponent: str) -> dict[str, float]:
        """Share of wins over all seats from random openings with its interval, 0 to 1, a tied win shared."""
        rng, settings = np.random.default_rng(self.config.seed), self.config.evaluation
        openings = random_openings(self.core, settings.pairs, settings.opening_plies, rng)
        score = score_interval(play_pairs(self.core, player, make(opponent, self.core.rules), openings, rng))
        self.log(f"evaluation/{opponent}", score.mean)
        return {"score": score.mean, "low": score.low, "high": score.high}


class _BetweenIterations(BaseCallback):
    """Calls back before each rollout, and sets the entropy's weight after it."""

    def __init__(self, config: TrainConfig, between_iterations: Callable[[], None]) -> None:
        super().__init__()
        self.config = config
        self.between_iterations = between_iterations

    def _on_rollout_start(self) -> None:
        self.between_iterations()

    def _on_rollout_end(self) -> None:
        ppo, done = self.config.ppo, self.num_timesteps / self.config.total_plies
        model: Any = self.model
        model.ent_coef = between(ppo.ent_coef, ppo.ent_coef_end, done)
        self.logger.record("train/ent_coef", model.ent_coef)

    def _on_step(self) -> bool:
        return True
