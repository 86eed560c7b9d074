"""The AEC environment for a small network: one-hot counts as observations, games from varied openings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper

from examples.scoring import Features
from oanquan_env import raw_env
from oanquan_env.playing import random_openings


class FeaturesEnv(BaseWrapper):
    """`oanquan_env.raw_env` with `Features` for observations and games that begin some random plies in.

    Without random openings, self-play soon keeps to a few lines, and the agent learns nothing about other positions.

    Args:
        key: what observations call the features; the mask is `action_mask` beside it.
        most_plies: games begin with 0 .. `most_plies` random plies.
        seed: of the openings, until `reset(seed=…)` gives another.
        env_args: arguments of `raw_env`.
    """

    def __init__(
        self, key: str = "observation", most_plies: int = 6, seed: int | Sequence[int] = 0, **env_args: Any
    ) -> None:
        env = raw_env(**env_args)
        super().__init__(env)
        self._core = env.core
        self._features = Features(self._core)
        self._key = key
        self._most_plies = most_plies
        self._rng = np.random.default_rng(seed)
        seen = spaces.Box(-1.0, np.inf, (self._features.size,), np.float32)
        mask = spaces.Box(0.0, 1.0, (self._core.rules.actions,), np.float32)
        self._space = spaces.Dict({key: seen, "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same for all agents."""
        return self._space

    def observe(self, agent: str) -> dict[str, Any]:
        """Features (size,) and mask (A,), float32; the mask is zero unless it is the agent's turn."""
        observed = self.env.observe(agent)
        features = self._features(observed["observation"][None])[0]
        return {self._key: features, "action_mask": observed["action_mask"].astype(np.float32)}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game from a new opening."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        plies = int(self._rng.integers(self._most_plies + 1))
        self.env.reset(options={**(options or {}), "position": random_openings(self._core, 1, plies, self._rng)})
