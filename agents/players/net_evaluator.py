"""A trained agent inside a search: it gives the values of positions and the prior probabilities of moves."""

from __future__ import annotations

import numpy as np

from agents.players.network_player import PPOPlayer
from oanquan_env import Positions
from oanquan_env.arrays import Floats
from oanquan_env.rewards import game_rewards


class NetEvaluator:
    """The network of an agent; an `agents.search.mcts.Evaluator`.

    Args:
        player: the agent.
    """

    def __init__(self, player: PPOPlayer) -> None:
        self.player = player
        self.core = player.core
        self.reward = player.card.reward

    def evaluate(self, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """See `agents.search.mcts.Evaluator.evaluate`; `rng` is not used."""
        logits, gains = self.player.evaluate(positions)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        players = self.core.rules.players
        values = np.take_along_axis(gains, (np.arange(players) - positions.mover[:, None]) % players, axis=1)
        values += game_rewards(self.reward, self.core, positions)  # the network predicts what is still to come
        return values, chances / chances.sum(axis=1, keepdims=True)
