"""The native vector environment under the interface of stable-baselines3, with features for observations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from examples.scoring import Features
from oanquan_env import Core, Positions
from oanquan_env.policies import Policy, RandomPolicy, ask_players, make_policy
from oanquan_env.positions import Ints


class RandomOpening:
    """A policy that plays the first plies of a game at random, so that games differ; an opponent for training.

    Args:
        policy: plays the rest.
        plies: plies of the opening; its own among them are random.
    """

    def __init__(self, policy: Policy, plies: int) -> None:
        self.policies = (policy, RandomPolicy(Core()))
        self.plies = plies

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `oanquan_env.policies.Policy.choose`."""
        return ask_players(self.policies, (positions.ply < self.plies).astype(np.intp), positions, rng)


class NativeVecEnv(VecEnv):
    """N games stepped as one batch, where `DummyVecEnv` steps them one by one.

    A game cut short by the ply limit has its score as any other, so `TimeLimit.truncated` is always false and nothing
    is bootstrapped.

    Args:
        n_envs: N.
        opponent: a player's name.
        reward: `margin` or `outcome`.
        opening_plies: the opponent's plies among so many first ones are random.
    """

    def __init__(self, n_envs: int, opponent: str, reward: str, opening_plies: int = 6) -> None:
        player = RandomOpening(make_policy(opponent), opening_plies)
        self.games: Any = gymnasium.make_vec(
            "OAnQuan-v0", n_envs, opponent=player, reward=reward, autoreset_mode="SameStep"
        )
        self.features = Features()
        seen = spaces.Box(0.0, np.inf, (self.features.size,), np.float32)
        super().__init__(n_envs, seen, self.games.single_action_space)
        self._actions: npt.NDArray[np.int64] = np.zeros(n_envs, dtype=np.int64)

    def reset(self) -> VecEnvObs:
        """(N, size) features of fresh games; `seed` before it seeds them all."""
        observations, _ = self.games.reset(seed=self._seeds[0])
        self._reset_seeds()
        return self.features(observations)

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """One step of every game: features, rewards, finished flags, infos."""
        observations, rewards, terminated, truncated, info = self.games.step(self._actions)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = dones.nonzero()[0]
        if finished.size:
            last = self.features(np.stack(info["final_obs"][finished].tolist()))
            for row, env in enumerate(finished.tolist()):
                infos[env] = {"terminal_observation": last[row], "TimeLimit.truncated": False}
        return self.features(observations), rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Nothing to release."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have the attribute; there is one object for all."""
        return hasattr(self.games, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, once for each game asked for."""
        value = getattr(self.games, attr_name, None)  # stable-baselines3 asks for `render_mode`
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the games share one object."""
        raise NotImplementedError("the games share one object: set its attributes directly")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """The rows of what a method of the vector environment, such as `action_masks`, returns for all games."""
        rows = getattr(self.games, method_name)(*method_args, **method_kwargs)
        return [rows[index] for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]
