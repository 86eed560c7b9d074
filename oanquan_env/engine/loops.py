"""Loops that apply the functions of `move` and `step` to batches, for `Core` and the environments.

Numba compiles the loops. For a single position `Core` runs them in plain Python, so that a `Board` compiles nothing.
Loops call no compiled function that depends on the number of players, because Numba would not find its cached code.

Shapes: N positions, P players, A actions, M rows to play.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Bytes, Floats, Ints, Mask, Points
from oanquan_env.engine.move import RUNNING, RuleNumbers, can_play, end_of_setup, play
from oanquan_env.engine.observe import observe, observe_planes, observe_rules
from oanquan_env.engine.scoring import earn, final_points, gain, in_turn, next_seat, write_in_turn
from oanquan_env.engine.step import (
    OTHERS,
    act,
    draw_rules,
    finish_games,
    greedy_action,
    play_ply,
    random_action,
    waits,
)

NO_FAULT = -1
Int64s: TypeAlias = npt.NDArray[np.int64]


class Arrays(NamedTuple):
    """The arrays of a `Positions` of N games, with each side as one int64."""

    sides: Int64s  # (N, P)
    scores: Points  # (N, P)
    mover: Ints
    ply: npt.NDArray[np.int32]
    ended: Bytes


class Loops(NamedTuple):
    """The loops for one number of players: plain Python functions, or functions that Numba compiles on first use."""

    play: Any
    end: Any
    expand: Any
    mask: Any
    standings: Any
    observe: Any
    observe_planes: Any
    earn: Any
    gains: Any


# ---- positions -------------------------------------------------------------------------------------------------------


@functools.cache
def loops(players: int, compiled: bool) -> Loops:
    """Return the loops for a number of players, compiled by Numba or as plain Python."""

    def play_rows(
        rules: RuleNumbers, arrays: Arrays, rows: Ints | None, actions: Int64s, checked: bool, effects: Points
    ) -> int:
        """Play one action in each row, in place (`Core.play`).

        Write the points captured and the laps into `effects` (2, M), and return NO_FAULT. If an action is out of range,
        or illegal and `checked` is True, change nothing and return the index of the first such action.
        """
        sides, scores, mover, ply, ended = arrays
        for index in range(len(actions)):
            row, action = index if rows is None else rows[index], actions[index]
            if action < 0 or action >= 2 * rules.fields:
                return index
            if checked and (ended[row] != RUNNING or not can_play(rules, int(sides[row, mover[row]]), int(action))):
                return index
        for index in range(len(actions)):
            row = index if rows is None else rows[index]
            seat = mover[row]
            before, points = in_turn(players, sides[row], seat), in_turn(players, scores[row], seat)
            moved = play(rules, players, before, points, rules.max_plies - int(ply[row]) - 1, int(actions[index]), None)
            write_in_turn(players, sides[row], seat, moved.sides)
            write_in_turn(players, scores[row], seat, moved.scores)
            mover[row] = next_seat(players, seat)
            ply[row] += 1
            ended[row] = moved.ended
            effects[0, index], effects[1, index] = moved.captured, moved.laps
        return NO_FAULT

    def end(rules: RuleNumbers, arrays: Arrays) -> None:
        """Mark finished games among positions that were set up by hand (`Core.setup`)."""
        sides, scores, mover, ply, ended = arrays
        for row in range(len(mover)):
            own_first, points = in_turn(players, sides[row], mover[row]), in_turn(players, scores[row], mover[row])
            ended[row] = end_of_setup(rules, players, own_first, points, rules.max_plies - int(ply[row]))

    def expand(rules: RuleNumbers, arrays: Arrays) -> tuple[Arrays, Ints, Ints]:
        """Play every legal action of every position (`Core.expand`). Return the positions, rows and actions."""
        sides, scores, mover, ply, ended = arrays
        count = 0
        for row in range(len(mover)):
            for action in range(2 * rules.fields):
                count += ended[row] == RUNNING and can_play(rules, sides[row, mover[row]], action)
        new_sides, new_scores = np.empty((count, players), np.int64), np.empty((count, players), np.int32)
        new_mover, rows, actions = np.empty(count, np.intp), np.empty(count, np.intp), np.empty(count, np.intp)
        new_ply, new_ended = np.empty(count, np.int32), np.empty(count, np.uint8)
        index = 0
        for row in range(len(mover)):
            if ended[row] != RUNNING:
                continue
            seat = mover[row]
            before, points = in_turn(players, sides[row], seat), in_turn(players, scores[row], seat)
            left = rules.max_plies - int(ply[row]) - 1
            for action in range(2 * rules.fields):
                if can_play(rules, before[0], action):
                    moved = play(rules, players, before, points, left, action, None)
                    write_in_turn(players, new_sides[index], seat, moved.sides)
                    write_in_turn(players, new_scores[index], seat, moved.scores)
                    new_mover[index], new_ply[index] = next_seat(players, seat), ply[row] + 1
                    new_ended[index], rows[index], actions[index] = moved.ended, row, action
                    index += 1
        return Arrays(new_sides, new_scores, new_mover, new_ply, new_ended), rows, actions

    def mask(rules: RuleNumbers, arrays: Arrays) -> Mask:
        """Return the (N, A) mask of legal actions (`Core.legal_mask`)."""
        sides, _, mover, _, ended = arrays
        legal = np.empty((len(mover), 2 * rules.fields), np.bool_)
        for row in range(len(mover)):
            own = int(sides[row, mover[row]]) if ended[row] == RUNNING else 0
            for action in range(2 * rules.fields):
                legal[row, action] = can_play(rules, own, action)
        return legal

    def standings(rules: RuleNumbers, arrays: Arrays) -> Points:
        """Return the (N, P) points, including the leftovers of finished games (`Core.standings`)."""
        sides, scores, _, _, ended = arrays
        points = scores.copy()
        for row in range(len(ended)):
            final = final_points(rules, players, sides[row], scores[row], int(ended[row]) + 0)
            for seat in range(players):
                points[row, seat] = final[seat]
        return points

    def observe_rows(rules: RuleNumbers, arrays: Arrays, viewers: Ints, observations: Any) -> None:
        """Write the observations of the players at the (N,) seats `viewers` into (N,) records of `row_type`."""
        sides, scores, mover, ply, _ = arrays
        for row in range(len(mover)):
            turn = int(viewers[row]), int(mover[row]), int(ply[row]) + 0
            observe(rules, players, sides[row], scores[row], turn, observations[row])

    def observe_planes_rows(rules: RuleNumbers, arrays: Arrays, viewers: Ints, moves: bool, observations: Any) -> None:
        """Write the viewers' observations as planes, with the gains if `moves` is True; see `observe_planes`."""
        sides, scores, mover, ply, ended = arrays
        for row in range(len(mover)):
            turn, running = (int(viewers[row]), int(mover[row]), int(ply[row]) + 0), ended[row] == RUNNING
            observe_planes(rules, players, sides[row], scores[row], turn, moves, running, observations[row])

    def earn_rows(rules: RuleNumbers, arrays: Arrays, reward: int, before: Points, rewards: Floats) -> None:
        """Write the (N, P) `rewards` of kind `reward` for the change from the scores `before` to the current points."""
        sides, scores, _, _, ended = arrays
        for row in range(len(ended)):
            end = int(ended[row]) + 0
            points = final_points(rules, players, sides[row], scores[row], end)
            earn(rules, players, reward, points, before[row], end, rewards[row])

    def gains(rules: RuleNumbers, arrays: Arrays, won: Floats) -> None:
        """Write the immediate gain of each legal action into `won` (N, A); leave all other entries unchanged."""
        sides, scores, mover, ply, ended = arrays
        for row in range(len(mover)):
            seat = mover[row]
            before, points = in_turn(players, sides[row], seat), in_turn(players, scores[row], seat)
            left = rules.max_plies - int(ply[row]) - 1
            for action in range(2 * rules.fields):
                if ended[row] == RUNNING and can_play(rules, before[0], action):
                    won[row, action] = gain(rules, players, before, points, left, action) / (players - 1)

    functions = play_rows, end, expand, mask, standings, observe_rows, observe_planes_rows, earn_rows, gains
    return Loops(*map(_compiler(compiled, players), functions))


