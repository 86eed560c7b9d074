"""Check the options of the environments' `reset`."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.positions import SIDE_BYTES, PositionError, Positions
from oanquan_env.engine.rules import unknown_name

Start: TypeAlias = Positions | Board | str  # a position to begin from


def check_options(options: Mapping[str, Any] | None, known: tuple[str, ...]) -> Mapping[str, Any]:
    """Return `options`, or {} if None; raise `TypeError` unless it is a mapping, `ValueError` for an unknown option."""
    if not isinstance(options, Mapping | None):
        raise TypeError(f"reset's options must be a dict or None; got {type(options).__name__}")
    for name in options or {}:
        if name not in known:
            raise ValueError(unknown_name("option of reset", name, known))
    return options or {}


def start_position(core: Core, start: Start | None, n: int = 1) -> Positions | None:
    """Read the option `position` of `reset` for `n` games: a string, a board, or a batch of one or `n` positions.

    Raises `ValueError` for another number of positions, a finished game, or a position of other rules; `NotationError`
    for a string that is not a position; `TypeError` if `start` has another type.

    Returns:
        The positions, one or `n` (the arrays are not copied), or None if `start` is None.
    """
    if start is None:
        return None
    if isinstance(start, str):
        start = parse_position(core, start)
    elif isinstance(start, Board):
        if start.rules != core.rules:
            raise ValueError(f"reset's option 'position' has the rules '{start.rules}', not '{core.rules}'")
        start = start.positions
    elif not isinstance(start, Positions):
        raise TypeError(f"reset's option 'position' must be a string, a Board or Positions; got {type(start).__name__}")
    if len(start) not in (1, n) or start.over.any():
        each = f" (or {n}, one for each)" if n > 1 else ""
        raise ValueError(f"reset's option 'position' must be one position{each} of a running game")
    _check_rules(core, start)
    return start


def _check_rules(core: Core, positions: Positions) -> None:
    """Raise `ValueError` unless setting up the positions by hand under the core's rules gives the same positions."""
    reason = f"players={core.rules.players} and fields={core.rules.fields}"
    if positions.squares.shape[1] == core.rules.players * SIDE_BYTES == positions.scores.shape[1] * SIDE_BYTES:
        columns = core.seeds(positions), core.stones(positions), positions.scores
        try:
            if core.setup(*columns, positions.mover, positions.ply).same(positions).all():
                return
        except PositionError as error:
            reason = str(error)
    raise ValueError(f"reset's option 'position' is not a position of '{core.rules}': {reason}")
