"""A trained agent as what a search asks: values of positions, and which moves look good."""

from __future__ import annotations

import numpy as np
import torch

from agents.mcts import Floats
from agents.ppo import BATCH, PPOPlayer
from oanquan_env import Positions
from oanquan_env.core import relative_points
from oanquan_env.rewards import check_reward


class NetEvaluator:
    """The network of a two-player agent; an `agents.mcts.Evaluator`.

    Args:
        player: the agent. It plays the rules that it was trained for.

    Raises:
        ValueError: for more than two players.
    """

    def __init__(self, player: PPOPlayer) -> None:
        if player.core.rules.players != 2:
            raise ValueError(f"search with a network is made for two players, not {player.core.rules.players}")
        self.player = player
        self.core = player.core
        self.reward = check_reward(player.card.reward)

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """See `agents.mcts.Evaluator.evaluate`; `rng` is not used."""
        logits, gains = self.forward(positions)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        values = np.where(np.arange(2) == positions.mover[:, None], 1.0, -1.0) * gains[:, None]
        if self.reward == "margin":  # the network predicts what is still to come
            values += relative_points(positions.scores) / self.core.rules.total
        return values, chances / chances.sum(axis=1, keepdims=True)

    def forward(self, positions: Positions) -> tuple[Floats, Floats]:
        """(N, A) logits and (N,) reward that the mover of each of N running positions will still get."""
        logits, gains = [], []
        for begin in range(0, len(positions), BATCH):
            some = positions[begin : begin + BATCH]
            features = torch.from_numpy(self.player.features.encode(some))
            mask = torch.from_numpy(self.core.legal_mask(some))
            with torch.no_grad():
                some_logits, some_gains = self.player.network(features, mask)
            logits.append(some_logits.double().numpy())
            gains.append(some_gains.double().numpy())
        return np.concatenate(logits), np.concatenate(gains)
