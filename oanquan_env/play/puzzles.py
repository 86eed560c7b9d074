"""Puzzles: positions with one best move. Some teach; the others come from the regret suite, with proved values."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from oanquan_env.benchmark.suites import find_suite
from oanquan_env.board import Board
from oanquan_env.engine.notation import Move
from oanquan_env.engine.rules import Rules
from oanquan_env.players import make as make_policy

LEAST_LOSS = 2.0  # points that every other move of a puzzle loses at least
LEVELS = ("first", "easy", "medium", "hard")
"""`first` teach; `easy` are those that a greedy player finds, `medium` those that a search of two plies finds."""


@dataclass(frozen=True)
class Puzzle:
    """A position with one best move."""

    level: str  # one of `LEVELS`
    name: str  # which of those that teach; the page has its words
    board: Board  # where it begins
    best: Move  # the move to find
    # final margin of each move from the mover's view, in points, all proved; empty for those that teach
    values: dict[Move, float]


FIRST = (
    ("mandarin", "1,0,0,4,0,1*/4,0,5,1,3,0* 16,15 0 20", "1A"),
    ("refute", "6,6,6,6,0,0/6,6,6,6,0,1* 11,0 1 1", "3A"),
    ("win", "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30", "3A"),
)
"""Name, position of the default rules, and the move: the only one that captures a mandarin stone."""


@lru_cache(maxsize=4)
def puzzles_of(rules: Rules) -> dict[str, tuple[Puzzle, ...]]:
    """The puzzles of each level; those of the default rules where the suite of `rules` has not enough."""
    suite = find_suite(rules) if rules.players == 2 else None
    found: dict[str, list[Puzzle]] = {level: [] for level in LEVELS}
    found["first"] = [Puzzle("first", name, Board.parse(at), Move.parse(best), {}) for name, at, best in FIRST]
    if suite is not None:
        core, legal = suite.core, ~np.isnan(suite.values)
        ranked = np.sort(np.where(legal, suite.values, -np.inf), axis=1)
        rows = ((suite.proved == legal).all(axis=1) & (ranked[:, -1] - ranked[:, -2] >= LEAST_LOSS)).nonzero()[0]
        positions, best = suite.positions[rows], np.nanargmax(suite.values[rows], axis=1)
        rng = np.random.default_rng(0)
        greedy, searched = (make_policy(name, rules).choose(positions, rng) for name in ("greedy", "maxn:depth=2"))
        lead = positions.scores[:, 0] - positions.scores[:, 1]
        lead = np.where(positions.mover == 0, lead, -lead)
        for place, row in enumerate(rows):
            level = "easy" if greedy[place] == best[place] else "medium" if searched[place] == best[place] else "hard"
            values = {
                Move.from_action(action): float(suite.values[row, action] + lead[place])
                for action in legal[row].nonzero()[0]
            }
            board = Board.from_positions(core, positions, place)
            found[level].append(Puzzle(level, "", board, Move.from_action(best[place]), values))
    if rules != Rules() and not all(found.values()):
        return puzzles_of(Rules())
    return {level: tuple(puzzles) for level, puzzles in found.items()}
