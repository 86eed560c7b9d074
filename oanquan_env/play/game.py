"""One game between persons and players, without a screen."""

import dataclasses
from collections.abc import Sequence

from oanquan_env.board import Board
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.engine.positions import Termination
from oanquan_env.play.levels import Seat, make_seat
from oanquan_env.players import Policy
from oanquan_env.records.games import GameRecord


class Game:
    """One game: its players, the moves taken back, and a resignation.

    `names` has for each seat `PERSON`, a level or a player's name; `seats` says who they are, where that is known from
    another game of the same rules. Raises as `make_seat`.

    Attributes:
        board: the game's board, at first with the moves that were played already; its history can be taken back.
        seats: who sits where.
        resigned: the player who gave up, or None.
    """

    def __init__(self, board: Board, names: Sequence[str], seats: Sequence[Seat] | None = None) -> None:
        if seats is None:
            known = {name: make_seat(name, board.rules) for name in dict.fromkeys(names)}
            seats = [known[name] for name in names]
        self.board = board
        self.seats = seats
        self.resigned: int | None = None
        self._undone: list[list[Move]] = []

    @property
    def over(self) -> bool:
        """Whether nobody moves any more."""
        return self.board.outcome is not None or self.resigned is not None

    @property
    def player(self) -> Policy | None:
        """The player to move; None if that is a person, or the game is over."""
        return None if self.over else self.seats[self.board.mover].policy

    def push(self, move: Move) -> None:
        """Play a move. Raises as `Board.push`."""
        self.board.push(move)
        self._undone.clear()

    def undo(self) -> bool:
        """Take back moves up to the last one that a person made, or a resignation; false if there is none."""
        if self.resigned is not None:
            self.resigned = None
            return True
        players, history = self.board.rules.players, self.board.history
        for back in range(1, len(history) + 1):
            if self.seats[(self.board.mover - back) % players].policy is None:
                self._undone.append([self.board.pop() for _ in range(back)][::-1])
                return True
        return False

    def redo(self) -> bool:
        """Play again what `undo` took back last; false if there is nothing."""
        if not self._undone or self.resigned is not None:
            return False
        for move in self._undone.pop():
            self.board.push(move)
        return True

    def resign(self) -> int:
        """Let the player to move give up; returns it."""
        self.resigned = self.board.mover
        return self.resigned

    def record(self) -> GameRecord:
        """The game so far, written down with the names of its players."""
        rules = self.board.rules
        headers = {seat_name(rules, number): seat.name for number, seat in enumerate(self.seats)}
        record = GameRecord.from_board(self.board, headers)
        if self.resigned is None:
            return record
        said = {len(record.moves): f"{seat_name(rules, self.resigned)} resigns"}
        return dataclasses.replace(record, termination=str(Termination.RESIGNED), comments=said)
