"""The value net as a torch module, to be trained; see `oanquan_env.search.value_net` for what it computes."""

from typing import Any

import torch
from torch import Tensor, nn

from agents.networks.layers import POINTS_SCALE
from oanquan_env import Rules
from oanquan_env.search.value_net import SECOND, ValueNet, hidden_units, side_rows


class ValueModule(nn.Module):
    """A fresh value net for `rules`, its weights drawn by torch's generator."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules
        rows, hidden = rules.players * side_rows(rules.fields), hidden_units(rules.players)
        self.embedding = nn.Parameter(torch.randn(rows, hidden) * (rules.players * (rules.fields + 1)) ** -0.5)
        self.hidden = nn.Linear(hidden, SECOND)
        self.output = nn.Linear(SECOND, 1 if rules.players == 2 else rules.players)

    def forward(self, rows: Tensor) -> Tensor:
        """(B,) future margins in points, or (B, P), the mover's first; `rows` (B, P * (F + 1)) of `embedding_rows`."""
        summed = nn.functional.embedding_bag(rows, self.embedding, mode="sum")
        points: Tensor = self.output(self.hidden(summed.relu()).relu()) * POINTS_SCALE
        return points[:, 0] if self.rules.players == 2 else points - points.mean(dim=1, keepdim=True)

    def export(self, origin: dict[str, Any]) -> ValueNet:
        """The net as it is shipped, and used without torch."""
        weight, bias = self.output.weight.T * POINTS_SCALE, self.output.bias * POINTS_SCALE
        if self.rules.players == 2:
            weight = weight[:, 0]
        else:  # margins sum to zero
            weight, bias = weight - weight.mean(dim=1, keepdim=True), bias - bias.mean()
        tensors = {
            "embedding": self.embedding,
            "hidden_weight": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output_weight": weight,
            "output_bias": bias,
        }
        arrays = {name: tensor.detach().cpu().contiguous().numpy().copy() for name, tensor in tensors.items()}
        return ValueNet(rules=self.rules, **arrays, origin=origin)
