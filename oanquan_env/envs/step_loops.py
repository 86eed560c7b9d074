"""The step of N games as compiled loops, for `CompiledGames`: what `OpponentGames` does, with the same results.

Shapes: N games, P players, A actions, D numbers of an observation. Loops write into the arrays that they are given.
They know no errors: where one is due they change nothing and return `FAULT`.
"""

import functools
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Bytes, Floats, Ints, Mask, Points
from oanquan_env.engine.compiled import Int64s, compiled, inlined
from oanquan_env.engine.loops import Plies, in_turn, next_seat, write_in_turn
from oanquan_env.engine.move import MAX_PLIES, RUNAWAY, RUNNING, RuleNumbers, can_play, leftovers, play
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE
from oanquan_env.envs.opponent_games import ILLEGAL_ACTION, ILLEGAL_REWARD

FAULT = -1
OUTCOME, MARGIN, MIXED = range(3)
"""Places in `rewards.REWARDS`."""
_BYTE = 255

Table: TypeAlias = npt.NDArray[Any]
"""(1,) `RuleNumbers` as a record; a record by itself costs a microsecond a call."""


class Games(NamedTuple):
    """N games and what a step says of them, as in `OpponentGames`."""

    sides: Int64s
    scores: Points
    mover: Ints
    ply: Plies
    ended: Bytes
    seats: Ints
    illegal: Mask
    paid: Points
    over: Mask  # as of the step before, until the end of this one
    mask: Mask
    observation: npt.NDArray[np.int32]
    rewards: Floats
    terminated: Mask
    truncated: Mask
    termination: Int64s  # of games that are over, as the next two; zero elsewhere
    standings: Points
    rewarded: Ints  # seats


class StepLoops(NamedTuple):
    """The loops for one number of players."""

    play: Any
    open: Any
    reply: Any
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


@inlined
def waits(ended: Bytes, mover: Ints, seats: Ints, row: int) -> bool:
    """Whether it is the opponent's turn."""
    return bool(ended[row] == RUNNING and mover[row] != seats[row])


@inlined
def look(
    rules: RuleNumbers, players: int, sides: Int64s, scores: Points, row: int, mover: int, seat: int, seen: Any
) -> None:
    """Write the observation of a row for the player at `seat`, but for the plies left."""
    fields, shown, turn = rules.fields, seat, 0
    stones = players * (fields + 1)
    for place in range(players):
        side, at = sides[row, shown], place * (fields + 1)
        for field in range(fields):
            seen[row, at + field] = (side >> 8 * field) & _BYTE
        seen[row, at + fields] = (side >> 8 * MANDARIN_BYTE) & _BYTE
        seen[row, stones + place] = side >> 8 * STONE_BYTE
        seen[row, stones + players + place] = scores[row, shown]
        if shown == mover:
            turn = place
        shown = next_seat(players, shown)
    seen[row, stones + 2 * players] = turn


