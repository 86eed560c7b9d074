"""The move of one game of two players in whole numbers, without arrays: the rules of `core` and `sowing` once more.

A batch of one pays NumPy's price of a call some fifty times a move; here a move is a few dozen operations on Python's
integers. These are plain functions of integers and of one sequence of them, so that the compiled search can compile
the very same functions (`agents.search.compiled`): the rules are stated for a batch and for a single game, and nowhere
else. `singles` carries positions here and back.

Everything is seen from the player who moves: `own` and `other` are the two sides as words (see `positions`), its
own first; they change places only where a function says so. No byte of a side overflows and its byte 7 is 0 or 1, so a
word is never negative and fits an int64, as does everything here but the product in `row_sum`, of which the bits that
count are the same whether it wraps or not.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE, Termination
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.engine.sowing import LAP_LIMIT
from oanquan_env.engine.tables import COUNT_STRIDE, DIRECTION_STRIDE, Tables


class Words(Protocol):
    """What `rule_words` makes, as an array or as a list: whole numbers by their places."""

    def __getitem__(self, place: int, /) -> int:
        """The number at `place`."""
        ...


# ---- rules as one array ----------------------------------------------------------------------------------------------
# One array of rules instead of a dozen: compiled functions pay seven machine words for each array at every call.

STONE_VALUE, QUAN_NON, SEEDS_STAY, EMPTY_GAP, SINGLE, TAKE_ONE, AT_ONCE, OWNER_LEFTOVERS = range(8)
FIELDS, FIELD_BYTES, UNFINISHED, REFILL, PLAYABLE, NO_CREDIT, END = range(8, 15)
"""Places of single numbers and masks in the array; PLAYABLE has one bit for each action that a full row could play, and
END is the `Termination` of the end test."""
ORIGINS = 16
"""From ORIGINS on, code of the square that each action of the mover lifts."""
WALKS = 32
WALK_STRIDE = 8
GAP_OWN, GAP_OTHER, BEHIND_CODE, BEHIND_MANDARIN, NEXT_GAP = range(5)
"""From WALKS on, for each code of a gap: masks that are zero where the gap is empty; byte of the square behind it; 1 if
that is a mandarin square; code of the next gap."""
SOWINGS = WALKS + 2 * DIRECTION_STRIDE * WALK_STRIDE
SOWING_STRIDE = 4
"""From SOWINGS on, for each `code * 256 + count`: words to add to own and other side, code of the square after the last
seed, and how far its byte lies from a side's lowest, in bits."""

RUNNING, FORFEIT, MAX_PLIES = int(Termination.RUNNING), int(Termination.FORFEIT), int(Termination.MAX_PLIES)
RUNAWAY = -1
"""In place of a `Termination`: `Core.play` refuses this game with RunawayGameError."""
NO_SQUARE = -1
"""In place of the square where a sowing stopped: it never did, the relay is endless."""

_BYTE = 255
_SUM_BYTES = 0x0101010101010101


def rule_words(rules: Rules, tables: Tables) -> npt.NDArray[np.int64]:
    """Rules for two players and their tables as the array that the functions here take."""
    words = np.zeros(SOWINGS + len(tables.after) * SOWING_STRIDE, dtype=np.int64)
    layout = np.zeros((3, SIDE_BYTES), dtype=np.uint8)
    layout[0, : rules.fields] = _BYTE
    layout[1, STONE_BYTE] = _BYTE
    layout[1, MANDARIN_BYTE] = _BYTE * (rules.end == "squares_empty")
    layout[2, : rules.fields] = 1
    words[: END + 1] = (
        rules.stone_value,
        rules.quan_non,
        not rules.mandarin_seeds_capturable,
        rules.empty_mandarin == "gap",
        rules.capture == "single",
        rules.mandarin_ahead == "take_one",
        rules.refill_when == "at_once",
        rules.leftovers == "owner",
        rules.fields,
        *layout.view(np.int64)[:, 0].tolist(),
        sum(1 << action for action in tables.legal[2**rules.fields - 1].nonzero()[0].tolist()),
        rules.refill == "forfeit",
        Termination.STONES_CAPTURED if rules.end == "stones_captured" else Termination.SQUARES_EMPTY,
    )
    words[ORIGINS : ORIGINS + rules.actions] = tables.origin[: rules.actions]
    walks = words[WALKS:SOWINGS].reshape(-1, WALK_STRIDE)
    gaps = np.zeros((len(walks), 2 * SIDE_BYTES), dtype=np.uint8)
    codes = np.arange(len(walks))
    for places in (tables.gap_seeds, tables.gap_stone):
        gaps[codes, places] = _BYTE
    gaps[:, [ZERO_BYTE, SIDE_BYTES + ZERO_BYTE]] = 0
    walks[:, GAP_OWN : GAP_OTHER + 1] = gaps.view(np.int64)
    walks[:, BEHIND_CODE] = tables.behind_seeds
    walks[:, BEHIND_MANDARIN] = tables.behind_stone % SIDE_BYTES == STONE_BYTE
    walks[:, NEXT_GAP] = tables.next_gap
    sowings = words[SOWINGS:].reshape(-1, SOWING_STRIDE)
    sowings[:, :2] = tables.increment.view(np.int64)
    sowings[:, 2] = tables.after
    sowings[:, 3] = (sowings[:, 2] & 7) << 3
    return words


# ---- a move ----------------------------------------------------------------------------------------------------------


