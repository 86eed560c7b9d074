"""Self-play PPO on one page: configuration, games, advantages, policy, run. MaskablePPO of sb3-contrib has the loss.

Shapes: T steps, N games, P players, A actions, D columns of features, B positions.
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from pydantic import Field, model_validator
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
from torch import Tensor

from agents.config import Count, Positive, PositiveOrZero, Share, Strict, imported, read_yaml
from agents.evaluation.while_training import AgentEvaluation
from agents.games import Games
from agents.networks.features import FeatureEncoder
from agents.networks.nets import NetworkConfig, make_network
from agents.players.agent_files import AgentCard, check_reward, save_agent
from agents.players.network_player import PPOPlayer
from agents.run import Run, RunConfig, between
from agents.run_files import RUN_NAME
from agents.support.shared_vec_env import SharedVecEnv
from oanquan_env import Core, IllegalActionError, Positions, Termination
from oanquan_env.arrays import Mask, Points
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.positions import turn_order
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.rewards import REWARDS, RewardName, ply_rewards

Numbers: TypeAlias = npt.NDArray[np.float32]
MOST_PLIES = 2**24
"""Largest rollout: a machine's memory holds no larger one."""
LOOKAHEAD = {"afterstates": "one ply", "two_ply": "two plies"}
"""Why a network plays well before it is trained."""

# ---- configuration ---------------------------------------------------------------------------------------------------


class PPOSettings(Strict):
    """Proximal policy optimisation, in stable-baselines3's terms."""

    n_envs: Count = Field(1024, description="games played side by side")
    n_steps: Count = Field(16, description="plies of each game in one rollout")
    batch_size: Count = Field(2048, description="plies in one minibatch, at most those of a rollout")
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
    def _rollout_and_minibatches_fit(self) -> Self:
        rollout = self.n_envs * self.n_steps
        if rollout > MOST_PLIES:
            raise ValueError(f"n_envs * n_steps must be {MOST_PLIES:,} or less; got {rollout:,}")
        if self.batch_size > rollout:
            most = f"at most n_envs * n_steps = {rollout:,}, the plies of a rollout"
            raise ValueError(f"batch_size must be {most}; got {self.batch_size:,}")
        if 1 in (self.batch_size, rollout % self.batch_size):
            raise ValueError(
                f"a rollout of {rollout} plies in minibatches of batch_size={self.batch_size} has one of a single ply, "
                "whose advantage has no spread to be divided by; choose another batch_size"
            )
        return self


class PPOConfig(RunConfig):
    """Everything that training an agent by PPO depends on."""

    kind: Literal["ppo"] = Field("ppo", description="kind of run: ppo trains an agent, td a value net")
    reward: str = Field("margin", description="reward of a ply: margin, outcome, mixed, or a function MODULE:NAME")
    device: str = Field("cpu", description="torch's device: cpu, cuda, ...")
    network: NetworkConfig = Field(NetworkConfig(), description="the network")
    ppo: PPOSettings = Field(PPOSettings(), description="the optimisation")
    evaluation: AgentEvaluation = Field(AgentEvaluation(), description="evaluation during training")

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self


# ---- games -----------------------------------------------------------------------------------------------------------


