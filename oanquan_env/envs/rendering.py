"""Draw the game of an environment according to its `render_mode`."""

from __future__ import annotations

from collections.abc import Iterable

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


def played_board(core: Core, start: Positions, actions: Iterable[int]) -> Board:
    """Return the board after playing `actions` from `start` (one position), with the moves as its history."""
    board = Board.from_positions(core, start)
    for action in actions:
        board.push(Move.from_action(action))
    return board


class Replay:
    """A copy of an environment's game, for drawing; it is updated from the log (`engine.step.act`).

    Attributes:
        core: the core for the rules of the game.
        now: the current position, a batch of one.
        start: the position after the opening of random plies.
        moves: the actions played since `start`.
        last: the plies of the last step: the position before each, and its action.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.now = self.start = core.start()
        self.moves: list[int] = []
        self.last: list[tuple[Positions, int]] = []

    def follow(self, log: npt.NDArray[np.int64], begins: Positions) -> None:
        """Play the actions in the (K,) `log` of a `reset` or `step`. New games begin from `begins`, a batch of one."""
        count, opening, begun, *actions = log.tolist()
        if begun:
            self.now, self.moves, self.last = begins.copy(), [], []
            for action in actions[:opening]:
                self.core.play(self.now, [action])
            self.start = self.now.copy()
        elif count:  # after an illegal action, the picture still shows the last plies
            self.last = []
        for action in actions[opening:count]:
            self.last.append((self.now.copy(), action))
            self.core.play(self.now, [action])
            self.moves.append(action)


class Screen:
    """A renderer of positions with their last moves. Raises `ValueError` for an unknown `mode`."""

    def __init__(self, core: Core, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(RENDER_MODES)} or None; got {mode!r}")
        self.core = core
        self.mode = mode
        self._window: render.Window | None = None

    def draw(
        self, before: Positions, action: int | None, owners: list[list[int]] | None = None
    ) -> str | npt.NDArray[np.uint8] | None:
        """Draw the board after `action` was played in `before` (one position), or `before` itself if `action` is None.

        `owners` are the ownership codes of the fields in match play. Returns None if the mode is None or `human`.
        """
        if self.mode is None:
            gymnasium.logger.warn("render() draws nothing, because the environment was made without a render_mode.")
            return None
        board = Board.from_positions(self.core, before)
        if action is not None:
            board.push(Move.from_action(action))
        if self.mode == "ansi":
            return render.text(board, last=board.last_mark, owners=owners)
        if self.mode == "rgb_array":
            return render.rgb(board, last=board.last_mark, owners=owners)
        self._open().show(board, last=board.last_mark, owners=owners)
        return None

    def show(self, before: Positions, action: int | None, fps: float, owners: list[list[int]] | None = None) -> None:
        """Show one ply in the window, step by step: the field that is played, each sowing, capture and refill.

        Arguments are as for `draw`. The whole ply, or the position if `action` is None, takes 1 / `fps` seconds.
        """
        board = Board.from_positions(self.core, before)
        pictures: list[tuple[render.Drawable, render.LastMove | None]] = []
        if action is not None:
            board.push(Move.from_action(action))
            assert board.last_trace is not None
            steps = list(motion(board.last_trace, board.ply - 1, each_seed=False))
            pictures += [(step.board, step.last) for step in steps[:-1]]
        pictures.append((board, board.last_mark))
        window = self._open()
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
