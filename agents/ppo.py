"""Self-play PPO in one file: configuration, games, advantages, policy, run. The loss is from sb3-contrib's MaskablePPO.

Shapes: T steps, N games, P players, A actions, D columns of features, B positions.
"""

import dataclasses
import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from pydantic import Field, SerializeAsAny, create_model, model_validator
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
from torch import Tensor

from agents.checkpoint import RUN_NAME
from agents.config import Count, Positive, PositiveOrZero, Share, Strict, imported, read_yaml, validated
from agents.networks.features import FeatureEncoder
from agents.networks.nets import NETWORKS, NetworkConfig, make_network, options_type
from agents.players.agent_files import AgentCard, check_reward, save_agent
from agents.players.network_player import PPOPlayer
from agents.run import Run, RunConfig, between
from agents.self_play import MOST_PLIES, SelfPlayGames
from agents.training_evaluation import AgentEvaluation
from oanquan_env import Core, IllegalActionError, Positions
from oanquan_env.array_types import Mask, Points
from oanquan_env.engine.positions import turn_order
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, one_line
from oanquan_env.rewards import REWARDS, RewardName, ply_rewards
from oanquan_env.sb3 import SharedVecEnv

Numbers: TypeAlias = npt.NDArray[np.float32]
Config = TypeVar("Config", bound="PPOConfig")
LOOKAHEAD = {"afterstates": "one ply", "two_ply": "two plies"}
"""How far these networks look ahead; because of this, they play well even before training."""

# ---- configuration ---------------------------------------------------------------------------------------------------


class PPOSettings(Strict):
    """Hyperparameters of PPO, named as in stable-baselines3 where it has them."""

    n_envs: Count = Field(1024, description="number of games played side by side")
    n_steps: Count = Field(16, description="plies of each game in one rollout")
    batch_size: Count = Field(2048, description="plies per minibatch, at most n_envs * n_steps")
    n_epochs: Count = Field(2, description="passes over a rollout")
    learning_rate: Positive = Field(1e-3, description="Adam's learning rate at the start")
    learning_rate_end: Positive = Field(1e-4, description="Adam's learning rate at the end; linear in between")
    gamma: Share = Field(1.0, description="discount of one ply")
    gae_lambda: Share = Field(0.8, description="lambda of generalized advantage estimation (GAE)")
    clip_range: Positive = Field(0.2, le=10, description="probability ratios are clipped to 1 plus or minus this")
    ent_coef: PositiveOrZero = Field(0.01, description="weight of the entropy at the start")
    ent_coef_end: PositiveOrZero = Field(0.001, description="weight of the entropy at the end")
    vf_coef: PositiveOrZero = Field(10.0, description="weight of the value loss; errors are small shares of all points")
    max_grad_norm: Positive = Field(0.5, description="gradients are clipped to this norm")

    @model_validator(mode="after")
    def _rollout_and_minibatches_fit(self) -> Self:
        rollout = self.n_envs * self.n_steps
        if rollout > MOST_PLIES:
            raise ValueError(f"n_envs * n_steps must be {MOST_PLIES:,} or less; got {rollout:,}")
        if not 1 < self.batch_size <= rollout or rollout % self.batch_size == 1:  # one advantage cannot be normalised
            allowed = f"2 to n_envs * n_steps = {rollout:,}, and leave no minibatch of a single ply"
            raise ValueError(f"batch_size must be {allowed}; got {self.batch_size:,}")
        return self


class PPOConfig(RunConfig):
    """All settings of a PPO run."""

    kind: Literal["ppo"] = Field("ppo", description="kind of run: ppo trains an agent, td a value net")
    reward: str = Field("margin", description="reward of a ply: margin, outcome, mixed, or a function MODULE:NAME")
    device: str = Field("cpu", description="torch's device: cpu, cuda, ...")
    network: SerializeAsAny[NetworkConfig] = Field(NetworkConfig(), description="the network")
    ppo: PPOSettings = Field(PPOSettings(), description="the optimisation")
    evaluation: AgentEvaluation = Field(AgentEvaluation(), description="evaluation during training")

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self

    @classmethod
    def with_network(cls, name: str) -> type[Self]:
        """Return the configuration class with the options of the network `name`; MODULE:NAME is imported."""
        return _with_network(cls, options_type(name), name)


@functools.cache
def _with_network(config: type[Config], options: type[NetworkConfig], name: str) -> type[Config]:
    if options is NetworkConfig:
        return config
    default = Field(validated(options, {"name": name}, "network"), description="the network")
    return create_model(config.__name__, __base__=config, network=(SerializeAsAny[options], default))  # type: ignore[valid-type,misc]


