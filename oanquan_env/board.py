"""One game for a person or a notebook: a batch of one over the core, with moves pushed and popped."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from oanquan_env import render
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.move_trace import LastMove, MoveTrace
from oanquan_env.engine.notation import Move, format_position, names, parse_position, seat_name
from oanquan_env.engine.position_checks import PositionError, check_points, check_ready, check_setup
from oanquan_env.engine.positions import Outcome, Positions, Termination
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.engine.tracing import trace_move


class IllegalMoveError(IllegalActionError):
    """A move that can be read but not played here; the message names the legal ones."""


@lru_cache(maxsize=16)
def shared_core(rules: Rules) -> Core:
    """A core of `rules`; boards share it, as building its tables takes longer than a game."""
    return Core(rules)


class Board:
    """One game of Ô Ăn Quan, by a `Rules` or its text, such as `"vietnamese refill=forfeit"`.

    Two boards are equal when their rules and their positions (squares, scores, mover, ply) are; their `history` does
    not count. A board changes, so it has no hash; its rules and `text` make a key.
    """

    def __init__(self, rules: Rules | str = DEFAULT_PRESET) -> None:
        self._begin(shared_core(as_rules(rules)))

    def _begin(self, core: Core, positions: Positions | None = None) -> None:
        self._core = core
        self._past: list[Positions] = []  # the positions before each move of the history
        self._positions = core.start() if positions is None else positions
        self._moves: list[Move] = []

    @classmethod
    def from_positions(cls, core: Core, positions: Positions, row: int = 0) -> Board:
        """The game of one row of a batch (a copy of it), without history."""
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
        """A board set up by hand: (P * (F + 1),) seeds in ring order, (P,) stones, (P,) scores.

        With `checked` false, points that do not make the total and a mover with nothing to play are let through;
        `status` then names them. Raises `PositionError` for anything else that is impossible.
        """
        core = shared_core(as_rules(rules))
        rows = np.asarray(seeds)[None], np.asarray(stones)[None], np.asarray(scores)[None]
        return cls.from_positions(core, core.setup(rows[0], rows[1], rows[2], mover, ply, checked=checked))

    @classmethod
    def parse(cls, text: str, rules: Rules | str = DEFAULT_PRESET, *, checked: bool = True) -> Board:
        """The board of a position string (docs/RULES.md 7); inverse of `text`. `checked` is as in `setup`.

        Raises `NotationError` naming the column and what is wrong there.
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
        """The core that plays them; shared with other boards."""
        return self._core

    @property
    def positions(self) -> Positions:
        """The position as a batch of one (a copy)."""
        return self._positions.copy()

    @property
    def seeds(self) -> list[int]:
        """P * (F + 1) seeds in ring order: South's fields from South's left, a mandarin square, the next side, ..."""
        return self._core.seeds(self._positions).ravel().tolist()

    @property
    def stones(self) -> list[int]:
        """P stones, 0 or 1, of the mandarin squares; the one after South's fields first."""
        return self._core.stones(self._positions).ravel().tolist()

    @property
    def scores(self) -> list[int]:
        """P points: captures less refills. Leftovers come only with the `outcome`."""
        return self._positions.scores.ravel().tolist()

    @property
    def mover(self) -> int:
        """The player to move, 0 = South. It changes after the last move of a game too."""
        return int(self._positions.mover[0])

    @property
    def ply(self) -> int:
        """Moves played since the set-up."""
        return int(self._positions.ply[0])

    @property
    def legal_moves(self) -> list[Move]:
        """The legal moves, from the mover's left; empty when the game is over."""
        actions = self._core.legal_mask(self._positions)[0].nonzero()[0].tolist()
        return [Move.from_action(action) for action in actions]

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        termination = Termination(self._positions.ended[0])
        if not termination:
            return None
        scores = self._core.standings(self._positions)[0].tolist()
        winners = self._core.winners(self._positions)[0].nonzero()[0].tolist()
        return Outcome(tuple(scores), winners[0] if len(winners) == 1 else None, termination)

    def status(self) -> list[str]:
        """The faults of a position set up by hand, a sentence each; empty if it can come up in play.

        A board that passed its checks can still be unreachable in a game: an empty row that `refill_when=at_once`
        would have refilled, or a debt where `refill=forfeit` lends nothing.
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
            NotationError: for a text that is no move.
            IllegalMoveError: for a move that cannot be played here; names those that can.
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
        """The steps of a legal move, which is not played. Raises as `push`."""
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
        """The last move as the pictures of `render` mark it; None on a board without history."""
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
        """An independent board with the same position and history."""
        board = self.from_positions(self._core, self._positions)
        board._past, board._moves = self._past.copy(), self._moves.copy()  # past positions are never written to
        return board

    def start(self) -> Board:
        """The board at which the history begins, without history."""
        return self.from_positions(self._core, (self._past or [self._positions])[0])

    def boards(self) -> list[Board]:
        """The boards of the history: its start, and those after each move."""
        boards = [self.start()]
        for move in self._moves:
            boards.append(boards[-1].copy())
            boards[-1].push(move)
        return boards

    def text(self) -> str:
        """The position string of docs/RULES.md 7; inverse of `parse`."""
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
    """The objection of `check` to a position: one sentence, or none."""
    try:
        check(*arguments)
    except PositionError as error:
        return [error.reason]
    return []
