"""Compute the points of a match round and the fields that change hands (docs/RULES.md 6), in whole numbers.

A row of fields is a list of *marks*: 0 for the player's own field, 1 for the field sold first, 2 for the next; -1 for
the field pawned first, -2 for the next. A *side* is a word (see `oanquan_env.engine.positions`). South is player 0.
"""

from collections.abc import MutableSequence, Sequence
from typing import TypeAlias

from oanquan_env.engine.move import MAX_PLIES, RESIGNED, RuleNumbers, leftovers
from oanquan_env.engine.tables import inline

FIELD_PRICE = 10
"""The price of a field in points, for sale and for buying back."""
PAWN_PRICE = 5
"""The smallest remaining debt, in points, for which a field is pawned."""
NOBODY = -1
GOES_ON, FIELDS_SOLD, MAX_ROUNDS = range(3)
"""Whether a match is over, and why."""

Marks: TypeAlias = MutableSequence[int]


@inline
def settled_points(
    rules: RuleNumbers,
    south: int,
    north: int,
    south_score: int,
    north_score: int,
    mover: int,
    ended: int,
    marks: Sequence[Marks],
) -> tuple[int, int]:
    """Return South's and North's points of a finished round. `south` and `north` are the sides of its last position.

    Seeds on a sold field go to the other player; seeds on a pawned field are halved, and an odd seed goes to the player
    of the row. The rules divide the rest. A player that resigned keeps its score, up to one point below half the total.
    """
    if ended == RESIGNED:
        points = min(north_score if mover else south_score, rules.total // 2 - 1)
        return (rules.total - points, points) if mover else (points, rules.total - points)
    south, south_own, south_lost = _without_dealt(rules.fields, south, marks[0])
    north, north_own, north_lost = _without_dealt(rules.fields, north, marks[1])
    south_rest, north_rest, _, _ = leftovers(rules, 2, (south, north, 0, 0), ended)
    return south_score + south_rest + south_own + north_lost, north_score + north_rest + north_own + south_lost


@inline
def _without_dealt(fields: int, side: int, marks: Marks) -> tuple[int, int, int]:
    """Return `side` without the seeds on sold and pawned fields, and how many of those its player keeps and loses."""
    own = lost = 0
    for field in range(fields):
        if marks[field]:
            seeds = (side >> 8 * field) & 255
            side -= seeds << 8 * field
            away = seeds if marks[field] > 0 else seeds // 2
            own, lost = own + seeds - away, lost + away
    return side, own, lost


@inline
def round_winner(south: int, north: int, ended: int) -> int:
    """Return the player with more points, or NOBODY for a tie or a truncated round."""
    if south == north or ended >= MAX_PLIES:
        return NOBODY
    return 1 if north > south else 0


@inline
def debt(winner: int, loser: int, half: int, by_margin: int) -> int:
    """Return the debt of the loser in points, at least 0. `winner` and `loser` are the two players' final points.

    `half` is half of all points (35 by default); `by_margin` is 1 if `match_measure` is `margin`, otherwise 0.
    """
    return winner - loser if by_margin else max(0, min(half - loser, winner - half))


@inline
def change_hands(fields: int, half: int, by_margin: int, south: int, north: int, marks: Sequence[Marks]) -> int:
    """Change `marks` in place after a round that was neither drawn nor truncated, given its points; return the debt.

    First the winner buys back fields for the margin, then the loser sells and pawns fields for the debt; see `debt`.
    """
    winner = 1 if north > south else 0
    most, least = max(south, north), min(south, north)
    _buy_back(fields, (most - least) // FIELD_PRICE, marks[winner])
    owed = debt(most, least, half, by_margin)
    _give_up(fields, owed, marks[1 - winner])
    return owed


@inline
def _buy_back(fields: int, count: int, marks: Marks) -> None:
    """Give `count` fields back to their player: the most recently pawned fields first, then the most recently sold."""
    for _ in range(count):
        lowest = highest = 0
        for field in range(fields):
            if marks[field] < marks[lowest]:
                lowest = field
            if marks[field] > marks[highest]:
                highest = field
        marks[lowest if marks[lowest] < 0 else highest] = 0


@inline
def _give_up(fields: int, owed: int, marks: Marks) -> None:
    """Sell the leftmost unsold field for each 10 points of `owed`; pawn the leftmost own field if 5-9 points remain."""
    lowest = highest = 0
    for field in range(fields):
        lowest, highest = min(lowest, marks[field]), max(highest, marks[field])
    sales, rest = owed // FIELD_PRICE, owed % FIELD_PRICE
    for field in range(fields):
        if marks[field] <= 0 and sales > 0:
            highest, sales = highest + 1, sales - 1
            marks[field] = highest
        elif marks[field] == 0 and rest >= PAWN_PRICE:
            marks[field], rest = lowest - 1, 0


@inline
def match_end(
    fields: int, fields_to_lose: int, max_rounds: int, rounds: int, marks: Sequence[Marks]
) -> tuple[int, int]:
    """Return GOES_ON, FIELDS_SOLD or MAX_ROUNDS after `rounds` rounds, and the winner of the match or NOBODY."""
    for player in range(2):
        sold = 0
        for field in range(fields):
            sold += 1 if marks[player][field] > 0 else 0
        if sold >= fields_to_lose:
            return FIELDS_SOLD, 1 - player
    return MAX_ROUNDS if rounds >= max_rounds else GOES_ON, NOBODY


@inline
def next_starter(starter: int, winner: int) -> int:
    """Return the next starter: the loser, or after a draw the player that did not start."""
    return 1 - (starter if winner == NOBODY else winner)
