"""A progress line for long work, on a terminal or in a notebook."""

import sys
import time

PATIENCE = 1.0  # seconds of silence at the start, so that short work prints nothing
EVERY = 0.2  # seconds between updates of the line


class ProgressLine:
    """A line on the error stream that is rewritten in place and wiped at the end.

    If `shown` is None, the line is shown in a terminal or notebook.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() or "ipykernel" in sys.modules if shown is None else shown
        self._next = time.monotonic() + PATIENCE
        self._length = 0
        self._what, self._done, self._total = "", 0, 0

    def begin(self, what: str, total: int) -> None:
        """Begin a new part of the work, described by `what`, with `total` steps."""
        self._what, self._done, self._total = what, 0, total

    def advance(self, steps: int) -> None:
        """Count `steps` more steps as done."""
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
