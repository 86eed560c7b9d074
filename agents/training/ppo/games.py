"""Zero-sum self-play as a VecEnv of stable-baselines3.

Each row of the VecEnv is one game and each step one ply, seen from the mover's side. All seats learn from every ply.

Shapes: N games, P players, A actions, D columns of features.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from agents.networks.features import FeatureEncoder
from agents.training.starts import RandomStarts
from oanquan_env import Termination
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.positions import turn_order
from oanquan_env.rewards import RewardName, ply_rewards


class SelfPlayVecEnv(VecEnv):
    """N games of one `Core` as a stable-baselines3 VecEnv, stepped as one batch; finished games restart at once.

    Masks travel as one array: `env_method("action_masks")` returns a list that holds the (N, A) mask of all games,
    where stable-baselines3 would make N calls. A game truncated by the ply limit has its score like any other and is
    not bootstrapped: `TimeLimit.truncated` is always false, and `termination` in `infos` gives the reason.

    A step rewards all players, not the mover alone.

    Attributes:
        positions: the N positions to move in.
        first_ply: (N,) int32, the ply that each game began at.
    """

    def __init__(self, features: FeatureEncoder, starts: RandomStarts, *, n_envs: int, reward: RewardName) -> None:
        self.core = features.core
        limits = np.iinfo(np.int16)
        space = spaces.Box(limits.min, limits.max, (features.size,), np.int16)
        super().__init__(n_envs, space, spaces.Discrete(self.core.rules.actions))
        self.features = features
        self.starts = starts
        self.reward = reward
        self.positions = self.core.start(n_envs)
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
        """Play one ply in every game.

        Returns (N, D) features of the games as they then stand, (N, P) float32 rewards of the mover and the players
        after it in turn order, (N,) finished flags, and N infos.
        """
        mover, before = self.positions.mover.copy(), self.positions.scores.copy()
        self.core.play(self.positions, self._actions)
        rewards = ply_rewards(self.reward, self.core, before, self.positions)
        rewards = np.take_along_axis(rewards, turn_order(mover, self.core.rules.players), axis=1)
        dones = self.positions.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = dones.nonzero()[0]
        if finished.size:
            self._report(finished, infos)
            self._begin(finished)
        return self.observe(), rewards.astype(np.float32), dones, infos

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
        self.positions[rows] = self.starts.draw(len(rows))
        self.first_ply[rows] = self.positions.ply[rows]

    # ---- abstract methods of VecEnv --------------------------------------------------------------------------------

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
