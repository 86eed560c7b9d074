"""The Gymnasium environment for a small network: one-hot counts as observations, games from varied openings."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from examples.scoring import Features
from oanquan_env import Core
from oanquan_env.arrays import Mask
from oanquan_env.observation import Observation


class FeaturesGym(gymnasium.ObservationWrapper[npt.NDArray[np.float32], np.int64, Observation]):
    """`gymnasium.make("OAnQuan-v0")` with `Features` for observations and games that begin some random plies in.

    Without random openings, games soon keep to a few lines, and the agent learns nothing about other positions.

    Args:
        most_plies: games begin with 0 .. `most_plies` random plies.
        seed: of all chance, until `reset(seed=…)` gives another.
        env_args: arguments of `gymnasium.make`, such as the opponent.
    """

    def __init__(self, most_plies: int = 6, seed: int = 0, **env_args: Any) -> None:
        super().__init__(gymnasium.make("OAnQuan-v0", opening_plies=most_plies, **env_args))
        self._features = Features(Core(env_args.get("rules", "mancala-world")))
        self._seed: int | None = seed
        self.observation_space = spaces.Box(0.0, np.inf, (self._features.size,), np.float32)

    def observation(self, observation: Observation) -> npt.NDArray[np.float32]:
        """(size,) features."""
        return self._features(observation[None])[0]

    def action_masks(self) -> Mask:
        """(A,) bool, the agent's legal actions, where sb3-contrib looks for them."""
        return self.get_wrapper_attr("env").get_wrapper_attr("action_masks")()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a game; the first one is seeded in any case."""
        seed, self._seed = self._seed if seed is None else seed, None
        return super().reset(seed=seed, options=options)
