"""Sums of rows of a table: the first layer of the networks, with a gradient that is quicker to compute than torch's."""

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, autograd, nn

from oanquan_env.engine.compiled import compiled

Float32s = npt.NDArray[np.float32]


class SumOfRows(autograd.Function):
    """Sums of rows of a table, by number: (B, S) int64 and (R, W) float32 -> (B, W), as `embedding_bag` computes them.

    On a processor the gradient is added up by a compiled loop, elsewhere by a matrix product with rows of zeros and
    ones. A sum must not have a row twice.
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
        if gradient.is_cpu:
            found = gradient.new_zeros(ctx.rows, gradient.shape[1])
            _add_rows(found.numpy(), numbers.numpy(), gradient.contiguous().numpy())
            return None, found
        chosen = gradient.new_zeros(len(numbers), ctx.rows).scatter_(1, numbers, 1.0)
        return None, chosen.t() @ gradient


@compiled
def _add_rows(table: Float32s, numbers: npt.NDArray[np.int64], rows: Float32s) -> None:
    """Add each of (B, W) rows to the rows of a table that have its numbers (B, S)."""
    for row in range(len(numbers)):
        for place in range(numbers.shape[1]):
            number = numbers[row, place]
            for column in range(rows.shape[1]):
                table[number, column] += rows[row, column]
