"""The network that looks two plies ahead; see `agents.networks.nets` for the shapes and the form of all networks."""

from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from agents.networks.features import AfterstateFeatures, TwoPlyFeatures
from agents.networks.layers import POINTS_SCALE, CountTrunk, per_move, placed, start_small, with_last

if TYPE_CHECKING:
    from agents.networks.nets import NetworkConfig

NOTHING = -1e4  # value of an illegal move in points: finite, and far below the value of any legal move
FEWEST, MOST = -40.0, 80.0  # points to which move values are clipped before the trunk sees them
LEAVES_AT_ONCE = 4096  # leaves per pass of the leaf network, few enough for their activations to fit into the caches
CORRECTION_WIDTH = 64  # units of the hidden layer that corrects a move's logit


class TwoPlyNet(nn.Module):
    """A network that computes the values of a position from its afterstates.

    It looks two plies ahead, and sees the gains of the third ply. A small leaf network evaluates each afterstate from
    the board and the points that each reply would win. A move's value is the leaf's value plus the points that the move
    wins. V(position) is the weighted mean of the move values plus a correction by the trunk, which sees the position,
    the points won and the move values. The weights are the softmax of the mover's values at a learned temperature, so
    each player maximises its own value (max^n, Luckhardt and Irani 1986); for two players this is minimax.

    The policy does the same one ply earlier: Q(move) = points won - the sum of the others' V(afterstate), and a move's
    logit is Q times a learned inverse temperature plus a learned correction. The policy's gradient reaches only the
    inverse temperature and the correction; the value loss trains V. This cuts the cost of an afterstate to a third.
    """

    features_type: ClassVar = TwoPlyFeatures

    def __init__(self, features: TwoPlyFeatures, config: "NetworkConfig") -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.move_layout, self.actions = features.layout, features.moves.layout, rules.actions
        self.others, self.per_point = rules.players - 1, features.moves.per_point
        self.reward_scale = 1.0 / rules.total
        width, depth = config.leaf_width, config.leaf_depth
        self.leaf = CountTrunk(rules, self.actions, embed=config.embed, width=width, depth=depth)
        self.leaf_value = nn.Linear(config.leaf_width, self.others)
        self.log_temperature = nn.Parameter(torch.tensor(1.0))
        inputs = 2 * self.others * self.actions
        self.trunk = CountTrunk(rules, inputs, embed=config.embed, width=config.width, depth=config.depth)
        self.value = nn.Linear(config.width, self.others)
        last = nn.Linear(CORRECTION_WIDTH, 1)
        self.correction = nn.Sequential(nn.Linear(config.width, CORRECTION_WIDTH), nn.ReLU(), last)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(self.value, last)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `Net`."""
        return self.decide(self.look_ahead(features, mask), mask)

    @torch.no_grad()
    def look_ahead(self, features: Tensor, mask: Tensor) -> Tensor:
        """Compute the part of a pass that needs no gradient and takes most of the time.

        The result, (B, H + A * (1 + width)), holds the H columns of the part `here` and, for each legal move, Q and the
        trunk's output at the afterstate. PPO computes it once, when it plays the ply, and reuses it in all epochs. With
        L legal moves: afterstates (L, ·) -> `values` (L, P-1), `hidden` (L, width) -> `q` (L,) -> columns `of_moves`.
        """
        here, after = features[:, self.layout["here"]], per_move(features[:, self.layout["after"]], self.actions)
        legal = mask.flatten().nonzero()[:, 0]
        values, hidden = self.values(after[legal])
        gains, status = here[:, self.move_layout["gains"]], here[:, self.move_layout["status"]].flatten()[legal]
        won = gains[:, : self.actions].flatten()[legal].float() * (self.reward_scale / self.per_point)  # by the mover
        q = won - values.sum(dim=1) * (status == AfterstateFeatures.GOES_ON)
        of_moves = torch.zeros((len(after), 1 + self.trunk.width), device=features.device)
        of_moves[legal] = torch.cat([q[:, None], hidden], dim=1)
        return torch.cat([here, of_moves.view(len(features), -1)], dim=1)

    def decide(self, seen: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs described in `Net`, computed from the output of `look_ahead`."""
        here, of_moves = seen.tensor_split([self.layout["here"].stop], dim=1)
        legal = mask.flatten().nonzero()[:, 0]
        q, hidden = per_move(of_moves, self.actions)[legal].float().tensor_split([1], dim=1)
        scores = q * self.log_inverse_temperature.exp() + self.correction(hidden)
        return placed(scores[:, 0], legal, mask.shape), self.values(here.short())[0]

    def values(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return V (B, P-1) and the trunk's output (B, width) for the `AfterstateFeatures` of B running positions.

        After N of the B * A moves the game goes on: `boards` (N, S), `replies` (N, A) -> `leaf_values` (N, P), from the
        next player on -> `move_values` (B, A, P-1), from the mover on -> `weights` (B, A) -> `best` (B, P-1).
        """
        board, gains, status, after, replies = (rows[:, part] for part in self.move_layout.values())
        gains, has_move = gains.float() / self.per_point, status != AfterstateFeatures.NO_MOVE
        won = gains.view(-1, self.others, self.actions).transpose(1, 2)
        leaves = (status == AfterstateFeatures.GOES_ON).flatten().nonzero()[:, 0]
        boards, replies = (per_move(columns, self.actions)[leaves] for columns in (after, replies))
        leaf_values = with_last(self._value_of_leaves(boards, replies))
        follows = leaf_values.roll(1, dims=1)[:, :-1]  # the mover is the last player in a leaf's order
        move_values = won.flatten(0, 1).index_add(0, leaves, follows).view_as(won)
        move_values = move_values.masked_fill(~has_move[:, :, None], NOTHING)
        weights = torch.softmax(move_values[:, :, 0] / self.log_temperature.exp(), dim=1)
        best = (weights[:, :, None] * move_values * has_move[:, :, None]).sum(dim=1)
        clamped = (move_values.clamp(FEWEST, MOST) * has_move[:, :, None]).transpose(1, 2).flatten(1)
        hidden = self.trunk(board, torch.cat([gains, clamped], dim=1) / POINTS_SCALE)
        return (best + self.value(hidden) * POINTS_SCALE) * self.reward_scale, hidden

    def _value_of_leaves(self, boards: Tensor, replies: Tensor) -> Tensor:
        """Return the leaf network's values (B, P-1) in points for boards (B, S) and the replies' gains (B, A)."""
        parts = zip(torch.split(boards, LEAVES_AT_ONCE), torch.split(replies, LEAVES_AT_ONCE), strict=True)
        hidden = (self.leaf(board, won / (POINTS_SCALE * self.per_point)) for board, won in parts)
        return torch.cat([self.leaf_value(units) for units in hidden]) * POINTS_SCALE
