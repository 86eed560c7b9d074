"""The step of N games as compiled loops, for `OpponentGames`: what it does by NumPy, with the same results.

Shapes: N games, P players, A actions, D numbers of an observation. Outputs are arrays that the caller gives.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Bytes, Floats, Ints, Mask, Points
from oanquan_env.engine.compiled import Int64s, compiled, inlined
from oanquan_env.engine.loops import NO_FAULT, Plies, in_turn, next_seat, write_in_turn
from oanquan_env.engine.move import MAX_PLIES, RUNAWAY, RUNNING, RuleNumbers, can_play, leftovers, play
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE, Termination

ILLEGAL_ACTION = len(Termination)
OUTCOME, MARGIN, MIXED = range(3)
_BYTE = 255


class State(NamedTuple):
    """The games, all arrays of which are changed in place."""

    sides: Int64s  # (N, P)
    scores: Points  # (N, P)
    mover: Ints  # and so on: (N,), as in `Positions`
    ply: Plies
    ended: Bytes
    seats: Ints
    illegal: Mask
    over: Mask  # as of the step before, until `finish` writes it
    paid: Points  # (N, P)


class Outputs(NamedTuple):
    """What a step returns of N games."""

    observation: npt.NDArray[np.int32]  # (N, D)
    rewards: Floats
    terminated: Mask
    truncated: Mask
    mask: Mask  # (N, A)
    termination: Int64s  # of games that are over, as the next; zero elsewhere
    standings: Points  # (N, P)


def outputs(n: int, size: int, actions: int, players: int) -> Outputs:
    """New arrays for the outputs of a step."""
    flags = np.empty((2, n), dtype=np.bool_)
    observation, mask = np.empty((n, size), dtype=np.int32), np.empty((n, actions), dtype=np.bool_)
    standings = np.empty((n, players), dtype=np.int32)
    return Outputs(observation, np.empty(n), flags[0], flags[1], mask, np.empty(n, dtype=np.int64), standings)


class StepLoops(NamedTuple):
    """The loops for one number of players."""

    begin: Any
    finish: Any


@inlined
def outcome(players: int, points: tuple[int, int, int, int], seat: int) -> float:
    """The outcome of a finished game for a seat, as `rewards` has it."""
    best, winners = max(points[0], points[1]), 0
    if players > 2:
        best = max(best, points[2])
    if players > 3:
        best = max(best, points[3])
    for place in range(players):
        winners += points[place] == best
    if winners == players:
        return 0.0
    return 1.0 / winners if points[seat] == best else -1.0 / (players - winners)


@functools.cache
def step_loops(players: int) -> StepLoops:
    """The loops for a number of players, each of which is compiled when it first runs."""

    @compiled
    def finish(rules: RuleNumbers, state: State, out: Outputs, self_play: bool, reward: int) -> int:
        """Pay, look and note which games are over; returns how many."""
        sides, scores, mover, ply, ended, seats, illegal, over, paid = state
        observation, rewards, terminated, truncated, mask, termination, standings = out
        fields, finished = rules.fields, 0
        for row in range(len(mover)):
            end, wrong, due = ended[row] + 0, illegal[row], not over[row]
            is_over = wrong or end != RUNNING
            a, b, c, d = in_turn(players, sides, row, 0)
            w, x, y, z = in_turn(players, scores, row, 0)
            if end != RUNNING:
                left = leftovers(rules, players, a, b, c, d, end)
                w, x, y, z = w + left[0], x + left[1], y + left[2], z + left[3]
            points = (w, x, y, z)
            paying, seat = 0.0, seats[row]
            if due and wrong:
                paying = -1.0
            elif due and (reward != OUTCOME or is_over):
                if reward != OUTCOME:
                    own, together = 0, 0
                    for place in range(players):
                        won = points[place] - paid[row, place]
                        together += won
                        if place == seat:
                            own = won
                    paying = (own * players - together) / (players - 1) / rules.total
                if reward != MARGIN:
                    won_game = outcome(players, points, seat) if end != RUNNING else 0.0
                    paying = won_game if reward == OUTCOME else (paying + won_game) / 2
            rewards[row] = paying
            for place in range(players):
                if due:
                    paid[row, place] = scores[row, place]
                standings[row, place] = points[place] if is_over else 0
            over[row], truncated[row] = is_over, end == MAX_PLIES
            terminated[row] = is_over and end != MAX_PLIES
            termination[row] = ILLEGAL_ACTION if wrong else end
            finished += is_over
            own_side = sides[row, mover[row]] if not is_over else 0
            for action in range(2 * fields):
                mask[row, action] = can_play(rules, own_side, action)
            viewer = mover[row] if self_play else seats[row]
            turn, shown = 0, viewer
            for place in range(players):
                side, at = sides[row, shown], place * (fields + 1)
                for field in range(fields):
                    observation[row, at + field] = (side >> 8 * field) & _BYTE
                observation[row, at + fields] = (side >> 8 * MANDARIN_BYTE) & _BYTE
                observation[row, players * (fields + 1) + place] = side >> 8 * STONE_BYTE
                observation[row, players * (fields + 2) + place] = scores[row, shown]
                if shown == mover[row]:
                    turn = place
                shown = next_seat(players, shown)
            observation[row, players * (fields + 3)] = turn
            observation[row, players * (fields + 3) + 1] = rules.max_plies - ply[row]
        return finished

    @compiled
    def begin(
        rules: RuleNumbers,
        state: State,
        actions: Int64s,
        restart: Ints,
        fresh: Int64s,
        out: Outputs,
        self_play: bool,
        reward: int,
    ) -> int:
        """Play the agent's actions and restart games; with `self_play`, finish the step as well.

        `restart` are rows, and `fresh` (K, 2P + 3) their new sides, scores, mover, ply and seat; K is 1 for all of
        them. Returns the games that are over with `self_play`, 0 without; or -1, and nothing is changed, where NumPy is
        to raise an error.
        """
        sides, scores, mover, ply, ended, seats, illegal, over, _ = state
        for row in range(len(mover)):
            if actions[row] < 0 or actions[row] >= 2 * rules.fields:
                return NO_FAULT
        kept = sides.copy(), scores.copy(), mover.copy(), ply.copy(), ended.copy(), seats.copy(), illegal.copy()
        for row in range(len(mover)):
            seat = mover[row]
            if self_play:
                seats[row] = seat
            if over[row]:
                continue
            if not can_play(rules, sides[row, seat], actions[row]):
                illegal[row] = True
                continue
            a, b, c, d = in_turn(players, sides, row, seat)
            w, x, y, z = in_turn(players, scores, row, seat)
            left = rules.max_plies - ply[row] - 1
            a, b, c, d, w, x, y, z, _, _, end = play(
                rules, players, a, b, c, d, w, x, y, z, left, actions[row], None
            )
            if end == RUNAWAY:
                sides[:], scores[:], mover[:], ply[:], ended[:], seats[:], illegal[:] = kept
                return NO_FAULT
            write_in_turn(players, sides, row, seat, (a, b, c, d))
            write_in_turn(players, scores, row, seat, (w, x, y, z))
            mover[row] = next_seat(players, seat)
            ply[row] += 1
            ended[row] = end
        for index in range(len(restart)):
            row, new = restart[index], fresh[index if len(fresh) > 1 else 0]
            for place in range(players):
                sides[row, place], scores[row, place] = new[place], new[players + place]
                state.paid[row, place] = new[players + place]
            mover[row], ply[row], seats[row] = new[2 * players], new[2 * players + 1], new[2 * players + 2]
            ended[row], illegal[row] = RUNNING, False
        if self_play:
            return finish(rules, state, out, self_play, reward)
        return 0

    return StepLoops(begin, finish)
