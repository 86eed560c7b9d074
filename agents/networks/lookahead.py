"""The network that looks two plies ahead: the values of moves are built from the positions that moves lead to.

Shapes: B positions, A actions, S board columns, D columns of `MoveFeatures`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.networks.features import LookaheadFeatures, MoveFeatures
from agents.networks.layers import FORBIDDEN, MAX_COUNT, POINTS_SCALE, CountTrunk, SampledGradient
from oanquan_env import Rules

NOTHING = -1e4
"""Points that an illegal move is worth: finite, and far below any other."""
MAX_FIELD = 17
"""Seeds on a field above this are told apart no more."""
FEWEST, MOST = -40.0, 80.0
"""Move values are clipped to these before the trunk sees them, points."""
LEAVES_AT_ONCE = 4096
"""Leaves that go through the leaf network together: few enough that what they activate stays in the caches."""
CORRECTION_WIDTH = 64
"""Units of the hidden layer that corrects a move's logit."""


def counts_told_apart(rules: Rules) -> list[int]:
    """The largest count worth telling apart in each board column: seeds of all squares, then stones.

    Of the fields met in training one in 30,000 holds more than `MAX_FIELD` seeds.
    """
    side = [MAX_FIELD] * rules.fields + [MAX_COUNT]
    return side * rules.players + [1] * rules.players


class LookaheadNet(nn.Module):
    """Values of positions from values of what their moves lead to.

    A small leaf network values each position that a move leaves behind, so a move is worth about what it wins less
    that. V(position) is the mean of these move values, weighted by their softmax at a learned temperature, plus a
    correction by the trunk, which sees the position, the points won and the move values.

    The policy goes the same way one ply higher: Q(move) = points won - V(afterstate), and a move's logit is Q by a
    learned inverse temperature plus a learned correction, if there is one. All in all two plies of moves are looked at.

    Args:
        features: the layout.
        embed: numbers that stand for the count of one square.
        width, depth: of the trunk.
        leaf_width, leaf_depth: of the leaf network.
        policy_gradient: `through`: the policy's gradient reaches the values; `heads`: it trains the inverse
            temperature and the correction, and the value loss alone trains V, which takes a third of the time;
            `inverse_temperature`: as `heads`, without a correction.
    """

    def __init__(
        self,
        features: LookaheadFeatures,
        *,
        embed: int,
        width: int,
        depth: int,
        leaf_width: int,
        leaf_depth: int,
        policy_gradient: str,
    ) -> None:
        super().__init__()
        rules = features.moves.core.rules
        self.layout, self.of_moves = features.layout, features.moves.layout
        self.actions, self.boards = rules.actions, features.moves.board.stop
        self.reward_scale = 1.0 / rules.total
        self.policy_through_values = policy_gradient == "through"
        most = counts_told_apart(rules)
        self.leaf = CountTrunk(most, 0, embed=embed, width=leaf_width, depth=leaf_depth)
        self.leaf_value = nn.Linear(leaf_width, 1)
        self.log_temperature = nn.Parameter(torch.tensor(1.0))
        self.trunk = CountTrunk(most, 2 * self.actions, embed=embed, width=width, depth=depth)
        self.value = nn.Linear(width, 1)
        self.correction: nn.Sequential | None = None
        heads = [self.value]
        if policy_gradient != "inverse_temperature":
            heads.append(nn.Linear(CORRECTION_WIDTH, 1))
            self.correction = nn.Sequential(nn.Linear(width, CORRECTION_WIDTH), nn.ReLU(), heads[-1])
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        for head in heads:
            nn.init.orthogonal_(head.weight, 0.1)
            nn.init.zeros_(head.bias)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B,) of features (B, (A + 1) * D) and legal mask (B, A)."""
        here = features[:, self.layout["here"]]
        legal = mask.flatten().nonzero()[:, 0]
        after = features[:, self.layout["after"]].reshape(len(mask) * self.actions, self.of_moves["after"].stop)[legal]
        values, _ = self.values(here)
        if self.policy_through_values:
            values_after, hidden = self.values(after)
        else:
            with torch.no_grad():
                values_after, hidden = self.values(after)
        won = here[:, self.of_moves["gains"]].flatten()[legal].float() * self.reward_scale
        goes_on = here[:, self.of_moves["status"]].flatten()[legal] == MoveFeatures.GOES_ON
        move_values = won - values_after * goes_on
        scores = move_values * self.log_inverse_temperature.exp()
        if self.correction is not None:
            scores = scores + self.correction(hidden)[:, 0]
        logits = torch.full((mask.numel(),), FORBIDDEN, dtype=scores.dtype, device=scores.device)
        return logits.index_put((legal,), scores).view(mask.shape), values

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B,) alone."""
        return self.values(features[:, self.layout["here"]])[0]

    def hidden_layers(self) -> list[nn.Linear]:
        """The layers from hidden units or embeddings to hidden units that the values rest on."""
        trunks = (self.leaf, self.trunk)
        return [layer for trunk in trunks for layer in (trunk.first, *trunk.rest) if isinstance(layer, nn.Linear)]

    def values(self, rows: Tensor, *, sample_leaves: bool = False) -> tuple[Tensor, Tensor]:
        """V (B,) and the trunk's output (B, width) of `MoveFeatures` (B, D); of a finished game both mean nothing.

        If `sample_leaves`, gradients reach the leaf network through a part of the leaves, see `SampledGradient`.
        """
        status, gains = rows[:, self.of_moves["status"]], rows[:, self.of_moves["gains"]].float()
        legal = (status != MoveFeatures.NO_MOVE).flatten().nonzero()[:, 0]
        leaves = rows[:, self.of_moves["after"]].reshape(status.numel(), self.boards)[legal]
        goes_on = (status == MoveFeatures.GOES_ON).flatten()[legal]
        if sample_leaves:
            leaf_values = SampledGradient.apply(self._value_of_leaves, leaves, self.leaf_value.weight)  # type: ignore[no-untyped-call]
        else:
            leaf_values = self._value_of_leaves(leaves)
        move_values = torch.full((status.numel(),), NOTHING, dtype=gains.dtype, device=gains.device)
        move_values = move_values.index_put((legal,), gains.flatten()[legal] - leaf_values * goes_on).view(status.shape)
        weights = torch.softmax(move_values / self.log_temperature.exp(), dim=1)
        has_move = status != MoveFeatures.NO_MOVE
        best = (weights * move_values * has_move).sum(dim=1)
        seen = torch.cat([gains, move_values.clamp(FEWEST, MOST) * has_move], dim=1) / POINTS_SCALE
        hidden = self.trunk(rows[:, self.of_moves["board"]], seen)
        return (best + self.value(hidden)[:, 0] * POINTS_SCALE) * self.reward_scale, hidden

    def _value_of_leaves(self, boards: Tensor) -> Tensor:
        """The leaf network's values (B,) of boards (B, S), points."""
        parts = torch.split(boards, LEAVES_AT_ONCE)
        hidden = (self.leaf(part, self.leaf_value.weight.new_zeros(len(part), 0)) for part in parts)
        return torch.cat([self.leaf_value(units)[:, 0] for units in hidden]) * POINTS_SCALE
