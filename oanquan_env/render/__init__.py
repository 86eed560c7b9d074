"""Draw a board as text for terminals, as SVG or as pixels, or show it in a window.

`text` and `svg` need no extra; `rgb` needs Pillow (`oanquan[render]`), and `Window` also needs pygame-ce
(`oanquan[human]`). Both packages are imported when they are first used.

In reading order:

1. `drawable`: what can be drawn; `terminal`: text for terminals;
2. `layout`, `shapes` and `theme`: the geometry of the board, the shapes and the colours; `scene`: a board as shapes;
3. `svg` and `raster`: the shapes as SVG and as pixels;
4. `motion`: a move as frames; `animation` and `window`: these frames as files and in a window.
"""

from oanquan_env.engine.trace import LastMove
from oanquan_env.errors import MissingExtraError
from oanquan_env.render.drawable import Drawable, Snapshot
from oanquan_env.render.raster import rgb
from oanquan_env.render.svg import image, svg
from oanquan_env.render.terminal import coloured, text
from oanquan_env.render.window import Window

__all__ = [
    "Drawable",
    "LastMove",
    "MissingExtraError",
    "Snapshot",
    "Window",
    "coloured",
    "image",
    "rgb",
    "svg",
    "text",
]
