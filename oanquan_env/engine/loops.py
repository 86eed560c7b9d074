"""What `Core` does with batches, as compiled loops over `move`: the same results as NumPy's, to the bit.

Loops know no errors: they return the row of the first fault, and `Core` lets NumPy raise it. Shapes: N positions, P
players, A actions, M rows that are played. Sides are int64.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Bytes, Ints, Mask, Points
from oanquan_env.engine.compiled import Int64s, compiled, inlined
from oanquan_env.engine.move import RUNAWAY, RUNNING, RuleNumbers, can_play, leftovers, play

NO_FAULT = -1
Plies = npt.NDArray[np.int32]


class Loops(NamedTuple):
    """The loops for one number of players."""

    play: Any
    expand: Any
    mask: Any
    standings: Any


@inlined
def next_seat(players: int, seat: int) -> int:
    """The seat that plays after `seat`."""
    return seat + 1 if seat + 1 < players else 0


@inlined
def in_turn(players: int, numbers: Any, row: int, mover: int) -> tuple[int, int, int, int]:
    """Sides or scores of a row of (N, P), the mover's first, then in the order of play; zero for those that lack."""
    second = next_seat(players, mover)
    third = next_seat(players, second)
    a, b, c, d = numbers[row, mover] + 0, numbers[row, second] + 0, 0, 0  # `+ 0`: int64, whatever the array holds
    if players > 2:
        c = numbers[row, third] + 0
    if players > 3:
        d = numbers[row, next_seat(players, third)] + 0
    return a, b, c, d


@inlined
def write_in_turn(players: int, numbers: Any, row: int, mover: int, values: tuple[int, int, int, int]) -> None:
    """The opposite of `in_turn`."""
    second = next_seat(players, mover)
    third = next_seat(players, second)
    numbers[row, mover], numbers[row, second] = values[0], values[1]
    if players > 2:
        numbers[row, third] = values[2]
    if players > 3:
        numbers[row, next_seat(players, third)] = values[3]


@functools.cache
def loops(players: int) -> Loops:
    """The loops for a number of players, each of which is compiled when it first runs."""

    @compiled
    def play_rows(
        rules: RuleNumbers,
        sides: Int64s,
        scores: Points,
        mover: Ints,
        ply: Plies,
        ended: Bytes,
        rows: Ints | None,
        actions: Int64s,
        checked: bool,
        effects: Points,
    ) -> int:
        """`Core.play`: writes (2, M) points captured and laps; returns the first row that cannot be played, or -1."""
        count = len(actions)
        for index in range(count):
            row, action = index if rows is None else rows[index], actions[index]
            if action < 0 or action >= 2 * rules.fields:
                return index
            if checked and (ended[row] != RUNNING or not can_play(rules, sides[row, mover[row]], action)):
                return index
        before = np.empty((count, 2 * players + 1), np.int64)
        for index in range(count):
            row = index if rows is None else rows[index]
            seat = mover[row]
            before[index, 2 * players] = ended[row]
            for place in range(players):
                before[index, place], before[index, players + place] = sides[row, place], scores[row, place]
            a, b, c, d = in_turn(players, sides, row, seat)
            w, x, y, z = in_turn(players, scores, row, seat)
            left = rules.max_plies - ply[row] - 1
            a, b, c, d, w, x, y, z, captured, laps, end = play(
                rules, players, a, b, c, d, w, x, y, z, left, actions[index], None
            )
            if end == RUNAWAY:
                for undone in range(index):
                    row = undone if rows is None else rows[undone]
                    for place in range(players):
                        sides[row, place], scores[row, place] = before[undone, place], before[undone, players + place]
                    mover[row] = mover[row] - 1 if mover[row] > 0 else players - 1
                    ply[row] -= 1
                    ended[row] = before[undone, 2 * players]
                return index
            write_in_turn(players, sides, row, seat, (a, b, c, d))
            write_in_turn(players, scores, row, seat, (w, x, y, z))
            mover[row] = next_seat(players, seat)
            ply[row] += 1
            ended[row] = end
            effects[0, index], effects[1, index] = captured, laps
        return NO_FAULT

    @compiled
    def expand(
        rules: RuleNumbers, sides: Int64s, scores: Points, mover: Ints, ply: Plies, ended: Bytes
    ) -> tuple[int, Int64s, Points, Ints, Plies, Bytes, Ints, Ints]:
        """`Core.expand`: the first position with a runaway, or -1; the arrays of `Positions`; rows and actions."""
        count = 0
        for row in range(len(mover)):
            for action in range(2 * rules.fields):
                count += ended[row] == RUNNING and can_play(rules, sides[row, mover[row]], action)
        new_sides, new_scores = np.empty((count, players), np.int64), np.empty((count, players), np.int32)
        new_mover, rows, actions = np.empty(count, np.intp), np.empty(count, np.intp), np.empty(count, np.intp)
        new_ply, new_ended = np.empty(count, np.int32), np.empty(count, np.uint8)
        fault, index = NO_FAULT, 0
        for row in range(len(mover)):
            if ended[row] != RUNNING:
                continue
            seat = mover[row]
            a, b, c, d = in_turn(players, sides, row, seat)
            w, x, y, z = in_turn(players, scores, row, seat)
            left = rules.max_plies - ply[row] - 1
            for action in range(2 * rules.fields):
                if can_play(rules, a, action):
                    e, f, g, h, s, t, u, v, _, _, end = play(rules, players, a, b, c, d, w, x, y, z, left, action, None)
                    if end == RUNAWAY and fault == NO_FAULT:
                        fault = row
                    write_in_turn(players, new_sides, index, seat, (e, f, g, h))
                    write_in_turn(players, new_scores, index, seat, (s, t, u, v))
                    new_mover[index], new_ply[index], new_ended[index] = next_seat(players, seat), ply[row] + 1, end
                    rows[index], actions[index] = row, action
                    index += 1
        return fault, new_sides, new_scores, new_mover, new_ply, new_ended, rows, actions

    @compiled
    def mask(rules: RuleNumbers, sides: Int64s, mover: Ints, ended: Bytes) -> Mask:
        """`Core.legal_mask`."""
        legal = np.empty((len(mover), 2 * rules.fields), np.bool_)
        for row in range(len(mover)):
            own: Any = sides[row, mover[row]] if ended[row] == RUNNING else 0
            for action in range(2 * rules.fields):
                legal[row, action] = can_play(rules, own, action)
        return legal

    @compiled
    def standings(rules: RuleNumbers, sides: Int64s, scores: Points, ended: Bytes) -> Points:
        """`Core.standings`."""
        points = scores.copy()
        for row in range(len(ended)):
            if ended[row] != RUNNING:
                a, b, c, d = in_turn(players, sides, row, 0)
                left = leftovers(rules, players, a, b, c, d, ended[row] + 0)
                for place in range(players):
                    points[row, place] += left[place]
        return points

    return Loops(play_rows, expand, mask, standings)
