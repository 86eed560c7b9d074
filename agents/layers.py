"""Layers that the networks share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

MAX_COUNT = 31
"""Counts above this are told apart no more; piles of more than 31 seeds are rare and all alike."""
POINTS_SCALE = 10.0
"""Points are divided by this before a network sees them, to be of the order of one."""
FORBIDDEN = -1e9
"""Logit of an illegal action: finite, so that no infinity reaches a gradient; its probability is exactly zero."""


class CountEmbedding(nn.Module):
    """Small integers (B, S) -> (B, S * width): a learned vector for each count, as play turns on exact counts."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(MAX_COUNT + 1, width)

    def forward(self, counts: Tensor) -> Tensor:
        """Embed; negative and large counts are clipped."""
        embedded: Tensor = self.table(counts.clamp(0, MAX_COUNT).long())
        return embedded.flatten(1)


class Trunk(nn.Sequential):
    """A stack of `depth` linear layers with ReLU.

    `use_bfloat16` makes its matrix products in that precision, which halves the time of training on processors that
    have instructions for it; weights, embeddings and heads stay float32.
    """

    def __init__(self, inputs: int, width: int, depth: int) -> None:
        layers: list[nn.Module] = []
        for layer in range(depth):
            layers += [nn.Linear(width if layer else inputs, width), nn.ReLU(inplace=True)]
        super().__init__(*layers)
        self.use_bfloat16 = False

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, inputs) -> (B, width)."""
        with torch.autocast(inputs.device.type, torch.bfloat16, enabled=self.use_bfloat16):
            for layer in self:
                inputs = layer(inputs)
        return inputs.float()


class CountTrunk(nn.Module):
    """Counts (B, S) and other numbers (B, E) -> (B, width): a `CountEmbedding` and a `Trunk`, made for speed.

    A count's vector and the first layer's weights for its square are multiplied beforehand, once for all positions;
    one-hot rows times the product are the first layer's output. That moves far less memory than looking vectors up,
    above all backwards, and learns as fast, which one-hot rows with weights of their own do not.
    """

    def __init__(self, counts: int, extra: int, *, embed: int, width: int, depth: int) -> None:
        super().__init__()
        self.table = nn.Embedding(MAX_COUNT + 1, embed)
        self.first = nn.Linear(counts * embed + extra, width)
        self.rest = Trunk(width, width, depth - 1)
        self.one_hot: Tensor
        self.register_buffer("one_hot", torch.eye(MAX_COUNT + 1), persistent=False)

    def forward(self, counts: Tensor, extra: Tensor) -> Tensor:
        """(B, S) integers, negative and large ones clipped, and (B, E) -> (B, width) float32."""
        dtype = torch.bfloat16 if self.rest.use_bfloat16 else torch.float32
        embed = self.table.embedding_dim
        split = counts.shape[1] * embed
        by_square = self.first.weight[:, :split].view(-1, counts.shape[1], embed)
        folded = torch.einsum("ce,hse->sch", self.table.weight, by_square).flatten(0, 1)
        rows = nn.functional.embedding(counts.clamp(0, MAX_COUNT).int(), self.one_hot.to(dtype)).flatten(1)
        of_extra = nn.functional.linear(
            extra.to(dtype), self.first.weight[:, split:].to(dtype), self.first.bias.to(dtype)
        )
        hidden: Tensor = self.rest(torch.relu(torch.addmm(of_extra, rows, folded.to(dtype))))
        return hidden