# ---- games -----------------------------------------------------------------------------------------------------------


def reward_function(name: str) -> Callable[[Core, Points, Positions], npt.NDArray[np.float64]]:
    """Return the function that computes a ply's rewards, given a reward's name or MODULE:NAME of a custom function.

    The function takes the core, the scores (N, P) before the ply and the positions after it. It returns the rewards
    (N, P) by seat. The rewards of each game must sum to zero; otherwise a custom function raises `UsageError`.
    """
    if name in REWARDS:
        return functools.partial(ply_rewards, cast(RewardName, name))
    own = imported(name, "reward")

    def checked(core: Core, before: Points, positions: Positions) -> npt.NDArray[np.float64]:
        rewards = np.asarray(own(core, before, positions), dtype=np.float64)
        if rewards.shape != before.shape or np.abs(rewards.sum(axis=1)).max(initial=0) > 1e-6:
            raise UsageError(f"reward {name} must return {before.shape} that sum to zero over the players of each game")
        return rewards

    return checked


class SelfPlayVecEnv(SharedVecEnv):
    """N games of one `Core` as a stable-baselines3 VecEnv, stepped as one batch; finished games restart at once.

    Each step is one ply, observed from the mover's side, and rewards all players. `env_method("action_masks")` returns
    a list with one (N, A) array for all games, whereas stable-baselines3 calls other environments N times. A game
    truncated by the ply limit is scored like any other, without bootstrapping. `games` draws from a generator of its
    own, so `seed` has no effect.
    """

    def __init__(self, features: FeatureEncoder, games: SelfPlayGames, reward: str, network: Any = None) -> None:
        self.core, self.features, self.games = features.core, features, games
        self.reward, self.network = reward_function(reward), network
        observations = self.observe()
        space = spaces.Box(-np.inf, np.inf, observations.shape[1:], observations.dtype.type)
        super().__init__(len(games.positions), space, spaces.Discrete(self.core.rules.actions))

    def observe(self) -> npt.NDArray[np.int16] | npt.NDArray[np.float16]:
        """Return (N, D) int16 features, or the float16 output of the network's `look_ahead` if it has this method."""
        features = self.features.encode(self.games.positions)
        if not hasattr(self.network, "look_ahead"):
            return features
        device = next(self.network.parameters()).device
        output = self.network.look_ahead(*(torch.from_numpy(it).to(device) for it in (features, self.action_masks())))
        halves: npt.NDArray[np.float16] = output.half().cpu().numpy()
        return halves

    def action_masks(self) -> Mask:
        """Return the (N, A) boolean mask of legal actions."""
        return self.core.legal_mask(self.games.positions)

    def reset(self) -> VecEnvObs:
        """Restart all games; return the observations, as `observe` does."""
        self.games.restart(np.arange(self.num_envs))
        return self.observe()

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play one ply in every game.

        Returns (N, D) observations of the games after the ply and restarts, (N, P) float32 rewards in turn order from
        the mover, (N,) flags of finished games, and N empty infos.
        """
        positions = self.games.positions
        mover, before = positions.mover.copy(), positions.scores.copy()
        self.core.play(positions, self._actions)
        rewards = self.reward(self.core, before, positions)
        rewards = np.take_along_axis(rewards, turn_order(mover, self.core.rules.players), axis=1)
        dones = positions.over
        self.games.restart(dones.nonzero()[0])
        return self.observe(), rewards.astype(np.float32), dones, [{} for _ in range(self.num_envs)]


# ---- advantages ------------------------------------------------------------------------------------------------------


def advantages(
    rewards: Numbers, values: Numbers, last_values: Numbers, dones: Mask, gamma: float, gae_lambda: float
) -> tuple[Numbers, Numbers]:
    """Estimate advantages by GAE (Schulman et al. 2016) for players that take turns and whose rewards sum to zero.

    Every player has an advantage at every step. Columns are in turn order from the mover, so the next player's column
    comes first at the next step (`roll`):

        delta = r + gamma * V(next) - V        A = delta + gamma * lambda * A(next)

    At each step the policy learns from the mover's advantage, and the values from the returns A + V of all players. For
    two players, the opponent's numbers are the mover's with the sign flipped. For example, take two plies. The second
    ply ends the game, each mover wins 1, both values are 0.5 for the mover, and gamma = lambda = 1:

        step 1    delta = 1 - 0.5 = 0.5                 A = 0.5
        step 0    delta = 1 - 0.5 - 0.5 = 0             A = 0 - 0.5 = -0.5: the mover gets 1 - 1 = 0, 0.5 less than V

    Args:
        rewards: (T, N, P) rewards of each step.
        values: (T, N, P-1) values of the positions before each step, omitting the last player.
        last_values: (N, P-1) values of the positions after the last step.
        dones: (T, N) flags, True if the step ended the game.
        gamma: discount of one ply.
        gae_lambda: lambda, 0 to 1.

    Returns:
        (T, N) advantages of the movers, and (T, N, P-1) returns.
    """
    all_values = np.concatenate([values, last_values[None]])
    all_values = np.concatenate([all_values, -all_values.sum(axis=2, keepdims=True)], axis=2)  # with the last player
    all_advantages = np.zeros_like(all_values)
    for step in reversed(range(len(rewards))):
        factor = gamma * (1.0 - dones[step].astype(np.float32))[:, None]
        following, later = (np.roll(one[step + 1], 1, axis=1) for one in (all_values, all_advantages))
        delta = rewards[step] + factor * following - all_values[step]
        all_advantages[step] = delta + factor * gae_lambda * later
    return all_advantages[:-1, :, 0], (all_advantages + all_values)[:-1, :, :-1]


class SelfPlayRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer that uses `advantages`; rewards are (T, N, P), values and returns (T, N, P-1)."""

    def reset(self) -> None:
        """Empty the buffer; object arrays then accept rewards and values of any shape."""
        super().reset()
        self.rewards, self.values = (np.empty(self.buffer_size, dtype=np.object_) for _ in range(2))

    @staticmethod
    def swap_and_flatten(arr: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reshape (T, N, ...) to (T * N, ...) without swapping axes, since minibatches are drawn at random."""
        return arr.reshape(-1, *arr.shape[2:])

    def compute_returns_and_advantage(self, last_values: Tensor, dones: Mask) -> None:
        """Compute returns and advantages from the last values (N, P-1) and the flags (N,) of games that just ended."""
        last = last_values.detach().cpu().numpy()
        self.rewards, self.values = np.stack(list(self.rewards)), np.stack(list(self.values)).reshape(-1, *last.shape)
        ended = np.concatenate([self.episode_starts[1:], dones[None]]).astype(np.bool_)
        self.advantages, self.returns = advantages(self.rewards, self.values, last, ended, self.gamma, self.gae_lambda)


# ---- policy ----------------------------------------------------------------------------------------------------------


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """A network of `agents.networks` behind stable-baselines3's policy interface.

    Each position has P - 1 values instead of one; the loss of stable-baselines3 flattens the values and the returns.
    Log-probabilities and entropies are computed from masked logits, because torch's distributions are slow. `predict`
    does not work; use `PPOPlayer` for playing.
    """

    def __init__(self, *spaces_and_schedule: Any, network: torch.nn.Module) -> None:
        self._given = [network]  # a module cannot be assigned before `Module.__init__`
        super().__init__(*spaces_and_schedule)

    def _build(self, lr_schedule: Schedule) -> None:
        (self.network,) = self._given
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=lr_schedule(1), fused=True, **self.optimizer_kwargs
        )

    def outputs(self, obs: PyTorchObs, action_masks: Mask | Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probabilities (B, A) and values (B, P-1); SB3 passes masks of several shapes and types."""
        assert isinstance(obs, Tensor)
        mask = torch.as_tensor(action_masks, device=obs.device).reshape(len(obs), -1).bool()
        logits, values = getattr(self.network, "decide", self.network)(obs, mask)
        return torch.log_softmax(logits, dim=1), values

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Mask | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Sample actions (B,), even if `deterministic`; return them with values (B, P-1) and log-probabilities (B,)."""
        log_probs, values = self.outputs(obs, action_masks)
        actions = torch.multinomial(log_probs.exp(), 1)
        return actions[:, 0], values, log_probs.gather(1, actions)[:, 0]

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return values (B, P-1), log-probabilities (B,) of `actions` (B,), and entropies (B,)."""
        log_probs, values = self.outputs(obs, action_masks)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)  # illegal actions contribute 0, not NaN
        return values, log_probs.gather(1, actions[:, None])[:, 0], entropy

    def predict_values(self, obs: PyTorchObs) -> Tensor:
        """Return values (B, P-1); the all-false mask skips the computation of logits."""
        return self.outputs(obs, np.zeros((len(obs), cast(spaces.Discrete, self.action_space).n), dtype=np.bool_))[1]


