"""Work of worker processes in the tests of `agents.support.parallel`; light to import, as each process does it."""

import os
import signal


def square(number: int) -> int:
    """The square."""
    return number * number


def refuse(number: int) -> int:
    """Raises for 2."""
    if number == 2:
        raise ValueError(f"no {number}s here")
    return number


def die(number: int) -> int:
    """Kills its process for 1."""
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def where(number: int) -> str:
    """The folder in which it works."""
    return os.getcwd()
