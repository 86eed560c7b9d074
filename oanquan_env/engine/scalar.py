"""The move of one game of two players in whole numbers, without arrays: the rules of `core` and `sowing` once more.

A batch of one pays NumPy's price of a call some fifty times a move; here a move is a few dozen operations on Python's
integers. These are plain functions of integers and of `RuleNumbers`, so that the compiled search can compile the very
same functions (`oanquan_env.search.compiled`). The rules are stated for a batch, here, and for three and four players
in `oanquan_env.search.many`, and nowhere else; tests compare them. `singles` carries positions here and back.

Everything is seen from the player who moves: `own` and `other` are the two sides as words (see `positions`), its
own first; they change places only where a function says so. No byte of a side overflows and its byte 7 is 0 or 1, so a
word is never negative and fits an int64, as does everything here but the product in `row_sum`, of which the bits that
count are the same whether it wraps or not.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE, Termination
from oanquan_env.engine.rules import MAX_SEEDS, Rules
from oanquan_env.engine.sowing import LAP_LIMIT
from oanquan_env.engine.tables import COUNT_STRIDE, Tables, build_tables, side_masks

RUNNING, FORFEIT, MAX_PLIES = int(Termination.RUNNING), int(Termination.FORFEIT), int(Termination.MAX_PLIES)
RUNAWAY = -1
"""In place of a `Termination`: `Core.play` refuses this game with RunawayGameError."""
NO_SQUARE = -1
"""In place of the square where a sowing stopped: it never did, the relay is endless."""

_BYTE = 255
_SUM_BYTES = 0x0101010101010101


# ---- rules as numbers ------------------------------------------------------------------------------------------------


class Sowing(NamedTuple):
    """What a sowing adds to the mover's side and to the other, and the code of the square after the last seed."""

    own: int
    other: int
    code: int
    shift: int  # how far that square's byte lies from a side's lowest, in bits


class Walk(NamedTuple):
    """What lies around a gap."""

    own: int
    other: int  # masks of both sides, zero where the gap is empty
    behind: int  # code of the square behind the gap
    behind_mandarin: int  # 1 if that is a mandarin square
    next_gap: int  # code of the square after that, over which a chain captures next


class RuleNumbers(NamedTuple):
    """Rules for two players and their tables. The compiled search has a record of the same fields."""

    stone_value: int
    quan_non: int
    seeds_stay: int
    empty_gap: int
    single: int
    take_one: int
    at_once: int
    owner_leftovers: int
    no_credit: int
    end: int  # The `Termination` of the end test
    fields: int
    field_bytes: int  # mask of the fields of a side
    unfinished: int  # mask of what must be empty on both sides of a finished game
    refill: int  # what a refill adds to a side
    playable: int  # one bit for each action that a full row could play
    origins: Sequence[int]  # code of the square that each action of the mover lifts
    walks: Sequence[Walk]  # by the code of the gap
    sowings: Sequence[Sowing]  # by `code * COUNT_STRIDE + count`


def plain_numbers(rules: Rules, tables: Tables) -> dict[str, int]:
    """The fields of `RuleNumbers` that are single numbers, for rules of any number of players."""
    field_bytes, unfinished, refill = side_masks(rules).view(np.int64).tolist()
    return {
        "stone_value": rules.stone_value,
        "quan_non": rules.quan_non,
        "seeds_stay": not rules.mandarin_seeds_capturable,
        "empty_gap": rules.empty_mandarin == "gap",
        "single": rules.capture == "single",
        "take_one": rules.mandarin_ahead == "take_one",
        "at_once": rules.refill_when == "at_once",
        "owner_leftovers": rules.leftovers == "owner",
        "no_credit": rules.refill == "forfeit",
        "end": int(Termination.STONES_CAPTURED if rules.end == "stones_captured" else Termination.SQUARES_EMPTY),
        "fields": rules.fields,
        "field_bytes": field_bytes,
        "unfinished": unfinished,
        "refill": refill,
        "playable": sum(1 << action for action in tables.legal[2**rules.fields - 1].nonzero()[0].tolist()),
    }


def gap_masks(tables: Tables, seats: int) -> npt.NDArray[np.int64]:
    """(codes, seats) masks of all sides, zero where the gap of a code is empty."""
    gaps = np.zeros((len(tables.next_gap), seats * SIDE_BYTES), dtype=np.uint8)
    for places in (tables.gap_seeds, tables.gap_stone):
        gaps[np.arange(len(gaps)), places] = _BYTE
    return gaps.view(np.int64)


@functools.lru_cache(maxsize=8)
def rule_numbers(rules: Rules) -> RuleNumbers:
    """The numbers of `rules` for two players."""
    tables = build_tables(rules)
    behind_mandarin = tables.behind_stone % SIDE_BYTES == STONE_BYTE
    walks = [*gap_masks(tables, 2).T, tables.behind_seeds, behind_mandarin.astype(np.int64), tables.next_gap]
    sowings = [*tables.increment.view(np.int64).T, tables.after, (tables.after & 7) << 3]
    return RuleNumbers(
        **plain_numbers(rules, tables),
        origins=tables.origin[: rules.actions].tolist(),
        walks=list(map(Walk._make, zip(*(column.tolist() for column in walks), strict=True))),
        sowings=list(map(Sowing._make, zip(*(column.tolist() for column in sowings), strict=True))),
    )


