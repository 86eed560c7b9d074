"""How the trace of a move is made: the core plays it one phase after the other.

No rule of the game is here. Laps are watched as they begin; captures and refills are read off the boards between the
phases.
"""

import numpy as np

from oanquan_env.arrays import Bytes, Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.move_trace import Frame, Lap, MoveTrace, Refilling, Taking, TurnEnd
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import MANDARIN_BYTE, SIDE_BYTES, Positions, Termination
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.tables import BYTE_MASK, DIRECTION_STRIDE, DIRECTIONS


def trace_move(core: Core, positions: Positions, move: Move) -> MoveTrace:
    """The trace of `move` in a batch of one position, which stays as it is.

    Raises `IllegalActionError` if the move is not legal, and `RunawayGameError` as `Core.play`.
    """
    before = positions.copy()
    action = np.array([move.action])
    after = positions.copy()
    core.play(after, action)  # raises for an illegal move before any lap is noted
    laps: list[Lap] = []

    def watch(code: Ints, seeds: Bytes) -> None:
        laps.append(_lap(core.rules, int(code[0]), int(seeds[0])))

    board = positions.copy()
    stopped, _ = core.moves.sow(board, action, watch)
    sown = _frame(core, board)
    core.moves.capture(board, stopped)
    taken = _frame(core, board)
    ahead = _square(core.rules, int(stopped[0]))
    takings = _takings(core.rules, sown, taken, ahead, laps[-1].direction)
    return MoveTrace(
        rules=core.rules,
        player=int(before.mover[0]),
        move=move,
        before=_frame(core, before),
        laps=tuple(laps),
        ahead=ahead,
        takings=takings,
        turn_end=_turn_end(core.rules, taken, ahead, laps[-1].direction, len(takings)),
        refillings=_refillings(core.rules, taken, _frame(core, after), int(after.mover[0])),
        termination=Termination(after.ended[0]),
        standings=tuple(core.standings(after)[0].tolist()) if after.over[0] else (),
    )


def _frame(core: Core, positions: Positions) -> Frame:
    seeds, stones, scores = core.seeds(positions), core.stones(positions), positions.scores
    return Frame(tuple(seeds[0].tolist()), tuple(stones[0].tolist()), tuple(scores[0].tolist()))


def _square(rules: Rules, code: int) -> int:
    """The ring index of a code's square; both bytes of a mandarin square mean that square."""
    side, place = divmod(code & BYTE_MASK, SIDE_BYTES)
    return side * (rules.fields + 1) + min(place, rules.fields)


def _lap(rules: Rules, code: int, seeds: int) -> Lap:
    square, direction = _square(rules, code), code // DIRECTION_STRIDE
    step = DIRECTIONS[direction][1]
    path = tuple((square + step * count) % rules.squares for count in range(1, seeds + 1))
    return Lap(square, direction, seeds, path, one_lifted=code % SIDE_BYTES == MANDARIN_BYTE)


def _takings(rules: Rules, sown: Frame, taken: Frame, ahead: int, direction: int) -> tuple[Taking, ...]:
    """The captures between `sown` and `taken`. They lie behind gaps at every second square from `ahead` on."""
    step, takings = DIRECTIONS[direction][1], []
    for distance in range(0, rules.squares - 1, 2):
        gap, square = ((ahead + step * (distance + k)) % rules.squares for k in (0, 1))
        seeds = sown.seeds[square] - taken.seeds[square]
        player, field = divmod(square, rules.fields + 1)
        stones = sown.stones[player] - taken.stones[player] if field == rules.fields else 0
        if not seeds and not stones:
            break
        takings.append(Taking(gap, square, seeds, stones, seeds + stones * rules.stone_value))
    return tuple(takings)


def _turn_end(rules: Rules, board: Frame, ahead: int, direction: int, takings: int) -> TurnEnd:
    """The reason for the end of the turn: the square two on from the last gap that was captured over."""
    if takings and rules.capture == "single":
        return TurnEnd.ONE_CAPTURE
    step = DIRECTIONS[direction][1]
    gap, behind = ((ahead + step * (2 * takings + k)) % rules.squares for k in (0, 1))

    def holds(square: int) -> tuple[int, int]:
        player, field = divmod(square, rules.fields + 1)
        return board.seeds[square], board.stones[player] if field == rules.fields else 0

    if gap % (rules.fields + 1) == rules.fields:
        if any(holds(gap)):
            return TurnEnd.MANDARIN_AHEAD
        if rules.empty_mandarin == "stop":
            return TurnEnd.EMPTY_MANDARIN_AHEAD
    if any(holds(gap)):
        return TurnEnd.NO_FURTHER_GAP
    if not any(holds(behind)):
        return TurnEnd.NOTHING_BEHIND
    return TurnEnd.UNRIPE_MANDARIN if holds(behind)[1] else TurnEnd.SEEDS_STAY


def _refillings(rules: Rules, taken: Frame, after: Frame, mover: int) -> tuple[Refilling, ...]:
    """The refills between `taken` and `after`, known by the changed scores; the next mover's first."""
    seats = [(mover + offset) % rules.players for offset in range(rules.players)]
    return tuple(
        Refilling(seat, rules.fields, borrowed=max(0, rules.fields - max(0, taken.scores[seat])))
        for seat in seats
        if after.scores[seat] != taken.scores[seat]
    )
