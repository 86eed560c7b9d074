"""Advantages of zero-sum games of any number of players, inside stable-baselines3's rollout buffer.

Shapes: T steps, N games, P players.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

Numbers: TypeAlias = npt.NDArray[np.float32]


class ZeroSumRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer for games in which players take turns, and rewards and values of all players sum to zero.

    A position has a value for each player, the mover's first and the others' in turn order, and a step rewards each of
    them. So every player has an advantage at every step, player by player:

        delta = r + gamma * V(next) - V        A = delta + gamma * lambda * A(next)

    Only the order of the players turns, a seat a ply. A step trains the policy by its mover's advantage, and the values
    by the returns of all players.

    For two players the other's numbers are the mover's with the sign flipped: `delta = r - gamma * V(next) - V`. With
    `lambda = 1` an advantage is all that the mover gets until the game ends, at the plies of others too, less V. Values
    of all players let a rollout end at any ply, whoever's turn it is.

    Values and returns are kept without those of the last player, see `agents.networks.networks`.

    Arguments are those of stable-baselines3's buffer, and P.

    Attributes:
        rewards: (T, N, P) float32.
        values, returns: (T, N, P-1) float32.
        advantages: (T, N) float32, the movers'.
    """

    def __init__(self, *arguments: Any, players: int, **settings: Any) -> None:
        self.players = players
        super().__init__(*arguments, **settings)

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.rewards = np.zeros((self.buffer_size, self.n_envs, self.players), dtype=np.float32)
        self.values = np.zeros((self.buffer_size, self.n_envs * (self.players - 1)), dtype=np.float32)  # filled flat

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: npt.NDArray[np.bool_]) -> None:
        """Generalised advantage estimation (Schulman et al. 2016), player by player.

        `last_values` (N, P-1) are those of the positions after the last step; `dones` (N,), whether it ended the game.
        """
        self.values = self.values.reshape(self.buffer_size, self.n_envs, self.players - 1)
        self.returns = np.empty_like(self.values)
        next_values = _of_all(last_values.detach().cpu().numpy())
        goes_on = 1.0 - dones.astype(np.float32)
        advantage = np.zeros_like(next_values)
        for step in reversed(range(self.buffer_size)):
            values, factor = _of_all(self.values[step]), self.gamma * goes_on[:, None]
            delta = self.rewards[step] + factor * np.roll(next_values, 1, axis=1) - values
            advantage = delta + factor * self.gae_lambda * np.roll(advantage, 1, axis=1)
            self.advantages[step] = advantage[:, 0]
            self.returns[step] = (advantage + values)[:, :-1]
            next_values, goes_on = values, 1.0 - self.episode_starts[step]


def _of_all(values: Numbers) -> Numbers:
    """(N, P-1) values without the last player's -> (N, P)."""
    return np.concatenate([values, -values.sum(axis=1, keepdims=True)], axis=1)
