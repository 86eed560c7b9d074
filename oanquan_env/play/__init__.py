"""Games for people: in the terminal, on a page in the browser, in a notebook.

`BoardWidget` needs anywidget (`oanquan[widget]`), and is loaded at its first use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oanquan_env.play.widget import BoardWidget

__all__ = ["BoardWidget"]


def __getattr__(name: str) -> Any:
    """Loads the widget at its first use: other games do not need its packages."""
    if name != "BoardWidget":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from oanquan_env.play.widget import BoardWidget

    return BoardWidget
