"""A game as a page or a widget plays it: named requests in, the state as JSON out. No HTTP and no widget is here."""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from oanquan_env.board import Board
from oanquan_env.engine.notation import Move
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules
from oanquan_env.errors import MissingExtraError, UnknownAgentError
from oanquan_env.play.beginning import UNPLAYABLE, Beginning, begin_game, begin_match, read_record, read_rules
from oanquan_env.play.game import Game
from oanquan_env.play.hints import hint
from oanquan_env.play.levels import LEVELS, PERSON
from oanquan_env.play.line import Line
from oanquan_env.play.picture import Json, drawing
from oanquan_env.play.puzzles import Puzzle, puzzles_of
from oanquan_env.play.refusal import SessionError, refusing
from oanquan_env.play.state import game_json, hint_json, puzzle_json
from oanquan_env.play.warming import shared_adviser, shared_reviewer, shared_seat
from oanquan_env.players.making import kinds
from oanquan_env.players.names import parse
from oanquan_env.playing import choose_move
from oanquan_env.records.games import format_records
from oanquan_env.render.animation import moving_picture


class Session:
    """One game after another, on one page or in one widget. Its methods may be called from several threads.

    `names` has for each seat `PERSON`, a level or a player's name; persons sit there if it is left out. The first game
    begins at the board, or at the set-up of the rules. Raises `SessionError` for rules or players that do not exist.

    Attributes:
        game: the game being played.
        version: grows with every change.
        changed: told of every change.
        trouble: why the player to move cannot move, in English, or an empty text.
        puzzle: the puzzle that is shown, or None.
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
        self.game: Game
        self.puzzle: Puzzle | None = None
        self._requests: dict[str, Callable[..., None]] = {
            "new": self.new,
            "move": self.move,
            "undo": self.undo,
            "redo": self.redo,
            "back": self.back,
            "rematch": self.rematch,
            "puzzle": self.open_puzzle,
            "resign": self.resign,
            "next_round": self.next_round,
            "load": self.load,
        }
        board = Board(read_rules(rules)) if board is None else board
        self._put(Beginning(board), names or [PERSON] * board.rules.players)

    def show(self, board: Board, names: Sequence[str]) -> None:
        """Go on with another game. Raises as the constructor, with nothing changed."""
        with self.changed:
            self._put(Beginning(board), names)
            self._tell()

    # ---- requests of the page --------------------------------------------------------------------------------------

    def request(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Carry out a request; `state` then shows the result.

        Raises `SessionError` for a request that cannot be done; nothing has changed.
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
        moves: str = "",
        match: str | None = None,
    ) -> None:
        """Begin another game: at the set-up, where `starter` moves first, at a position, or the first of a match."""
        read = read_rules(rules)
        begun = begin_game(read, starter, position, moves) if match is None else begin_match(read, match)
        self._put(begun, self._safe(seats))

    def move(self, move: str, ply: int) -> None:
        """A person's move, made at that ply: one that comes twice, or too late, is refused."""
        if ply != self.game.board.ply or self.game.over or self.game.player is not None or self._solved:
            raise SessionError("move", "it is not your turn")
        self._push(move)

    def rematch(self, swap: bool = False) -> None:
        """Begin the same game or match again; with `swap` everybody moves one seat on."""
        names, match = self.game.names, self.game.match
        start = self.game.board.start()
        begun = begin_match(match.rules, str(match.match_rules)) if match else Beginning(start)
        self._put(begun, [*names[1:], names[0]] if swap else names)

    def open_puzzle(self, level: str = "first", number: int = 0) -> None:
        """Show a puzzle of a level; after the last one the first comes again."""
        puzzles = puzzles_of(self.game.board.rules)
        if level not in puzzles or type(number) is not int:
            raise SessionError("request", f"there is no puzzle {level!r} {number!r}")
        puzzle = puzzles[level][number % len(puzzles[level])]
        self._put(Beginning(puzzle.board.copy()), [PERSON] * puzzle.board.rules.players)
        self.puzzle = puzzle

    def undo(self) -> None:
        """Take back a person's last move, and the answers to it."""
        if not self.game.undo():
            raise SessionError("request", "there is no move of yours to take back")

    def redo(self) -> None:
        """Play the moves again that were taken back."""
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
        self._put(Beginning(Board.from_positions(settled.core, settled.positions), settled))

    def load(self, text: str, number: int | None = None, seats: Sequence[str] | None = None) -> None:
        """Go on with a game, or a match, that was written down; of several games with one of them.

        `seats` are the names that sit there, by default those that sit here now.
        """
        self._put(read_record(text, number), self._safe(seats))

    def saved(self) -> str:
        """The game, or the match so far, as records."""
        with self.changed:
            return format_records(self.game.records())

    # ---- players ---------------------------------------------------------------------------------------------------

    def answer(self) -> bool:
        """Let the player to move, if it is no person, choose and play; false if there was nothing to do.

        Its choice is dropped if the game changed meanwhile.
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

    def hint(self, moves: int | None = None) -> Json:
        """The value of each move after the first `moves` moves of the game, by the player who reviews games.

        If left out, that is where the game stands, and the player who gives hints thinks about it, for a second. Raises
        `SessionError` if the game is over there.
        """
        with self.changed:
            game, line, values = self.game, self._line.serials(), self._line.values
            board = game.board.copy()
            adviser, lock = shared_adviser(board.rules) if moves is None else shared_reviewer(board.rules)
            moves = len(line) if moves is None else moves
            if type(moves) is not int or not 0 <= moves <= len(line):
                raise SessionError("request", f"there is no move {moves!r}")
            for _ in line[moves:]:
                board.pop()
            serial = line[moves - 1] if moves else 0
            if board.outcome is not None:
                raise SessionError("request", "the game is over")
        with lock:
            name, player = adviser.current
            if (serial, name) not in values:
                advice = hint(name, player, board, self._rng, fields_changed_hands=game.fields_changed_hands)
                told = {"serial": serial, "ply": board.ply, "mover": board.mover, **hint_json(advice, board)}
                values[serial, name] = told
        return values[serial, name]

    def picture(self, kind: str) -> bytes:
        """The game as a moving picture, `svg` or `gif`. Raises `SessionError` for other kinds, and without Pillow."""
        if kind not in ("svg", "gif"):
            raise SessionError("request", f"there is no picture {kind!r}")
        with self.changed:
            board = self.game.board.copy()
            owners = None if self.game.match is None else self.game.match.ownership.owners().tolist()
        with refusing("request", MissingExtraError):
            return moving_picture(kind, board.boards(), owners=owners)

    # ---- the state -------------------------------------------------------------------------------------------------

    def state(self, game: object = None, known: object = 0) -> Json:
        """All that the page shows, without the moves that it has: those of game `game` up to serial `known`."""
        with self.changed:
            first = known + 1 if game == self._number and isinstance(known, int) else 0
            own = {"version": self.version, "game": self._number, "trouble": self.trouble, "record": self.saved()}
            state = {**own, **game_json(self.game, self._line, first), "puzzle": None}
            if self.puzzle is not None:
                state["puzzle"] = puzzle_json(self.puzzle, puzzles_of(self.game.board.rules), self.game)
            if self._solved:
                state |= {"turn": "solved", "legal": [], "previews": {}}
            return state

    def drawing(self) -> Json:
        """The empty board of this game's rules."""
        return drawing(self.game.board.rules)

    # ---- within ----------------------------------------------------------------------------------------------------

    def _safe(self, names: Sequence[str] | None) -> Sequence[str] | None:
        """The names of a request, which must not make this program import a module, as MODULE:NAME would."""
        with refusing("player", UnknownAgentError):
            for name in names or ():
                if name not in (PERSON, *LEVELS, *self.game.names):
                    parse(name, kinds())
        return names

    def _put(self, begun: Beginning, names: Sequence[str] | None = None) -> None:
        """Go on with another game; `names` are by default those that sit here, or persons where others are needed."""
        rules = begun.board.rules
        if names is None:
            names = self.game.names if len(self.game.names) == rules.players else [PERSON] * rules.players
        with refusing("player", ValueError, ImportError, OSError):
            shared = [shared_seat(name, rules) for name in names]
            self.game = Game(begun.board, names, [seat for seat, _ in shared], begun.match)
        if begun.resigned and not self.game.over:
            self.game.resign()
        self._locks = [lock for _, lock in shared]
        self.trouble = ""
        self.puzzle = None
        self._line = Line(self.game)
        self._number = secrets.randbits(48)  # names the game: no two have the same, of other servers either

    @property
    def _solved(self) -> bool:
        """Whether the puzzle that is shown has got its answer."""
        return self.puzzle is not None and bool(self.game.board.history)

    def _push(self, move: Move | str) -> None:
        with refusing("move", *UNPLAYABLE):
            self.game.push(move)

    def _tell(self) -> None:
        self.version += 1
        self.changed.notify_all()