def can_play(rules: Words, own: int, action: int) -> bool:
    """Whether the mover may play `action`, 0 .. A-1, in a running game."""
    return (rules[PLAYABLE] >> action) & 1 != 0 and (own >> ((action >> 1) << 3)) & _BYTE != 0


def play(
    rules: Words, own: int, other: int, own_score: int, other_score: int, plies_left: int, action: int
) -> tuple[int, int, int, int, int, int, int]:
    """`Core.play` for one position and a legal action; `plies_left` after this ply, none of which ends the game.

    Returns:
        Both sides and both scores, still in that order; points captured, laps, and the `Termination`, or RUNAWAY where
        the game cannot go on from there.
    """
    own, other, code, laps = sow(rules, own, other, action)
    if code == NO_SQUARE:
        return own, other, own_score, other_score, 0, laps, RUNAWAY
    own, other, points = capture(rules, own, other, code)
    own_score += points
    if (own | other) & rules[UNFINISHED] == 0:
        return own, other, own_score, other_score, points, laps, rules[END]
    if plies_left <= 0:
        return own, other, own_score, other_score, points, laps, MAX_PLIES
    ended = RUNNING
    if other & rules[FIELD_BYTES] == 0:
        other, other_score, ended = refill(rules, other, own, other_score)
    if rules[AT_ONCE] and own & rules[FIELD_BYTES] == 0 and ended == RUNNING:
        own, own_score, ended = refill(rules, own, other, own_score)
    return own, other, own_score, other_score, points, laps, ended


def sow(rules: Words, own: int, other: int, action: int) -> tuple[int, int, int, int]:
    """Sow and relay (docs/RULES.md 2.1, 2.2).

    Returns:
        Both sides; the code of the square where it stopped, or NO_SQUARE for an endless relay; and the laps.
    """
    code = rules[ORIGINS + action]
    shift = (code & 7) << 3
    count = (own >> shift) & _BYTE
    own -= count << shift
    for lap in range(1, LAP_LIMIT + 1):
        key = SOWINGS + (code * COUNT_STRIDE + count) * SOWING_STRIDE
        own += rules[key]
        other += rules[key + 1]
        code = rules[key + 2]
        shift = rules[key + 3]
        count = ((other if code & SIDE_BYTES else own) >> shift) & _BYTE
        lifted = count
        if count == 0:
            if code & 7 != ZERO_BYTE or rules[TAKE_ONE] == 0:
                return own, other, code, lap
            shift -= 8  # from the byte that is always zero to the mandarin square's seeds
            if ((other if code & SIDE_BYTES else own) >> shift) & _BYTE == 0:
                return own, other, code, lap
            code -= ZERO_BYTE - MANDARIN_BYTE
            count = lifted = 1
        if code & SIDE_BYTES:
            other -= lifted << shift
        else:
            own -= lifted << shift
    return own, other, NO_SQUARE, LAP_LIMIT


def capture(rules: Words, own: int, other: int, code: int) -> tuple[int, int, int]:
    """Capture behind the gap of `code` (docs/RULES.md 2.3, 2.4): both sides, and the points captured."""
    points = 0
    first = rules[EMPTY_GAP] == 0  # an empty field is known there, or a mandarin square that the tables stop at
    while True:
        walk = WALKS + code * WALK_STRIDE
        if not first and (own & rules[walk + GAP_OWN]) | (other & rules[walk + GAP_OTHER]) != 0:
            return own, other, points
        first = False
        behind = rules[walk + BEHIND_CODE]
        shift = (behind & 7) << 3
        side = other if behind & SIDE_BYTES else own
        seeds, stone = (side >> shift) & _BYTE, 0
        if rules[walk + BEHIND_MANDARIN]:
            stone = side >> 8 * STONE_BYTE
            if stone and seeds < rules[QUAN_NON]:
                return own, other, points
            if rules[SEEDS_STAY]:
                seeds = 0
        if seeds + stone == 0:
            return own, other, points
        points += seeds + stone * rules[STONE_VALUE]
        taken = (seeds << shift) + (stone << 8 * STONE_BYTE)
        if behind & SIDE_BYTES:
            other -= taken
        else:
            own -= taken
        if rules[SINGLE]:
            return own, other, points
        code = rules[walk + NEXT_GAP]


def refill(rules: Words, side: int, opposite: int, score: int) -> tuple[int, int, int]:
    """Refill the empty row of `side` (docs/RULES.md 3): the side, its player's score, and RUNNING, FORFEIT or RUNAWAY.

    RUNAWAY is for more seeds in play than the core allows.
    """
    if rules[NO_CREDIT] and score < rules[FIELDS]:
        return side, score, FORFEIT
    side += rules[REFILL]
    seeds = 0
    for byte in range(MANDARIN_BYTE + 1):
        seeds += ((side >> 8 * byte) & _BYTE) + ((opposite >> 8 * byte) & _BYTE)
    return side, score - rules[FIELDS], RUNAWAY if seeds > MAX_SEEDS else RUNNING


def leftovers_margin(rules: Words, own: int, other: int) -> int:
    """Points that the leftovers of a finished game win `own` more than `other`; an even split changes no margin."""
    return row_sum(rules, own) - row_sum(rules, other) if rules[OWNER_LEFTOVERS] else 0


def row_sum(rules: Words, side: int) -> int:
    """Seeds on the fields of a side."""
    return ((side & rules[FIELD_BYTES]) * _SUM_BYTES >> 56) & _BYTE
