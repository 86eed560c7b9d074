"""The networks: torch modules `(features, mask) -> (logits, values)`. Each class sets its features in `features_type`.

Shapes: B positions, P players, A actions, S board columns, D feature columns. A position has one value per player, in
the units of the reward, and the values sum to zero. A network returns the first P - 1 values in turn order from the
mover, omitting the last player; for two players, it returns only the mover's value. With an all-false mask, networks
that look ahead skip the computation of logits.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, Self

import torch
from pydantic import Field, field_validator, model_validator
from torch import Tensor, nn

from agents.config import Strict, Whole, imported, validated
from agents.networks.embedding_sums import SumOfRows
from agents.networks.features import AfterstateFeatures, FeatureEncoder, PlainFeatures, TwoPlyFeatures
from oanquan_env import Core, Rules
from oanquan_env.errors import UsageError

SMALLEST_BOARD = 8  # board columns under the rules with the smallest board: six squares, two stones
MOST_WEIGHTS = 2**28  # maximum number of weights; with gradients and Adam's moments they take 4 GB
MAX_COUNT = 31  # larger counts are clipped: more than 31 seeds on a square are rare
MAX_FIELD = 17  # the same limit for fields; in training, one field in 30,000 holds more seeds
POINTS_SCALE = 10.0  # networks and losses see points divided by this, so that inputs are of order one
FORBIDDEN = -1e9  # logit of an illegal action: gives probability zero exactly, and keeps infinities out of gradients
NOTHING = -1e4  # value of an illegal move in points: finite, and far below the value of any legal move
FEWEST, MOST = -40.0, 80.0  # points to which move values are clipped before the trunk of a `two_ply` network sees them
LEAVES_AT_ONCE = 4096  # leaves per pass of the leaf network, few enough for their activations to fit into the caches
CORRECTION_WIDTH = 64  # units of the hidden layer that corrects a move's logit


class NetworkConfig(Strict):
    """The class and the sizes of a network."""

    name: str = Field(
        "afterstates",
        description="`plain` reads the observation; `afterstates` looks at the position after each move, "
        "`two_ply` also at the position after each reply, both with the points of the next ply; or MODULE:NAME",
    )
    embed: Whole = Field(8, ge=1, le=65_536, description="size of the vector that encodes the count of one square")
    width: Whole = Field(128, ge=1, le=65_536, description="units per hidden layer")
    depth: Whole = Field(2, ge=1, le=64, description="number of hidden layers")
    leaf_width: Whole = Field(64, ge=1, le=65_536, description="units per hidden layer for the leaves of `two_ply`")
    leaf_depth: Whole = Field(2, ge=1, le=64, description="number of hidden layers for the leaves of `two_ply`")

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in NETWORKS and ":" not in name:
            raise ValueError(f"must be {', '.join(NETWORKS)} or MODULE:NAME")
        return name

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Self:
        if self.fewest_weights > MOST_WEIGHTS:
            raise ValueError(
                f"embed, width, depth, leaf_width and leaf_depth give a network of {self.fewest_weights:,} weights or "
                f"more; at most {MOST_WEIGHTS:,} are allowed"
            )
        return self

    @property
    def fewest_weights(self) -> int:
        """Lower bound on the number of weights under any rules, from the hidden layers and the smallest board."""
        trunks = [(self.width, self.depth), (self.leaf_width, self.leaf_depth)][: 1 + (self.name == "two_ply")]
        return sum(SMALLEST_BOARD * self.embed * width + (depth - 1) * width**2 for width, depth in trunks)


class UnknownOptions(NetworkConfig, extra="allow"):
    """A card's options for a custom network, not validated yet; `make_network` checks them with its `config_type`."""


def options_type(name: str) -> type[NetworkConfig]:
    """Return the class of a network's options; for MODULE:NAME, import the network and return its `config_type`."""
    own: type[NetworkConfig] = NetworkConfig
    if ":" in name:
        own = getattr(imported(name, "network.name"), "config_type", own)
        if not (isinstance(own, type) and issubclass(own, NetworkConfig)):
            raise UsageError(f"network.name: {name}.config_type must be a subclass of NetworkConfig; got {own!r}")
    return own


