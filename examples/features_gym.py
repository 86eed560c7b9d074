"""The Gymnasium environment as a small network likes it: one-hot counts as observations, games from varied openings."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.arena import random_openings
from examples.scoring import Features
from oanquan_env import Core, Positions
from oanquan_env.observation import Observation
from oanquan_env.positions import Mask

OPENINGS = 32
"""Openings of each length drawn at once: in a batch each costs a tenth."""


class FeaturesGym(gymnasium.ObservationWrapper[npt.NDArray[np.float32], np.int64, Observation]):
    """`gymnasium.make("OAnQuan-v0")` with `Features` for observations and games that begin some random plies in.

    Play from the set-up alone soon runs along few lines, and the agent knows nothing beside them.

    Args:
        most_plies: games begin with 0 .. `most_plies` random plies.
        seed: of all chance, until `reset(seed=…)` gives another.
        env_args: arguments of `gymnasium.make`, such as the opponent.
    """

    def __init__(self, most_plies: int = 6, seed: int = 0, **env_args: Any) -> None:
        super().__init__(gymnasium.make("OAnQuan-v0", **env_args))
        self._core = Core(env_args.get("rules", "mancala-world"))
        self._features = Features(self._core)
        self._most_plies = most_plies
        self._seed: int | None = seed
        self.observation_space = spaces.Box(0.0, np.inf, (self._features.size,), np.float32)

    def observation(self, observation: Observation) -> npt.NDArray[np.float32]:
        """(size,) features."""
        features: npt.NDArray[np.float32] = self._features(observation[None])[0]
        return features

    def action_masks(self) -> Mask:
        """(A,) bool, the agent's legal actions, where sb3-contrib looks for them."""
        mask: Mask = self.get_wrapper_attr("env").get_wrapper_attr("action_masks")()
        return mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a game from a new opening."""
        seed, self._seed = self._seed if seed is None else seed, None
        if seed is not None:
            self._rng, self._openings = np.random.default_rng(seed), self._core.start(0)
        return super().reset(seed=seed, options={**(options or {}), "position": self._next_opening()})

    def _next_opening(self) -> Positions:
        if not len(self._openings):
            drawn = [random_openings(self._core, OPENINGS, plies, self._rng) for plies in range(self._most_plies + 1)]
            together = Positions.concatenate(drawn)
            self._openings = together[self._rng.permutation(len(together))]
        opening, self._openings = self._openings[:1], self._openings[1:]
        return opening
