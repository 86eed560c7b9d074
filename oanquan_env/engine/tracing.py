"""Make the trace of a move from the steps that `move.play` records."""

from oanquan_env.engine.core import Core
from oanquan_env.engine.move import (
    CAPTURE,
    LAP,
    NO_GAP,
    NOTHING,
    ONE_CAPTURE,
    STAY,
    STOP,
    UNRIPE,
    Steps,
    play,
)
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, ZERO_BYTE, Positions, Termination
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.seats import in_turn
from oanquan_env.engine.tables import BYTE_MASK, DIRECTION_STRIDE, DIRECTIONS, origin
from oanquan_env.engine.trace import Capture, Frame, Lap, MoveTrace, Refilling, TurnEnd

_TURN_ENDS = {
    NO_GAP: TurnEnd.NO_FURTHER_GAP,
    NOTHING: TurnEnd.NOTHING_BEHIND,
    UNRIPE: TurnEnd.UNRIPE_MANDARIN,
    STAY: TurnEnd.SEEDS_STAY,
    ONE_CAPTURE: TurnEnd.ONE_CAPTURE,
}


def trace_move(core: Core, positions: Positions, move: Move) -> MoveTrace:
    """Return the trace of `move` in a batch of one position, which stays unchanged.

    Raises `IllegalActionError` if the move is not legal.
    """
    rules, mover, after = core.rules, int(positions.mover[0]), positions.copy()
    core.play(after, [move.action])
    steps: Steps = []
    words, points = positions.words[0].tolist(), positions.scores[0].tolist()
    sides, scores = in_turn(rules.players, words, mover), in_turn(rules.players, points, mover)
    play(core.numbers, rules.players, sides, scores, rules.max_plies - int(after.ply[0]), move.action, steps)
    if after.ended[0] > Termination.MAX_PLIES:
        steps.clear()  # the board stays as it was

    def square(code: int) -> int:
        """Return the ring index of the square at `code`, in which sides are counted from the mover."""
        side, place = divmod(code & BYTE_MASK, SIDE_BYTES)
        return (mover + side) % rules.players * (rules.fields + 1) + min(place, rules.fields)

    def behind(code: int, distance: int) -> int:
        return (square(code) + DIRECTIONS[code // DIRECTION_STRIDE][1] * distance) % rules.squares

    board = core.seeds(positions), core.stones(positions), positions.scores
    laps, captures, refillings = [], [], []
    last, turn_end = square(origin(move.action)), TurnEnd.NOT_COMPLETED
    for kind, code, number, stone in steps:
        if kind == LAP:
            path = tuple(behind(code, count) for count in range(1, number + 1))
            one_lifted = code % SIDE_BYTES == MANDARIN_BYTE
            laps.append(Lap(square(code), code // DIRECTION_STRIDE, number, path, one_lifted))
        elif kind == CAPTURE:
            value = number + stone * rules.stone_value
            captures.append(Capture(square(code), behind(code, 1), number, stone, value))
            points[mover] += value
        elif kind == STOP:
            last, turn_end = square(code), _turn_end(after, rules, code, square(code), number)
        else:
            seat = (mover + code) % rules.players
            refillings.append(Refilling(seat, rules.fields, borrowed=max(0, rules.fields - max(0, points[seat]))))
    return MoveTrace(
        rules=rules,
        player=mover,
        move=move,
        before=Frame(*(tuple(row[0].tolist()) for row in board)),
        laps=tuple(laps),
        ahead=captures[0].gap if captures else last,
        captures=tuple(captures),
        turn_end=turn_end,
        refillings=tuple(refillings),
        termination=Termination(after.ended[0]),
        standings=tuple(core.standings(after)[0].tolist()) if after.over[0] else (),
    )


def _turn_end(after: Positions, rules: Rules, code: int, gap: int, reason: int) -> TurnEnd:
    if code % SIDE_BYTES == ZERO_BYTE and reason in (NO_GAP, NOTHING):
        if reason == NO_GAP or after.words[0, gap // (rules.fields + 1)] >> 8 * MANDARIN_BYTE:
            return TurnEnd.MANDARIN_AHEAD
        if rules.empty_mandarin == "stop":
            return TurnEnd.EMPTY_MANDARIN_AHEAD
    return _TURN_ENDS[reason]
