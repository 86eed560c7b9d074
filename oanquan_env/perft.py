"""Perft: the number of move sequences of a given length, the standard test of a game engine (docs/RULES.md 8)."""

from oanquan_env.board import Board, shared_core
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules, as_rules
from oanquan_env.errors import as_whole

CHUNK = 8192
"""Number of positions expanded at once; their children take at most a few megabytes at any depth."""


def perft(game: Board | Rules | str, depth: int) -> int:
    """Return the number of move sequences of `depth` plies (0 or more) from a board, or from the start of a game.

    A sequence that ends the game earlier counts once.
    """
    core, positions = _origin(game)
    return _count(core, positions, as_whole("depth", depth, 0))


def divide(game: Board | Rules | str, depth: int) -> dict[Move, int]:
    """Return the number of move sequences of `depth` plies (1 or more) per first move; empty if the game is over."""
    depth = as_whole("depth", depth, 1)  # a sequence without moves has no first move
    core, positions = _origin(game)
    children, _, actions = core.expand(positions)
    return {
        Move.from_action(action): _count(core, children[row : row + 1], depth - 1)
        for row, action in enumerate(actions.tolist())
    }


def _origin(game: Board | Rules | str) -> tuple[Core, Positions]:
    if isinstance(game, Board):
        return game.core, game.positions
    core = shared_core(as_rules(game))
    return core, core.start()


def _count(core: Core, positions: Positions, depth: int) -> int:
    """Return the number of move sequences of `depth` plies from all `positions`, expanding up to `CHUNK` at once."""
    if depth == 0:
        return len(positions)
    total = int(positions.over.sum())
    if depth == 1:  # each legal move is one sequence and need not be played
        return total + int(core.legal_mask(positions).sum())
    for begin in range(0, len(positions), CHUNK):
        total += _count(core, core.expand(positions[begin : begin + CHUNK]).positions, depth - 1)
    return total
