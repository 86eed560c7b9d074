"""The two symmetries of the board, rotation by a seat and reflection, and keys that equivalent positions share.

Symmetries commute with play: the transformed action in the transformed position gives the transformed result.
"""

import hashlib
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Mask, Words
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE, Positions
from oanquan_env.engine.rules import Rules


def rotate_seats(positions: Positions, seats: int = 1) -> Positions:
    """Return the same games with each player moved on by `seats` seats; with two players, the default swaps the seats.

    This works for all rules. Actions stay the same, because fields are numbered from their owner's left.
    """
    players = positions.scores.shape[1]
    return Positions(
        squares=np.roll(positions.sides, seats, axis=1).view(np.uint8),
        scores=np.roll(positions.scores, seats, axis=1),
        mover=(positions.mover + seats) % players,
        ply=positions.ply.copy(),
        ended=positions.ended.copy(),
    )


def mirror(positions: Positions, rules: Rules) -> Positions:
    """Return mirrored positions for `rules.mirrored()`: each side's fields reversed and the mandarin squares exchanged.

    Raises `ValueError` for more than two players, because the order of turns would also be reversed.
    """
    if rules.players != 2:
        raise ValueError(
            f"only a two-player board can be mirrored: with {rules.players} players, turns would run backwards"
        )
    mirrored = positions.copy()
    mirrored.squares = np.ascontiguousarray(positions.squares[:, _mirrored_bytes(rules)])
    return mirrored


def _mirrored_bytes(rules: Rules) -> Ints:
    """Return (16,) indices: for each byte of the mirrored sides, the index of the byte to copy."""
    fields = [*range(rules.fields - 1, -1, -1), *range(rules.fields, MANDARIN_BYTE)]
    own, other = np.array(fields), np.array([MANDARIN_BYTE, ZERO_BYTE, STONE_BYTE])
    return np.concatenate([own, SIDE_BYTES + other, SIDE_BYTES + own, other])


def mirror_actions(actions: npt.ArrayLike, rules: Rules) -> Ints:
    """Return the (N,) actions of the same moves on the mirrored board: the field and the direction are reversed."""
    return rules.actions - 1 - np.asarray(actions, dtype=np.intp)


def canonical_sides(positions: Positions, rules: Rules) -> Words:
    """Return the (N, P) sides as words, the mover's first. Positions with the same continuations have equal sides.

    If the rules are symmetric, the result is the smaller of the board and its mirror image. The mover's sides are
    compared first, then the other player's.
    """
    sides = positions.sides_in_turn()
    if not rules.is_symmetric:
        return sides
    mirrored = np.ascontiguousarray(sides.view(np.uint8)[:, _mirrored_bytes(rules)]).view(np.uint64)
    (own, other), (own_mirrored, other_mirrored) = sides.T, mirrored.T
    smaller = (own_mirrored < own) | ((own_mirrored == own) & (other_mirrored < other))
    return np.where(smaller[:, None], mirrored, sides)


# ---- keys ------------------------------------------------------------------------------------------------------------

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
