"""A game as a page or a widget plays it: named requests in, the state as JSON out. No HTTP and no widget is here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.engine.core import RunawayGameError
from oanquan_env.engine.notation import Move, NotationError
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, RulesError
from oanquan_env.match.matches import Match
from oanquan_env.play.files import board_of_single
from oanquan_env.play.game import Game
from oanquan_env.play.hints import STRONGEST, hint
from oanquan_env.play.levels import PERSON, Seated
from oanquan_env.play.line import Line
from oanquan_env.play.picture import Json, drawing
from oanquan_env.play.state import game_json, hint_json
from oanquan_env.play.vietnamese_errors import in_both
from oanquan_env.play.warming import Warming, seated_at_once
from oanquan_env.playing import choose_move
from oanquan_env.records.games import format_records, parse_records
from oanquan_env.records.matches import MATCH, is_resigned, resume_match


class SessionError(ValueError):
    """A request that cannot be done.

    Attributes:
        code: what it is about: `rules`, `position`, `player`, `record`, `games`, `move` or `request`.
        detail: what is wrong, in English.
        column: the place in a text, from 1, or None.
        games: of `games`, how many a file holds.
    """

    def __init__(self, code: str, detail: object, *, column: int | None = None, games: int | None = None) -> None:
        super().__init__(str(detail))
        self.code = code
        self.column = column
        self.games = games

    def to_json(self) -> Json:
        """For the page."""
        return {"code": self.code, "detail": in_both(str(self)), "column": self.column, "games": self.games}


@lru_cache(maxsize=8)
def shared_seat(name: str, rules: Rules) -> tuple[Seated, threading.Lock]:
    """The player of that name, and a lock to hold while it plays: all games share it, as its memory may be large."""
    return seated_at_once(name, rules), threading.Lock()


@lru_cache(maxsize=4)
def shared_adviser(rules: Rules) -> tuple[Warming, threading.Lock]:
    """The player who gives hints, and its lock."""
    return Warming(STRONGEST, rules), threading.Lock()


class Session:
    """One game after another, on one page or in one widget. Its methods may be called from several threads.

    Args:
        rules: of the first game, or their text.
        names: for each seat `PERSON`, a level or a player's name; persons if left out.
        board: where the first game begins, instead of the set-up.
        rng: chance of the players.

    Attributes:
        game: the game being played.
        version: grows with every change.
        changed: told of every change.
        trouble: why the player to move cannot move, in English, or an empty text.

    Raises:
        SessionError: for rules or players that do not exist.
    """

    def __init__(
        self,
        rules: Rules | str = DEFAULT_PRESET,
        names: Sequence[str] | None = None,
        *,
        board: Board | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._rng = rng or np.random.default_rng()
        self.changed = threading.Condition(threading.RLock())
        self.version = 0
        self.trouble = ""
        self._requests: dict[str, Callable[..., None]] = {
            "new": self.new,
            "move": self.move,
            "undo": self.undo,
            "redo": self.redo,
            "back": self.back,
            "resign": self.resign,
            "next_round": self.next_round,
            "load": self.load,
        }
        board = Board(_rules(rules)) if board is None else board
        self._put(board, names or [PERSON] * board.rules.players, None)

    def show(self, board: Board, names: Sequence[str]) -> None:
        """Go on with another game. Raises as the constructor, with nothing changed."""
        with self.changed:
            self._put(board, names, None)
            self._tell()

    # ---- what the page asks for ------------------------------------------------------------------------------------

    def request(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Do what a request says; `state` then shows the result.

        Raises:
            SessionError: for a request that cannot be done; nothing has changed.
        """
        if name not in self._requests:
            raise SessionError("request", f"unknown request {name!r}")
        try:
            with self.changed:
                self._requests[name](**arguments)
                self.trouble = ""
                self._tell()
        except (TypeError, AttributeError) as error:  # other arguments, or of other types
            raise SessionError("request", f"{name}: {error}") from None

    def new(
        self,
        rules: str = DEFAULT_PRESET,
        seats: Sequence[str] | None = None,
        starter: int = 0,
        position: str | None = None,
        match: str | None = None,
    ) -> None:
        """Begin another game: at the set-up, where `starter` moves first, at a position, or the first of a match."""
        read = _rules(rules)
        names = list(seats or self._fitting_names(read))
        if match is not None:
            try:
                begun = Match(read, match)
            except RulesError as error:
                raise SessionError("rules", error) from None
            self._put(Board.from_positions(begun.core, begun.positions), names, begun)
            return
        try:
            board = Board(read) if position is None else Board.parse(position, read)
        except NotationError as error:
            raise SessionError("position", error.reason, column=error.column) from None
        if position is None:
            if type(starter) is not int or not 0 <= starter < read.players:
                raise SessionError("request", f"starter must be 0 to {read.players - 1}; got {starter!r}")
            start = board.positions
            start.mover[:] = starter
            board = Board.from_positions(board.core, start)
        self._put(board, names, None)

    def move(self, move: str, ply: int) -> None:
        """A person's move, made at that ply: one that comes twice, or too late, is refused."""
        if ply != self.game.board.ply or self.game.over or self.game.player is not None:
            raise SessionError("move", "it is not your turn")
        self._push(move)

    def undo(self) -> None:
        """Take back a person's last move, and the answers to it."""
        if not self.game.undo():
            raise SessionError("request", "there is no move of yours to take back")

    def redo(self) -> None:
        """Play again what was taken back."""
        if not self.game.redo():
            raise SessionError("request", "there is no move to play again")

    def back(self, moves: int) -> None:
        """Go back to where only the first `moves` moves had been played."""
        if type(moves) is not int or not 0 <= moves <= len(self.game.board.history):
            raise SessionError("request", f"there is no move {moves!r}")
        self.game.back_to(moves)

    def resign(self) -> None:
        """Let the person to move give up."""
        if self.game.over or self.game.player is not None:
            raise SessionError("request", "it is not your turn")
        self.game.resign()

    def next_round(self) -> None:
        """Go on with the next round of a match."""
        settled = self.game.settled()
        if settled is None or settled.outcome is not None:
            raise SessionError("request", "there is no next round")
        self._put(Board.from_positions(settled.core, settled.positions), self.game.names, settled)

    def load(self, text: str, number: int | None = None) -> None:
        """Go on with a game, or a match, that was written down; of several games with one of them."""
        try:
            records = parse_records(text)
            if not records:
                raise SessionError("record", "the file is empty")
            rules = records[0].rules
            if MATCH in records[0].headers:
                match, board = resume_match(records)
                self._put(board, self._fitting_names(rules), match, resigned=is_resigned(records[-1]))
                return
            if number is None and len(records) > 1:
                raise SessionError("games", f"it holds {len(records)} games", games=len(records))
            if number is not None and not 1 <= number <= len(records):
                raise SessionError("record", f"there is no game {number}")
            record = records[0 if number is None else number - 1]
            board = board_of_single(record)
        except SessionError:
            raise
        except ValueError as error:
            raise SessionError("record", error) from None
        self._put(board, self._fitting_names(board.rules), None, resigned=is_resigned(record))

    def saved(self) -> str:
        """The game, or the match so far, as records."""
        with self.changed:
            return format_records(self.game.records())

    # ---- players ---------------------------------------------------------------------------------------------------

    def answer(self) -> bool:
        """Let the player to move, if it is no person, choose and play; false if there was nothing to do.

        What it chooses is dropped if the game changed meanwhile.
        """
        with self.changed:
            player, board, version = self.game.player, self.game.board.copy(), self.version
            if player is None or self.trouble:
                return False
            lock = self._locks[board.mover]
        try:
            with lock:
                move: Move | None = choose_move(player, board, self._rng)
            trouble = ""
        except Exception as error:  # a player that anybody wrote: the page goes on, and says what happened
            move, trouble = None, f"{type(error).__name__}: {error}"
        with self.changed:
            if self.version == version:
                self.trouble = trouble
                if move is not None:
                    self._push(move)
                self._tell()
        return True

    def hint(self) -> Json:
        """What each move is worth, for the position as it is.

        Raises:
            SessionError: if the game is over.
        """
        with self.changed:
            board, serial = self.game.board.copy(), self._line.serials()[-1:]
            if self.game.over:
                raise SessionError("request", "the game is over")
        adviser, lock = shared_adviser(board.rules)
        with lock:
            advice = hint(*adviser.current, board, self._rng)
        return {"serial": serial, "ply": board.ply, "mover": board.mover, **hint_json(advice)}

    # ---- the state -------------------------------------------------------------------------------------------------

    def state(self, game: object = None, known: object = 0) -> Json:
        """All that the page shows, without the moves that it has: those of game `game` up to serial `known`."""
        with self.changed:
            first = known + 1 if game == self._number and isinstance(known, int) else 0
            own = {"version": self.version, "game": self._number, "trouble": self.trouble}
            return {**own, **game_json(self.game, self._line, first)}

    def drawing(self) -> Json:
        """The empty board of this game's rules."""
        return drawing(self.game.board.rules)

    # ---- within ----------------------------------------------------------------------------------------------------

    def _put(self, board: Board, names: Sequence[str], match: Match | None, *, resigned: bool = False) -> None:
        """Go on with another game."""
        try:
            shared = [shared_seat(name, board.rules) for name in names]
            self.game = Game(board, names, [seat for seat, _ in shared], match)
        except (ValueError, ImportError, OSError) as error:
            raise SessionError("player", error) from None
        if resigned and not self.game.over:
            self.game.resign()
        self._locks = [lock for _, lock in shared]
        self.trouble = ""
        self._line = Line(self.game)
        self._number = self.version + 1  # names the game: no two have the same

    def _push(self, move: Move | str) -> None:
        try:
            self.game.push(move)
        except (NotationError, IllegalMoveError, RunawayGameError) as error:
            raise SessionError("move", error) from None

    def _tell(self) -> None:
        self.version += 1
        self.changed.notify_all()

    def _fitting_names(self, rules: Rules) -> list[str]:
        """The names that sit here now, or persons where another number of players is needed."""
        names = self.game.names
        return names if len(names) == rules.players else [PERSON] * rules.players


def _rules(rules: Rules | str) -> Rules:
    try:
        return rules if isinstance(rules, Rules) else Rules.parse(rules)
    except RulesError as error:
        raise SessionError("rules", error) from None
