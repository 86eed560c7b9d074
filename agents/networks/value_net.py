"""The value net as a torch module, to be trained; see `oanquan_env.players.value_net` for what it computes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from oanquan_env import Rules
from oanquan_env.players.value_net import HIDDEN, SECOND, ValueNet, side_rows

POINTS_SCALE = 10.0
"""The module's output times this are points: layers of usual size then make values of usual size."""


class ValueModule(nn.Module):
    """A fresh value net for `rules`, its weights drawn by torch's generator."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules
        rows = 2 * side_rows(rules.fields)
        self.embedding = nn.Parameter(torch.randn(rows, HIDDEN) * (2 * (rules.fields + 1)) ** -0.5)
        self.hidden = nn.Linear(HIDDEN, SECOND)
        self.output = nn.Linear(SECOND, 1)

    def forward(self, rows: Tensor) -> Tensor:
        """(B,) future margins in points; `rows` (B, 2 * (F + 1)) are those of `embedding_rows`."""
        # a product with ones and zeros: the gradient of looking rows up takes longer
        looked_up = torch.zeros(len(rows), len(self.embedding)).scatter_(1, rows, 1.0)
        second = self.hidden((looked_up @ self.embedding).relu()).relu()
        points: Tensor = self.output(second)[:, 0] * POINTS_SCALE
        return points

    def export(self, origin: dict[str, Any]) -> ValueNet:
        """The net as it is shipped, and used without torch."""
        output_weight = self.output.weight[0] * POINTS_SCALE
        tensors = {
            "embedding": self.embedding,
            "hidden_weight": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output_weight": output_weight,
            "output_bias": self.output.bias * POINTS_SCALE,
        }
        arrays = {name: tensor.detach().cpu().contiguous().numpy().copy() for name, tensor in tensors.items()}
        return ValueNet(rules=self.rules, **arrays, origin=origin)