@inlined
def finish_games(
    players: int, table: Table, games: Games, rows: Ints, self_play: bool, reward: int, paying: bool
) -> int:
    """See, and pay before if `paying`, the games in `rows`; returns how many are over."""
    rules = table[0]
    sides, scores, mover, ply, ended, seats, illegals, paid, were_over, mask, observation = games[:11]
    rewards, terminated, truncated, termination, standings, rewarded = games[11:]
    games_over = 0
    for row in rows:
        end, seat, turn = ended[row] + 0, seats[row], mover[row]
        illegal, due = illegals[row], not were_over[row]
        over = illegal or end != RUNNING
        if paying:
            earned, points = 0.0, (0, 0, 0, 0)
            if over or (due and reward != OUTCOME):
                points = in_turn(players, scores, row, 0)
                if end != RUNNING:
                    a, b, c, d = in_turn(players, sides, row, 0)
                    left = leftovers(rules, players, a, b, c, d, end)
                    points = (points[0] + left[0], points[1] + left[1], points[2] + left[2], points[3] + left[3])
                if due:
                    own, together = 0, 0
                    for place in range(players):
                        won = points[place] - paid[row, place]
                        together += won
                        own = won if place == seat else own
                        paid[row, place] = scores[row, place]
                    if reward != OUTCOME:
                        earned = (own * players - together) / (players - 1) / rules.total
                    if reward != MARGIN:
                        result = outcome(players, points, seat) if end != RUNNING else 0.0
                        earned = result if reward == OUTCOME else (earned + result) / 2
                    if illegal:
                        earned = ILLEGAL_REWARD
            for place in range(players):
                standings[row, place] = points[place] if over else 0
            rewards[row] = earned
            truncated[row], terminated[row] = end == MAX_PLIES, over and end != MAX_PLIES
            termination[row], rewarded[row] = ILLEGAL_ACTION if illegal else end, seat if over else 0
        were_over[row] = over
        games_over += over
        own_side = sides[row, turn] if not over else 0
        for action in range(2 * rules.fields):
            mask[row, action] = can_play(rules, own_side, action)
        look(rules, players, sides, scores, row, turn, turn if self_play else seat, observation)
        observation[row, players * (rules.fields + 3) + 1] = rules.max_plies - ply[row]
    return games_over