def reward_function(name: str) -> Callable[[Core, Points, Positions], npt.NDArray[np.float64]]:
    """The reward of a ply: one of the environment's by name, or a function MODULE:NAME of one's own.

    The function takes the core, the scores (N, P) before the ply and the positions after it, and returns what the
    players get, (N, P), by seat, summing to zero.
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

    Each step is one ply, seen from the mover's side, and rewards all players. Masks travel as one array:
    `env_method("action_masks")` returns a list that holds the (N, A) mask of all games, where stable-baselines3 would
    make N calls. A game truncated by the ply limit has its score like any other and is not bootstrapped:
    `TimeLimit.truncated` is always false, and `termination` in `infos` gives the reason.
    """

    def __init__(self, features: FeatureEncoder, games: Games, reward: str, network: Any = None) -> None:
        self.core, self.features, self.games = features.core, features, games
        self.reward, self.network = reward_function(reward), network
        seen = self.observe()
        space = spaces.Box(-np.inf, np.inf, seen.shape[1:], seen.dtype.type)
        super().__init__(len(games.positions), space, spaces.Discrete(self.core.rules.actions))
        self._actions: npt.NDArray[np.integer[Any]] = np.zeros(self.num_envs, dtype=np.intp)

    def observe(self) -> npt.NDArray[np.int16] | npt.NDArray[np.float16]:
        """(N, D) int16 features of the games as they stand; from a network with `look_ahead`, its float16 outputs."""
        features = self.features.encode(self.games.positions)
        if not hasattr(self.network, "look_ahead"):
            return features
        device = next(self.network.parameters()).device
        seen = self.network.look_ahead(*(torch.from_numpy(it).to(device) for it in (features, self.action_masks())))
        kept: npt.NDArray[np.float16] = seen.half().cpu().numpy()
        return kept

    def action_masks(self) -> Mask:
        """(N, A) bool, legal actions."""
        return self.core.legal_mask(self.games.positions)

    def reset(self) -> VecEnvObs:
        """(N, D) int16 features of fresh games."""
        self.games.restart(np.arange(self.num_envs))
        return self.observe()

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play one ply in every game.

        Returns (N, D) features of the games as they then stand, (N, P) float32 rewards of the mover and the players
        after it in turn order, (N,) finished flags, and N infos.
        """
        positions = self.games.positions
        mover, before = positions.mover.copy(), positions.scores.copy()
        self.core.play(positions, self._actions)
        rewards = self.reward(self.core, before, positions)
        rewards = np.take_along_axis(rewards, turn_order(mover, self.core.rules.players), axis=1)
        dones = positions.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = dones.nonzero()[0]
        if finished.size:
            self._report(finished, infos)
            self.games.restart(finished)
        return self.observe(), rewards.astype(np.float32), dones, infos

    def _report(self, finished: npt.NDArray[np.intp], infos: list[dict[str, Any]]) -> None:
        """Results of the finished games, where stable-baselines3 looks for them."""
        last = self.games.positions[finished]
        margins = relative_points(self.core.standings(last)).max(axis=1).tolist()
        plies = (last.ply - self.games.first_ply[finished]).tolist()
        for row, env in enumerate(finished.tolist()):
            infos[env] = {
                "TimeLimit.truncated": False,
                "termination": str(Termination(last.ended[row])),
                # the winner's: stable-baselines3 logs its mean as ep_rew_mean; margins of all would cancel out
                "episode": {"r": margins[row], "l": plies[row], "t": 0.0},
            }


# ---- advantages ------------------------------------------------------------------------------------------------------


def advantages(
    rewards: Numbers, values: Numbers, last_values: Numbers, dones: Mask, gamma: float, gae_lambda: float
) -> tuple[Numbers, Numbers]:
    """Generalised advantage estimation (Schulman et al. 2016) where players take turns and their rewards sum to zero.

    Every player has an advantage at every step. Columns are players in turn order from the mover on, so the next
    player's column comes first at the next step (`roll`):

        delta = r + gamma * V(next) - V        A = delta + gamma * lambda * A(next)

    A step trains the policy by its mover's advantage, and the values by the returns A + V of all players. For two
    players the other's numbers are the mover's with the sign flipped. Two plies, the second of which ends the game;
    each mover wins 1, both values are 0.5 for the mover, and gamma = lambda = 1:

        step 1    delta = 1 - 0.5 = 0.5                 A = 0.5
        step 0    delta = 1 - 0.5 - 0.5 = 0             A = 0 - 0.5 = -0.5: the mover gets 1 - 1 = 0, 0.5 less than V

    Args:
        rewards: (T, N, P) of each step.
        values: (T, N, P-1) of the positions moved in, without the last player's.
        last_values: (N, P-1) of the positions after the last step.
        dones: (T, N) whether the step ended the game.
        gamma: discount of one ply.
        gae_lambda: lambda, 0 to 1.

    Returns:
        (T, N) advantages of the movers, and (T, N, P-1) returns.
    """
    found, returns = np.empty(dones.shape, dtype=np.float32), np.empty_like(values)
    following = _of_all(last_values)
    advantage = np.zeros_like(following)
    for step in reversed(range(len(rewards))):
        now, factor = _of_all(values[step]), gamma * (1.0 - dones[step].astype(np.float32))[:, None]
        delta = rewards[step] + factor * np.roll(following, 1, axis=1) - now
        advantage = delta + factor * gae_lambda * np.roll(advantage, 1, axis=1)
        found[step], returns[step] = advantage[:, 0], (advantage + now)[:, :-1]
        following = now
    return found, returns


def _of_all(values: Numbers) -> Numbers:
    """(N, P-1) values without the last player's -> (N, P)."""
    return np.concatenate([values, -values.sum(axis=1, keepdims=True)], axis=1)


