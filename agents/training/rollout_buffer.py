"""Advantages of two-player zero-sum games, inside stable-baselines3's rollout buffer."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from oanquan_env import Positions
from oanquan_env.arrays import Mask


class Trail:
    """What games tell of the newest steps besides observations and rewards, oldest step first.

    Args:
        steps: how many steps are kept, those of a rollout.

    Attributes:
        positions: the positions that each step began in.
        answered: for each step (N,) bool, whether an opponent replied within it.
    """

    def __init__(self, steps: int) -> None:
        self.positions: deque[Positions] = deque(maxlen=steps)
        self.answered: deque[Mask] = deque(maxlen=steps)


class ZeroSumRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer for games in which the next step is the other player's, unless an opponent answered already.

    The value of the next position then belongs to the other player, so it counts against the mover, and so does that
    player's advantage: `delta = r + f * V(next) - V` and `A = delta + f * lambda * A(next)` with `f = -gamma`. After an
    answer within the step the mover is to move again, two plies later: `f = gamma ** 2`.

    Args:
        *arguments: as for stable-baselines3's buffer.
        trail: of the games that fill the buffer.
        **settings: as for stable-baselines3's buffer.
    """

    def __init__(self, *arguments: Any, trail: Trail, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.trail = trail

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: npt.NDArray[np.bool_]) -> None:
        """Generalised advantage estimation (Schulman et al. 2016) with the sign flipped at each ply.

        Args:
            last_values: (N,) or (N, 1) values of the positions after the last step, for the movers there.
            dones: (N,) whether the last step finished the game.
        """
        next_values = last_values.detach().cpu().numpy().reshape(-1)
        goes_on = 1.0 - dones.astype(np.float32)
        advantage = np.zeros_like(next_values)
        for step in reversed(range(self.buffer_size)):
            factor = goes_on * np.where(self.trail.answered[step], self.gamma**2, -self.gamma).astype(np.float32)
            delta = self.rewards[step] + factor * next_values - self.values[step]
            advantage = delta + factor * self.gae_lambda * advantage
            self.advantages[step] = advantage
            next_values, goes_on = self.values[step], 1.0 - self.episode_starts[step]
        self.returns = self.advantages + self.values
