"""Hints in the terminal: by the strongest player that is installed, with what each move is worth."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from oanquan_env.board import Board
from oanquan_env.notation import Move
from oanquan_env.play.levels import first_playing
from oanquan_env.playing import choose_move
from oanquan_env.policies import Policy, move_gains
from oanquan_env.rules import Rules

STRONGEST = ("minimax:nodes=1000000,net=pretrained", "minimax:nodes=1000000", "mcts:simulations=400", "greedy")
"""Who gives hints unless somebody is named: the first that is installed and plays the rules. `mcts` plays all rules; in
60 games of three players it won 42 % against two that are greedy, and 5 points more than they."""


class Advice(Protocol):
    """What a player says of a board; its `str` tells in lines of text what each move is worth."""

    @property
    def best(self) -> Move:
        """The move to play."""


@runtime_checkable
class Analyst(Protocol):
    """A player that can say what each move is worth."""

    def analyse(self, board: Board) -> Advice:
        """What it says of a running game."""


def strongest_player(rules: Rules) -> tuple[str, Policy]:
    """Name and player of the first of `STRONGEST` that is installed and plays `rules`."""
    return first_playing(STRONGEST, rules)


def hint(name: str, player: Policy, board: Board, rng: np.random.Generator) -> str:
    """What a player advises in a running game: a move, and what each move is worth."""
    if isinstance(player, Analyst):
        analysis = player.analyse(board)
        return f"{name}: try {analysis.best}.\n{analysis}"
    move, gains = choose_move(player, board, rng), move_gains(board.core, board.positions)[0]
    legal = sorted(board.legal_moves, key=lambda legal_move: -gains[legal_move.action])
    values = "  ".join(f"{legal_move} {gains[legal_move.action]:+g}" for legal_move in legal)
    return f"{name}: try {move}.\npoints that each move wins at once, answers not counted\nmoves  {values}"
