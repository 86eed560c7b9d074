"""The network that looks two plies ahead: the values of moves are built from the positions that moves lead to.

Shapes: B positions, P players, A actions, S board columns, D columns of `MoveFeatures`. Values are those of the first
P - 1 players, the mover's first, as in `agents.networks.networks`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.networks.config import NetworkConfig
from agents.networks.features import LookaheadFeatures, MoveFeatures
from agents.networks.layers import (
    MAX_COUNT,
    POINTS_SCALE,
    CountTrunk,
    per_move,
    placed,
    start_small,
    with_last,
)

NOTHING = -1e4
"""Points that stand for an illegal move: finite, and far below any other."""
MAX_FIELD = 17
"""Larger counts on a field look the same to the network; of the fields met in training one in 30,000 holds more."""
FEWEST, MOST = -40.0, 80.0
"""Move values are clipped to these before the trunk sees them, points."""
MOST_LEAVES, NEAR = 2, 8.0
"""With guesses: so many moves are looked at in a position, and none that seems so many points worse than the best."""
GUESSED_LOG_TEMPERATURE = 0.0
"""Of the softmax over moves at first, with guesses: one point."""
LEAVES_AT_ONCE = 4096
"""Leaves that go through the leaf network at once, few enough that their activations stay in the caches."""
CORRECTION_WIDTH = 64
"""Units of the hidden layer that corrects a move's logit."""


class LookaheadNet(nn.Module):
    """Values of positions from values of what their moves lead to.

    A small leaf network values each position that a move leaves behind, so a move is worth about what it wins each
    player plus that. V(position) is the mean of these move values, weighted by the softmax of the mover's at a learned
    temperature, plus a correction by the trunk, which sees the position, the points won and the move values. So each
    player does what is best for itself (max^n, Luckhardt and Irani 1986); for two players that is minimax.

    With a value net (`net` in the configuration) a short search guesses what each move is worth. The leaf network only
    corrects the guesses of the few best moves, and sees them; untrained, the network says what the search says.

    The policy goes the same way one ply higher: Q(move) = points won - the sum of the others' V(afterstate), and a
    move's logit is Q by a learned inverse temperature plus a learned correction, if there is one. All in all two plies
    of moves are looked at, and what a search from the second on guesses.

    The policy's gradient reaches the inverse temperature and the correction alone; the value loss trains V. That takes
    a third of the time. With `policy_gradient: inverse_temperature` in the configuration there is no correction.
    """

    def __init__(self, features: LookaheadFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.move_layout, self.actions = features.layout, features.moves.layout, rules.actions
        self.others, self.per_point = rules.players - 1, features.moves.per_point
        self.reward_scale = 1.0 / rules.total
        most = ([MAX_FIELD] * rules.fields + [MAX_COUNT]) * rules.players + [1] * rules.players  # seeds, then stones
        guessed = int("guesses" in self.move_layout)
        self.leaf = CountTrunk(most, guessed, embed=config.embed, width=config.leaf_width, depth=config.leaf_depth)
        self.leaf_value = nn.Linear(config.leaf_width, self.others)
        self.log_temperature = nn.Parameter(torch.tensor(1.0))
        seen = 2 * self.others * self.actions
        self.trunk = CountTrunk(most, seen, embed=config.embed, width=config.width, depth=config.depth)
        self.value = nn.Linear(config.width, self.others)
        self.correction: nn.Sequential | None = None
        heads = [self.value]
        if config.policy_gradient != "inverse_temperature":
            heads.append(nn.Linear(CORRECTION_WIDTH, 1))
            self.correction = nn.Sequential(nn.Linear(config.width, CORRECTION_WIDTH), nn.ReLU(), heads[-1])
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(*heads)
        if guessed:
            nn.init.constant_(self.log_temperature, GUESSED_LOG_TEMPERATURE)
            for head in (self.leaf_value, self.value):
                nn.init.zeros_(head.weight)
                nn.init.zeros_(head.bias)

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
        goes_on = here[:, self.move_layout["status"]].flatten()[legal] == MoveFeatures.GOES_ON
        scores = (won - values_after.sum(dim=1) * goes_on) * self.log_inverse_temperature.exp()
        if self.correction is not None:
            scores = scores + self.correction(hidden)[:, 0]
        return placed(scores, legal, mask.shape), values

    def state_value(self, features: Tensor) -> Tensor:
        """Values (B, P-1) alone."""
        return self.values(features[:, self.layout["here"]])[0]

    def hidden_layers(self) -> list[nn.Linear]:
        """The layers from hidden units or embeddings to hidden units that the values rest on."""
        trunks = (self.leaf, self.trunk)
        return [layer for trunk in trunks for layer in (trunk.first, *trunk.rest) if isinstance(layer, nn.Linear)]

    def values(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """V (B, P-1) and the trunk's output (B, width) of `MoveFeatures` (B, D); both mean nothing after the end."""
        board, gains, status, after, *guesses = (rows[:, part] for part in self.move_layout.values())
        gains, has_move = gains.float() / self.per_point, status != MoveFeatures.NO_MOVE
        won = gains.view(-1, self.others, self.actions).transpose(1, 2)
        goes_on = status == MoveFeatures.GOES_ON
        if guesses:
            expected = guesses[0].float()[:, :, None]
            leaves = self._among_the_best(expected[:, :, 0], has_move, goes_on)
            seen = (won - expected).flatten(0, 1)[leaves]  # what the search says of the leaf, by who moves there
        else:
            expected, leaves = won, goes_on.flatten().nonzero()[:, 0]
            seen = won.new_zeros(len(leaves), 0)
        boards = per_move(after, self.actions)[leaves]
        leaf_values = with_last(self._value_of_leaves(boards, seen))
        follows = leaf_values.roll(1, dims=1)[:, :-1]  # the mover of before is the last player of a leaf
        move_values = expected.flatten(0, 1).index_add(0, leaves, follows).view_as(expected)
        move_values = move_values.masked_fill(~has_move[:, :, None], NOTHING)
        weights = torch.softmax(move_values[:, :, 0] / self.log_temperature.exp(), dim=1)
        best = (weights[:, :, None] * move_values * has_move[:, :, None]).sum(dim=1)
        shown = (move_values.clamp(FEWEST, MOST) * has_move[:, :, None]).transpose(1, 2).flatten(1)
        hidden = self.trunk(board, torch.cat([gains, shown], dim=1) / POINTS_SCALE)
        return (best + self.value(hidden) * POINTS_SCALE) * self.reward_scale, hidden

    def _among_the_best(self, guesses: Tensor, has_move: Tensor, goes_on: Tensor) -> Tensor:
        """(L,) places, row by row, of the moves whose leaves are worth a look: near the best by guesses (B, A)."""
        guesses = guesses.masked_fill(~has_move, NOTHING)
        best, places = guesses.topk(min(MOST_LEAVES, self.actions), dim=1)
        near = (best >= best[:, :1] - NEAR) & goes_on.gather(1, places)
        return (places + torch.arange(len(places), device=places.device)[:, None] * self.actions)[near]

    def _value_of_leaves(self, boards: Tensor, seen: Tensor) -> Tensor:
        """The leaf network's values (B, P-1), points, of boards (B, S) and what is seen besides, (B, E) points."""
        parts = zip(torch.split(boards, LEAVES_AT_ONCE), torch.split(seen, LEAVES_AT_ONCE), strict=True)
        hidden = (self.leaf(some, besides / POINTS_SCALE) for some, besides in parts)
        return torch.cat([self.leaf_value(units) for units in hidden]) * POINTS_SCALE
