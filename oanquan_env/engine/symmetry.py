"""The two symmetries of the board: rotation by a seat, and reflection.

Both commute with play: playing the transformed action in the transformed position gives the transformed result.
"""

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Ints, Words
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
