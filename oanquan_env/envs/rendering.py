"""Draw the game of an environment according to its `render_mode`."""

from __future__ import annotations

from typing import TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

from oanquan_env import render
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import Move
from oanquan_env.engine.positions import Positions
from oanquan_env.render.motion import motion

RENDER_MODES = ("ansi", "rgb_array", "human")
"""The render modes: text, a picture as a (height, width, 3) uint8 array, and a window."""
Owners: TypeAlias = list[list[int]]


class Replay:
    """The moves of an environment's game, for drawing.

    Attributes:
        core: the core for the rules of the game; it may change before a game begins.
        start: the position after the opening of random plies, a batch of one.
        moves: the actions played since `start`.
        latest: how many of these actions the last call of `reset` or `step` played.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.begin(core.start())

    def begin(self, start: Positions) -> None:
        """Begin a game from `start`, a batch of one that must not change afterwards."""
        self.start, self.moves, self.latest = start, list[int](), 0
        self._before, self._played = start.copy(), 0  # the position after the first `_played` moves

    def add(self, actions: list[int]) -> None:
        """Add the actions of one step."""
        self.moves += actions
        self.latest = len(actions)

    def follow(self, log: npt.NDArray[np.int64], begins: Positions) -> None:
        """Add the actions in the (K,) `log` of a `reset` or `step` (`engine.step.act`); new games start at `begins`."""
        count, opening, begun, *actions = log.tolist()
        if begun:
            start = begins.copy()
            for action in actions[:opening]:
                self.core.play(start, [action])
            self.begin(start)
        if count:  # after an illegal action, the picture still shows the last plies
            self.add(actions[opening:count])

    def last_plies(self) -> list[tuple[Positions, int | None]]:
        """Return the plies of the last step: the position before each, and its action.

        If the step played no plies, return the current position and None.
        """
        first = len(self.moves) - self.latest
        for action in self.moves[self._played : first]:
            self.core.play(self._before, [action])
        self._played = first
        plies: list[tuple[Positions, int | None]] = []
        now = self._before.copy()
        for action in self.moves[first:]:
            plies.append((now.copy(), action))
            self.core.play(now, [action])
        return plies or [(now, None)]

    @property
    def board(self) -> Board:
        """The game since its opening, with the moves as history."""
        board = Board.from_positions(self.core, self.start)
        for action in self.moves:
            board.push(Move.from_action(action))
        return board


def _after(replay: Replay, ply: int) -> Board:
    """Return the board after one of the plies of the last step."""
    before, action = replay.last_plies()[ply]
    board = Board.from_positions(replay.core, before)
    if action is not None:
        board.push(Move.from_action(action))
    return board


class Screen:
    """A renderer of positions with their last moves. Raises `ValueError` for an unknown `mode`."""

    def __init__(self, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(RENDER_MODES)} or None; got {mode!r}")
        self.mode = mode
        self._window: render.Window | None = None

    def draw(self, replay: Replay, owners: Owners | None = None) -> str | npt.NDArray[np.uint8] | None:
        """Draw the board after the last ply of a game. Return None if the mode is None or `human`.

        `owners` are the ownership codes of the fields in match play.
        """
        if self.mode is None:
            gymnasium.logger.warn("render() draws nothing, because the environment was made without a render_mode.")
            return None
        board = _after(replay, -1)
        if self.mode == "ansi":
            return render.text(board, last=board.last_mark, owners=owners)
        if self.mode == "rgb_array":
            return render.rgb(board, last=board.last_mark, owners=owners)
        self._open().show(board, last=board.last_mark, owners=owners)
        return None

    def pictures(self, replay: Replay) -> list[npt.NDArray[np.uint8]]:
        """Return a picture of the board after each ply of the last step, or of the position if it played none."""
        boards = [_after(replay, ply) for ply in range(len(replay.last_plies()))]
        return [render.rgb(board, last=board.last_mark) for board in boards]

    def show(self, replay: Replay, fps: float, owners: Owners | None = None) -> None:
        """Show the plies of the last step in the window, or the position if the step played none.

        A ply takes 1 / `fps` seconds and is shown step by step: the field that is played, each sowing, capture and
        refill. `owners` is as for `draw`.
        """
        window = self._open()
        for before, action in replay.last_plies():
            board = Board.from_positions(replay.core, before)
            pictures: list[tuple[render.Drawable, render.LastMove | None]] = []
            if action is not None:
                board.push(Move.from_action(action))
                assert board.last_trace is not None
                steps = list(motion(board.last_trace, board.ply - 1, each_seed=False))
                pictures += [(step.board, step.last) for step in steps[:-1]]
            pictures.append((board, board.last_mark))
            for picture, last in pictures:
                if not window.show(picture, last=last, owners=owners):
                    return
                window.hold(1 / fps / len(pictures))

    def _open(self) -> render.Window:
        if self._window is None:
            self._window = render.Window()
        return self._window

    def close(self) -> None:
        """Close the window if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None
