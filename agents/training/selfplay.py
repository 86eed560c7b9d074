"""Zero-sum self-play inside stable-baselines3's interfaces: start positions and the VecEnv.

Each row of the VecEnv is one game and each step one ply, seen from the mover's side. All seats learn from every ply.
Where opponents hold seats, their replies belong to the step, and only the learner's plies are learned from.

Shapes: N games, P players, A actions, D columns of features.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.networks.features import FeatureEncoder
from agents.training.opponents import Opponents
from agents.training.rollout_buffer import Trail
from oanquan_env import Core, Positions, Termination
from oanquan_env.arrays import Ints
from oanquan_env.core import relative_points
from oanquan_env.playing import play_randomly
from oanquan_env.rewards import RewardName, Rewards, ply_rewards

BLOCK = 4096
"""Start positions made at once: in a large batch each costs a tenth of what it costs in a small one."""
PATIENCE = 32
"""Draws of a start position; if all of these games are over by then, the game starts at the set-up."""


class RandomStarts:
    """An endless sequence of start positions: the set-up, and positions a few random plies into a game.

    Play from the set-up alone collapses onto one line, and the agent then knows nothing else. The sequence depends on
    the seed alone, so `drawn` is all that a checkpoint has to keep.

    The set-up comes with probability `set_up_share`. The others are 1 .. `max_plies` random plies in. Each number is
    drawn equally often; a game that is over by then is drawn again, so large numbers are rarer among the positions.
    """

    def __init__(self, core: Core, *, set_up_share: float, max_plies: int, seed: int) -> None:
        self.core = core
        self.set_up_share = set_up_share
        self.max_plies = max_plies
        self.seed = seed
        self.drawn = 0
        self._block, self._block_number = core.start(0), -1

    def draw(self, n: int) -> Positions:
        """The next `n` positions, all running."""
        parts = [self.core.start(0)]
        while n > 0:
            number, begin = divmod(self.drawn, BLOCK)
            if number != self._block_number:
                self._block, self._block_number = self._make(np.random.default_rng([self.seed, number])), number
            part = self._block[begin : begin + n]
            parts.append(part)
            self.drawn += len(part)
            n -= len(part)
        return Positions.concatenate(parts)

    def _make(self, rng: np.random.Generator) -> Positions:
        """A block of them."""
        block = self.core.start(BLOCK)
        missing = (rng.random(BLOCK) >= self.set_up_share).nonzero()[0]
        for _ in range(PATIENCE):
            drawn = self.core.start(len(missing))
            play_randomly(self.core, drawn, rng.integers(1, self.max_plies + 1, len(missing)), rng)
            block[missing[~drawn.over]] = drawn[~drawn.over]
            missing = missing[drawn.over]
        return block


class SelfPlayVecEnv(VecEnv):
    """N games of one `Core` as a stable-baselines3 VecEnv, stepped as one batch; finished games restart at once.

    Masks travel as one array: `env_method("action_masks")` returns a list that holds the (N, A) mask of all games,
    where stable-baselines3 would make N calls. A game truncated by the ply limit has its score like any other and is
    not bootstrapped: `TimeLimit.truncated` is always false, and `termination` in `infos` gives the reason.

    A step rewards all players, not the mover alone: what others win matters to the players whose turn it is not.

    Replies of opponents, if there are any, are discounted by `gamma` a ply.

    Attributes:
        positions: the N positions to move in.
        trail: what the newest `trail_steps` steps began in, and how many plies they had; for the rollout buffer.
        first_ply: (N,) int32, the ply that each game began at.
    """

    def __init__(
        self,
        features: FeatureEncoder,
        starts: RandomStarts,
        *,
        n_envs: int,
        reward: RewardName,
        gamma: float = 1.0,
        trail_steps: int = 0,
        opponents: Opponents | None = None,
    ) -> None:
        self.core = features.core
        limits = np.iinfo(np.int16)
        space = spaces.Box(limits.min, limits.max, (features.size,), np.int16)
        super().__init__(n_envs, space, spaces.Discrete(self.core.rules.actions))
        self.features = features
        self.starts = starts
        self.reward = reward
        self.positions = self.core.start(n_envs)
        self.gamma = gamma
        self.opponents = opponents
        self.trail = Trail(trail_steps)
        self.first_ply = np.zeros(n_envs, dtype=np.int32)
        self._actions: npt.NDArray[np.integer[Any]] = np.zeros(n_envs, dtype=np.intp)

    def reset(self) -> VecEnvObs:
        """(N, D) int16 features of fresh games."""
        self._begin(np.arange(self.num_envs))
        return self.observe()

    def observe(self) -> npt.NDArray[np.int16]:
        """(N, D) int16 features of the games as they stand."""
        return self.features.encode(self.positions)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """(N, A) bool, legal actions."""
        return self.core.legal_mask(self.positions)

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play one ply in every game, and opponents' replies.

        Returns (N, D) features of the games as they then stand, (N, P) float32 rewards of the mover and the players
        after it in turn order, (N,) finished flags, and N infos.
        """
        self.trail.positions.append(self.positions.copy())
        mover, before = self.positions.mover.copy(), self.positions.scores.copy()
        self.core.play(self.positions, self._actions)
        rewards = ply_rewards(self.reward, self.core, before, self.positions)
        self.trail.plies.append(1 + self._answer(rewards))
        players = self.core.rules.players
        rewards = np.take_along_axis(rewards, (mover[:, None] + np.arange(players)) % players, axis=1)
        dones = self.positions.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = dones.nonzero()[0]
        if finished.size:
            self._report(finished, infos)
            self._begin(finished)
        return self.observe(), rewards.astype(np.float32), dones, infos

    def _answer(self, rewards: Rewards) -> Ints:
        """(N,) plies that opponents replied until it is the learner's turn; `rewards` (N, P) are added to, in place."""
        plies: Ints = np.zeros(self.num_envs, dtype=np.intp)
        rows = self._opponents_turn(np.arange(self.num_envs))
        while rows.size:
            plies[rows] += 1
            rewards[rows] += self.gamma ** plies[rows, None] * self._play_opponents(rows)
            rows = self._opponents_turn(rows)
        return plies

    def _opponents_turn(self, rows: Ints) -> Ints:
        """Those of the games in which an opponent is to move."""
        return rows[self.opponents.to_move(self.positions[rows], rows)] if self.opponents else rows[:0]

    def _play_opponents(self, rows: Ints) -> Rewards:
        """One ply of the opponents in these games; (M, P) the rewards of seats 0 .. P-1."""
        assert self.opponents
        moved = self.positions[rows]
        before = moved.scores.copy()
        self.core.play(moved, self.opponents.choose(moved, rows))
        self.positions[rows] = moved
        return ply_rewards(self.reward, self.core, before, moved)

    def _report(self, finished: npt.NDArray[np.intp], infos: list[dict[str, Any]]) -> None:
        """Final features and results of the finished games, where stable-baselines3 looks for them."""
        last = self.positions[finished]
        features = self.features.encode(last)
        margins = relative_points(self.core.standings(last)).max(axis=1).tolist()
        plies = (last.ply - self.first_ply[finished]).tolist()
        for row, env in enumerate(finished.tolist()):
            infos[env] = {
                "terminal_observation": features[row],
                "TimeLimit.truncated": False,
                "termination": str(Termination(last.ended[row])),
                # the winner's: stable-baselines3 logs its mean as ep_rew_mean; margins of all would cancel out
                "episode": {"r": margins[row], "l": plies[row], "t": 0.0},
            }

    def _begin(self, rows: npt.NDArray[np.intp]) -> None:
        """New games, in which the learner is to move; those that opponents end before its first ply begin anew."""
        if self.opponents:
            self.opponents.assign(rows)
        fresh = rows
        while fresh.size:
            self.positions[fresh] = self.starts.draw(len(fresh))
            waiting = self._opponents_turn(fresh)
            while waiting.size:
                self._play_opponents(waiting)
                waiting = self._opponents_turn(waiting)
            fresh = fresh[self.positions.over[fresh]]
        self.first_ply[rows] = self.positions.ply[rows]

    # ---- what VecEnv asks of its children --------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have the attribute; there is one object for all."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, once for each game asked for; None for `render_mode`."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the games share one object."""
        raise NotImplementedError("the games of SelfPlayVecEnv share one object; set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all games; the list holds its one result."""
        return [getattr(self, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]
