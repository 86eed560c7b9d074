"""A batch of games under the interface of stable-baselines3, with features for observations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from examples.scoring import Features
from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.envs.opponent_games import OpponentGames


class GamesVecEnv(VecEnv):
    """N games against an opponent, stepped as one batch, where `DummyVecEnv` steps them one by one.

    It stands on what `gymnasium.make_vec("OAnQuan-v0")` stands on, without its autoreset: stable-baselines3 has its
    own. A game cut short by the ply limit has its score as any other, so `TimeLimit.truncated` is always false and
    nothing is bootstrapped.

    Args:
        n_envs: N.
        opponent: a player's name.
        reward: `margin`, `outcome` or `mixed`.
        most_plies: games begin with 0 .. `most_plies` random plies.
    """

    def __init__(self, n_envs: int, opponent: str, reward: str, most_plies: int = 6) -> None:
        self.games = OpponentGames(
            n_envs, DEFAULT_PRESET, opponent=opponent, seat="random", reward=reward, opening_plies=most_plies
        )
        self.features = Features(self.games.core)
        seen = spaces.Box(0.0, np.inf, (self.features.size,), np.float32)
        super().__init__(n_envs, seen, spaces.Discrete(self.games.core.rules.actions))
        self._actions: npt.NDArray[np.int64] = np.zeros(n_envs, dtype=np.int64)
        self._rng = np.random.default_rng()

    def _begin(self, rows: Ints) -> None:
        self.games.begin(rows, self._rng)

    def reset(self) -> VecEnvObs:
        """(N, size) features of fresh games; a `seed` given before is that of all chance."""
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(self._seeds[0])
        self._reset_seeds()
        self._begin(np.arange(self.num_envs))
        return self.features(self.games.observe())

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """One step of every game: features, rewards, finished flags, infos."""
        rewards = self.games.step(self._actions, self._rng)
        dones = self.games.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = dones.nonzero()[0]
        if finished.size:
            last = self.features(self.games.observe(finished))
            for row, env in enumerate(finished.tolist()):
                infos[env] = {"terminal_observation": last[row], "TimeLimit.truncated": False}
            self._begin(finished)
        return self.features(self.games.observe()), rewards.astype(np.float32), dones, infos

    def action_masks(self) -> Mask:
        """(N, A) bool, the legal actions."""
        return self.games.mask

    def close(self) -> None:
        """Nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have the attribute; there is one object for all."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, once for each game asked for."""
        value = getattr(self, attr_name, None)  # stable-baselines3 asks for `render_mode`
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the games share one object."""
        raise NotImplementedError("the games share one object: set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """The rows of what a method, such as `action_masks`, returns for all games."""
        rows = getattr(self, method_name)(*method_args, **method_kwargs)
        return [rows[index] for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]
