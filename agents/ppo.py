"""Self-play PPO in one file: configuration, games, policy, collecting, run.

An iteration is `collect`, which plays games and fills a buffer, and then `MaskablePPO.train` of sb3-contrib, which
computes the loss and takes the gradient steps. docs/how-to/learning.md shows how to change the loss.

Shapes: T steps, N games, P players, A actions, D columns of features, B positions.
"""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from pydantic import Field, SerializeAsAny, create_model, model_validator
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
from torch import Tensor

from agents.checkpoint import RUN_NAME
from agents.config import Count, Positive, PositiveOrZero, Share, Strict, imported, read_yaml, validated
from agents.evaluation.training_evaluation import TrainingEvaluation
from agents.networks.features import FeatureEncoder
from agents.networks.nets import NETWORKS, NetworkConfig, make_network, options_type
from agents.players.agent_files import AgentCard, check_reward, save_agent
from agents.players.network_player import PPOPlayer
from agents.run import KIND, Run, RunConfig, between
from agents.self_play import MOST_PLIES, RewardFunction, SelfPlayGames
from oanquan_env import Core, IllegalActionError, Positions
from oanquan_env.array_types import Mask, Points
from oanquan_env.benchmark.statistics import as_record
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError, one_line
from oanquan_env.rewards import REWARDS, RewardName, ply_rewards
from oanquan_env.sb3 import SharedVecEnv

Numbers: TypeAlias = npt.NDArray[np.float32]
ConfigT = TypeVar("ConfigT", bound="PPOConfig")
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
            allowed = f"2 to n_envs * n_steps = {rollout:,}, and leave no minibatch of one ply"
            raise ValueError(f"batch_size must be {allowed}; got {self.batch_size:,}: set --ppo.batch-size")
        return self


class PPOConfig(RunConfig):
    """All settings of a PPO run."""

    kind: Annotated[Literal["ppo"], KIND] = Field("ppo", description="kind of run: ppo trains an agent, td a value net")
    reward: str = Field("margin", description="reward of a ply: margin, outcome, mixed, or a function MODULE:NAME")
    device: str = Field("cpu", description="torch's device: cpu, cuda, ...")
    network: SerializeAsAny[NetworkConfig] = Field(NetworkConfig(), description="the network")
    ppo: PPOSettings = Field(PPOSettings(), description="the optimisation")
    evaluation: TrainingEvaluation = Field(TrainingEvaluation(), description="evaluation during training")

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self

    @classmethod
    def with_network(cls, name: str) -> type[Self]:
        """Return the configuration class with the options of the network `name`; MODULE:NAME is imported."""
        return _with_network(cls, options_type(name), name)


@functools.cache
def _with_network(config: type[ConfigT], options: type[NetworkConfig], name: str) -> type[ConfigT]:
    if options is NetworkConfig:
        return config
    default = Field(validated(options, {"name": name}, "network"), description="the network")
    return create_model(config.__name__, __base__=config, network=(SerializeAsAny[options], default))  # type: ignore[valid-type,misc]


# ---- games -----------------------------------------------------------------------------------------------------------


def reward_function(name: str) -> RewardFunction:
    """Return the function that computes a ply's rewards, given a reward's name or MODULE:NAME of a custom function.

    The function takes the core, the scores (N, P) before the ply and the positions after it. It returns the rewards
    (N, P) by seat. The rewards of each game must sum to zero; otherwise a custom function raises `UsageError`.
    """
    if name in REWARDS:
        return functools.partial(ply_rewards, cast(RewardName, name))
    own = imported(name, "reward")

    def checked(core: Core, before: Points, positions: Positions) -> npt.NDArray[np.float64]:
        rewards = np.asarray(own(core, before, positions), dtype=np.float64)
        if rewards.shape != before.shape or not np.abs(rewards.sum(axis=1)).max(initial=0) <= 1e-6:
            raise UsageError(
                f"reward {name} must return {before.shape} finite rewards that sum to zero over each game's players"
            )
        return rewards

    return checked


