"""Play a move of one game, using only integers: a second implementation of `numpy_move`.

These are plain functions of integers, tuples and `RuleNumbers`. Python runs them for a single position. Numba compiles
the same functions for batches (`loops`), environments (`step`) and the search; LLVM turns them into WebAssembly. The
rules are implemented only twice: for batches in NumPy, and here. Tests compare the two.

`sides` are the four sides as words (see `positions`) in the order of play, mover first; `scores` are the players'
points. Unused sides are zero. Codes of squares are relative: they count sides from the mover. `players` is a separate
argument so that Numba can prune branches when it is constant. Functions choose the side of a square in place, because
an inlined function for it costs 7 % of the moves a second with four players.

No byte of a side overflows and byte 7 is 0 or 1, so a word is never negative and fits an int64. All other numbers
fit as well, except the product in `row_sum`; the bits read from it are the same if it wraps.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE, ZERO_BYTE, Termination, TurnEnd
from oanquan_env.engine.rules import LAP_LIMIT, MAX_SEEDS, Rules
from oanquan_env.engine.tables import (
    COUNT_STRIDE,
    DIRECTION_STRIDE,
    inline,
    origin_code,
    playable,
    shift_of,
    side_masks,
    sowings,
    walk_numbers,
    walks,
)

RUNNING, STONES_CAPTURED, SQUARES_EMPTY, FORFEIT, RESIGNED, MAX_PLIES, ENDLESS_RELAY, TOO_MANY_SEEDS = map(
    int, Termination
)
(NO_FURTHER_GAP, NOTHING_BEHIND, UNRIPE_MANDARIN, SEEDS_STAY, ONE_CAPTURE, MANDARIN_AHEAD, EMPTY_MANDARIN_AHEAD,
 NOT_COMPLETED) = range(len(TurnEnd))  # fmt: skip
NO_SQUARE = -1
"""Returned by `sow` instead of the code of a square if the relay is endless."""
SEATS = 4
"""The length of every tuple of sides, for any number of players."""
Four: TypeAlias = tuple[int, int, int, int]

LAP, CAPTURE, STOP, REFILL = range(4)
"""Kinds of steps. A step has four numbers (zero if unused): the kind, then for LAP the code of the square and the seeds
lifted; for CAPTURE the code of the gap and the seeds and stone captured behind it; for STOP the code of the last gap
and the reason, an index in `TurnEnd`; for REFILL the player, counted in turns after the mover."""
Steps: TypeAlias = list[tuple[int, int, int, int]]

_BYTE = 255
_SUM_BYTES = 0x0101010101010101
_EVEN_BYTES = 0x00FF00FF00FF


# ---- rules as numbers ------------------------------------------------------------------------------------------------


class Sowing(NamedTuple):
    """The words that a sowing adds to the first two sides, and the code of the square after the last seed."""

    a: int
    b: int
    code: int
    shift: int  # bit offset of that square's byte in its side


class Far(NamedTuple):
    """The words that a sowing adds to the third and fourth sides."""

    c: int
    d: int


class Walk(NamedTuple):
    """A gap and the squares behind it."""

    a: int  # `a` to `d` mask the gap's bytes in the four sides
    b: int
    c: int
    d: int
    behind: int  # code of the square behind the gap
    behind_mandarin: int  # 1 if it is a mandarin square
    next_gap: int  # code of the square after `behind`, the next gap of a chain


class RuleNumbers(NamedTuple):
    """Rules and their tables. Compiled functions take a record with the same fields (`compiled.record`)."""

    players: int  # `players` to `max_plies` are the fields of `Rules`; a named value is its index in `CHOICES`
    fields: int
    seeds: int
    stones: int
    stone_value: int
    mandarin_seeds: int
    sowing: int
    mandarin_ahead: int  # 1: `take_one`
    empty_mandarin: int  # 1: `gap`
    capture: int  # 1: `single`
    quan_non: int
    first_move_captures_mandarin: int
    mandarin_seeds_capturable: int
    refill: int  # 1: `forfeit`
    refill_when: int  # 1: `at_once`
    end: int  # 1: `squares_empty`
    leftovers: int  # 1: `split`
    mandarin_leftovers: int  # 1: `split`
    max_plies: int
    total: int  # points in the game
    field_bytes: int  # mask of the fields of a side
    unfinished: int  # mask of the bytes that are zero on all sides once a game is finished
    one_each: int  # the word that a refill adds to a side
    playable: int  # bit set of the actions that are legal if no field is empty
    origins: Sequence[int]  # code of the square that each action of the mover lifts
    walks: Sequence[Walk]  # indexed by the code of the gap
    sowings: Sequence[Sowing]  # indexed by `code * COUNT_STRIDE + count`
    far: Sequence[Far]  # indexed like `sowings`; empty for two players


@functools.lru_cache(maxsize=8)
def rule_numbers(rules: Rules) -> RuleNumbers:
    """Return `rules` as numbers, with their tables."""
    around = [Walk(0, 0, 0, 0, 0, 0, 0)] * (2 * DIRECTION_STRIDE)
    for gap, *walk in walks(rules.players, rules.fields, rules.numbers["empty_mandarin"]):
        around[gap] = Walk._make(walk_numbers(*walk))
    origins = [origin_code(action) for action in range(rules.actions)]
    return RuleNumbers._make([*plain_numbers(rules), origins, around, *_sowings(rules.players, rules.fields)])


def plain_numbers(rules: Rules) -> list[int]:
    """Return the fields of `RuleNumbers` that are no tables, in order."""
    numbers = rules.numbers
    masks = side_masks(rules.fields, numbers["end"])
    return [*numbers.values(), rules.total, *masks, playable(rules.fields, numbers["sowing"])]


def tables_of(rules: RuleNumbers) -> RuleNumbers:
    """Return what has the tables: `rules`, or the record to which compiled `rules` refer (`compiled.rule_table`)."""
    return rules


@functools.cache
def _sowings(players: int, fields: int) -> tuple[list[Sowing], list[Far]]:
    """Return `sowings` and `far`, the largest tables. All rules with the same board share them."""
    near = [Sowing(0, 0, 0, 0)] * (2 * DIRECTION_STRIDE * COUNT_STRIDE)
    far = [Far(0, 0)] * (len(near) if players > 2 else 0)
    for key, a, b, c, d, code in sowings(players, fields):
        near[key] = Sowing(a, b, code, shift_of(code))
        if players > 2:
            far[key] = Far(c, d)
    return near, far


# ---- a move ----------------------------------------------------------------------------------------------------------


class MoveResult(NamedTuple):
    """The position after a move, with the side and score of its player first, and the effects of the move."""

    sides: Four
    scores: Four
    captured: int  # points; refills and leftovers are not included
    laps: int
    ended: int  # RUNNING or another `Termination`


@inline
def can_play(rules: RuleNumbers, own: int, action: int) -> bool:
    """Return whether the mover, whose side is `own`, may play `action` (0 .. A-1) in a running game."""
    return (rules.playable >> action) & 1 != 0 and (own >> ((action >> 1) << 3)) & _BYTE != 0


@inline
def protects_mandarins(rules: RuleNumbers, players: int, plies_left: int) -> bool:
    """Return whether no stone can be captured because this is a player's first move; `plies_left` is as in `play`."""
    return rules.first_move_captures_mandarin == 0 and plies_left >= rules.max_plies - players


