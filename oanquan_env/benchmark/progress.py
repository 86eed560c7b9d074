"""A progress line for long work, on a terminal or in a notebook."""

import sys
import time

PATIENCE = 1.0  # seconds of silence at the start, so that short work says nothing
EVERY = 0.2  # seconds between two changes of the line


class ProgressLine:
    """One line on the error stream, which is rewritten and wiped in the end.

    If `shown` is left out, there is one where somebody looks at it: on a terminal or in a notebook.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() or "ipykernel" in sys.modules if shown is None else shown
        self._next = time.monotonic() + PATIENCE
        self._length = 0
        self._what, self._done, self._total = "", 0, 0

    def begin(self, what: str, total: int) -> None:
        """A new part of the work, of `total` steps."""
        self._what, self._done, self._total = what, 0, total

    def advance(self, steps: int) -> None:
        """So many steps more are done."""
        self._done += steps
        if self._shown and time.monotonic() >= self._next:
            self._write(f"{self._what}: {self._done} of {self._total}")
            self._next = time.monotonic() + EVERY

    def end(self) -> None:
        """Wipe the line."""
        if self._length:
            self._write("")
            print("", end="\r", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        print(f"\r{text:{self._length}}", end="", file=sys.stderr, flush=True)
        self._length = len(text)
