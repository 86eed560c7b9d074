"""Layers that the networks share."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

MAX_COUNT = 31
"""Larger counts look the same to a network: piles of more than 31 seeds are rare."""
POINTS_SCALE = 10.0
"""Points are divided by this before a network or a loss sees them, to be of the order of one."""
FORBIDDEN = -1e9
"""Logit of an illegal action: finite, so that no infinity reaches a gradient; its probability is exactly zero."""


def per_move(columns: Tensor, actions: int) -> Tensor:
    """(B, A * D) columns that hold D of each move -> (B * A, D)."""
    return columns.reshape(-1, columns.shape[1] // actions)


def placed(logits: Tensor, places: Tensor, shape: Sequence[int]) -> Tensor:
    """A tensor of this shape with logits (L,) at these (L,) places, counted row by row, and `FORBIDDEN` elsewhere."""
    return logits.new_full((math.prod(shape),), FORBIDDEN).index_put((places,), logits).view(*shape)


def with_last(values: Tensor) -> Tensor:
    """(B, P-1) values of the mover and the players after it -> (B, P): the last player's too, as all sum to zero."""
    return torch.cat([values, -values.sum(dim=1, keepdim=True)], dim=1)


def start_small(*heads: nn.Linear) -> None:
    """Begin with outputs of the heads near zero."""
    for head in heads:
        nn.init.orthogonal_(head.weight, 0.1)
        nn.init.zeros_(head.bias)


class CountEmbedding(nn.Module):
    """Small integers (B, S) -> (B, S * width): a learned vector for each count, as play turns on exact counts."""

    __call__: Callable[..., Tensor]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(MAX_COUNT + 1, width)

    def forward(self, counts: Tensor) -> Tensor:
        """Embed; negative and large counts are clipped."""
        return torch.flatten(self.table(counts.clamp(0, MAX_COUNT).long()), 1)


class Trunk(nn.Sequential):
    """A stack of `depth` linear layers with ReLU: (B, inputs) -> (B, width)."""

    __call__: Callable[..., Tensor]

    def __init__(self, inputs: int, width: int, depth: int) -> None:
        layers: list[nn.Module] = []
        for layer in range(depth):
            layers += [nn.Linear(width if layer else inputs, width), nn.ReLU(inplace=True)]
        super().__init__(*layers)


class SumOfRows(torch.autograd.Function):
    """Sums of rows of a table, by number: (B, S) int64 and (R, W) -> (B, W).

    It computes what `embedding_bag` does. The backward pass of that one adds single rows to the table, which takes most
    of the time of training; here it is one matrix product with rows of zeros and ones. A sum must not have a row twice.
    """

    @staticmethod
    def forward(ctx: Any, numbers: Tensor, table: Tensor) -> Tensor:
        """The sums."""
        ctx.save_for_backward(numbers)
        ctx.rows = len(table)
        return nn.functional.embedding_bag(numbers, table, mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        """The gradient of the table."""
        (numbers,), (gradient,) = ctx.saved_tensors, gradients
        chosen = gradient.new_zeros(len(numbers), ctx.rows).scatter_(1, numbers, 1.0)
        return None, chosen.t() @ gradient


class CountTrunk(nn.Module):
    """Counts (B, S) and other numbers (B, E) -> (B, width): a `CountEmbedding` and a `Trunk`, made for speed.

    A count's vector and the first layer's weights for its square are multiplied beforehand, once for all positions;
    the first layer's output is then a sum of rows of the product. That moves far less memory than looking vectors up,
    above all in the backward pass, and learns as fast; a table that learns each row by itself learns more slowly.

    `most` (S,) are the largest counts told apart in each column, at most `MAX_COUNT`; smaller ones train faster.
    `extra` is E, and `embed` how many numbers stand for a count.
    """

    __call__: Callable[..., Tensor]
    most: Tensor
    begins: Tensor
    told_apart: Tensor

    def __init__(self, most: Sequence[int], extra: int, *, embed: int, width: int, depth: int) -> None:
        super().__init__()
        self.table = nn.Embedding(MAX_COUNT + 1, embed)
        self.first = nn.Linear(len(most) * embed + extra, width)
        self.rest = Trunk(width, width, depth - 1)
        told_apart = torch.arange(MAX_COUNT + 1) <= torch.tensor(most)[:, None]
        lengths = told_apart.sum(dim=1)
        self.register_buffer("most", torch.tensor(most), persistent=False)
        self.register_buffer("begins", lengths.cumsum(0) - lengths, persistent=False)
        self.register_buffer("told_apart", told_apart.flatten().nonzero()[:, 0], persistent=False)

    def forward(self, counts: Tensor, extra: Tensor) -> Tensor:
        """(B, S) integers, negative and large ones clipped, and (B, E) -> (B, width)."""
        embed = self.table.embedding_dim
        split = counts.shape[1] * embed
        by_square = self.first.weight[:, :split].view(-1, counts.shape[1], embed)
        folded = torch.einsum("ce,hse->sch", self.table.weight, by_square).flatten(0, 1)[self.told_apart]
        numbers = torch.minimum(counts.long().clamp(min=0), self.most) + self.begins
        summed = SumOfRows.apply(numbers, folded)  # type: ignore[no-untyped-call]
        others = nn.functional.linear(extra.float(), self.first.weight[:, split:], self.first.bias)
        return self.rest(torch.relu(summed + others))
