"""Abilities of the terminal: its width, its colours, editing of lines, and a notice while a player thinks."""

import contextlib
import os
import re
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator

from oanquan_env import render
from oanquan_env.board import Board
from oanquan_env.play import vietnamese

ASCII = str.maketrans("╭╮╰╯┬┴├┤┼─│▶◉○●×½", "+++++++++-|>@o*x/")
"""For terminals that know no other signs."""
SLOW = 0.5  # seconds after which a player is said to be thinking


def width() -> int | None:
    """Columns of the terminal; None where the output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def has_colour() -> bool:
    """Whether the output shows ANSI colours and its user wants them (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return False
    return "WT_SESSION" in os.environ if os.name == "nt" else os.environ.get("TERM", "dumb") != "dumb"


def drawn(board: Board, language: vietnamese.Language = "en") -> str:
    """The board as this output shows it."""
    words = vietnamese.board_words(board) if language == "vi" else None
    picture = plain(render.text(board, last=board.last_mark, columns=width(), words=words))
    return render.coloured(picture) if has_colour() else picture


def plain(text: str) -> str:
    """The text with signs that this output has: those of ASCII where it has no others."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return text.translate(ASCII)
    return text


def wrapped(text: str) -> str:
    """The text in lines that fit the terminal, without a broken word, nor one at a no-break space."""
    lines, columns = [], width()
    for line in text.split("\n"):
        begin = re.match(r"  \S.*?  +", line)  # of a line in a table: the second column stays one
        indent = " " * (len(begin[0]) if begin else 0)
        wrapper = textwrap.TextWrapper(columns or len(line) + 1, subsequent_indent=indent)
        wrapper.break_long_words = wrapper.break_on_hyphens = False
        lines += wrapper.wrap(line) or [""]
    return plain("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "))


def edit_lines() -> None:
    """Let `input` edit lines and remember those before, where Python has readline."""
    if sys.stdin.isatty() and sys.stdout.isatty():  # elsewhere readline may print codes
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401


@contextlib.contextmanager
def thinking(words: str) -> Iterator[None]:
    """Print a notice if the work within takes long."""
    timer = threading.Timer(SLOW, print, (words,), {"flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