def _compiler(compiled: bool, *case: int) -> Callable[[Any], Any]:
    """Return a function that compiles the loops for a case, such as a number of players, or leaves them as they are."""
    if not compiled:
        return lambda function: function
    from oanquan_env.engine.compiled import compiled as compile_function  # imports Numba

    def compile_loop(function: Any) -> Any:
        # Numba derives the symbols of cached code from this name, and loops of two cases must not have the same ones
        function.__qualname__ = "_".join([function.__qualname__, *map(str, case)])
        return compile_function(function)

    return compile_loop


# ---- games -----------------------------------------------------------------------------------------------------------


class StepLoops(NamedTuple):
    """Loops over the games with the indices `rows`; only `step` and `finish` depend on the kind of opponent."""

    step: Any
    finish: Any
    reply: Any
    observe: Any
    choose: Any
    legal: Any


@functools.cache
def step_loops(players: int, opponent: int, many: bool, compiled: bool) -> StepLoops:
    """Return the loops for one kind of `opponent`: as plain Python, or compiled by Numba when they first run.

    In their arguments, `rules_array` holds the rules: one rule set, or if `many` is True the records of a list of rule
    sets, whose `vector` ends each observation. It is an array even for one rule set, because Numba unpacks an array in
    0.5 microseconds and a record in 9. `starts` holds the set-up of each rule set, or `settings.positions` positions:
    one for all games, or one for each. Observations and masks are records of `row_type`.
    """

    def step(
        rules_array: Any,
        games: Any,
        rows: Any,
        actions: Any,
        starts: Any,
        settings: Any,
        observations: Any,
        masks: Any,
        log: Any,
    ) -> tuple[int, int]:
        """Play the actions, and finish the step unless the opponents are of the kind OTHERS.

        Return the result of `finish_games`. If an action is out of range, play nothing, and return -1 and its row.
        For OTHERS, return 0 and the number of games that wait for a reply.
        """
        waiting, positions = 0, settings[0].positions
        for row in rows:
            if actions[row] < 0 or actions[row] >= 2 * rules_array[0].fields:
                return -1, row
        for row in rows:
            game, action = games[row], int(actions[row])
            if many:
                draw_rules(game, settings[0])
            start = starts[row % positions if positions else game.rules]
            act(rules_array[game.rules if many else 0], players, opponent, game, action, start, settings[0], log[row])
            waiting += waits(game)
        if opponent == OTHERS:
            return 0, waiting
        if many:
            observe_rules(rules_array, games, rows, observations)
        return finish_games(rules_array, players, opponent, many, games, rows, settings, observations, masks)

    def finish(
        rules_array: Any, games: Any, rows: Any, settings: Any, observations: Any, masks: Any
    ) -> tuple[int, int]:
        """Finish the step of the games; see `finish_games`."""
        if many:
            observe_rules(rules_array, games, rows, observations)
        return finish_games(rules_array, players, opponent, many, games, rows, settings, observations, masks)

    own = map(_compiler(compiled, players, opponent, many), (step, finish))
    return StepLoops(*own, *_shared_loops(players, many, compiled))


