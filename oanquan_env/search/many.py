"""One position of three or four players at a time, compiled, in place: the move of `oanquan_env.engine.move`.

A position is seen from the mover: `sides` are the players' sides as words, the mover's first and the others in the
order of play, and `points` are their points, in the same order. There is room for four; a fourth side stays empty.
"""

from collections.abc import MutableSequence
from typing import TypeAlias, cast

import numpy as np

from oanquan_env.engine import move
from oanquan_env.engine.compiled import SHAPES, Int64s, compiled, inlined, record, rule_record
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, SEATS
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UnavailableError
from oanquan_env.search.compiled import OVER, SearchRules, net_record
from oanquan_env.search.leaf import add_net, evaluator
from oanquan_env.search.numpy_maxn import NET_UNIT
from oanquan_env.search.value_net import MANY_HIDDEN, ValueNet

Numbers: TypeAlias = MutableSequence[int]


class ManyRules(SearchRules):
    """Rules for three or four players, and a value net whose outputs are points that sum to zero, in parts."""

    unit: int  # how many parts of a point the points are counted in


RULES = record(ManyRules, **SHAPES, net=(net_record(SEATS, MANY_HIDDEN, SEATS),))

_evaluate = evaluator(RULES)


def compile_many(core: Core, net: ValueNet | None = None) -> ManyRules:
    """The record that compiled functions take for rules of three or four players, and a net at the leaves.

    Raises:
        UnavailableError: for two players, and for refill=forfeit, under which the scores decide whether a game goes on.
    """
    rules = core.rules
    if rules.players == 2:
        raise UnavailableError("compiled max^n is made for three and four players; for two there is alpha-beta")
    if rules.refill == "forfeit":
        raise UnavailableError("compiled search needs refill=borrow: under refill=forfeit values depend on the scores")
    found = rule_record(rules, RULES)
    found.unit = 1
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

    With no `plies_left` after this ply the game is over. Returns RUNNING or OVER; points hold the leftovers of
    a finished game.
    """
    if rules.players == 3:
        return _play(rules, 3, sides, points, action, plies_left)
    return _play(rules, 4, sides, points, action, plies_left)


@inlined
def _play(rules: ManyRules, players: int, sides: Numbers, points: Numbers, action: int, plies_left: int) -> int:
    before = sides[0], sides[1], sides[2], sides[3]
    moved = move.play(rules, players, before, (0, 0, 0, 0), plies_left, action, None)
    (_, b, c, d), (w, x, y, z), ended = moved.sides, moved.scores, RUNNING
    a = moved.sides[0]
    if moved.ended != RUNNING:
        left = move.leftovers(rules, players, moved.sides, moved.ended)
        w, x, y, z, ended = w + left[0], x + left[1], y + left[2], z + left[3], OVER
    own = points[0] + rules.unit * w
    points[0], points[1] = points[1] + rules.unit * x, points[2] + rules.unit * y
    sides[0], sides[1] = b, c
    if players == 3:
        sides[2], points[2] = a, own
    else:
        sides[2], points[2] = d, points[3] + rules.unit * z
        sides[3], points[3] = a, own
    return ended


# ---- a leaf ----------------------------------------------------------------------------------------------------------


@compiled
def add_expected(rules: ManyRules, sides: Numbers, points: Numbers) -> None:
    """Add to `points` the future points of all players by the net."""
    expected = _evaluate(rules, (sides[0], sides[1], sides[2], sides[3]))
    for seat in range(rules.players):
        points[seat] += int(np.rint(expected[seat]))
