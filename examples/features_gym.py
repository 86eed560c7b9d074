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

BLOCK = 32
"""Openings of each length drawn at once: in a batch each costs a tenth."""


class Openings:
    """An endless row of positions 0 to some random plies into a game.

    Args:
        core: the core.
        most_plies: of an opening.
        seed: which row.
    """

    def __init__(self, core: Core, most_plies: int, seed: int) -> None:
        self._core = core
        self._most_plies = most_plies
        self._rng = np.random.default_rng(seed)
        self._left = core.start(0)

    def draw(self, n: int) -> Positions:
        """The next `n` positions, all running."""
        while len(self._left) < n:
            drawn = [random_openings(self._core, BLOCK, plies, self._rng) for plies in range(self._most_plies + 1)]
            block = Positions.concatenate(drawn)
            self._left = Positions.concatenate([self._left, block[self._rng.permutation(len(block))]])
        taken, self._left = self._left[:n], self._left[n:]
        return taken


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
            self._openings = Openings(self._core, self._most_plies, seed)
        return super().reset(seed=seed, options={**(options or {}), "position": self._openings.draw(1)})
