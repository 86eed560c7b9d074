"""Names for the kinds of arrays that pass between modules, and the choice of the best action in arrays of values."""

from collections.abc import Mapping
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
    """(N,) intp, the legal action of highest value in each row of `values` (N, A), ties broken at random."""
    if len(values) == 1:
        row = values[0].tolist()
        return best_of_one({action: row[action] for action in mask[0].nonzero()[0].tolist()}, len(row), rng)
    best = np.where(mask, values, -np.inf)
    tied = best == best.max(axis=1, keepdims=True)
    choice: Ints = np.where(tied & mask, rng.random(values.shape), -1.0).argmax(axis=1)
    return choice


def best_of_one(values: Mapping[int, float], actions: int, rng: np.random.Generator) -> Ints:
    """(1,) intp, `best_actions` of one position by its legal actions' values, with the same draws in fewer steps."""
    draws = rng.random(actions).tolist()
    return np.array([max(values, key=lambda action: (values[action], draws[action]), default=0)], dtype=np.intp)
