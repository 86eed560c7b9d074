"""One key for equivalent positions: seats turned to the mover's view, a board and its mirror image taken as one."""

import hashlib
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.symmetry import canonical_sides

Keys: TypeAlias = npt.NDArray[np.void]


def canonical_keys(core: Core, positions: Positions) -> Keys:
    """(N,) opaque keys, equal for two positions that play alike; the scores so far do not count.

    A key holds the words of `oanquan_env.engine.symmetry.canonical_sides`.
    """
    sides = np.ascontiguousarray(canonical_sides(positions, core.rules))
    return sides.view(np.dtype((np.void, 8 * sides.shape[1])))[:, 0]


def first_of_each(keys: Keys) -> Ints:
    """The rows in which a key occurs for the first time, ascending."""
    return np.sort(np.unique(keys, return_index=True)[1])


def key_hashes(keys: Keys) -> npt.NDArray[np.uint64]:
    """(N,) uint64, far faster to look up than keys; two keys share one by a chance of 1 in 2 ** 64."""
    words = keys.view(np.uint64).reshape(len(keys), keys.dtype.itemsize // 8)
    hashes = np.zeros(len(keys), dtype=np.uint64)
    for column in range(words.shape[1]):
        hashes = (hashes ^ words[:, column]) * np.uint64(0x9E3779B97F4A7C15)  # an odd number: nothing is lost
        hashes ^= hashes >> np.uint64(32)
    return hashes


def are_among(hashes: npt.NDArray[np.uint64], ascending: npt.NDArray[np.uint64]) -> Mask:
    """(N,) bool, whether each of N is among M ascending ones; `np.isin` would look at all M each time."""
    if not len(ascending):
        return np.zeros(len(hashes), dtype=bool)
    places = np.searchsorted(ascending, hashes).clip(max=len(ascending) - 1)
    return cast(Mask, ascending[places] == hashes)


def key_number(key: np.void) -> int:
    """A number from 0 to 2 ** 64 - 1 that depends on the key alone and is spread evenly."""
    return int.from_bytes(hashlib.sha256(key.tobytes()).digest()[:8], "big")
