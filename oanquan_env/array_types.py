"""Type aliases for arrays, and a function that chooses the best legal actions."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Index: TypeAlias = slice | npt.NDArray[np.intp] | npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]
Ints: TypeAlias = npt.NDArray[np.intp]
Floats: TypeAlias = npt.NDArray[np.float64]
Points: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]


def best_actions(values: npt.NDArray[np.floating], mask: Mask, rng: np.random.Generator) -> Ints:
    """Return (N,) intp: for each row of `values` (N, A), a best action that `mask` allows, drawn at random if tied."""
    best = np.where(mask, values, -np.inf)
    tied = best == best.max(axis=1, keepdims=True)
    choice: Ints = np.where(tied & mask, rng.random(values.shape), -1.0).argmax(axis=1)
    return choice