# ---- run -------------------------------------------------------------------------------------------------------------


def build_model(config: PPOConfig, core: Core) -> tuple[SelfPlayVecEnv, MaskablePPO]:
    """Make the games and the learner of a configuration. Raises `UsageError` if torch cannot use the device."""
    try:
        torch.empty(0, device=config.device)
    except (RuntimeError, AssertionError) as error:  # an unknown device, or one that this machine or torch lacks
        why = one_line(error)
        if config.device.startswith("cuda") and torch.version.cuda is None:
            why = f"this build of torch, {torch.__version__}, has no CUDA; see docs/how-to/gpu.md"
        raise UsageError(f"device: use cpu; torch cannot use {config.device!r}: {why}") from None
    features, network = make_network(core, config.network)
    games = SelfPlayGames(core, config.ppo.n_envs, config.starts, config.seed)
    env = SelfPlayVecEnv(features, games, config.reward, network.to(config.device))
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        **config.ppo.model_dump(exclude={"n_envs", "learning_rate_end", "ent_coef_end"}),
        rollout_buffer_class=SelfPlayRolloutBuffer,
        policy_kwargs={"network": network},
        seed=None,
        device=config.device,
    )
    model.set_logger(Logger(None, []))
    return env, model


class PPORun(Run[PPOConfig]):
    """A PPO run; its folder holds the agent, `agent.safetensors` and `agent.yaml`."""

    config_type = PPOConfig

    def __init__(self, folder: Path, config: PPOConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        part = self.of_worker(config.ppo, "n_envs")
        self.env, self.model = build_model(config.model_copy(update={"ppo": part}), self.core)
        policy = cast(SelfPlayPolicy, self.model.policy)
        self.network, self.iteration = policy.network, config.ppo.n_envs * config.ppo.n_steps
        self.parts = {"network": self.network, "optimizer": policy.optimizer, "games": self.env.games}
        own = "" if config.network.name in NETWORKS else f",network={config.network.name}"
        self.usage = f"the agent is in {folder}; {self.try_out(f'ppo:{folder}{own}', 'greedy', 'random')}"
        config.evaluation.check(self.core)

    def iterate(self) -> None:
        """Collect a rollout and train on it."""
        model, ppo = self.model, self.config.ppo
        model._last_obs = self.env.observe()  # `look_ahead` with the current weights
        model._last_episode_starts = np.zeros(self.env.num_envs, dtype=bool)  # SB3 needs it; `advantages` ignores it
        done = (self.plies + self.iteration) / self.config.total_plies  # at the end of this iteration
        model.lr_schedule = lambda _: between(ppo.learning_rate, ppo.learning_rate_end, done)
        model.ent_coef = between(ppo.ent_coef, ppo.ent_coef_end, done)
        try:
            plies = self.env.num_envs * ppo.n_steps  # one iteration; with `log_interval=2`, SB3 logs nothing
            model.learn(plies, log_interval=2, reset_num_timesteps=False)
        except IllegalActionError:  # all legal logits have fallen below `FORBIDDEN`
            raise self.diverged("the policy chose an illegal action") from None
        for name, value in model.logger.name_to_value.items():
            if "tensorboard" not in model.logger.name_to_excluded[name]:
                self.log(name, value)

    def player(self) -> PPOPlayer:
        """Return a player with the current weights."""
        with tempfile.TemporaryDirectory() as folder:
            self._save(Path(folder))
            return PPOPlayer(Path(folder), self.core.rules, network=self.config.network.name)

    def export(self) -> None:
        """Write the agent and its origin into the run's folder."""
        self._save(self.folder)

    def _save(self, folder: Path) -> None:
        config, run_origin = self.config, read_yaml(self.folder / RUN_NAME)
        history = {"plies": self.plies, "seconds": round(self.seconds), "seed": config.seed, **run_origin}
        card = AgentCard(rules=config.rules, reward=config.reward, network=config.network, training=history)
        save_agent(folder, self.network, card)

    def measure(self) -> tuple[dict[str, Any], str]:
        """Play against the configured opponents, and measure regret if the rules have a suite; see `Run.measure`."""
        try:
            player = PPOPlayer(self.folder, self.core.rules, network=self.config.network.name)
            player.evaluate(self.core.start())
        except FileError as error:  # weights that are too large or not finite
            raise self.diverged(str(error)) from None
        row, text = self.config.evaluation.measure(self.core, player, self.config.seed, self.log)
        if regret := self.regret_of(player, "regret"):
            row["regret"] = dataclasses.asdict(regret)
            text += f"; regret {regret.mean:.2f} points, best moves {100 * regret.optimal.mean:.1f} %"
        if (ahead := LOOKAHEAD.get(self.config.network.name)) and not self.plies:
            text += f" (not trained yet; the network looks {ahead} ahead)"
        return row, text
