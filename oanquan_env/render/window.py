"""Show the board in a window with pygame-ce."""

import os
import time
from types import ModuleType
from typing import Any

from oanquan_env.engine.trace import LastMove
from oanquan_env.errors import needing_extra
from oanquan_env.render.drawable import Drawable
from oanquan_env.render.raster import rgb
from oanquan_env.render.scene import Owners


def _pygame() -> ModuleType:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with needing_extra("human"):
        import pygame
    return pygame


class Window:
    """A window that shows one board at a time. The first `show` opens it, and the user may close it.

    `width` is in pixels, by default 960 for two rows of five fields. Raises `MissingExtraError` without pygame-ce.
    """

    def __init__(self, caption: str = "Ô Ăn Quan", *, dark: bool = False, width: int | None = None) -> None:
        self._pygame = _pygame()
        self._caption, self._dark, self._width = caption, dark, width
        self._surface: Any = None
        self._shown_at = 0.0
        self.closed = False

    def show(self, board: Drawable, *, last: LastMove | None = None, owners: Owners | None = None) -> bool:
        """Show `board` unless the window was closed; return whether it is still open. See `svg` for the arguments."""
        if self.closed:
            return False
        self._shown_at = time.monotonic()
        pixels = rgb(board, last=last, owners=owners, dark=self._dark, width=self._width)
        size = (pixels.shape[1], pixels.shape[0])
        if self._surface is None or self._surface.get_size() != size:
            self._pygame.display.init()
            self._surface = self._pygame.display.set_mode(size)
            self._pygame.display.set_caption(self._caption)
        self._surface.blit(self._pygame.image.frombuffer(pixels.tobytes(), size, "RGB"), (0, 0))
        self._pygame.display.flip()
        return self.poll()

    def poll(self) -> bool:
        """Handle the user's events; return whether the window is still open. Call it while waiting for a move."""
        if self._surface is not None and any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()
        return not self.closed

    def hold(self, seconds: float) -> bool:
        """Wait until the last picture has been shown for `seconds`; return whether the window is still open."""
        until = self._shown_at + seconds
        while self.poll() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))
        return not self.closed

    def close(self) -> None:
        """Close the window; it cannot be opened again."""
        if self._surface is not None:
            self._pygame.display.quit()
            self._surface = None
        self.closed = True
