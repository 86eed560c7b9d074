"""Make the page's daily positions, each with its par: the proved final margin with best play by both sides.

    python -m tools.write_par

A certificate holds a strategy for each side. We enumerate all games in which one side follows its strategy and the
other side, the solver, plays every move. A position with the solver to move has a par if the solver's own strategy
guarantees the best margin that any play reaches against the other side's strategy. So nobody does better than par
against the player `perfect`, and par can be reached. A position qualifies if it has at least `FEWEST` legal moves, at
most half of them keep par, and par is at least -`MOST_BEHIND` points; `COUNT` positions of each preset are drawn.
"""

import sys
from typing import Any

import numpy as np

from oanquan_env import Board, Core, Rules
from oanquan_env.engine.symmetry import canonical_keys
from oanquan_env.files import write_atomically
from oanquan_env.players import RandomPolicy
from oanquan_env.players.book import BookPolicy, with_book
from tools.write_page import FOLDER, PAR, as_json

NAMES = ("mancala-world", "ludii", "app", "tonkin")
COUNT, FEWEST, MOST_BEHIND = 30, 4, 15


def pars(book: BookPolicy, seat: int) -> dict[str, int]:
    """Search all games of `seat` against the book; return par, in points, by the text of each qualifying position."""
    strategy = book.upper if seat else book.lower
    assert strategy is not None
    margins: dict[str, int] = {}
    par_of: dict[str, int] = {}

    def most(board: Board) -> int:
        """Return the highest final margin, in points, that `seat` can reach against the book."""
        if board.outcome is not None:
            return board.outcome.scores[seat] - board.outcome.scores[1 - seat]
        text = board.text()
        if text in margins:
            return margins[text]
        if board.mover != seat:
            (action,) = book.known(board.positions)
            value = most(after(board, int(action)))
        else:
            values = [most(after(board, move.action)) for move in board.legal_moves]
            value, (key,) = max(values), canonical_keys(book.core, board.positions).tolist()
            lead = board.scores[seat] - board.scores[1 - seat]
            guaranteed = max((lead + entry.value for entry in strategy.entries.get(key, ())), default=None)
            is_choice = len(values) >= FEWEST and 2 * values.count(value) <= len(values)
            if value == guaranteed and is_choice and value >= -MOST_BEHIND:
                par_of[text] = value
        margins[text] = value
        return value

    most(Board(book.core.rules))
    return par_of


def after(board: Board, action: int) -> Board:
    """Return a copy of the board after the move `action`."""
    other = board.copy()
    other.push(next(move for move in board.legal_moves if move.action == action))
    return other


def main() -> None:
    """Write up to `COUNT` daily positions of each preset in `NAMES` to the page's file `PAR`."""
    sys.setrecursionlimit(10_000)  # `most` recurses with two calls per ply
    rng, entries = np.random.default_rng(0), list[dict[str, Any]]()
    for name in NAMES:
        rules = Rules.parse(name)
        book = with_book(RandomPolicy(Core(rules)), rules)
        assert isinstance(book, BookPolicy)
        positions = sorted({**pars(book, 0), **pars(book, 1)}.items())
        chosen = rng.permutation(len(positions))[:COUNT].tolist()
        entries += [{"rules": name, "position": positions[row][0], "par": positions[row][1]} for row in sorted(chosen)]
        print(f"{name}: {len(chosen)} of {len(positions)} positions")
    write_atomically(FOLDER / PAR, as_json(entries))


if __name__ == "__main__":
    main()
