"""One position of three or four players at a time, compiled: the rules of `core` and `sowing` once more, in place.

A position is seen from the mover: `sides` are the players' sides as words, the mover's first and the others in the
order of play, and `points` are their points, in the same order. There is room for four; a fourth side stays empty.
"""

from collections.abc import MutableSequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, STONE_BYTE, Positions
from oanquan_env.engine.rules import MAX_SEEDS
from oanquan_env.engine.scalar import NO_SQUARE, RUNAWAY, RUNNING, RuleNumbers, gap_masks, plain_numbers
from oanquan_env.engine.sowing import LAP_LIMIT
from oanquan_env.engine.tables import BYTE_MASK, COUNT_STRIDE, DIRECTION_STRIDE
from oanquan_env.errors import UnavailableError
from oanquan_env.search.compiled import OVER, Int64s, compiled, net_record, record, zeros
from oanquan_env.search.leaf import add_net, evaluator
from oanquan_env.search.numpy_maxn import NET_UNIT
from oanquan_env.search.value_net import MANY_HIDDEN, ValueNet

SEATS = 4
Numbers: TypeAlias = MutableSequence[int]
_BYTE = 255


class Sowing(Protocol):
    """What a sowing adds to each side, and the code of the square after the last seed."""

    sides: Numbers
    code: int


class Walk(Protocol):
    """What lies around a gap."""

    gap_seat: int
    gap: int  # mask of that side, zero where the gap is empty
    behind: int  # code of the square behind the gap
    behind_mandarin: int  # whether that is a mandarin square
    next_gap: int  # code of the square after that


class ManyRules(RuleNumbers):
    """Rules for three or four players, their tables, and a value net's weights."""

    players: int
    unit: int  # how many parts of a point the points are counted in
    has_net: int
    net: Any  # `net_record`; its outputs are points that sum to zero, in parts


RULES = record(
    ManyRules,
    origins=(np.int64, 2 * MANDARIN_BYTE),
    walks=(record(Walk), 2 * DIRECTION_STRIDE),
    sowings=(record(Sowing, sides=(np.int64, SEATS)), 2 * DIRECTION_STRIDE * COUNT_STRIDE),
    net=(net_record(SEATS, MANY_HIDDEN, SEATS),),
)

_evaluate = evaluator(RULES)


def compile_many(core: Core, net: ValueNet | None = None) -> ManyRules:
    """The record that compiled functions take for rules of three or four players, and a net at the leaves.

    Raises:
        UnavailableError: for two players, and for refill=forfeit, under which the scores decide whether a game goes on.
    """
    rules, tables = core.rules, core.tables
    if rules.players == 2:
        raise UnavailableError("compiled max^n is made for three and four players; for two there is alpha-beta")
    if rules.refill == "forfeit":
        raise UnavailableError("compiled search needs refill=borrow: under refill=forfeit values depend on the scores")
    found = zeros(RULES, 1)[0]
    for name, number in plain_numbers(rules, tables).items():
        found[name] = number
    found.players, found.unit = rules.players, 1
    found.origins[: rules.actions] = tables.origin[: rules.actions]
    walks, gaps = found.walks, gap_masks(tables, SEATS)
    walks["gap_seat"] = tables.gap_seeds // SIDE_BYTES
    walks["gap"] = gaps[np.arange(len(gaps)), walks["gap_seat"]]
    walks["behind"], walks["next_gap"] = tables.behind_seeds, tables.next_gap
    walks["behind_mandarin"] = tables.behind_stone % SIDE_BYTES == STONE_BYTE
    found.sowings["sides"][:, : rules.players] = tables.increment.view(np.int64)
    found.sowings["code"] = tables.after
    if net is not None:
        found.unit = NET_UNIT
        add_net(found, net, NET_UNIT * (rules.players - 1) / rules.players)  # margins times (P - 1) / P sum to zero
    return cast(ManyRules, found)


def mover_first(positions: Positions) -> Int64s:
    """(N, SEATS) sides of N positions as words, the mover's first, then in the order of play."""
    sides = np.zeros((len(positions), SEATS), dtype=np.int64)
    in_turn = positions.sides_in_turn().view(np.int64)
    sides[:, : in_turn.shape[1]] = in_turn
    return sides