class SelfPlayVecEnv(SharedVecEnv):
    """N games of one `Core` as a stable-baselines3 VecEnv, stepped as one batch; finished games restart at once.

    Each step is one ply, observed from the mover's side, and rewards all players. A game truncated by the ply limit is
    scored like any other, without bootstrapping. `games` draws from a generator of its own, so `seed` has no effect.
    """

    def __init__(self, features: FeatureEncoder, games: SelfPlayGames, reward: str, network: Any = None) -> None:
        self.core, self.features, self.games = features.core, features, games
        self.reward, self.network = reward_function(reward), network
        observations = self.observe()
        space = spaces.Box(-np.inf, np.inf, observations.shape[1:], observations.dtype.type)
        super().__init__(len(games.positions), space, spaces.Discrete(self.core.rules.actions))

    def observe(self) -> npt.NDArray[np.int16] | npt.NDArray[np.float16]:
        """Return (N, D) int16 features, or the float16 output of the network's `look_ahead` if it has this method.

        Half precision keeps about three digits and all integers up to 2048, and halves the memory of a rollout.
        """
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
        rewards, dones = self.games.play(self._actions, self.reward)
        return self.observe(), rewards, dones, [{} for _ in range(self.num_envs)]


# ---- policy ----------------------------------------------------------------------------------------------------------


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """A network of `agents.networks` behind stable-baselines3's policy interface.

    Each position has P - 1 values instead of one; the loss of stable-baselines3 flattens the values and the returns.
    Log-probabilities and entropies are computed from masked logits, because torch's distributions are slow. `forward`
    and `predict` do not work; use `outputs`, and `PPOPlayer` for playing.
    """

    def __init__(self, *spaces_and_schedule: Any, network: torch.nn.Module) -> None:
        super().__init__(*spaces_and_schedule)
        self.network = network
        self.optimizer = torch.optim.Adam(network.parameters(), fused=True, **self.optimizer_kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        """Build no layers, because `__init__` takes a network."""

    def outputs(self, obs: PyTorchObs | npt.NDArray[Any], action_masks: Mask | Tensor | None) -> tuple[Tensor, Tensor]:
        """Return log-probabilities (B, A) and values (B, P-1), given observations and masks as arrays or tensors."""
        obs = torch.as_tensor(obs, device=self.device)
        mask = torch.as_tensor(action_masks, device=self.device).bool()
        logits, values = getattr(self.network, "decide", self.network)(obs, mask)
        return torch.log_softmax(logits, dim=1), values

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return values (B, P-1), log-probabilities (B,) of `actions` (B,), and entropies (B,)."""
        log_probs, values = self.outputs(obs, action_masks)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)  # illegal actions contribute 0, not NaN
        return values, log_probs.gather(1, actions[:, None])[:, 0], entropy


# ---- collecting ------------------------------------------------------------------------------------------------------


def advantages(
    rewards: Numbers, values: Numbers, dones: Mask, gamma: float, gae_lambda: float
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
        values: (T+1, N, P-1) values of the positions before each step and after the last, omitting the last player.
        dones: (T, N) flags, True if the step ended the game.
        gamma: discount of one ply.
        gae_lambda: lambda, 0 to 1.

    Returns:
        (T, N) advantages of the movers, and (T, N, P-1) returns.
    """
    all_values = np.concatenate([values, -values.sum(axis=2, keepdims=True)], axis=2)  # with the last player
    all_advantages = np.zeros_like(all_values)
    for step in reversed(range(len(rewards))):
        factor = gamma * (1.0 - dones[step].astype(np.float32))[:, None]
        following, later = (np.roll(values[step + 1], 1, axis=1) for values in (all_values, all_advantages))
        delta = rewards[step] + factor * following - all_values[step]
        all_advantages[step] = delta + factor * gae_lambda * later
    return all_advantages[:-1, :, 0], (all_advantages + all_values)[:-1, :, :-1]


@torch.no_grad()
def collect(env: SelfPlayVecEnv, model: MaskablePPO) -> None:
    """Play T = `n_steps` plies of N games, and fill the model's buffer with these T * N plies in the order of time.

    Raises `IllegalActionError` if the policy chooses an illegal action, because all legal logits are below `FORBIDDEN`.
    """
    policy, buffer = cast(SelfPlayPolicy, model.policy), model.rollout_buffer
    steps, games, players = model.n_steps, env.num_envs, env.core.rules.players
    values = np.zeros((steps + 1, games, players - 1), np.float32)
    rewards, dones = np.zeros((steps, games, players), np.float32), np.zeros((steps, games), np.bool_)
    policy.set_training_mode(False)
    buffer.reset()  # arrays of zeros, (T, N) or (T, N, ...)
    observations: Any = env.observe()
    for step in range(steps):
        masks = env.action_masks()
        log_probs, values_now = policy.outputs(observations, masks)
        actions = torch.multinomial(log_probs.exp(), 1)
        buffer.observations[step], buffer.action_masks[step] = observations, masks
        buffer.actions[step] = actions.numpy(force=True)
        buffer.log_probs[step] = log_probs.gather(1, actions)[:, 0].numpy(force=True)
        values[step] = values_now.numpy(force=True)
        observations, rewards[step], dones[step], _ = env.step(buffer.actions[step, :, 0])
    values[-1] = policy.outputs(observations, np.zeros_like(masks))[1].numpy(force=True)  # needs no logits
    buffer.values = values[:-1]
    buffer.advantages, buffer.returns = advantages(rewards, values, dones, model.gamma, model.gae_lambda)
    for name in ("observations", "actions", "action_masks", "log_probs", "values", "advantages", "returns"):
        array = getattr(buffer, name)
        setattr(buffer, name, array.reshape(steps * games, *array.shape[2:]))
    buffer.full = buffer.generator_ready = True  # `train` may draw minibatches


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
    return env, make_learner(config, env, network)


def make_learner(config: PPOConfig, env: SelfPlayVecEnv, network: torch.nn.Module) -> MaskablePPO:
    """Make the learner that trains `network` on the games of `env`."""
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        **config.ppo.model_dump(exclude={"n_envs", "learning_rate_end", "ent_coef_end"}),
        policy_kwargs={"network": network},
        seed=None,
        device=config.device,
    )
    model.set_logger(Logger(None, []))
    return model


