"""Keys of positions. Equivalent positions, such as the same position with the seats rotated, have equal keys."""

import hashlib
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import ZERO_BYTE, Positions
from oanquan_env.engine.symmetry import canonical_sides

Keys: TypeAlias = npt.NDArray[np.void]


def canonical_keys(core: Core, positions: Positions) -> Keys:
    """Return (N,) opaque keys, equal for positions with the same continuations; scores are ignored.

    A key is one row of `oanquan_env.engine.symmetry.canonical_sides`. If first moves may not capture a
    mandarin, the always-zero byte of the mover's side is instead 1 until every player has moved once.
    """
    sides = np.ascontiguousarray(canonical_sides(positions, core.rules))
    if not core.rules.first_move_captures_mandarin:
        sides.view(np.uint8)[positions.ply < core.rules.players, ZERO_BYTE] = 1
    return sides.view(np.dtype((np.void, 8 * sides.shape[1])))[:, 0]


def first_of_each(keys: Keys) -> Ints:
    """Return the (K,) rows, ascending, in which each of the K distinct keys first occurs."""
    return np.sort(np.unique(keys, return_index=True)[1])


def key_hashes(keys: Keys) -> npt.NDArray[np.uint64]:
    """Return (N,) uint64 hashes of keys, for faster look-ups; two different keys collide with probability 2 ** -64."""
    words = keys.view(np.uint64).reshape(len(keys), keys.dtype.itemsize // 8)
    hashes = np.zeros(len(keys), dtype=np.uint64)
    for column in range(words.shape[1]):
        hashes = (hashes ^ words[:, column]) * np.uint64(0x9E3779B97F4A7C15)  # an odd factor loses no bits
        hashes ^= hashes >> np.uint64(32)
    return hashes


def are_among(hashes: npt.NDArray[np.uint64], ascending: npt.NDArray[np.uint64]) -> Mask:
    """Return (N,) bool, whether each hash is in the sorted array `ascending`, without reading all of the array."""
    if not len(ascending):
        return np.zeros(len(hashes), dtype=bool)
    indices = np.searchsorted(ascending, hashes).clip(max=len(ascending) - 1)
    return cast(Mask, ascending[indices] == hashes)


def key_number(key: np.void) -> int:
    """Return an integer from 0 to 2 ** 64 - 1, uniformly distributed, that depends only on the key."""
    return int.from_bytes(hashlib.sha256(key.tobytes()).digest()[:8], "big")