class SelfPlayRolloutBuffer(MaskableRolloutBuffer):
    """Stable-baselines3's buffer with rewards (T, N, P), values and returns (T, N, P-1), and `advantages`.

    The arguments are those of stable-baselines3, and P.
    """

    def __init__(self, *arguments: Any, players: int, **settings: Any) -> None:
        self.players = players
        super().__init__(*arguments, **settings)

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.rewards = np.zeros((self.buffer_size, self.n_envs, self.players), dtype=np.float32)
        self.values = np.zeros((self.buffer_size, self.n_envs * (self.players - 1)), dtype=np.float32)  # filled flat

    @staticmethod
    def swap_and_flatten(arr: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(T, N, ...) -> (T * N, ...) as it lies in memory: minibatches are drawn at random, whatever the order."""
        return arr.reshape(-1, *arr.shape[2:])

    def compute_returns_and_advantage(self, last_values: Tensor, dones: Mask) -> None:
        """From the values (N, P-1) of the positions after the last step, and whether it ended the games (N,)."""
        self.values = self.values.reshape(self.buffer_size, self.n_envs, self.players - 1)
        ended = np.concatenate([self.episode_starts[1:], dones[None]]).astype(np.bool_)
        last = last_values.detach().cpu().numpy()
        self.advantages, self.returns = advantages(self.rewards, self.values, last, ended, self.gamma, self.gae_lambda)


# ---- policy ----------------------------------------------------------------------------------------------------------


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """A network of `agents.networks` behind stable-baselines3's policy interface.

    Where stable-baselines3 expects one value of a position there are those of P - 1 players; it flattens them, as it
    does returns. Log-probabilities and entropies come from masked logits: torch's distributions are slow.
    """

    def __init__(self, *spaces_and_schedule: Any, network: torch.nn.Module) -> None:
        self._given = [network]  # torch takes no module before its own beginning
        super().__init__(*spaces_and_schedule)

    def _build(self, lr_schedule: Schedule) -> None:
        (self.network,) = self._given
        self.outputs: Callable[..., tuple[Tensor, Tensor]] = getattr(self.network, "decide", self.network)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=lr_schedule(1), fused=True, **self.optimizer_kwargs
        )

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Mask | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,), values (B, P-1) and log-probabilities (B,)."""
        logits, values = self.outputs(obs, self._mask(obs, action_masks))
        log_probs = torch.log_softmax(logits, dim=1)
        actions = logits.argmax(dim=1) if deterministic else torch.multinomial(log_probs.exp(), 1)[:, 0]
        return actions, values, log_probs.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values (B, P-1), log-probabilities (B,) of `actions` (B,), entropies (B,)."""
        logits, values = self.outputs(obs, self._mask(cast(Tensor, obs), action_masks))
        log_probs = torch.log_softmax(logits, dim=1)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)  # a forbidden action has probability zero, not NaN
        return values, log_probs.gather(1, actions[:, None])[:, 0], entropy

    def predict_values(self, obs: PyTorchObs) -> Tensor:
        """Values (B, P-1)."""
        actions = int(cast(spaces.Discrete, self.action_space).n)
        return self.outputs(obs, torch.zeros((len(obs), actions), dtype=torch.bool, device=cast(Tensor, obs).device))[1]

    def _predict(
        self, observation: PyTorchObs, deterministic: bool = False, action_masks: Mask | None = None
    ) -> Tensor:
        return self.forward(cast(Tensor, observation), deterministic, action_masks)[0]

    def _mask(self, obs: Tensor, action_masks: Mask | Tensor | None) -> Tensor:
        """(B, A) bool tensor of any form of mask that stable-baselines3 passes."""
        if action_masks is None:
            raise ValueError("SelfPlayPolicy needs action_masks: pass the legal actions of each position")
        return torch.as_tensor(action_masks, device=obs.device).reshape(len(obs), -1).bool()


# ---- run -------------------------------------------------------------------------------------------------------------


def build_model(config: PPOConfig, core: Core) -> tuple[SelfPlayVecEnv, MaskablePPO]:
    """The games and the learner of a configuration; raises `UsageError` for a device that does not exist."""
    try:
        device = torch.device(config.device)
    except RuntimeError:
        raise UsageError(f"device: must be one that torch knows, such as cpu or cuda; got {config.device!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"device: torch {torch.__version__} finds no GPU for {config.device!r}; use cpu")
    features, network = make_network(core, config.network)
    games = Games(core, config.ppo.n_envs, config.starts, config.seed)
    env = SelfPlayVecEnv(features, games, config.reward, network.to(device))
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        **config.ppo.model_dump(exclude={"n_envs", "learning_rate_end", "ent_coef_end"}),
        rollout_buffer_class=SelfPlayRolloutBuffer,
        rollout_buffer_kwargs={"players": core.rules.players},
        policy_kwargs={"network": network},
        seed=None,
        device=config.device,
    )
    return env, model


class PPORun(Run[PPOConfig]):
    """One run in one folder, whose agent is in its `agent.safetensors` and `agent.yaml`."""

    config_type = PPOConfig

    def __init__(self, folder: Path, config: PPOConfig, report: Callable[[str], None]) -> None:
        super().__init__(folder, config, report)
        self.env, self.model = build_model(config, self.core)
        policy = cast(SelfPlayPolicy, self.model.policy)
        self.network, self.iteration = policy.network, config.ppo.n_envs * config.ppo.n_steps
        self.parts = {"network": self.network, "optimizer": policy.optimizer, "games": self.env.games}
        self.usage = f"the agent is in {folder}; {self.try_out(f'ppo:{folder} greedy random')}"
        config.evaluation.check(self.core)

    def iterate(self) -> None:
        """Collect a rollout and train on it."""
        model, ppo = self.model, self.config.ppo
        if model._last_episode_starts is None:  # the first of this process
            model.num_timesteps, model._n_updates = self.plies, self.plies // self.iteration * ppo.n_epochs
            model._last_episode_starts = np.ones(self.env.num_envs, dtype=bool)
            model.set_logger(Logger(None, [_TensorBoard(self)]))
        model._last_obs = self.env.observe()  # by the network as it now is
        done = (self.plies + self.iteration) / self.config.total_plies  # at the end of this iteration
        model.lr_schedule = lambda _: between(ppo.learning_rate, ppo.learning_rate_end, done)
        model.ent_coef = between(ppo.ent_coef, ppo.ent_coef_end, done)
        try:
            model.learn(self.iteration, reset_num_timesteps=False)
        except IllegalActionError:  # logits above the one that stands for an illegal action
            raise self.diverged("the policy plays illegal actions") from None

    def export(self) -> None:
        """Write the agent, with where it comes from."""
        config, made = self.config, read_yaml(self.folder / RUN_NAME)
        history = {"plies": self.plies, "seconds": round(self.seconds), "seed": config.seed, **made}
        card = AgentCard(rules=config.rules, reward=config.reward, network=config.network, training=history)
        save_agent(self.folder, self.network, card)

    def measure(self) -> tuple[dict[str, Any], str]:
        """Play the configured opponents and measure regret."""
        try:
            player = PPOPlayer(self.folder, self.core.rules, network=self.config.network.name)
            player.evaluate(self.core.start())
        except FileError as error:  # weights too large to play with
            raise self.diverged(str(error)) from None
        row, text = self.config.evaluation.measure(self.core, player, self.config.seed, self.log)
        if found := self.regret_of(player, "regret"):
            row["regret"] = dataclasses.asdict(found)
            text += f"; regret {found.mean:.2f} points, best moves {100 * found.optimal.mean:.1f} %"
        ahead = LOOKAHEAD.get(self.config.network.name)
        if ahead and not self.plies:
            text += f" (not trained yet; the network looks {ahead} ahead)"
        return row, text


class _TensorBoard(KVWriter):
    """Numbers that stable-baselines3 logs, in the run's TensorBoard files."""

    def __init__(self, run: PPORun) -> None:
        self.run = run

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        for name, value in key_values.items():
            if self.run.board and isinstance(value, (int, float)):
                self.run.board.add_scalar(name, value, step)

    def close(self) -> None:
        """The run closes its files."""