@functools.cache
def _shared_loops(players: int, many: bool, compiled: bool) -> tuple[Any, ...]:
    """Return the loops that are the same for all kinds of opponents, so that Numba compiles them once."""

    def reply(rules_array: Any, games: Any, rows: Any, actions: Any, log: Any) -> int:
        """Play legal `actions` (M,) of opponents in games `rows` (M,). Return how many games still wait for a reply."""
        waiting = 0
        for index in range(len(rows)):
            game = games[rows[index]]
            play_ply(rules_array[game.rules if many else 0], players, game, int(actions[index]))
            if log.shape[1]:
                log[rows[index], 3 + log[rows[index], 0]] = actions[index]
                log[rows[index], 0] += 1
            waiting += waits(game)
        return waiting

    def observe_games(
        rules_array: Any, games: Any, rows: Any, movers: bool, moves: bool | None, observations: Any
    ) -> tuple[int, int]:
        """Write the observations of the movers if `movers` is True, else of the seats.

        They are planes, with the gains if `moves` is True, or counts if it is None; Numba compiles only one of the two.
        Return (0, 0), because callers sum two counts.
        """
        for row in rows:
            game = games[row]
            viewer = int(game.mover if movers else game.seat) + 0
            turn, running = (viewer, int(game.mover) + 0, int(game.ply) + 0), game.ended == RUNNING and not game.illegal
            rules = rules_array[game.rules if many else 0]
            if moves is None:
                observe(rules, players, game.sides, game.scores, turn, observations[row])
            else:
                observe_planes(rules, players, game.sides, game.scores, turn, moves, running, observations[row])
        if many:
            observe_rules(rules_array, games, rows, observations)
        return 0, 0

    def choose(rules_array: Any, games: Any, rows: Any, greedy: bool, actions: Any) -> None:
        """Write the action of `random`, or of `greedy` if it is True, in games `rows` (M,) into `actions` (M,)."""
        for index in range(len(rows)):
            game = games[rows[index]]
            rules = rules_array[game.rules if many else 0]
            actions[index] = greedy_action(rules, players, game) if greedy else random_action(rules, game)

    def legal(rules_array: Any, games: Any, rows: Any, masks: Any) -> None:
        """Write the movers' legal actions in running games `rows` (M,) into `masks` (M, A) bool."""
        for index in range(len(rows)):
            game = games[rows[index]]
            rules, own = rules_array[game.rules if many else 0], int(game.sides[game.mover]) + 0
            for action in range(2 * rules.fields):
                masks[index, action] = can_play(rules, own, action)

    functions = reply, observe_games, choose, legal
    return tuple(map(_compiler(compiled, players, many), functions))
