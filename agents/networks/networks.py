"""The networks: plain torch modules from features and legal mask to action logits and a state value.

Shapes: B positions, A actions, S board columns. Values are in the units of the reward they were trained on.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.networks.features import AfterstateFeatures, FeatureEncoder, LookaheadFeatures, PlainFeatures
from agents.networks.layers import FORBIDDEN, POINTS_SCALE, CountEmbedding, Trunk
from agents.networks.lookahead import LookaheadNet
from oanquan_env import Core


class PlainNet(nn.Module):
    """The environment's observation through one trunk to logits and value."""

    def __init__(self, features: PlainFeatures, *, embed: int, width: int, depth: int) -> None:
        super().__init__()
        self.counted = slice(0, features.layout["stones"].stop)
        self.points = features.layout["scores"]
        self.embedding = CountEmbedding(embed)
        points = self.points.stop - self.points.start
        self.trunk = Trunk(self.counted.stop * embed + points, width, depth)
        self.policy = nn.Linear(width, features.core.rules.actions)
        self.value = nn.Linear(width, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,) of features (B, D) and legal mask (B, A)."""
        hidden = self._hidden(features)
        return self.policy(hidden).masked_fill(~mask, FORBIDDEN), self.value(hidden)[:, 0]

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B,) alone."""
        value: Tensor = self.value(self._hidden(features))[:, 0]
        return value

    def _hidden(self, features: Tensor) -> Tensor:
        points = features[:, self.points] / POINTS_SCALE
        hidden: Tensor = self.trunk(torch.cat([self.embedding(features[:, self.counted]), points], dim=1))
        return hidden


class AfterstateNet(nn.Module):
    """One trunk for positions and for the positions that moves leave behind (afterstates).

    V(position) is read off the trunk. A move is worth what it wins less what the opponent then has:
    Q(move) = points won - V(afterstate), and nothing follows a finished game. The logit of a move is Q by a learned
    temperature, plus a learned correction from the afterstate's hidden layer.
    """

    def __init__(self, features: AfterstateFeatures, *, embed: int, width: int, depth: int) -> None:
        super().__init__()
        self.layout = features.layout
        self.actions = features.core.rules.actions
        self.boards = features.board.stop
        self.reward_scale = 1.0 / features.core.rules.total
        self.embedding = CountEmbedding(embed)
        self.trunk = Trunk(self.boards * embed + self.actions, width, depth)
        self.value = nn.Linear(width, 1)
        self.correction = nn.Linear(width, 1)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        for head in (self.value, self.correction):
            nn.init.orthogonal_(head.weight, 0.1)
            nn.init.zeros_(head.bias)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,) of features (B, D) and legal mask (B, A)."""
        batch = len(features)
        legal = mask.flatten().nonzero()[:, 0]  # only legal moves go through the trunk
        after = features[:, self.layout["after"]].reshape(batch * self.actions, self.boards)[legal]
        replies = features[:, self.layout["replies"]].reshape(batch * self.actions, self.actions)[legal]
        boards = torch.cat([features[:, self.layout["board"]], after])
        gains = torch.cat([features[:, self.layout["gains"]], replies])
        hidden = self._hidden(boards, gains)
        values = self.value(hidden)[:, 0]
        goes_on = 1.0 - features[:, self.layout["over"]].flatten()[legal].float()
        won = features[:, self.layout["gains"]].flatten()[legal].float() * self.reward_scale
        move_values = won - values[batch:] * goes_on
        scores = move_values * self.log_inverse_temperature.exp() + self.correction(hidden[batch:])[:, 0]
        logits = torch.full((batch * self.actions,), FORBIDDEN, dtype=scores.dtype, device=scores.device)
        return logits.index_put((legal,), scores).view(batch, self.actions), values[:batch]

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B,) alone."""
        hidden = self._hidden(features[:, self.layout["board"]], features[:, self.layout["gains"]])
        value: Tensor = self.value(hidden)[:, 0]
        return value

    def _hidden(self, boards: Tensor, gains: Tensor) -> Tensor:
        hidden: Tensor = self.trunk(torch.cat([self.embedding(boards), gains / POINTS_SCALE], dim=1))
        return hidden


Net = PlainNet | AfterstateNet | LookaheadNet
NETWORKS = ("plain", "afterstates", "lookahead")


def make_network(
    name: str,
    core: Core,
    *,
    embed: int,
    width: int,
    depth: int,
    leaf_width: int = 64,
    leaf_depth: int = 2,
    policy_gradient: str = "through",
) -> tuple[FeatureEncoder, Net]:
    """The features and the fresh network of that name; raises `ValueError` for another.

    Arguments are the fields of `agents.networks.config.NetworkConfig`; `leaf_*` and `policy_gradient`
    are of `lookahead`.
    """
    if name == "plain":
        plain = PlainFeatures(core)
        return plain, PlainNet(plain, embed=embed, width=width, depth=depth)
    if name == "afterstates":
        after = AfterstateFeatures(core)
        return after, AfterstateNet(after, embed=embed, width=width, depth=depth)
    if name == "lookahead":
        ahead = LookaheadFeatures(core)
        return ahead, LookaheadNet(
            ahead,
            embed=embed,
            width=width,
            depth=depth,
            leaf_width=leaf_width,
            leaf_depth=leaf_depth,
            policy_gradient=policy_gradient,
        )
    raise ValueError(f"network must be one of {', '.join(NETWORKS)}; got {name!r}")


def use_bfloat16(network: nn.Module, wanted: bool) -> None:
    """Whether the network's large matrix products are made in bfloat16."""
    for module in network.modules():
        if isinstance(module, Trunk):
            module.use_bfloat16 = wanted
