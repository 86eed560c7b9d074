"""The trainable forms of the value nets for one `Rules` and for any rules, which TD(lambda) trains."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agents.networks.embedding_sums import SumOfRows
from oanquan_env import Positions, Rules
from oanquan_env.array_types import Floats
from oanquan_env.engine.positions import turn_order
from oanquan_env.search.any_rules_net import CONTEXT, INPUTS, MISSING, PARTS, AnyRulesNet, any_rules_rows, inputs_of
from oanquan_env.search.value_net import HIDDEN, SECOND, ValueNet, embedding_rows, hidden_units, side_rows

SCALE = 10.0
"""The net and its loss see points divided by this, so that they are of order one."""
FIRST_CHANGES = 0.1
"""Initial scale of the weights of the factors and offsets, relative to torch's default."""


class ValueModule(nn.Module):
    """A trainable value net for `rules`; `oanquan_env.search.value_net` describes the function it computes."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules
        rows, hidden = rules.players * side_rows(rules.fields), hidden_units(rules.players)
        self.embedding = nn.Parameter(torch.randn(rows, hidden) * (rules.players * (rules.fields + 1)) ** -0.5)
        self.hidden = nn.Linear(hidden, SECOND)
        self.output = nn.Linear(SECOND, 1 if rules.players == 2 else rules.players)

    def forward(self, rows: Tensor) -> Tensor:
        """Map `embedding_rows` (B, P * (F + 1)) to the mover's margins (B,) or, for P > 2, all (B, P) in turn order."""
        summed = SumOfRows.apply(rows.long(), self.embedding)  # type: ignore[no-untyped-call]
        points: Tensor = self.output(self.hidden(summed.relu()).relu()) * SCALE
        return points[:, 0] if self.rules.players == 2 else points - points.mean(dim=1, keepdim=True)

    def examples(self, positions: Positions, returns: Floats) -> tuple[Tensor, ...]:
        """Return M positions as `embedding_rows` and targets, for the replay buffer; `returns` are (M, P), by seat."""
        mover_first = np.take_along_axis(returns, turn_order(positions.mover, self.rules.players), axis=1)
        targets = torch.from_numpy(mover_first.astype(np.float32))
        rows = torch.from_numpy(embedding_rows(self.rules, positions).astype(np.int16))
        return rows, targets[:, 0].clone() if self.rules.players == 2 else targets

    def are_possible(self, rows: Tensor) -> bool:
        """Return whether all rows exist."""
        return bool(((rows >= 0) & (rows < len(self.embedding))).all())

    def export(self, origin: dict[str, Any]) -> ValueNet:
        """Return the net in its NumPy form, which players use without torch; the net stores `origin`."""
        weight, bias = self.output.weight.T * SCALE, self.output.bias * SCALE
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
        arrays: dict[str, Any] = {
            name: tensor.detach().cpu().contiguous().numpy().copy() for name, tensor in tensors.items()
        }
        return ValueNet(rules=self.rules, **arrays, origin=origin)


class AnyRulesModule(nn.Module):
    """A trainable net for any rules, with the rule sets that it is trained on.

    `oanquan_env.search.any_rules_net` describes the function it computes.

    Attributes:
        rule_sets: R canonical rule sets for two players.
        inputs: (R, len(INPUTS)) float32, what the net reads of each rule set; zeros without `reads_rules`.
    """

    inputs: Tensor

    def __init__(self, rule_sets: Sequence[Rules], *, reads_rules: bool = True) -> None:
        super().__init__()
        self.rule_sets = rule_sets
        self.embedding = nn.Parameter(torch.randn(MISSING, HIDDEN) * 12**-0.5)
        self.hidden = nn.Linear(HIDDEN, SECOND)
        self.output = nn.Linear(SECOND, 1)
        self.context = nn.Linear(len(INPUTS), CONTEXT)
        self.change = nn.Linear(CONTEXT, int(PARTS[-1]) + 1)
        with torch.no_grad():
            self.change.weight.mul_(FIRST_CHANGES)
        nn.init.zeros_(self.change.bias)
        inputs = torch.from_numpy(np.stack([inputs_of(rules) for rules in rule_sets]))
        if not reads_rules:
            inputs.zero_()
            nn.init.zeros_(self.context.weight)  # its gradient is zero, so it stays zero in the net that is exported
        self.register_buffer("inputs", inputs, persistent=False)

    def forward(self, rows: Tensor, numbers: Tensor) -> Tensor:
        """Return the movers' margins (B,) in points for `any_rules_rows` (B, 12) and numbers (B,) of rule sets."""
        distinct, of_row = torch.unique(numbers.long(), return_inverse=True)
        changes = self.change(self.context(self.inputs[distinct]).relu()).index_select(0, of_row)
        factor, offset, second_factor, second_offset, last = changes.tensor_split(PARTS.tolist(), dim=1)
        table = torch.cat([self.embedding, self.embedding.new_zeros(1, HIDDEN)])  # the last row is `MISSING`
        summed: Tensor = SumOfRows.apply(rows.long(), table)  # type: ignore[no-untyped-call]
        first = torch.addcmul(summed + offset, summed, factor).relu()
        second = self.hidden(first)
        second = torch.addcmul(second + second_offset, second, second_factor).relu()
        points: Tensor = (self.output(second) + last)[:, 0] * SCALE
        return points

    def examples(self, number: int, positions: Positions, returns: Floats) -> tuple[Tensor, ...]:
        """Return M positions of one rule set as rows (M, 12), numbers (M,) and targets (M,), for the replay buffer.

        `returns` are the (M, 2) targets, by seat.
        """
        rows = torch.from_numpy(any_rules_rows(self.rule_sets[number], positions))
        mover_first = np.take_along_axis(returns, turn_order(positions.mover, 2), axis=1)
        numbers = torch.full((len(rows),), number, dtype=torch.int32)
        return rows, numbers, torch.from_numpy(mover_first[:, 0].astype(np.float32))

    def are_possible(self, rows: Tensor, numbers: Tensor) -> bool:
        """Return whether all rows and numbers of rule sets exist."""
        within = (rows >= 0) & (rows <= MISSING), (numbers >= 0) & (numbers < len(self.rule_sets))
        return all(bool(mask.all()) for mask in within)

    def export(self, origin: dict[str, Any]) -> AnyRulesNet:
        """Return the net in its NumPy form, which needs no torch; the net stores `origin`."""
        scales = torch.ones(int(PARTS[-1]) + 1)
        scales[-1] = SCALE  # the offset of the output, in points
        tensors = {
            "embedding": self.embedding,
            "hidden_weight": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output_weight": self.output.weight[0] * SCALE,
            "output_bias": self.output.bias * SCALE,
            "context_weight": self.context.weight.T,
            "context_bias": self.context.bias,
            "change_weight": self.change.weight.T * scales,
            "change_bias": self.change.bias * scales,
        }
        arrays: dict[str, Any] = {
            name: tensor.detach().cpu().contiguous().numpy().copy() for name, tensor in tensors.items()
        }
        return AnyRulesNet(**arrays, origin=origin)
