"""The network that looks two plies ahead: the values of moves are built from the positions that moves lead to.

Shapes: B positions, P players, A actions, S board columns, D columns of `AfterstateFeatures`. Values are those of the
first P - 1 players, the mover's first, as in `agents.networks.networks`.
"""

import torch
from torch import Tensor, nn

from agents.networks.config import NetworkConfig
from agents.networks.features import AfterstateFeatures, TwoPlyFeatures
from agents.networks.layers import MAX_COUNT, POINTS_SCALE, CountTrunk, per_move, placed, start_small, with_last

NOTHING = -1e4
"""Points that stand for an illegal move: finite, and far below any other."""
MAX_FIELD = 17
"""Larger counts on a field look the same to the network; of the fields met in training one in 30,000 holds more."""
FEWEST, MOST = -40.0, 80.0
"""Move values are clipped to these before the trunk sees them, points."""
LEAVES_AT_ONCE = 4096
"""Leaves that go through the leaf network at once, few enough that their activations stay in the caches."""
CORRECTION_WIDTH = 64
"""Units of the hidden layer that corrects a move's logit."""


class TwoPlyNet(nn.Module):
    """Values of positions from values of their afterstates.

    A small leaf network evaluates each afterstate: it sees the board, and the points that each reply would win. A
    move's value is the leaf's value plus the points that the move wins. V(position) is the mean of these move values,
    weighted by the softmax of the mover's at a learned temperature, plus a correction by the trunk, which sees the
    position, the points won and the move values. So each player maximises its own value (max^n, Luckhardt and Irani
    1986); for two players that is minimax.

    The policy works alike one ply higher: Q(move) = points won - the sum of the others' V(afterstate), and a move's
    logit is Q times a learned inverse temperature plus a learned correction. So the network looks at two plies of
    moves, and at the points of a third.

    The policy's gradient reaches the inverse temperature and the correction alone; the value loss trains V. That takes
    a third of the time.
    """

    def __init__(self, features: TwoPlyFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.move_layout, self.actions = features.layout, features.moves.layout, rules.actions
        self.others, self.per_point = rules.players - 1, features.moves.per_point
        self.reward_scale = 1.0 / rules.total
        most = ([MAX_FIELD] * rules.fields + [MAX_COUNT]) * rules.players + [1] * rules.players  # seeds, then stones
        self.leaf = CountTrunk(most, self.actions, embed=config.embed, width=config.leaf_width, depth=config.leaf_depth)
        self.leaf_value = nn.Linear(config.leaf_width, self.others)
        self.log_temperature = nn.Parameter(torch.tensor(1.0))
        seen = 2 * self.others * self.actions
        self.trunk = CountTrunk(most, seen, embed=config.embed, width=config.width, depth=config.depth)
        self.value = nn.Linear(config.width, self.others)
        last = nn.Linear(CORRECTION_WIDTH, 1)
        self.correction = nn.Sequential(nn.Linear(config.width, CORRECTION_WIDTH), nn.ReLU(), last)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(self.value, last)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, A) and values (B, P-1) of features (B, (A + 1) * D) and legal mask (B, A)."""
        here = features[:, self.layout["here"]]
        legal = mask.flatten().nonzero()[:, 0]
        after = per_move(features[:, self.layout["after"]], self.actions)[legal]
        values, _ = self.values(here)
        with torch.no_grad():
            values_after, hidden = self.values(after)
        gains = here[:, self.move_layout["gains"]][:, : self.actions]  # the mover's
        won = gains.flatten()[legal].float() * (self.reward_scale / self.per_point)
        goes_on = here[:, self.move_layout["status"]].flatten()[legal] == AfterstateFeatures.GOES_ON
        move_values = won - values_after.sum(dim=1) * goes_on
        scores = move_values * self.log_inverse_temperature.exp() + self.correction(hidden)[:, 0]
        return placed(scores, legal, mask.shape), values

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B, P-1) alone."""
        return self.values(features[:, self.layout["here"]])[0]

    def values(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """V (B, P-1) and the trunk's output (B, width) of rows (B, D); both mean nothing after the end."""
        board, gains, status, after, replies = (rows[:, part] for part in self.move_layout.values())
        gains, has_move = gains.float() / self.per_point, status != AfterstateFeatures.NO_MOVE
        won = gains.view(-1, self.others, self.actions).transpose(1, 2)
        leaves = (status == AfterstateFeatures.GOES_ON).flatten().nonzero()[:, 0]
        boards = per_move(after, self.actions)[leaves]
        replies = per_move(replies, self.actions)[leaves]
        leaf_values = with_last(self._value_of_leaves(boards, replies))
        follows = leaf_values.roll(1, dims=1)[:, :-1]  # the mover of before is the last player of a leaf
        move_values = won.flatten(0, 1).index_add(0, leaves, follows).view_as(won)
        move_values = move_values.masked_fill(~has_move[:, :, None], NOTHING)
        weights = torch.softmax(move_values[:, :, 0] / self.log_temperature.exp(), dim=1)
        best = (weights[:, :, None] * move_values * has_move[:, :, None]).sum(dim=1)
        shown = (move_values.clamp(FEWEST, MOST) * has_move[:, :, None]).transpose(1, 2).flatten(1)
        hidden = self.trunk(board, torch.cat([gains, shown], dim=1) / POINTS_SCALE)
        return (best + self.value(hidden) * POINTS_SCALE) * self.reward_scale, hidden

    def _value_of_leaves(self, boards: Tensor, replies: Tensor) -> Tensor:
        """The leaf network's values (B, P-1), points, of boards (B, S) and what each reply wins (B, A)."""
        parts = zip(torch.split(boards, LEAVES_AT_ONCE), torch.split(replies, LEAVES_AT_ONCE), strict=True)
        hidden = (self.leaf(board, won / (POINTS_SCALE * self.per_point)) for board, won in parts)
        return torch.cat([self.leaf_value(units) for units in hidden]) * POINTS_SCALE
