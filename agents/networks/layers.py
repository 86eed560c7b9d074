"""Layers and scales that the networks of agents share; see `agents.networks.nets` for the shapes."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from agents.networks.embedding_sums import SumOfRows
from oanquan_env import Rules

MAX_COUNT = 31  # larger counts are clipped: more than 31 seeds on a square are rare
MAX_FIELD = 17  # the same limit for fields; in training, one field in 30,000 holds more seeds
POINTS_SCALE = 10.0  # networks and losses see points divided by this, so that inputs are of order one
FORBIDDEN = -1e9  # logit of an illegal action: gives probability zero exactly, and keeps infinities out of gradients


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

    def __init__(self, rules: Rules, extra: int, *, embed: int, width: int, depth: int) -> None:
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