class PPORun(Run[PPOConfig]):
    """A PPO run; its folder holds the agent, `agent.safetensors` and `agent.yaml`."""

    config_type = PPOConfig

    def __init__(self, folder: Path, config: PPOConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        part = self.of_worker(config.ppo, "n_envs")
        self.env, self.model = self.build(config.model_copy(update={"ppo": part}))
        policy = cast(SelfPlayPolicy, self.model.policy)
        self.network, self.iteration = policy.network, config.ppo.n_envs * config.ppo.n_steps
        self.parts = {"network": self.network, "optimizer": policy.optimizer, "games": self.env.games}
        own = "" if config.network.name in NETWORKS else f",network={config.network.name}"
        self.usage = f"the agent is in {folder}; {self.try_out(f'ppo:{folder}{own}', 'greedy', 'random')}"
        config.evaluation.check(self.core)

    def build(self, config: PPOConfig) -> tuple[SelfPlayVecEnv, MaskablePPO]:
        """Make the games and the learner; a subclass can make others."""
        return build_model(config, self.core)

    def iterate(self) -> None:
        """Collect a rollout, and take the gradient steps on it."""
        model, ppo = self.model, self.config.ppo
        done = (self.plies + self.iteration) / self.config.total_plies  # at the end of this iteration
        model.lr_schedule = lambda _: between(ppo.learning_rate, ppo.learning_rate_end, done)
        model.ent_coef = between(ppo.ent_coef, ppo.ent_coef_end, done)
        try:
            collect(self.env, model)
        except IllegalActionError:
            raise self.diverged("the policy chose an illegal action") from None
        self.train()
        for name, value in model.logger.name_to_value.items():
            if "tensorboard" not in model.logger.name_to_excluded[name]:
                self.log(name, value)

    def train(self) -> None:
        """Take the gradient steps on the rollout in the model's buffer; a subclass can compute another loss."""
        self.model.train()

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
            row["regret"] = as_record(regret)
            text += f"; regret {regret.mean:.2f} points, best moves {100 * regret.optimal.mean:.1f} %"
        if (ahead := LOOKAHEAD.get(self.config.network.name)) and not self.plies:
            text += f" (not trained yet; the network looks {ahead} ahead)"
        return row, text
