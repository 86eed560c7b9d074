"""The program behind a pseudo-terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping

# Opening the terminal makes it the program's own, so that Ctrl-C reaches it. A shell that runs the tests in its
# background lets them, and all that they start, ignore Ctrl-C; a person's shell does not.
IN_TERMINAL = """
import os, runpy, signal
os.open(os.ttyname(0), os.O_RDWR)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("oanquan_env", run_name="__main__", alter_sys=True)
"""


class Terminal:
    """The program behind a pseudo-terminal, as a person uses it."""

    def __init__(self, *arguments: str, columns: int = 80, variables: Mapping[str, str] = {}) -> None:
        self.here, there = pty.openpty()
        self.seen = ""
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        environment = {**kept, "TERM": "dumb", "PYTHONIOENCODING": "utf-8", **variables}
        command = [sys.executable, "-c", IN_TERMINAL, *arguments]
        self.process = subprocess.Popen(
            command, stdin=there, stdout=there, stderr=there, env=environment, start_new_session=True
        )
        os.close(there)

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Read until `text` has come since the last time."""
        end, fresh = time.monotonic() + seconds, b""
        while text.encode() not in fresh:
            assert time.monotonic() < end, f"{text!r} did not come: {fresh.decode(errors='replace')}"
            if select.select([self.here], [], [], 0.1)[0]:
                fresh += os.read(self.here, 4096)
        self.seen += fresh.decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self.here, text.encode())

    def close(self) -> int:
        try:
            return self.process.wait(timeout=120)
        finally:
            self.process.kill()
            os.close(self.here)