@inline
def play(
    rules: RuleNumbers, players: int, sides: Four, scores: Four, plies_left: int, action: int, steps: Steps | None
) -> MoveResult:
    """Play a legal action, then apply the end test and refill empty rows (docs/RULES.md 2 to 4).

    `plies_left` is the number of plies allowed after this one; if it is 0, this ply ends the game. The steps of the
    move are appended to `steps`, unless `steps` is None. A move that cannot be completed is undone and ends the game
    (ENDLESS_RELAY, TOO_MANY_SEEDS).
    """
    sown, code, laps = sow(rules, players, sides, action, steps)
    if code == NO_SQUARE:
        return MoveResult(sides, scores, 0, laps, ENDLESS_RELAY)
    left, captured = capture(rules, players, sown, code, plies_left, steps)
    a, b, c, d = left
    a_score, b_score, c_score, d_score = scores
    a_score += captured
    if (a | b | c | d) & rules.unfinished == 0:
        ended = STONES_CAPTURED + rules.end
    elif plies_left <= 0:
        ended = MAX_PLIES
    else:
        ended = RUNNING
        if b & rules.field_bytes == 0:
            b, b_score, ended = refill(rules, b, a, c, d, b_score, 1, steps)
        # Few rows are empty, so this order lets a processor guess the branch even if games have different rules
        if (players > 2 or a & rules.field_bytes == 0) and rules.refill_when:
            if players > 2 and c & rules.field_bytes == 0 and ended == RUNNING:
                c, c_score, ended = refill(rules, c, a, b, d, c_score, 2, steps)
            if players > 3 and d & rules.field_bytes == 0 and ended == RUNNING:
                d, d_score, ended = refill(rules, d, a, b, c, d_score, 3, steps)
            if a & rules.field_bytes == 0 and ended == RUNNING:
                a, a_score, ended = refill(rules, a, b, c, d, a_score, 0, steps)
        if ended == TOO_MANY_SEEDS:
            return MoveResult(sides, scores, 0, laps, ended)
    return MoveResult((a, b, c, d), (a_score, b_score, c_score, d_score), captured, laps, ended)