# ---- a move ----------------------------------------------------------------------------------------------------------


def can_play(rules: RuleNumbers, own: int, action: int) -> bool:
    """Whether the mover may play `action`, 0 .. A-1, in a running game."""
    return (rules.playable >> action) & 1 != 0 and (own >> ((action >> 1) << 3)) & _BYTE != 0


def play(
    rules: RuleNumbers, own: int, other: int, own_score: int, other_score: int, plies_left: int, action: int
) -> tuple[int, int, int, int, int, int, int]:
    """`Core.play` for one position and a legal action; `plies_left` after this ply, none of which ends the game."""
    own, other, code, laps = sow(rules, own, other, action)
    if code == NO_SQUARE:
        return own, other, own_score, other_score, 0, laps, RUNAWAY
    own, other, points = capture(rules, own, other, code)
    own_score += points
    if (own | other) & rules.unfinished == 0:
        return own, other, own_score, other_score, points, laps, rules.end
    if plies_left <= 0:
        return own, other, own_score, other_score, points, laps, MAX_PLIES
    ended = RUNNING
    if other & rules.field_bytes == 0:
        other, other_score, ended = refill(rules, other, own, other_score)
    if rules.at_once and own & rules.field_bytes == 0 and ended == RUNNING:
        own, own_score, ended = refill(rules, own, other, own_score)
    return own, other, own_score, other_score, points, laps, ended


def sow(rules: RuleNumbers, own: int, other: int, action: int) -> tuple[int, int, int, int]:
    """Sow and relay (docs/RULES.md 2.1, 2.2).

    Returns:
        Both sides; the code of the square where it stopped, or NO_SQUARE for an endless relay; and the laps.
    """
    code = rules.origins[action]
    shift = (code & 7) << 3
    count = (own >> shift) & _BYTE
    own -= count << shift
    for lap in range(1, LAP_LIMIT + 1):
        sowing = rules.sowings[code * COUNT_STRIDE + count]
        own += sowing.own
        other += sowing.other
        code = sowing.code
        shift = sowing.shift
        count = ((other if code & SIDE_BYTES else own) >> shift) & _BYTE
        lifted = count
        if count == 0:
            if code & 7 != ZERO_BYTE or rules.take_one == 0:
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


def capture(rules: RuleNumbers, own: int, other: int, code: int) -> tuple[int, int, int]:
    """Capture behind the gap of `code` (docs/RULES.md 2.3, 2.4): both sides, and the points captured."""
    points = 0
    first = rules.empty_gap == 0  # an empty field is known there, or a mandarin square that the tables stop at
    while True:
        walk = rules.walks[code]
        if not first and (own & walk.own) | (other & walk.other) != 0:
            return own, other, points
        first = False
        behind = walk.behind
        shift = (behind & 7) << 3
        side = other if behind & SIDE_BYTES else own
        seeds, stone = (side >> shift) & _BYTE, 0
        if walk.behind_mandarin:
            stone = side >> 8 * STONE_BYTE
            if stone and seeds < rules.quan_non:
                return own, other, points
            if rules.seeds_stay:
                seeds = 0
        if seeds + stone == 0:
            return own, other, points
        points += seeds + stone * rules.stone_value
        taken = (seeds << shift) + (stone << 8 * STONE_BYTE)
        if behind & SIDE_BYTES:
            other -= taken
        else:
            own -= taken
        if rules.single:
            return own, other, points
        code = walk.next_gap


def refill(rules: RuleNumbers, side: int, opposite: int, score: int) -> tuple[int, int, int]:
    """Refill the empty row of `side` (docs/RULES.md 3): the side, its player's score, and RUNNING, FORFEIT or RUNAWAY.

    RUNAWAY is for more seeds in play than the core allows.
    """
    if rules.no_credit and score < rules.fields:
        return side, score, FORFEIT
    side += rules.refill
    seeds = 0
    for byte in range(MANDARIN_BYTE + 1):
        seeds += ((side >> 8 * byte) & _BYTE) + ((opposite >> 8 * byte) & _BYTE)
    return side, score - rules.fields, RUNAWAY if seeds > MAX_SEEDS else RUNNING


def leftovers_margin(rules: RuleNumbers, own: int, other: int) -> int:
    """Points that the leftovers of a finished game win `own` more than `other`; an even split changes no margin."""
    return row_sum(rules, own) - row_sum(rules, other) if rules.owner_leftovers else 0


def row_sum(rules: RuleNumbers, side: int) -> int:
    """Seeds on the fields of a side."""
    return ((side & rules.field_bytes) * _SUM_BYTES >> 56) & _BYTE