class Net(Protocol):
    """A network: a `torch.nn.Module` constructed from a feature encoder and a configuration."""

    features_type: type[FeatureEncoder]
    config_type: type[NetworkConfig]  # needed only for additional options

    def __call__(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map features (B, D) and legal mask (B, A) to logits (B, A), `FORBIDDEN` if illegal, and values (B, P-1).

        A network may also have the methods `look_ahead` and `decide`, as `TwoPlyNet` has them: `collect` then stores
        what the first returns, and PPO calls the second on it.
        """


def make_network(core: Core, config: NetworkConfig) -> tuple[FeatureEncoder, nn.Module]:
    """Return a feature encoder and an untrained network. Raises `ValueError` for an unknown class or option."""
    kind: Any = NETWORKS.get(config.name) or imported(config.name, "network.name")
    own = options_type(config.name)
    if type(config) is not own:  # for example `UnknownOptions` of a card
        config = validated(own, config.model_dump(), "network")
    features: FeatureEncoder = getattr(kind, "features_type", PlainFeatures)(core)
    return features, kind(features, config)


# ---- layers ----------------------------------------------------------------------------------------------------------


def per_move(columns: Tensor, actions: int) -> Tensor:
    """Reshape (B, A * D) columns, D for each move, to (B * A, D)."""
    return columns.reshape(-1, columns.shape[1] // actions)


def placed(logits: Tensor, places: Tensor, shape: Sequence[int]) -> Tensor:
    """Scatter `logits` (L,) to the row-major indices `places` (L,) of a tensor of `shape`, `FORBIDDEN` elsewhere."""
    return logits.new_full((math.prod(shape),), FORBIDDEN).index_put((places,), logits).view(*shape)


def with_last(values: Tensor) -> Tensor:
    """Append the last player's value to (B, P-1) values in turn order; return (B, P) values that sum to zero."""
    return torch.cat([values, -values.sum(dim=1, keepdim=True)], dim=1)


def start_small(*heads: nn.Linear) -> None:
    """Initialise the heads so that their outputs are near zero."""
    for head in heads:
        nn.init.orthogonal_(head.weight, 0.1)
        nn.init.zeros_(head.bias)


class CountTrunk(nn.Module):
    """A network of count embeddings and linear layers that maps counts (B, S) and E other numbers (B, E) to (B, width).

    Play depends on exact counts, so each count has a learned vector. Once per batch, the vectors are multiplied by the
    first layer's weights for each square; the first layer's output is then a sum of rows of the product. This moves far
    less memory than looking up the vectors, and the network learns as fast. It learns more slowly if the rows of the
    product are parameters themselves. Negative and large counts are clipped.
    """

    __call__: Callable[..., Tensor]
    most: Tensor
    begins: Tensor
    told_apart: Tensor

    def __init__(self, rules: Rules, extra: int, *, embed: Whole, width: int, depth: int) -> None:
        super().__init__()
        most = ([MAX_FIELD] * rules.fields + [MAX_COUNT]) * rules.players + [1] * rules.players  # seeds, then stones
        self.width = width
        self.table = nn.Embedding(MAX_COUNT + 1, embed)
        self.first = nn.Linear(len(most) * embed + extra, width)
        layers = [(nn.Linear(width, width), nn.ReLU(inplace=True)) for _ in range(depth - 1)]
        self.rest = nn.Sequential(*(layer for pair in layers for layer in pair))
        told_apart = torch.arange(MAX_COUNT + 1) <= torch.tensor(most)[:, None]
        lengths = told_apart.sum(dim=1)
        self.register_buffer("most", torch.tensor(most), persistent=False)
        self.register_buffer("begins", lengths.cumsum(0) - lengths, persistent=False)
        self.register_buffer("told_apart", told_apart.flatten().nonzero()[:, 0], persistent=False)

    def forward(self, counts: Tensor, extra: Tensor) -> Tensor:
        """Return the last hidden layer (B, width) for counts (B, S) and other numbers (B, E)."""
        embed = self.table.embedding_dim
        split = counts.shape[1] * embed
        by_square = self.first.weight[:, :split].view(-1, counts.shape[1], embed)
        folded = torch.einsum("ce,hse->sch", self.table.weight, by_square).flatten(0, 1)[self.told_apart]
        numbers = torch.minimum(counts.long().clamp(min=0), self.most) + self.begins
        summed = SumOfRows.apply(numbers, folded)  # type: ignore[no-untyped-call]
        others = nn.functional.linear(extra.float(), self.first.weight[:, split:], self.first.bias)
        hidden: Tensor = self.rest(others.add_(summed).relu_())
        return hidden


# ---- networks --------------------------------------------------------------------------------------------------------


class PlainNet(nn.Module):
    """A network with one trunk, which maps the environment's observation to logits and values."""

    features_type: ClassVar = PlainFeatures

    def __init__(self, features: PlainFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.board, self.points = slice(0, features.layout["stones"].stop), features.layout["scores"]
        self.trunk = CountTrunk(rules, rules.players, embed=config.embed, width=config.width, depth=config.depth)
        self.policy = nn.Linear(config.width, rules.actions)
        self.value = nn.Linear(config.width, rules.players - 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `Net`."""
        hidden = self.trunk(features[:, self.board], features[:, self.points] / POINTS_SCALE)
        return self.policy(hidden).masked_fill(~mask, FORBIDDEN), self.value(hidden)


class AfterstateNet(nn.Module):
    """A network with one trunk for positions and for the positions after each move (afterstates).

    V(position) is a linear function of the trunk's output. Q(move) = points won - the sum of the others' V(afterstate);
    V of a finished game is zero. The logit of a move is Q times a learned inverse temperature, plus a learned
    correction from the afterstate's hidden layer.
    """

    features_type: ClassVar = AfterstateFeatures

    def __init__(self, features: AfterstateFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.actions = features.layout, rules.actions
        self.per_point = features.per_point
        self.reward_scale = 1.0 / rules.total
        self.trunk = CountTrunk(rules, rules.actions, embed=config.embed, width=config.width, depth=config.depth)
        self.value = nn.Linear(config.width, rules.players - 1)
        self.correction = nn.Linear(config.width, 1)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(self.value, self.correction)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `Net`."""
        legal = mask.flatten().nonzero()[:, 0]  # the trunk evaluates only legal moves
        board, gains, status, after, replies = (features[:, part] for part in self.layout.values())
        gains = gains[:, : self.actions]  # the mover's
        boards = torch.cat([board, per_move(after, self.actions)[legal]])
        next_gains = torch.cat([gains, per_move(replies, self.actions)[legal]]) / (POINTS_SCALE * self.per_point)
        hidden = self.trunk(boards, next_gains)
        values, of_moves = self.value(hidden).tensor_split([len(mask)])
        won = gains.flatten()[legal].float() * (self.reward_scale / self.per_point)
        move_values = won - of_moves.sum(dim=1) * (status.flatten()[legal] == AfterstateFeatures.GOES_ON)
        scores = move_values * self.log_inverse_temperature.exp() + self.correction(hidden[len(mask) :])[:, 0]
        return placed(scores, legal, mask.shape), values


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

    def __init__(self, features: TwoPlyFeatures, config: NetworkConfig) -> None:
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
        trunk's output at the afterstate. PPO computes it once, when it plays the ply, and reuses it in all epochs.
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
        """Return V (B, P-1) and the trunk's output (B, width) for the `AfterstateFeatures` of B running positions."""
        board, gains, status, after, replies = (rows[:, part] for part in self.move_layout.values())
        gains, has_move = gains.float() / self.per_point, status != AfterstateFeatures.NO_MOVE
        won = gains.view(-1, self.others, self.actions).transpose(1, 2)
        leaves = (status == AfterstateFeatures.GOES_ON).flatten().nonzero()[:, 0]
        boards = per_move(after, self.actions)[leaves]
        replies = per_move(replies, self.actions)[leaves]
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


NETWORKS = {"plain": PlainNet, "afterstates": AfterstateNet, "two_ply": TwoPlyNet}
