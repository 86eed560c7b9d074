"""One position at a time, compiled: the core's tables as one array of words, a move, a transposition table.

Everything here is seen from the mover: `own` and `other` are the two sides of a position as words (see
`oanquan_env.positions`), the mover's first; after a move they change places. A side's byte 7 is 0 or 1, so a word is
never negative and int64 serves throughout (Numba turns a mixture of int64 and uint64 into floats).

Values are future margins: points that the mover will win less those that the opponent will, refills and the leftovers
of a finished game included.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from oanquan_env import Core, Positions
from oanquan_env.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, ZERO_BYTE
from oanquan_env.rules import MAX_SEEDS
from oanquan_env.sowing import LAP_LIMIT
from oanquan_env.tables import COUNT_STRIDE, DIRECTION_STRIDE

Int64s: TypeAlias = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """`numba.njit` as this project uses it, with the function's type kept: cached on disk, running without the GIL."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled_recursion(signature: str) -> Callable[[Function], Function]:
    """`compiled` for a function that calls itself: without a signature its cached form would crash (numba #6061)."""
    return cast(Callable[[Function], Function], numba.njit(signature, cache=True, nogil=True, error_model="numpy"))


# ---- rules as one array ----------------------------------------------------------------------------------------------
# Compiled functions get one array of rules instead of a dozen: each array costs seven machine words at every call.

STONE_VALUE, QUAN_NON, SEEDS_STAY, EMPTY_GAP, SINGLE, TAKE_ONE, AT_ONCE, OWNER_LEFTOVERS = range(8)
FIELDS, FIELD_BYTES, UNFINISHED, REFILL, PLAYABLE = range(8, 13)
"""Places of single numbers and masks in the array; PLAYABLE has one bit for each action that a full row could play."""
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
seed, one unused."""

NO_SQUARE = -1
"""In place of the square where a sowing stopped: it never did, the relay is endless."""
RUNNING, OVER, RUNAWAY = range(3)
"""State of a game after a move. The core refuses a RUNAWAY game with RunawayGameError; what follows is not known."""

_BYTE = 255
_SUM_BYTES = 0x0101010101010101


def compile_rules(core: Core) -> Int64s:
    """The core's tables and rules as the array that compiled functions take.

    Raises:
        ValueError: for rules whose future margin is no function of the squares and the mover: more than two players,
            and refill=forfeit, under which the scores decide whether a game goes on.
    """
    rules, tables = core.rules, core.tables
    if rules.players != 2:
        raise ValueError(f"search is made for two players, not {rules.players}")
    if rules.refill == "forfeit":
        raise ValueError("search needs refill=borrow: under refill=forfeit a position's value depends on the scores")
    words = np.zeros(SOWINGS + len(tables.after) * SOWING_STRIDE, dtype=np.int64)
    layout = np.zeros((3, SIDE_BYTES), dtype=np.uint8)
    layout[0, : rules.fields] = _BYTE
    layout[1, STONE_BYTE] = _BYTE
    layout[1, MANDARIN_BYTE] = _BYTE * (rules.end == "squares_empty")
    layout[2, : rules.fields] = 1
    words[:13] = (
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
    return words


def mover_first(positions: Positions) -> Int64s:
    """(N, 2) sides of N two-player positions as words, the mover's first."""
    sides = positions.sides.view(np.int64)
    return np.take_along_axis(sides, np.stack([positions.mover, 1 - positions.mover], axis=1), axis=1)


# ---- a move ----------------------------------------------------------------------------------------------------------


@compiled
def can_play(rules: Int64s, own: int, action: int) -> bool:
    """Whether the mover may play `action`."""
    return (rules[PLAYABLE] >> action) & 1 != 0 and (own >> ((action >> 1) << 3)) & _BYTE != 0


@compiled
def play(rules: Int64s, own: int, other: int, action: int) -> tuple[int, int, int, int]:
    """Play a legal action: `Core.play` for one position.

    Returns:
        The next mover's side and the other's, ready to move; the margin that the mover won by it, refills and the
        leftovers of a finished game included; and RUNNING, OVER or RUNAWAY.
    """
    own, other, code = _sow(rules, own, other, action)
    if code == NO_SQUARE:
        return other, own, 0, RUNAWAY
    own, other, gain = _capture(rules, own, other, code)
    if (own | other) & rules[UNFINISHED] == 0:
        if rules[OWNER_LEFTOVERS]:  # an even split changes no margin
            gain += _row_sum(rules, own) - _row_sum(rules, other)
        return other, own, gain, OVER
    state = RUNNING
    if other & rules[FIELD_BYTES] == 0:
        other += rules[REFILL]
        gain += rules[FIELDS]
        state = _refilled_state(own, other)
    if rules[AT_ONCE] and own & rules[FIELD_BYTES] == 0:
        own += rules[REFILL]
        gain -= rules[FIELDS]
        state = max(state, _refilled_state(own, other))
    return other, own, gain, state


@compiled
def _sow(rules: Int64s, own: int, other: int, action: int) -> tuple[int, int, int]:
    """Sow and relay: both sides, and the code of the square where it stopped, or NO_SQUARE for an endless relay."""
    code = rules[ORIGINS + action]
    shift = (code & 7) << 3
    count = (own >> shift) & _BYTE
    own -= count << shift
    for _ in range(LAP_LIMIT):
        key = SOWINGS + (code * COUNT_STRIDE + count) * SOWING_STRIDE
        own += rules[key]
        other += rules[key + 1]
        code = rules[key + 2]
        shift = (code & 7) << 3
        count = ((other if code & SIDE_BYTES else own) >> shift) & _BYTE
        lifted = count
        if count == 0:
            if code & 7 != ZERO_BYTE or rules[TAKE_ONE] == 0:
                return own, other, code
            shift -= 8  # from the byte that is always zero to the mandarin square's seeds
            if ((other if code & SIDE_BYTES else own) >> shift) & _BYTE == 0:
                return own, other, code
            code -= ZERO_BYTE - MANDARIN_BYTE
            count = lifted = 1
        if code & SIDE_BYTES:
            other -= lifted << shift
        else:
            own -= lifted << shift
    return own, other, NO_SQUARE


@compiled
def _capture(rules: Int64s, own: int, other: int, code: int) -> tuple[int, int, int]:
    """Capture behind the gap of `code`: both sides, and the points captured."""
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


@compiled
def _row_sum(rules: Int64s, side: int) -> int:
    """Seeds on the fields of a side."""
    return int(((side & rules[FIELD_BYTES]) * _SUM_BYTES >> 56) & _BYTE)


@compiled
def _refilled_state(own: int, other: int) -> int:
    """RUNAWAY if more seeds are in play than the core allows, else RUNNING."""
    seeds = 0
    for byte in range(MANDARIN_BYTE + 1):
        seeds += ((own >> 8 * byte) & _BYTE) + ((other >> 8 * byte) & _BYTE)
    return RUNAWAY if seeds > MAX_SEEDS else RUNNING


def _drop_stale_caches(cache: Path) -> None:
    """Delete the compiled functions in `cache` that are older than the source of any of them.

    Numba compiles a function anew when its own file changes, but not when a function that it calls does.
    """
    indices = list(cache.glob("*.nbi"))
    sources = {Path(__file__).with_name(f"{index.name.partition('.')[0]}.py") for index in indices}
    newest = max((source.stat().st_mtime for source in sources if source.exists()), default=0.0)
    for index in indices:
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)


_drop_stale_caches(Path(cast(Any, play).stats.cache_path))
