"""Advantages of zero-sum games of any number of players, inside stable-baselines3's rollout buffer.

Shapes: T steps, N games, P players.
"""

from __future__ import annotations

from collections import deque
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from oanquan_env import Positions
from oanquan_env.arrays import Ints

Numbers: TypeAlias = npt.NDArray[np.float32]


class Trail:
    """What games tell of the newest `steps` steps besides observations and rewards, oldest step first.

    Attributes:
        positions: the positions that each step began in.
        plies: for each step (N,) int, the plies played in it: the learner's, and the replies of opponents.
    """

    def __init__(self, steps: int) -> None:
        self.positions: deque[Positions] = deque(maxlen=steps)
        self.plies: deque[Ints] = deque(maxlen=steps)


class ZeroSumRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer for games in which players take turns, and rewards and values of all players sum to zero.

    A position has a value for each player, the mover's first and the others' in turn order, and a step rewards each of
    them. So every player has an advantage at every step: `delta = r + f * V(next) - V`, `A = delta + f * lambda *
    A(next)`, player by player, with `f = gamma ** plies` of the step; only the order of the players turns, a seat a
    ply. What is learned from a step is its mover's advantage, and the returns of all players as their values.

    For two players the other's numbers are the mover's with the sign flipped: `delta = r - gamma * V(next) - V`. With
    `lambda = 1` an advantage is all that the mover gets until the game ends, at the plies of others too, less V. Values
    of all players let a rollout end at any ply: whoever's turn it is, it is known what is still to come.

    Values and returns are kept without those of the last player, see `agents.networks.networks`.

    Arguments are those of stable-baselines3's buffer, the trail of the games that fill it, and P.

    Attributes:
        rewards: (T, N, P) float32.
        values, returns: (T, N, P-1) float32.
        advantages: (T, N) float32, the movers'.
    """

    def __init__(self, *arguments: Any, trail: Trail, players: int, **settings: Any) -> None:
        self.players = players
        super().__init__(*arguments, **settings)
        self.trail = trail

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.rewards = np.zeros((self.buffer_size, self.n_envs, self.players), dtype=np.float32)
        self.values = np.zeros((self.buffer_size, self.n_envs * (self.players - 1)), dtype=np.float32)  # filled flat

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: npt.NDArray[np.bool_]) -> None:
        """Generalised advantage estimation (Schulman et al. 2016), player by player.

        Args:
            last_values: (N, P-1) values of the positions after the last step.
            dones: (N,) whether the last step finished the game.
        """
        self.values = self.values.reshape(self.buffer_size, self.n_envs, self.players - 1)
        self.returns = np.empty_like(self.values)
        next_values = _of_all(last_values.detach().cpu().numpy())
        goes_on = 1.0 - dones.astype(np.float32)
        advantage = np.zeros_like(next_values)
        for step in reversed(range(self.buffer_size)):
            plies, values = self.trail.plies[step], _of_all(self.values[step])
            factor = (goes_on * (self.gamma**plies).astype(np.float32))[:, None]
            delta = self.rewards[step] + factor * _turned(next_values, plies) - values
            advantage = delta + factor * self.gae_lambda * _turned(advantage, plies)
            self.advantages[step] = advantage[:, 0]
            self.returns[step] = (advantage + values)[:, :-1]
            next_values, goes_on = values, 1.0 - self.episode_starts[step]


def _of_all(values: Numbers) -> Numbers:
    """(N, P-1) values without the last player's -> (N, P)."""
    return np.concatenate([values, -values.sum(axis=1, keepdims=True)], axis=1)


def _turned(numbers: Numbers, plies: Ints) -> Numbers:
    """(N, P) numbers of the players, the mover's first, in the order of `plies` (N,) plies before."""
    players = numbers.shape[1]
    return np.take_along_axis(numbers, (np.arange(players) - plies[:, None]) % players, axis=1)