@inline
def end_of_setup(rules: RuleNumbers, players: int, sides: Four, scores: Four, plies_left: int) -> int:
    """Return the `Termination` of a position that was set up by hand; the mover's side and score come first.

    The first refill that is due decides whether the game is forfeited.
    """
    if (sides[0] | sides[1] | sides[2] | sides[3]) & rules.unfinished == 0:
        return STONES_CAPTURED + rules.end
    if plies_left <= 0:
        return MAX_PLIES
    for turn in range(players if rules.refill_when else 1):
        if sides[turn] & rules.field_bytes == 0:
            return FORFEIT if rules.refill and scores[turn] < rules.fields else RUNNING
    return RUNNING


@inline
def sow(rules: RuleNumbers, players: int, sides: Four, action: int, steps: Steps | None) -> tuple[Four, int, int]:
    """Sow and relay (docs/RULES.md 2.1, 2.2).

    Returns:
        The sides; the code of the square after the last seed, or NO_SQUARE after LAP_LIMIT laps; and the lap count.
    """
    a, b, c, d = sides
    tables = tables_of(rules)
    code = tables.origins[action]
    shift = (code & 7) << 3
    count = (a >> shift) & _BYTE
    a -= count << shift
    for lap in range(1, LAP_LIMIT + 1):
        if steps is not None:
            steps.append((LAP, code, count, 0))
        key = code * COUNT_STRIDE + count
        sowing = tables.sowings[key]
        a += sowing.a
        b += sowing.b
        if players > 2:
            far = tables.far[key]
            c += far.c
            d += far.d
        code = sowing.code
        shift = sowing.shift
        seat = code & 24
        side = a if seat == 0 else b if players == 2 or seat == 8 else c if players == 3 or seat == 16 else d
        count = (side >> shift) & _BYTE
        lifted = count
        if count == 0:
            if code & 7 != ZERO_BYTE or rules.mandarin_ahead == 0:
                return (a, b, c, d), code, lap
            shift -= 8  # from the byte that is always zero to the mandarin square's seeds
            if (side >> shift) & _BYTE == 0:
                return (a, b, c, d), code, lap
            code -= ZERO_BYTE - MANDARIN_BYTE
            count = lifted = 1
        lifted <<= shift
        if seat == 0:
            a -= lifted
        elif players == 2 or seat == 8:
            b -= lifted
        elif players == 3 or seat == 16:
            c -= lifted
        else:
            d -= lifted
    return (a, b, c, d), NO_SQUARE, LAP_LIMIT


