"""The move of `oanquan_env.engine.move`, compiled for max^n search: one position of any number of players at a time.

A position is seen from the mover: `sides` holds the players' sides as words, the mover's first and the others in the
order of play, and `scores` holds their points in the same order. Unused entries are zero.
"""

from collections.abc import MutableSequence, Sequence
from typing import TypeAlias, cast

import numpy as np

from oanquan_env.engine import move
from oanquan_env.engine.compiled import SHAPES, compiled, inlined, record, rule_record
from oanquan_env.engine.core import Core
from oanquan_env.engine.move import RUNNING, SEATS, Four, Move
from oanquan_env.search.leaf import add_net, evaluate
from oanquan_env.search.search_state import canonical
from oanquan_env.search.two_player import TWO_PLAYER_RULES, SearchRules, net_record
from oanquan_env.search.value_net import MULTIPLAYER_HIDDEN, ValueNet

NET_UNIT = 64
"""A net's values are rounded to multiples of 1 / NET_UNIT point, because comparing integers is exact and faster."""
Numbers: TypeAlias = MutableSequence[int]


MULTIPLAYER_RULES = record(SearchRules, **SHAPES, net=(net_record(SEATS, MULTIPLAYER_HIDDEN, SEATS),))
"""Data type of the rules for three and four players, with a net whose outputs are points that sum to zero."""


def compile_multiplayer(core: Core, net: ValueNet | None = None) -> SearchRules:
    """Return the record of the rules for compiled functions, for any number of players, with or without a net."""
    rules = core.rules
    numbers = rule_record(rules, TWO_PLAYER_RULES if rules.players == 2 else MULTIPLAYER_RULES)
    numbers.unit = 1
    if net is not None:
        numbers.unit = NET_UNIT
        add_net(numbers, net, NET_UNIT * (rules.players - 1) / rules.players)  # points that sum to zero
    return cast(SearchRules, numbers)


@compiled
def apply_move(rules: SearchRules, sides: Four, scores: Four, action: int, plies_left: int) -> Move:
    """Play a legal action as `move.play` does, and rotate the position so that the next mover comes first.

    The scores of a finished game include the leftovers.
    """
    if rules.players == 2:
        return _play(rules, 2, sides, scores, action, plies_left)
    if rules.players == 3:
        return _play(rules, 3, sides, scores, action, plies_left)
    return _play(rules, 4, sides, scores, action, plies_left)


@inlined
def _play(rules: SearchRules, players: int, sides: Four, scores: Four, action: int, plies_left: int) -> Move:
    moved = move.play(rules, players, sides, scores, plies_left, action, None)
    a, b, c, d = moved.scores
    if moved.ended != RUNNING:
        left = move.leftovers(rules, players, moved.sides, moved.ended)
        a, b, c, d = a + left[0], b + left[1], c + left[2], d + left[3]
    return Move(_turn(players, moved.sides), _turn(players, (a, b, c, d)), moved.captured, moved.laps, moved.ended)


@inlined
def _turn(players: int, numbers: Four) -> Four:
    """Move the first player's number behind the other players' numbers. Unused numbers become zero."""
    a, b, c, d = numbers
    if players == 2:
        return b, a, 0, 0
    if players == 3:
        return b, c, a, 0
    return b, c, d, a


@compiled
def add_expected(rules: SearchRules, sides: Numbers, points: Numbers) -> None:
    """Add the net's estimate of each player's future margin to `points`, in units of 1 / `rules.unit` points."""
    own, other = sides[0], sides[1]
    if rules.players == 2:
        own, other = canonical(rules, own, other)
    expected: Sequence[float] = evaluate(rules, (own, other, sides[2], sides[3]))
    for seat in range(len(expected)):
        points[seat] += int(np.rint(expected[seat]))
    if len(expected) == 1:  # with two players the net gives only the mover's margin
        points[1] -= int(np.rint(expected[0]))
