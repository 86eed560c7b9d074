"""A game as a page or a widget plays it: named requests in, the state as JSON out. No HTTP and no widget is here."""

from __future__ import annotations

import copy
import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from oanquan_env.board import Board, IllegalMoveError
from oanquan_env.core import RunawayGameError
from oanquan_env.match import Match
from oanquan_env.match_records import MATCH, match_records, resume_match, round_headers
from oanquan_env.move_trace import Frame
from oanquan_env.notation import Move, NotationError
from oanquan_env.ownership import match_standings
from oanquan_env.play.game import Game
from oanquan_env.play.hints import Hint, hint, strongest_player
from oanquan_env.play.levels import PERSON, Seated, seated
from oanquan_env.play.picture import Json, drawing, frame_json, move_json, owners_json
from oanquan_env.playing import choose_move
from oanquan_env.policies import Policy
from oanquan_env.records import format_records, parse_records
from oanquan_env.rules import DEFAULT_PRESET, Rules, RulesError


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
        return {"code": self.code, "detail": str(self), "column": self.column, "games": self.games}


@lru_cache(maxsize=8)
def shared_seat(name: str, rules: Rules) -> tuple[Seated, threading.Lock]:
    """The player of that name, and a lock to hold while it plays: all games share it, as its memory may be large."""
    return seated(name, rules), threading.Lock()


@lru_cache(maxsize=4)
def shared_adviser(rules: Rules) -> tuple[str, Policy, threading.Lock]:
    """The player who gives hints, and its name and lock."""
    return *strongest_player(rules), threading.Lock()


