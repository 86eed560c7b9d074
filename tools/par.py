"""Positions of the day for the page, each with its par: the final margin with best play of both sides, proved.

    python -m tools.par

A certificate holds a strategy of each side. All games in which one side follows its strategy are played out, whatever
the other one, the solver, does. A position with the solver to move has a par if its own strategy reaches as many
points from there as the other side gives away at most. So nobody does better than par against the player `perfect`,
and par can be reached. Positions with `FEWEST` legal moves or more are taken, of which at most half keep par, and in
which the solver ends not more than `MOST_BEHIND` points behind: `COUNT` of each preset, drawn at random.
"""

import sys
from typing import Any

import numpy as np

from oanquan_env import Board, Core, Rules
from oanquan_env.engine.keys import canonical_keys
from oanquan_env.files import write_atomically
from oanquan_env.players import RandomPolicy
from oanquan_env.players.book import BookPolicy, with_book
from tools.page import FOLDER, PAR, as_json

NAMES = ("mancala-world", "ludii", "app", "tonkin")
COUNT, FEWEST, MOST_BEHIND = 30, 4, 15


def pars(book: BookPolicy, seat: int) -> dict[str, int]:
    """The position and the par of `seat`, to move, in all games against a book."""
    strategy = book.upper if seat else book.lower
    assert strategy is not None
    known: dict[str, int] = {}
    found: dict[str, int] = {}

    def most(board: Board) -> int:
        """Return the points by which `seat` ends ahead at most."""
        if board.outcome is not None:
            return board.outcome.scores[seat] - board.outcome.scores[1 - seat]
        text = board.text()
        if text in known:
            return known[text]
        if board.mover != seat:
            (action,) = book.known(board.positions)
            value = most(after(board, int(action)))
        else:
            values = [most(after(board, move.action)) for move in board.legal_moves]
            value, (key,) = max(values), canonical_keys(book.core, board.positions).tolist()
            lead = board.scores[seat] - board.scores[1 - seat]
            reached = max((lead + entry.value for entry in strategy.entries.get(key, ())), default=None)
            is_choice = len(values) >= FEWEST and 2 * values.count(value) <= len(values)
            if value == reached and is_choice and value >= -MOST_BEHIND:
                found[text] = value
        known[text] = value
        return value

    most(Board(book.core.rules))
    return found


def after(board: Board, action: int) -> Board:
    """The board after a move."""
    other = board.copy()
    other.push(next(move for move in board.legal_moves if move.action == action))
    return other


def main() -> None:
    """Make the positions of all presets."""
    sys.setrecursionlimit(10_000)  # two calls a ply
    rng, made = np.random.default_rng(0), list[dict[str, Any]]()
    for name in NAMES:
        rules = Rules.parse(name)
        book = with_book(RandomPolicy(Core(rules)), rules)
        assert isinstance(book, BookPolicy)
        found = sorted({**pars(book, 0), **pars(book, 1)}.items())
        chosen = rng.permutation(len(found))[:COUNT].tolist()
        made += [{"rules": name, "position": found[row][0], "par": found[row][1]} for row in sorted(chosen)]
        print(f"{name}: {len(chosen)} of {len(found)} positions")
    write_atomically(FOLDER / PAR, as_json(made))


if __name__ == "__main__":
    main()
