"""A board for playing one game move by move, for example in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from oanquan_env import render
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.notation import Move, format_position, names, parse_position, seat_name
from oanquan_env.engine.positions import (
    Outcome,
    PositionError,
    Positions,
    Termination,
    check_points,
    check_ready,
    check_setup,
)
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.engine.trace import LastMove, MoveTrace, trace_move


class IllegalMoveError(IllegalActionError):
    """Raised if a move is illegal; the message lists the legal moves, or says that the game is over."""


@lru_cache(maxsize=16)
def shared_core(rules: Rules) -> Core:
    """Return the core of `rules`. Boards share it because building its tables takes longer than playing a game."""
    return Core(rules)


class Board:
    """One game of Ô Ăn Quan. `rules` is a `Rules` or its text, such as `"vietnamese refill=forfeit"`.

    Two boards are equal if their rules and positions (squares, scores, mover, ply) are equal; the `history` is
    ignored. A board is mutable and has no hash; use its rules and `text()` as a key.
    """

    def __init__(self, rules: Rules | str = DEFAULT_PRESET) -> None:
        self._begin(shared_core(as_rules(rules)))

    def _begin(self, core: Core, positions: Positions | None = None) -> None:
        self._core = core
        self._past: list[Positions] = []  # the position before each move of the history
        self._positions = core.start() if positions is None else positions
        self._moves: list[Move] = []

    @classmethod
    def from_positions(cls, core: Core, positions: Positions, row: int = 0) -> Board:
        """Return a board, without history, that holds a copy of the position in row `row` of `positions`."""
        board = cls.__new__(cls)
        board._begin(core, positions[np.array([row])])
        return board

    @classmethod
    def setup(
        cls,
        seeds: npt.ArrayLike,
        stones: npt.ArrayLike,
        scores: npt.ArrayLike,
        mover: int = 0,
        ply: int = 0,
        *,
        rules: Rules | str = DEFAULT_PRESET,
        checked: bool = True,
    ) -> Board:
        """Set up a board from (P * (F + 1),) seeds in ring order, (P,) stones, (P,) scores, the mover and the ply.

        If `checked` is False, two faults are accepted, which `status` reports: points that do not add up to the total,
        and a mover without a legal move. Raises `PositionError` for any other impossible position.
        """
        core = shared_core(as_rules(rules))
        rows = np.asarray(seeds)[None], np.asarray(stones)[None], np.asarray(scores)[None]
        return cls.from_positions(core, core.setup(rows[0], rows[1], rows[2], mover, ply, checked=checked))

    @classmethod
    def parse(cls, text: str, rules: Rules | str = DEFAULT_PRESET, *, checked: bool = True) -> Board:
        """Read a position string (docs/RULES.md 7); inverse of `text`. `checked` is as in `setup`.

        Raises `NotationError` if the text is wrong; the message names the column and the fault.
        """
        core = shared_core(as_rules(rules))
        return cls.from_positions(core, parse_position(core, text, checked=checked))

    # ---- the position ----------------------------------------------------------------------------------------------

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._core.rules

    @property
    def core(self) -> Core:
        """The core that plays the game; boards with the same rules share it."""
        return self._core

    @property
    def positions(self) -> Positions:
        """The position as a batch of one (a copy)."""
        return self._positions.copy()

    @property
    def seeds(self) -> list[int]:
        """The seeds of the P * (F + 1) squares in ring order: South's fields from its left, a mandarin square, ..."""
        return self._core.seeds(self._positions).ravel().tolist()

    @property
    def stones(self) -> list[int]:
        """The stones, 0 or 1, on the P mandarin squares; the square after South's fields comes first."""
        return self._core.stones(self._positions).ravel().tolist()

    @property
    def scores(self) -> list[int]:
        """The points of the P players: captures minus refills. Only the `outcome` includes leftovers."""
        return self._positions.scores.ravel().tolist()

    @property
    def mover(self) -> int:
        """The player to move, 0 for South. The last move of a game also passes the turn."""
        return int(self._positions.mover[0])

    @property
    def ply(self) -> int:
        """The number of moves played since the starting position of the game."""
        return int(self._positions.ply[0])

    @property
    def legal_moves(self) -> list[Move]:
        """The legal moves, ordered from the mover's left; empty if the game is over."""
        actions = self._core.legal_mask(self._positions)[0].nonzero()[0].tolist()
        return [Move.from_action(action) for action in actions]

    @property
    def outcome(self) -> Outcome | None:
        """The result of the game, or None while it is running."""
        termination = Termination(self._positions.ended[0])
        if not termination:
            return None
        scores = self._core.standings(self._positions)[0].tolist()
        winners = self._core.winners(self._positions)[0].nonzero()[0].tolist()
        return Outcome(tuple(scores), winners[0] if len(winners) == 1 else None, termination)

    def status(self) -> list[str]:
        """Return one sentence for each fault of a position that was set up by hand, or an empty list.

        In addition to the checks of `setup`, this reports positions that cannot arise in play: an empty row that
        `refill_when=at_once` would have refilled, and a debt under `refill=forfeit`, which does not allow loans.
        """
        rules, seeds, running = self.rules, self.seeds, self.outcome is None
        columns = check_setup(rules, [seeds], [self.stones], [self.scores], self.mover, self.ply)
        ready = np.array([not running or bool(self.legal_moves)])
        problems = [*_complaint(check_points, rules, columns), *_complaint(check_ready, ready, columns.mover)]
        for player, score in enumerate(self.scores):
            left = player * (rules.fields + 1)
            empty = not any(seeds[left : left + rules.fields])
            if running and empty and player != self.mover and rules.refill_when == "at_once":
                problems.append(f"the row of player {player} is empty: refill_when=at_once would have refilled it")
            if score < 0 and rules.refill == "forfeit":
                problems.append(f"player {player} has {score} points: refill=forfeit lends nothing")
        return problems

    # ---- moves -----------------------------------------------------------------------------------------------------

    @property
    def history(self) -> list[Move]:
        """The moves pushed on this board, oldest first."""
        return self._moves.copy()

    def push(self, move: Move | str) -> None:
        """Play a move, such as `"5A"`.

        Raises:
            NotationError: if `move` is a string that does not describe a move.
            IllegalMoveError: if the move is illegal here, or the game is over.
        """
        move, positions = self._readable(move), self._positions.copy()
        try:
            self._core.play(positions, np.array([move.action]))
        except IllegalActionError:
            raise self._refusal(move) from None
        self._past.append(self._positions)
        self._moves.append(move)
        self._positions = positions

    def pop(self) -> Move:
        """Take back the last move and return it. Raises IndexError if there is none."""
        if not self._moves:
            raise IndexError("there is no move to take back")
        self._positions = self._past.pop()
        return self._moves.pop()

    def sowing(self, move: Move | str) -> MoveTrace:
        """Return the steps of a legal move without playing it. Raises the same errors as `push`."""
        move = self._readable(move)
        if move not in self.legal_moves:
            raise self._refusal(move)
        return trace_move(self._core, self._positions, move)

    @property
    def last_trace(self) -> MoveTrace | None:
        """The trace of the last move; None on a board without history."""
        return trace_move(self._core, self._past[-1], self._moves[-1]) if self._moves else None

    @property
    def last_mark(self) -> LastMove | None:
        """The squares that pictures of the board mark for the last move; None on a board without history."""
        trace = self.last_trace
        return None if trace is None else trace.mark

    def _readable(self, move: Move | str) -> Move:
        if isinstance(move, str):
            return Move.parse(move)
        if isinstance(move, Move):
            return move
        raise self._refusal(move)

    def _refusal(self, move: object) -> IllegalMoveError:
        outcome = self.outcome
        why = f"the game is over ({outcome.termination})" if outcome else f"legal: {names(self.legal_moves)}"
        return IllegalMoveError(f"{seat_name(self.rules, self.mover)} cannot play {move}; {why}")

    # ---- the board as a value --------------------------------------------------------------------------------------

    def copy(self) -> Board:
        """Return an independent board with the same position and history."""
        board = self.from_positions(self._core, self._positions)
        board._past, board._moves = self._past.copy(), self._moves.copy()  # past positions are never changed
        return board

    def start(self) -> Board:
        """Return a board with the position before the first move of the history."""
        return self.from_positions(self._core, (self._past or [self._positions])[0])

    def boards(self) -> list[Board]:
        """Return the boards of the history: the start, and the board after each move."""
        boards = [self.start()]
        for move in self._moves:
            boards.append(boards[-1].copy())
            boards[-1].push(move)
        return boards

    def text(self) -> str:
        """Return the position string (docs/RULES.md 7); inverse of `parse`."""
        return format_position(self._core, self._positions)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self.rules == other.rules and bool(self._positions.same(other._positions)[0])

    def __repr__(self) -> str:
        if self == Board(self.rules):
            return f"Board({str(self.rules)!r})"
        unchecked = ", checked=False" if any(self.status()) else ""
        return f"Board.parse({self.text()!r}, rules={str(self.rules)!r}{unchecked})"

    def __str__(self) -> str:
        return render.text(self, last=self.last_mark)

    def _repr_html_(self) -> str:
        return render.image(render.svg(self, last=self.last_mark))


def _complaint(check: Callable[..., None], *arguments: object) -> list[str]:
    """Call a check. Return its error message in a list, or an empty list if the check passes."""
    try:
        check(*arguments)
    except PositionError as error:
        return [error.reason]
    return []