@functools.cache
def step_loops(players: int) -> StepLoops:
    """The loops for a number of players, each of which is compiled when it first runs.

    They call no compiled function that depends on `players` itself: kept code would not be found again, and functions
    of the same name for other numbers of players would be mistaken for one another.
    """

    @compiled
    def finish(table: Table, games: Games, rows: Ints, self_play: bool, reward: int, paying: bool) -> int:
        """See `finish_games`."""
        return finish_games(players, table, games, rows, self_play, reward, paying)

    @compiled
    def play_rows(
        table: Table,
        games: Games,
        rows: Ints,
        actions: Int64s,
        setup: Int64s,
        seats: Ints,
        self_play: bool,
        reward: int,
    ) -> int:
        """Play the agent's actions, and start the games that were over from `setup` (P,), with these `seats` in order.

        There are as many seats as games to start, or one for all, or none if no game is to start. `rows` are all.
        Returns the games in which the opponent is to move; with `self_play` the step is finished, and the games are
        counted that are over.
        """
        rules = table[0]
        sides, scores, mover, ply, ended, own_seats, illegal, paid, over = games[:9]
        started, waiting = 0, 0
        for row in rows:
            if actions[row] < 0 or actions[row] >= 2 * rules.fields:
                return FAULT
        kept = sides.copy(), scores.copy(), mover.copy(), ply.copy(), ended.copy(), own_seats.copy()
        kept_illegal, kept_paid = illegal.copy(), paid.copy()
        for row in rows:
            seat, action = mover[row], actions[row]
            if self_play:
                own_seats[row] = seat
            if over[row]:
                if len(seats):
                    for place in range(players):
                        sides[row, place] = setup[place]
                        scores[row, place] = paid[row, place] = 0
                    mover[row], ply[row], ended[row], illegal[row] = 0, 0, RUNNING, False
                    own_seats[row] = seats[min(started, len(seats) - 1)]
                    started += 1
            elif not can_play(rules, sides[row, seat], action):
                illegal[row] = True
            else:
                a, b, c, d = in_turn(players, sides, row, seat)
                w, x, y, z = in_turn(players, scores, row, seat)
                left = rules.max_plies - ply[row] - 1
                a, b, c, d, w, x, y, z, _, _, end = play(rules, players, a, b, c, d, w, x, y, z, left, action, None)
                if end == RUNAWAY:
                    sides[:], scores[:], mover[:], ply[:], ended[:], own_seats[:] = kept
                    illegal[:], paid[:] = kept_illegal, kept_paid
                    return FAULT
                write_in_turn(players, sides, row, seat, (a, b, c, d))
                write_in_turn(players, scores, row, seat, (w, x, y, z))
                mover[row], ended[row] = next_seat(players, seat), end
                ply[row] += 1
            waiting += waits(ended, mover, own_seats, row)
        return finish_games(players, table, games, rows, self_play, reward, True) if self_play else waiting

    @compiled
    def open_games(
        table: Table,
        sides: Int64s,
        scores: Points,
        mover: Ints,
        ply: Plies,
        ended: Bytes,
        plies: Ints,
        draws: Floats,
    ) -> bool:
        """Play random openings, `plies` (N,) in each game with a draw for each ply; false for a runaway."""
        rules = table[0]
        used = 0
        for row in range(len(mover)):
            for index in range(used, used + plies[row]):
                seat = mover[row]
                if ended[row] != RUNNING:
                    break
                a, b, c, d = in_turn(players, sides, row, seat)
                w, x, y, z = in_turn(players, scores, row, seat)
                legal, action = 0, 0
                for other in range(2 * rules.fields):
                    legal += can_play(rules, a, other)
                place = int(draws[index] * legal)
                for other in range(2 * rules.fields):
                    if can_play(rules, a, other):
                        if place == 0:
                            action = other
                        place -= 1
                left = rules.max_plies - ply[row] - 1
                a, b, c, d, w, x, y, z, _, _, end = play(rules, players, a, b, c, d, w, x, y, z, left, action, None)
                if end == RUNAWAY:
                    return False
                write_in_turn(players, sides, row, seat, (a, b, c, d))
                write_in_turn(players, scores, row, seat, (w, x, y, z))
                mover[row], ended[row] = next_seat(players, seat), end
                ply[row] += 1
            used += plies[row]
        return True

    @compiled
    def reply(table: Table, games: Games, draws: Floats, by_gain: bool) -> int:
        """Where the opponent is to move (M games), play the legal action of the greatest of its `draws` (M, A).

        With `by_gain` that of the greatest gain, and of these the greatest draw. Returns the games where another
        opponent is to move.
        """
        rules = table[0]
        sides, scores, mover, ply, ended, seats = games[:6]
        kept = sides.copy(), scores.copy(), mover.copy(), ply.copy(), ended.copy()
        waiting, index = 0, -1
        for row in range(len(mover)):
            if not waits(ended, mover, seats, row):
                continue
            index += 1
            seat = mover[row]
            a, b, c, d = in_turn(players, sides, row, seat)
            w, x, y, z = in_turn(players, scores, row, seat)
            left, first, last = rules.max_plies - ply[row] - 1, 0, 2 * rules.fields
            if not by_gain:
                draw = -1.0
                for action in range(2 * rules.fields):
                    if draws[index, action] > draw and can_play(rules, a, action):
                        draw, first, last = draws[index, action], action, action + 1
            most, draw, best_end = -(1 << 62), -1.0, 0
            best_sides, best_scores = (a, b, c, d), (w, x, y, z)
            for action in range(first, last):
                if not can_play(rules, a, action):
                    continue
                e, f, g, h, s, t, u, v, _, _, end = play(rules, players, a, b, c, d, w, x, y, z, left, action, None)
                if end == RUNAWAY:
                    sides[:], scores[:], mover[:], ply[:], ended[:] = kept
                    return FAULT
                gain = players * s - (s + t + u + v)
                if by_gain and end != RUNNING:
                    more = leftovers(rules, players, e, f, g, h, end)
                    gain += players * more[0]
                    for place in range(players):
                        gain -= more[place]
                if gain > most or (gain == most and draws[index, action] > draw):
                    most, draw, best_end = gain, draws[index, action], end
                    best_sides, best_scores = (e, f, g, h), (s, t, u, v)
            write_in_turn(players, sides, row, seat, best_sides)
            write_in_turn(players, scores, row, seat, best_scores)
            mover[row], ended[row] = next_seat(players, seat), best_end
            ply[row] += 1
            waiting += waits(ended, mover, seats, row)
        return waiting

    return StepLoops(play_rows, open_games, reply, finish)
