"""Compute the gain of a move, the final points of a game, and the rewards of a ply; put players into the order of play.

Like `step`, these are plain functions that Numba compiles.
"""

from collections.abc import Sequence
from typing import Any

from oanquan_env.engine.move import RUNNING, Four, RuleNumbers, can_play, leftovers, play
from oanquan_env.engine.tables import inline

OUTCOME, MARGIN, MIXED = range(3)
"""Indices of the rewards in `oanquan_env.rewards.REWARDS`."""


# ---- order of play ---------------------------------------------------------------------------------------------------


@inline
def next_seat(players: int, seat: int) -> int:
    """Return the seat that moves after `seat`."""
    return seat + 1 if seat + 1 < players else 0


@inline
def in_turn(players: int, numbers: Any, first: int) -> Four:
    """Return the sides or scores of all players in the order of play from the seat `first`, padded with zeros."""
    second = next_seat(players, first)
    third = next_seat(players, second)
    # `+ 0` turns int32 into int64 under Numba, `int` turns NumPy's numbers into Python's
    a, b, c, d = int(numbers[first]) + 0, int(numbers[second]) + 0, 0, 0
    if players > 2:
        c = int(numbers[third]) + 0
    if players > 3:
        d = int(numbers[next_seat(players, third)]) + 0
    return a, b, c, d


@inline
def write_in_turn(players: int, numbers: Any, first: int, values: Four) -> None:
    """Write `values`, which are in the order of play from `first`, into `numbers`; the inverse of `in_turn`."""
    second = next_seat(players, first)
    third = next_seat(players, second)
    numbers[first], numbers[second] = values[0], values[1]
    if players > 2:
        numbers[third] = values[2]
    if players > 3:
        numbers[next_seat(players, third)] = values[3]


# ---- gains, final points and rewards ---------------------------------------------------------------------------------


@inline
def final_points(rules: RuleNumbers, players: int, sides: Any, scores: Any, ended: int) -> Four:
    """Return the points of all players from seat 0 on, with the leftovers if the game is over, padded with zeros."""
    points = in_turn(players, scores, 0)
    if ended == RUNNING:
        return points
    left = leftovers(rules, players, in_turn(players, sides, 0), ended)
    third, fourth = points[2] + left[2], points[3] + left[3]
    return points[0] + left[0], points[1] + left[1], third if players > 2 else 0, fourth if players > 3 else 0


@inline
def margin(players: int, points: Sequence[int], place: int) -> int:
    """Return (P - 1) * (points of the player at index `place` - mean points of the others), a whole number.

    The first four entries of `points` are the points of P players, padded with zeros.
    """
    return players * points[place] - (points[0] + points[1] + points[2] + points[3])


@inline
def gain(rules: RuleNumbers, players: int, sides: Four, scores: Four, plies_left: int, action: int) -> int:
    """Return the gain of a legal action times P - 1: the mover's new points minus the mean of the others' new points.

    The points include the refills that the action causes, and the leftovers if it ends the game.
    """
    moved = play(rules, players, sides, scores, plies_left, action, None)
    final = final_points(rules, players, moved.sides, moved.scores, moved.ended)
    return margin(players, final, 0) - margin(players, scores, 0)


@inline
def look_ahead(
    rules: RuleNumbers, players: int, sides: Four, scores: Four, plies_left: int, action: int
) -> tuple[int, int]:
    """Return the `gain` of a legal action, and the mover's total gain after the best reply, both times P - 1.

    The best reply has the largest gain for the next player; among equal replies, it is the worst one for the mover.
    """
    moved = play(rules, players, sides, scores, plies_left, action, None)
    final = final_points(rules, players, moved.sides, moved.scores, moved.ended)
    remains = won = margin(players, final, 0) - margin(players, scores, 0)
    if moved.ended == RUNNING:
        others, points = in_turn(players, moved.sides, 1), in_turn(players, moved.scores, 1)
        most = -(1 << 62)
        for reply in range(2 * rules.fields):
            if can_play(rules, others[0], reply):
                replied = play(rules, players, others, points, plies_left - 1, reply, None)
                final = final_points(rules, players, replied.sides, replied.scores, replied.ended)
                gained = margin(players, final, 0) - margin(players, points, 0)
                left = margin(players, final, players - 1) - margin(players, scores, 0)
                if gained > most or (gained == most and left < remains):
                    most, remains = gained, left
    return won, remains


@inline
def earn(rules: RuleNumbers, players: int, reward: int, points: Four, paid: Any, ended: int, rewards: Any) -> None:
    """Write the (P,) `rewards` of kind `reward` (see `oanquan_env.rewards`) for the change from `paid` to `points`."""
    best, winners = max(points[0], points[1]), 0
    if players > 2:
        best = max(best, points[2])
    if players > 3:
        best = max(best, points[3])
    for seat in range(players):
        winners += points[seat] == best
    before, decided = in_turn(players, paid, 0), ended != RUNNING and winners < players
    for seat in range(players):
        outcome = 0.0
        if decided:
            outcome = 1.0 / winners if points[seat] == best else -1.0 / (players - winners)
        won = (margin(players, points, seat) - margin(players, before, seat)) / (players - 1) / rules.total
        rewards[seat] = outcome if reward == OUTCOME else won if reward == MARGIN else (won + outcome) / 2
