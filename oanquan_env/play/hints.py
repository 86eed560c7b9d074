"""Hints in the terminal: the best move, and the value of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from oanquan_env.analysis import Analysis
from oanquan_env.board import Board
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.play.vietnamese_texts import Language, in_language
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


@dataclass(frozen=True)
class Hint:
    """Advice on a running game."""

    player: str  # the name of the one who gives it
    best: Move  # the move to play, one of the best or a proved one
    # points of each legal move, the best first: by a search, or else the points won at once
    values: Mapping[Move, float]
    analysis: Analysis | None  # of the search; None for a player that does not search

    def text(self, board: Board, language: Language) -> str:
        """The advice in words: the mover's final margin with each move, or the points won at once, in whole points."""
        lead, words = 0.0, in_language("Points that each move wins at once, answers not counted:", language)
        if self.analysis is not None:
            scores = board.scores
            mine = scores.pop(board.mover)
            lead = mine - sum(scores) / len(scores)
            how = "proved" if self.analysis.proved else "seen {depth} moves deep"
            how = in_language(how, language, depth=self.analysis.depth)
            seat = in_language(seat_name(board.rules, board.mover), language)
            words = "Final margin of {seat} with each move, if all play their best ({how}):"
            words = in_language(words, language, seat=seat, how=how)
        player = in_language(self.player, language)
        begin = in_language("{player}: try {best}.", language, player=player, best=self.best)
        moves = (f"{move}\N{NO-BREAK SPACE}{round(lead + value):+d}" for move, value in self.values.items())
        return f"{begin}\n{words}\n{'  '.join(moves)}"


def hint(name: str, player: Policy, board: Board, rng: np.random.Generator) -> Hint:
    """A player's advice in a running game."""
    searcher = player.beyond if isinstance(player, BookPolicy) else player
    if isinstance(searcher, Analyst):
        analysis = searcher.analyse(board)
        return Hint(name, _best(player, analysis), analysis.values, analysis)
    move, gains = choose_move(player, board, rng), move_gains(board.core, board.positions)[0]
    legal = sorted(board.legal_moves, key=lambda legal_move: -gains[legal_move.action])
    return Hint(name, move, {legal_move: float(gains[legal_move.action]) for legal_move in legal}, None)


def _best(player: Policy, analysis: Analysis) -> Move:
    """The best move of a search, or the proved one if the search values it about as highly."""
    action = player.known(analysis.board.positions)[0] if isinstance(player, BookPolicy) else UNKNOWN
    move = analysis.best if action == UNKNOWN else Move.from_action(action)
    return move if analysis.values[move] >= analysis.value - PREFERENCE else analysis.best
