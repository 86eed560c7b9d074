"""A batch of games as a stable-baselines3 `VecEnv`, with action masks.

    from oanquan_env.sb3 import OAnQuanVecEnv
    from sb3_contrib import MaskablePPO

    games = OAnQuanVecEnv(128, opponent="greedy", reward="margin", observation="planes")
    MaskablePPO("MlpPolicy", games).learn(1_000_000)

`OAnQuanVecEnv` steps all games in one call, while SB3's `make_vec_env` steps one after another. The package does not
depend on stable-baselines3; install it before importing this module.
"""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from oanquan_env.array_types import Mask
from oanquan_env.envs.opponents import Opponent
from oanquan_env.envs.vector import OAnQuanVectorEnv


class SharedVecEnv(VecEnv):
    """A VecEnv whose games share one object, so that `env_method` calls a method once for all games."""

    render_mode = None

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return a list that holds the shared attribute once for each requested game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Raise NotImplementedError, because attributes are to be set on the shared object directly."""
        raise NotImplementedError("all games share one object; set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all games; return its result in a list of one."""
        return [getattr(self, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return False for each requested game."""
        return [False for _ in self._get_indices(indices)]


class OAnQuanVecEnv(SharedVecEnv):
    """N games against an opponent, or without one in the self-play view.

    A finished game restarts at once; its `info` holds `terminal_observation`, `termination`, and `episode` in the form
    of `Monitor`. A game truncated by the ply limit is scored like any other, so no value is bootstrapped.

    Args:
        num_envs: the number of games, N.
        seed: the seed of the games.
        **settings: arguments of `OAnQuanVectorEnv`: rules, opponent, seat, reward, opening_plies, observation, threads.
            SB3's default networks learn faster from the observations `planes` and `moves` than from `counts`.

    Raises:
        ValueError: in the same cases as `OAnQuanVectorEnv`.
    """

    def __init__(self, num_envs: int, *, seed: int = 0, **settings: Any) -> None:
        self.games = OAnQuanVectorEnv(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        self._first: int | None = seed
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)

    def set_opponent(self, opponent: Opponent) -> None:
        """Set an opponent, or a list of opponents, for new games; see `OAnQuanVectorEnv`."""
        self.games.set_opponent(opponent)

    def set_opponent_weights(self, weights: npt.ArrayLike) -> None:
        """Draw the opponents of new games in proportion to (K,) weights, one for each of the K opponents."""
        self.games.set_opponent_weights(weights)

    def action_masks(self) -> Mask:
        """Return (N, A) bool, the legal actions, for MaskablePPO."""
        return self.games.action_masks()

    def reset(self) -> VecEnvObs:
        """Restart all games; return the (N, D) observations."""
        self._rewards, self._lengths, self._began = np.zeros(self.num_envs), np.zeros(self.num_envs, int), time.time()
        seed, self._first = self._first, None
        return self.games.reset(seed=seed)[0]

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Store the actions for the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all games. Return (N, D) observations, (N,) float32 rewards, (N,) bool dones and N infos."""
        observations, rewards, terminated, truncated, info = self.games.step(np.asarray(self._actions, np.int64))
        done = terminated | truncated
        self._rewards += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in done.nonzero()[0].tolist():
            spent = round(time.time() - self._began, 6)
            infos[row] = {
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": False,
                "termination": int(info["final_info"]["termination"][row]),
                "episode": {"r": float(self._rewards[row]), "l": int(self._lengths[row]), "t": spent},
            }
        self._rewards[done], self._lengths[done] = 0.0, 0
        return observations, rewards.astype(np.float32), done, infos
