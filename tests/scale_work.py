"""What worker processes do in the tests of `agents.support.parallel`; light to import, as each process does it."""

import os
import signal
import time
from pathlib import Path


def square(number: int) -> int:
    """The square."""
    return number * number


def refuse(number: int) -> int:
    """Raises for 2."""
    if number == 2:
        raise ValueError(f"no {number}s here")
    return number


def die_once(work: tuple[Path, int]) -> tuple[int, int]:
    """Kills its process on the first try of number 1, and tells how often it was begun."""
    folder, number = work
    with (folder / str(number)).open("a") as file:
        file.write("x")
    tries = (folder / str(number)).stat().st_size
    if number == 1 and tries == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, tries


def die_always(number: int) -> int:
    """Kills its process for 1."""
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def where(number: int) -> str:
    """The folder in which it works."""
    return os.getcwd()


def sleep_long(path: Path) -> None:
    """Tells its process's number in a file and goes on for longer than any test."""
    path.write_text(str(os.getpid()))
    time.sleep(600)