@inline
def capture(
    rules: RuleNumbers, players: int, sides: Four, code: int, plies_left: int, steps: Steps | None
) -> tuple[Four, int]:
    """Capture behind the gap at `code` (docs/RULES.md 2.3, 2.4). Return the sides and the points captured."""
    a, b, c, d = sides
    points, tables = 0, tables_of(rules)
    first = rules.empty_mandarin == 0  # if so, only fields can be gaps, and `sow` never stops at a field with seeds
    while True:
        walk = tables.walks[code]
        in_gap = (a & walk.a) | (b & walk.b)
        if players > 2:
            in_gap |= (c & walk.c) | (d & walk.d)
        if in_gap != 0 and not first:
            reason = NO_FURTHER_GAP
            break
        first = False
        behind = walk.behind
        shift, seat = (behind & 7) << 3, behind & 24
        side = a if seat == 0 else b if players == 2 or seat == 8 else c if players == 3 or seat == 16 else d
        seeds, stone = (side >> shift) & _BYTE, 0
        reason = NOTHING_BEHIND
        if walk.behind_mandarin:
            stone = side >> 8 * STONE_BYTE
            if stone and (seeds < rules.quan_non or protects_mandarins(rules, players, plies_left)):
                reason = UNRIPE_MANDARIN
                break
            if seeds and not rules.mandarin_seeds_capturable:
                seeds, reason = 0, SEEDS_STAY
        if seeds + stone == 0:
            break
        points += seeds + stone * rules.stone_value
        if steps is not None:
            steps.append((CAPTURE, code, seeds, stone))
        captured = (seeds << shift) + (stone << 8 * STONE_BYTE)
        if seat == 0:
            a -= captured
        elif players == 2 or seat == 8:
            b -= captured
        elif players == 3 or seat == 16:
            c -= captured
        else:
            d -= captured
        if rules.capture:
            reason = ONE_CAPTURE
            break
        code = walk.next_gap
    if steps is not None:
        if code & 7 == ZERO_BYTE and reason <= NOTHING_BEHIND:
            seat = code & 24
            side = a if seat == 0 else b if players == 2 or seat == 8 else c if players == 3 or seat == 16 else d
            if side >> 8 * MANDARIN_BYTE != 0:
                reason = MANDARIN_AHEAD
            elif rules.empty_mandarin == 0:
                reason = EMPTY_MANDARIN_AHEAD
        steps.append((STOP, code, reason, 0))
    return (a, b, c, d), points


@inline
def refill(
    rules: RuleNumbers, side: int, second: int, third: int, fourth: int, score: int, turns: int, steps: Steps | None
) -> tuple[int, int, int]:
    """Refill the empty row of `side` (docs/RULES.md 3); its owner moves `turns` turns after the mover.

    Returns:
        The side; the owner's score; and RUNNING, FORFEIT, or TOO_MANY_SEEDS if a byte cannot hold the seeds in play.
    """
    if rules.refill and score < rules.fields:
        return side, score, FORFEIT
    side += rules.one_each
    if steps is not None:
        steps.append((REFILL, turns, 0, 0))
    sums = seed_pairs(side) + seed_pairs(second) + seed_pairs(third) + seed_pairs(fourth)
    in_play = (sums + (sums >> 16) + (sums >> 32)) & 0xFFFF
    return side, score - rules.fields, TOO_MANY_SEEDS if in_play > MAX_SEEDS else RUNNING


@inline
def seed_pairs(side: int) -> int:
    """Return a word of three 16-bit numbers; each is the sum of the seeds on two squares of a side."""
    return (side & _EVEN_BYTES) + ((side >> 8) & _EVEN_BYTES)


@inline
def row_sum(rules: RuleNumbers, side: int) -> int:
    """Return the number of seeds on the fields of a side."""
    return ((side & rules.field_bytes) * _SUM_BYTES >> 56) & _BYTE


@inline
def leftovers(rules: RuleNumbers, players: int, sides: Four, ended: int) -> Four:
    """Return the points that each player gets for the seeds left on the board at the end (docs/RULES.md 4)."""
    a, b, c, d = sides
    a_row, b_row, c_row, d_row = row_sum(rules, a), row_sum(rules, b), row_sum(rules, c), row_sum(rules, d)
    if rules.leftovers:
        a_row = b_row = c_row = d_row = (a_row + b_row + c_row + d_row) // players
    if rules.mandarin_leftovers and ended < MAX_PLIES:
        at = 8 * MANDARIN_BYTE
        share = (((a >> at) & _BYTE) + ((b >> at) & _BYTE) + ((c >> at) & _BYTE) + ((d >> at) & _BYTE)) // players
        a_row, b_row, c_row, d_row = a_row + share, b_row + share, c_row + share, d_row + share
    return a_row, b_row, c_row, d_row