class Session:
    """One game after another, on one page or in one widget. Its methods may be called from several threads.

    Args:
        rules: of the first game, or their text.
        names: for each seat `PERSON`, a level or a player's name.
        board: where the first game begins, instead of the set-up.
        rng: chance of the players.

    Attributes:
        game: the game being played.
        match: the match of which it is a round, before the settlement of that round; None for a single game.
        version: grows with every change.
        changed: told of every change.
        trouble: why the player to move cannot move, or an empty text.

    Raises:
        SessionError: for rules or players that do not exist.
    """

    def __init__(
        self,
        rules: Rules | str = DEFAULT_PRESET,
        names: Sequence[str] = (PERSON, PERSON),
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
        self._put(Board(_rules(rules)) if board is None else board, names, None)

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
                self._tell()
        except TypeError as error:  # other arguments, or of other types
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
        settled = self._settled()
        if self.match is None or settled is self.match or settled is None or settled.outcome is not None:
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
                self._put(board, self._fitting_names(rules), match)
                return
        except ValueError as error:
            if isinstance(error, SessionError):
                raise
            raise SessionError("record", error) from None
        if number is None and len(records) > 1:
            raise SessionError("games", f"it holds {len(records)} games", games=len(records))
        if number is not None and not 1 <= number <= len(records):
            raise SessionError("record", f"there is no game {number}")
        board = records[0 if number is None else number - 1].board()
        self._put(board, self._fitting_names(board.rules), None)

    def saved(self) -> str:
        """The game, or the match so far, as records."""
        with self.changed:
            if self.match is None:
                return str(self.game.record())
            settled = self._settled()
            names = {name: value for name, value in self.game.record().headers.items() if name != MATCH}
            if settled is not None:
                return format_records(match_records(settled, names))
            current = self.game.record(round_headers(self.match))
            return format_records([*match_records(self.match, names), current])

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
            board, serial = self.game.board.copy(), self._line()[-1:]
            if self.game.over:
                raise SessionError("request", "the game is over")
        name, player, lock = shared_adviser(board.rules)
        with lock:
            advice = hint(name, player, board, self._rng)
        return {"serial": serial, "ply": board.ply, "mover": board.mover, **_hint_json(advice)}

    # ---- the state -------------------------------------------------------------------------------------------------

    def state(self, game: object = None, known: object = 0) -> Json:
        """All that the page shows, without the moves that it has: those of game `game` up to serial `known`."""
        with self.changed:
            first = known + 1 if game == self._number and isinstance(known, int) else 0
            board, line, outcome = self.game.board, self._line(), self.game.board.outcome
            start = self._start
            shown: Json = {
                "version": self.version,
                "game": self._number,
                "rules": str(board.rules),
                "position": board.text(),
                "start": frame_json(Frame(tuple(start.seeds), tuple(start.stones), tuple(start.scores))),
                "starter": start.mover,
                "begin_ply": start.ply,
                "line": line,
                "moves": {serial: move for serial, move in self._moves.items() if serial >= first},
                "mover": board.mover,
                "ply": board.ply,
                "legal": [] if self.game.over else [str(move) for move in board.legal_moves],
                "seats": [_seat_json(seat) for seat in self.game.seats],
                "turn": "over" if self.game.over else "person" if self.game.player is None else "player",
                "trouble": self.trouble,
                "resigned": self.game.resigned,
                "outcome": None,
                "can_undo": self.game.can_undo,
                "can_redo": self.game.can_redo,
                "match": self._match_json(),
            }
            if outcome is not None:
                scores = self._standings(board)
                winners = [seat for seat, score in enumerate(scores) if score == max(scores)]
                shown["outcome"] = {"scores": scores, "winners": winners, "termination": str(outcome.termination)}
            return shown

    def drawing(self) -> Json:
        """The empty board of this game's rules."""
        return drawing(self.game.board.rules)

    # ---- within ----------------------------------------------------------------------------------------------------

    def _put(self, board: Board, names: Sequence[str], match: Match | None) -> None:
        """Go on with another game."""
        try:
            shared = [shared_seat(name, board.rules) for name in names]
            self.game = Game(board, names, [seat for seat, _ in shared])
        except (ValueError, ImportError, OSError) as error:
            raise SessionError("player", error) from None
        self._locks = [lock for _, lock in shared]
        self.match = match
        self.trouble = ""
        self._start = self.game.begin()
        self._moves: dict[int, Json] = {}
        self._serials: dict[tuple[int, str], int] = {}
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

    def _line(self) -> list[int]:
        """The serial numbers of the moves so far. A move that is made again after the same moves has the same one."""
        line, parent, replayed, played = [], 0, self._start, 0
        for number, move in enumerate(self.game.board.history):
            key = parent, str(move)
            if key not in self._serials:
                if replayed is self._start:
                    replayed = self._start.copy()
                for missed in self.game.board.history[played : number + 1]:
                    replayed.push(missed)
                played = number + 1
                self._serials[key] = len(self._serials) + 1
                self._moves[self._serials[key]] = self._move_json(replayed, parent)
            parent = self._serials[key]
            line.append(parent)
        return line

    def _move_json(self, board: Board, parent: int) -> Json:
        trace, last = board.last_trace, board.last_mark
        assert trace is not None
        assert last is not None
        if trace.termination:
            trace = dataclasses.replace(trace, standings=tuple(self._standings(board)))
        return {"parent": parent, "mover": board.mover, **move_json(trace, last)}

    def _standings(self, board: Board) -> list[int]:
        """Final points; in a match those of sold fields go to their buyers."""
        if self.match is None:
            assert board.outcome is not None
            return list(board.outcome.scores)
        shares: list[int] = match_standings(board.core, board.positions, self.match.ownership.owners())[0].tolist()
        return shares

    def _settled(self) -> Match | None:
        """The match after this round; None while it is played, and without a match."""
        if self.match is None or self.game.board.outcome is None:
            return None
        settled = copy.copy(self.match)
        settled.rounds = self.match.rounds.copy()
        settled.close_round(self.game.board.positions, [move.action for move in self.game.board.history])
        return settled

    def _match_json(self) -> Json | None:
        if self.match is None:
            return None
        settled = self._settled()
        outcome, shown = None if settled is None else settled.outcome, settled or self.match
        return {
            "number": self.match.round_number,
            "rounds": [{"scores": played.scores, "winner": played.winner} for played in shown.rounds],
            "owners": owners_json(self.match.rules, self.match.ownership.owners().tolist()),
            "sold": [len(row) for row in shown.ownership.sold],
            "pawned": [len(row) for row in shown.ownership.pawned],
            "fields_to_lose": self.match.match_rules.fields_to_lose,
            "settled": settled is not None,
            "over": outcome is not None,
            "winner": None if outcome is None else outcome.winner,
        }


def _rules(rules: Rules | str) -> Rules:
    try:
        return rules if isinstance(rules, Rules) else Rules.parse(rules)
    except RulesError as error:
        raise SessionError("rules", error) from None


def _seat_json(seat: Seated) -> Json:
    return {
        "name": seat.name,
        "person": seat.policy is None,
        "plays": seat.plays,
        "substitute": seat.is_substitute,
    }


def _hint_json(advice: Hint) -> Json:
    analysis = advice.analysis
    shown: Json = {
        "player": advice.player,
        "best": str(advice.best),
        "values": {str(move): value for move, value in advice.values.items()},
        "search": None,
    }
    if analysis is not None:
        shown["search"] = {"value": analysis.value, "proved": analysis.proved, "depth": analysis.depth}
    return shown
