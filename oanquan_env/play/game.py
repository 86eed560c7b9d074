"""One game between persons and players, without a screen: the terminal, the page and the notebook show it."""

import copy
import dataclasses
from collections.abc import Mapping, Sequence

from oanquan_env.board import Board
from oanquan_env.engine.notation import Move, seat_name
from oanquan_env.engine.positions import Termination
from oanquan_env.match.match import Match, resigned
from oanquan_env.match.ownership import match_standings
from oanquan_env.play.levels import Seat, make_seat
from oanquan_env.players import Policy
from oanquan_env.records.games import GameRecord
from oanquan_env.records.match_records import match_records, round_headers


class Game:
    """One game: its players, the moves taken back, and a resignation.

    `names` has for each seat `PERSON`, a level or a player's name; `seats` says who they are, where that is known from
    another game of the same rules. Raises `ValueError` for a name that no player has, and for a wrong number of names;
    `ImportError` for a player that needs a package that is not installed.

    Attributes:
        board: the game's board, at first with the moves that were played already; its history can be taken back.
        seats: who sits where.
        match: the match of which this is a round, before it is settled; None for a single game.
        resigned: the player who gave up, or None; in a match that is the loss of the round.
    """

    def __init__(
        self, board: Board, names: Sequence[str], seats: Sequence[Seat] | None = None, match: Match | None = None
    ) -> None:
        if len(names) != board.rules.players:
            raise ValueError(f"{len(names)} names for {board.rules.players} players")
        if seats is None:
            known = {name: make_seat(name, board.rules) for name in dict.fromkeys(names)}
            seats = [known[name] for name in names]
        self.board = board
        self.seats = list(seats)
        self.match = match
        self.resigned: int | None = None
        self._undone: list[list[Move]] = []

    @property
    def names(self) -> list[str]:
        """The name of each seat."""
        return [seat.name for seat in self.seats]

    @property
    def over(self) -> bool:
        """Whether nobody moves any more."""
        return self.board.outcome is not None or self.resigned is not None

    @property
    def fields_changed_hands(self) -> bool:
        """Whether a field is pawned or sold: leftovers then go by ownership, so values of positions are not proved."""
        return self.match is not None and bool(self.match.ownership.owners().any())

    @property
    def player(self) -> Policy | None:
        """The player to move; None if that is a person, or the game is over."""
        return None if self.over else self.seats[self.board.mover].policy

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return self.resigned is not None or self._persons_last_move() > 0

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._undone) and self.resigned is None

    def push(self, move: Move | str) -> None:
        """Play a move. Raises as `Board.push`."""
        self.board.push(move)
        self._undone.clear()

    def undo(self) -> bool:
        """Take back moves up to the last one that a person made, or a resignation; false if there is none."""
        if self.resigned is not None:
            self.resigned = None
            return True
        back = self._persons_last_move()
        if back:
            self.back_to(len(self.board.history) - back)
        return back > 0

    def back_to(self, moves: int) -> None:
        """Take back all but the first `moves` moves of the history; `redo` plays them again in one step."""
        self.resigned = None
        count = len(self.board.history) - moves
        if count > 0:
            self._undone.append([self.board.pop() for _ in range(count)][::-1])

    def redo(self) -> bool:
        """Play the last move that was taken back; false if there is none."""
        if not self.can_redo:
            return False
        for move in self._undone.pop():
            self.board.push(move)
        return True

    def resign(self) -> int:
        """Let the player to move give up; returns it."""
        self.resigned = self.board.mover
        return self.resigned

    def standings(self, board: Board) -> list[int]:
        """Final points of this game when it ends at `board`; in a match those of sold fields go to their buyers."""
        if self.match is None:
            assert board.outcome is not None
            return list(board.outcome.scores)
        return list(match_standings(board.core, board.positions, self.match.ownership))

    def settled(self) -> Match | None:
        """The match after this round; None while it is played, and without a match."""
        if self.match is None or not self.over:
            return None
        settled = copy.copy(self.match)
        settled.rounds = self.match.rounds.copy()
        settled.close_round(resigned(self.board.positions), [move.action for move in self.board.history])
        return settled

    def record(self, headers: Mapping[str, str] | None = None) -> GameRecord:
        """The game so far, written down, with `headers` beside the names of its players."""
        record = GameRecord.from_board(self.board, {**self._named(), **(headers or {})})
        if self.resigned is None:
            return record
        said = {len(record.moves): f"{seat_name(record.rules, self.resigned)} resigns"}
        return dataclasses.replace(record, termination=str(Termination.RESIGNED), comments=said)

    def records(self) -> list[GameRecord]:
        """The game, or all rounds of its match so far, written down."""
        if self.match is None:
            return [self.record()]
        settled = self.settled()
        if settled is not None:
            return match_records(settled, self._named())
        return [*match_records(self.match, self._named()), self.record(round_headers(self.match))]

    def _named(self) -> dict[str, str]:
        return {seat_name(self.board.rules, seat): name for seat, name in enumerate(self.names)}

    def _persons_last_move(self) -> int:
        """How many moves ago a person moved, 1 for the last move; 0 for never."""
        players = self.board.rules.players
        for back in range(1, len(self.board.history) + 1):
            if self.seats[(self.board.mover - back) % players].policy is None:
                return back
        return 0
