"""What alpha-beta says of a board, for people: `agents.make("minimax:depth=12").analyse(board)`."""

from __future__ import annotations

from agents.search.deepening import Limits, Search
from oanquan_env import Board, Move
from oanquan_env.analysis import Analysis, check_analysable


def analyse(search: Search, limits: Limits, board: Board) -> Analysis:
    """Search a board, and value each of its moves.

    Raises:
        ValueError: for a game that is over, and for a board of other rules than the search's.
    """
    check_analysable(board, search.core)
    found = search.best(board.positions, limits, every_move=True)
    ranked = sorted(found.values.items(), key=lambda move: -move[1])
    return Analysis(
        board=board.copy(),
        value=found.value,
        proved=found.proved,
        depth=found.depth,
        line=tuple(map(Move.from_action, found.line)),
        values={Move.from_action(action): value for action, value in ranked},
    )
