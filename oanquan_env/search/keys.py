"""Keys of two-player positions in the tables of compiled searches, and their mirror images.

Keys are exact, so two positions are never confused. A side has 49 bits (6 counts and the stone). The other side's bits
are mixed by a permutation; the upper bits of the result are the index of the bucket.
"""

from oanquan_env.engine.compiled import compiled
from oanquan_env.engine.move import protects_mandarins
from oanquan_env.engine.positions import MANDARIN_BYTE
from oanquan_env.search.search_state import Memory, SearchRules

KEY_BITS = 49
KEY_MASK = (1 << KEY_BITS) - 1
_COUNTS = (1 << 48) - 1
_FIELD_BITS = (1 << 8 * MANDARIN_BYTE) - 1
_MIX_A, _MIX_B = 0x1D8E4E27C47D1, 0x1A1B5A1F2C3E9


@compiled
def side_key(side: int) -> int:
    """Return the 49 bits of a side that carry information."""
    return (side & _COUNTS) | (side >> 56 << 48)


@compiled
def marked(rules: SearchRules, own: int, plies_left: int) -> int:
    """Return the mover's side for use in keys, with impossible counts if its move may not capture a mandarin.

    The same board has another value later in the game, so its keys differ. `plies_left` counts plies after the move.
    """
    return own ^ _COUNTS if protects_mandarins(rules, 2, plies_left) else own


@compiled
def _mixed(key: int) -> int:
    """Apply a permutation of 49-bit numbers that spreads every bit over the upper bits."""
    key = (key * _MIX_A) & KEY_MASK
    key ^= key >> 27
    key = (key * _MIX_B) & KEY_MASK
    return key ^ key >> 25


@compiled
def table_place(memory: Memory, own_key: int, other: int) -> tuple[int, int]:
    """Return the index of a position's bucket, and the bits that, with `own_key`, identify the position there."""
    mixed = _mixed(side_key(other) ^ _mixed(own_key))
    rest_bits = KEY_BITS - memory.bucket_bits
    return mixed >> rest_bits, mixed & ((1 << rest_bits) - 1)


@compiled
def reversed_fields(side: int, fields: int) -> int:
    """Return the fields of a side in reverse order, without its mandarin square."""
    turned = (side & 0xFF) << 32 | (side & 0xFF00) << 16 | side & 0xFF0000 | side >> 16 & 0xFF00 | side >> 32 & 0xFF
    return turned >> 8 * (MANDARIN_BYTE - fields)


@compiled
def has_mirror(rules: SearchRules) -> bool:
    """Return whether both directions of sowing are allowed; a mirror image would reverse a single direction."""
    return rules.playable == (1 << 2 * rules.fields) - 1


@compiled
def mirror_image(rules: SearchRules, own: int, other: int) -> tuple[int, int]:
    """Return the sides of the mirror image (see `engine.symmetry`), or the same sides if sowing has one direction."""
    if not has_mirror(rules):
        return own, other
    own_mirrored = reversed_fields(own, rules.fields) | other & ~_FIELD_BITS
    return own_mirrored, reversed_fields(other, rules.fields) | own & ~_FIELD_BITS


@compiled
def canonical(rules: SearchRules, own: int, other: int) -> tuple[int, int]:
    """Return the smaller of a position and its mirror image, as defined by `engine.symmetry.canonical_sides`."""
    own_mirrored, other_mirrored = mirror_image(rules, own, other)
    if own_mirrored < own or (own_mirrored == own and other_mirrored < other):
        return own_mirrored, other_mirrored
    return own, other


@compiled
def is_symmetric(rules: SearchRules, own: int, other: int) -> bool:
    """Return whether a position and the directions of sowing equal their mirror image (see `engine.symmetry`)."""
    return has_mirror(rules) and mirror_image(rules, own, other) == (own, other)
