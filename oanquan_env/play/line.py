"""The moves of a game as the page knows them: each has a number, and is found again when it is redone."""

import dataclasses

from oanquan_env.board import Board
from oanquan_env.play.game import Game
from oanquan_env.play.picture import Json, move_json


class Line:
    """The moves of one game, those that were taken back among them.

    Attributes:
        start: the board before the first move.
        moves: serial number, from 1, -> the move as JSON.
        values: serial number of a move, 0 for none, and a player's name -> its values of the moves after it, as JSON,
            where that was asked.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.start = game.board.start()
        self.moves: dict[int, Json] = {}
        self.values: dict[tuple[int, str], Json] = {}
        self._serials: dict[tuple[int, str], int] = {}

    def serials(self) -> list[int]:
        """The serial numbers of the moves so far. A move that is made again after the same moves has the same one."""
        line, parent, board, played = [], 0, self.start.copy(), 0
        history = self._game.board.history
        for number, move in enumerate(history):
            key = parent, str(move)
            if key not in self._serials:
                for missed in history[played : number + 1]:
                    board.push(missed)
                played = number + 1
                self._serials[key] = len(self._serials) + 1
                self.moves[self._serials[key]] = self._move(board)
            parent = self._serials[key]
            line.append(parent)
        return line

    def _move(self, board: Board) -> Json:
        trace, last = board.last_trace, board.last_mark
        assert trace is not None
        assert last is not None
        if trace.termination:
            trace = dataclasses.replace(trace, standings=tuple(self._game.standings(board)))
        return {"mover": board.mover, **move_json(trace, last)}
