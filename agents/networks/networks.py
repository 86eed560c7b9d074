"""The networks: plain torch modules from features and legal mask to action logits and a state value.

Shapes: B positions, P players, A actions, S board columns. Values are in the units of the reward they were trained on.
A position has a value for each player, and they sum to zero. A network gives the first P - 1 of them: the mover's, then
those of the players after it in turn order; for two players the mover's alone.
"""

import torch
from torch import Tensor, nn

from agents.networks.config import NetworkConfig
from agents.networks.features import AfterstateFeatures, FeatureEncoder, PlainFeatures, TwoPlyFeatures
from agents.networks.layers import FORBIDDEN, POINTS_SCALE, CountEmbedding, Trunk, per_move, placed, start_small
from agents.networks.two_ply import TwoPlyNet
from oanquan_env import Core


class PlainNet(nn.Module):
    """The environment's observation through one trunk to logits and value."""

    def __init__(self, features: PlainFeatures, config: NetworkConfig) -> None:
        super().__init__()
        self.counted = slice(0, features.layout["stones"].stop)
        self.points = features.layout["scores"]
        self.embedding = CountEmbedding(config.embed)
        points = self.points.stop - self.points.start
        self.trunk = Trunk(self.counted.stop * config.embed + points, config.width, config.depth)
        self.policy = nn.Linear(config.width, features.core.rules.actions)
        self.value = nn.Linear(config.width, features.core.rules.players - 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B, P-1) of features (B, D) and legal mask (B, A)."""
        hidden = self._hidden(features)
        return self.policy(hidden).masked_fill(~mask, FORBIDDEN), self.value(hidden)

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B, P-1) alone."""
        values: Tensor = self.value(self._hidden(features))
        return values

    def _hidden(self, features: Tensor) -> Tensor:
        points = features[:, self.points] / POINTS_SCALE
        return self.trunk(torch.cat([self.embedding(features[:, self.counted]), points], dim=1))


class AfterstateNet(nn.Module):
    """One trunk for positions and for the positions that moves leave behind (afterstates).

    V(position) is read off the trunk. Q(move) = points won - the sum of the others' V(afterstate); V of a finished game
    is zero. The logit of a move is Q times a learned inverse temperature, plus a learned correction from the
    afterstate's hidden layer.
    """

    def __init__(self, features: AfterstateFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.actions = features.layout, rules.actions
        self.per_point = features.per_point
        self.reward_scale = 1.0 / rules.total
        self.embedding = CountEmbedding(config.embed)
        self.trunk = Trunk(features.board.stop * config.embed + rules.actions, config.width, config.depth)
        self.value = nn.Linear(config.width, rules.players - 1)
        self.correction = nn.Linear(config.width, 1)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(self.value, self.correction)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B, P-1) of features (B, D) and legal mask (B, A)."""
        legal = mask.flatten().nonzero()[:, 0]  # only legal moves go through the trunk
        board, gains, status, after, replies = (features[:, part] for part in self.layout.values())
        gains = gains[:, : self.actions]  # the mover's
        boards = torch.cat([board, per_move(after, self.actions)[legal]])
        hidden = self._hidden(boards, torch.cat([gains, per_move(replies, self.actions)[legal]]))
        values, of_moves = self.value(hidden).tensor_split([len(mask)])
        won = gains.flatten()[legal].float() * (self.reward_scale / self.per_point)
        move_values = won - of_moves.sum(dim=1) * (status.flatten()[legal] == AfterstateFeatures.GOES_ON)
        scores = move_values * self.log_inverse_temperature.exp() + self.correction(hidden[len(mask) :])[:, 0]
        return placed(scores, legal, mask.shape), values

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B, P-1) alone."""
        gains = features[:, self.layout["gains"]][:, : self.actions]
        values: Tensor = self.value(self._hidden(features[:, self.layout["board"]], gains))
        return values

    def _hidden(self, boards: Tensor, gains: Tensor) -> Tensor:
        return self.trunk(torch.cat([self.embedding(boards), gains / (POINTS_SCALE * self.per_point)], dim=1))


Net = PlainNet | AfterstateNet | TwoPlyNet


def make_network(core: Core, config: NetworkConfig) -> tuple[FeatureEncoder, Net]:
    """The features and the fresh network of a configuration."""
    if config.name == "plain":
        plain = PlainFeatures(core)
        return plain, PlainNet(plain, config)
    if config.name == "afterstates":
        after = AfterstateFeatures(core)
        return after, AfterstateNet(after, config)
    ahead = TwoPlyFeatures(core)
    return ahead, TwoPlyNet(ahead, config)