# ---- a move ----------------------------------------------------------------------------------------------------------


@compiled
def play(rules: ManyRules, sides: Numbers, points: Numbers, action: int, plies_left: int) -> int:
    """Play a legal action in place, `Core.play` for one position, and turn it, so that the next mover comes first.

    With no `plies_left` after this ply the game is over. Returns RUNNING, OVER or RUNAWAY; points hold the leftovers of
    a finished game, but for what all get alike.
    """
    code = sow(rules, sides, action)
    state = RUNNING
    if code == NO_SQUARE:
        state = RUNAWAY
    else:
        points[0] += rules.unit * capture(rules, sides, code)
        if (sides[0] | sides[1] | sides[2] | sides[3]) & rules.unfinished == 0 or plies_left <= 0:
            state = OVER
            if rules.owner_leftovers:
                for seat in range(rules.players):
                    points[seat] += rules.unit * seeds(sides[seat] & rules.field_bytes)
        else:
            for offset in range(1, rules.players + 1 if rules.at_once else 2):
                seat = offset % rules.players
                if sides[seat] & rules.field_bytes == 0 and state == RUNNING:
                    sides[seat] += rules.refill
                    points[seat] -= rules.unit * rules.fields
                    if seeds(sides[0]) + seeds(sides[1]) + seeds(sides[2]) + seeds(sides[3]) > MAX_SEEDS:
                        state = RUNAWAY
    own, own_points = sides[0], points[0]
    for seat in range(rules.players - 1):
        sides[seat], points[seat] = sides[seat + 1], points[seat + 1]
    sides[rules.players - 1], points[rules.players - 1] = own, own_points
    return state


@compiled
def seeds(side: int) -> int:
    """Seeds on a side."""
    total = 0
    for byte in range(MANDARIN_BYTE + 1):
        total += (side >> 8 * byte) & _BYTE
    return total


@compiled
def sow(rules: ManyRules, sides: Numbers, action: int) -> int:
    """Sow and relay (docs/RULES.md 2.1, 2.2); returns the code of the square where it stopped, or NO_SQUARE."""
    code: int = rules.origins[action]
    seat = 0
    for _ in range(LAP_LIMIT + 1):
        shift = (code & 7) << 3
        count = (sides[seat] >> shift) & _BYTE
        if count == 0:
            return code
        sides[seat] -= count << shift
        sowing: Any = rules.sowings[code * COUNT_STRIDE + count]
        for to in range(SEATS):
            sides[to] += sowing.sides[to]
        code = sowing.code
        seat = (code & BYTE_MASK) >> 3
    return NO_SQUARE


@compiled
def capture(rules: ManyRules, sides: Numbers, code: int) -> int:
    """Capture behind the gap of `code` (docs/RULES.md 2.3, 2.4); returns the points captured."""
    points: int = 0
    first = rules.empty_gap == 0
    while True:
        walk: Any = rules.walks[code]
        if not first and sides[walk.gap_seat] & walk.gap != 0:
            return points
        first = False
        seat, shift = (walk.behind & BYTE_MASK) >> 3, (walk.behind & 7) << 3
        taken, stone = (sides[seat] >> shift) & _BYTE, 0
        if walk.behind_mandarin:
            stone = sides[seat] >> 8 * STONE_BYTE
            if stone and taken < rules.quan_non:
                return points
            if rules.seeds_stay:
                taken = 0
        if taken + stone == 0:
            return points
        points += taken + stone * rules.stone_value
        sides[seat] -= (taken << shift) + (stone << 8 * STONE_BYTE)
        if rules.single:
            return points
        code = walk.next_gap


# ---- a leaf ----------------------------------------------------------------------------------------------------------


@compiled
def add_expected(rules: ManyRules, sides: Numbers, points: Numbers) -> None:
    """Add to `points` the future points of all players by the net."""
    expected = _evaluate(rules, (sides[0], sides[1], sides[2], sides[3]))
    for seat in range(rules.players):
        points[seat] += int(np.rint(expected[seat]))
