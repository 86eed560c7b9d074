"""Hints in the terminal: the best move, and the value of each."""

from typing import Protocol, runtime_checkable

import numpy as np

from oanquan_env.analysis import Analysis
from oanquan_env.board import Board
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.play.vietnamese import Language, in_language
from oanquan_env.players import Policy, move_gains
from oanquan_env.players.book import UNKNOWN, BookPolicy
from oanquan_env.playing import choose_move

PREFERENCE = 3.0
"""A proved move is the hint unless the search sees another that wins more than so many points more."""


@runtime_checkable
class Analyst(Protocol):
    """A player that can evaluate each move."""

    def analyse(self, board: Board) -> Analysis:
        """Its analysis of a running game."""


def hint(name: str, player: Policy, board: Board, rng: np.random.Generator, language: Language) -> str:
    """A player's advice in a running game: the mover's final margin with each move by its search, in whole points.

    Of a player that does not search, the points that each move wins at once.
    """
    searcher = player.beyond if isinstance(player, BookPolicy) else player
    if isinstance(searcher, Analyst):
        analysis = searcher.analyse(board)
        scores, best = board.scores, _best(player, analysis)
        mine = scores.pop(board.mover)
        lead, values = mine - sum(scores) / len(scores), list(analysis.values.items())
        how = in_language("proved" if analysis.proved else "seen {depth} moves deep", language, depth=analysis.depth)
        seat = in_language(seat_name(board.rules, board.mover), language)
        words = in_language("Final margin of {seat} if all play their best ({how}):", language, seat=seat, how=how)
    else:
        best, gains = choose_move(player, board, rng), move_gains(board.core, board.positions)[0]
        values = sorted(((move, float(gains[move.action])) for move in board.legal_moves), key=lambda one: -one[1])
        lead, words = 0.0, in_language("Points that each move wins at once, answers not counted:", language)
    begin = in_language("{player}: try {best}.", language, player=in_language(name, language), best=best)
    moves = "  ".join(f"{move}\N{NO-BREAK SPACE}{round(lead + value):+d}" for move, value in values)
    return f"{begin}\n{words}\n{moves}"


def _best(player: Policy, analysis: Analysis) -> Move:
    """The best move of a search, or the proved one if the search values it about as highly."""
    action = player.known(analysis.board.positions)[0] if isinstance(player, BookPolicy) else UNKNOWN
    move = analysis.best if action == UNKNOWN else Move.from_action(action)
    return move if analysis.values[move] >= analysis.value - PREFERENCE else analysis.best
