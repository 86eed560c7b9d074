"""Where numbers come from: commit, versions, processor."""

from __future__ import annotations

import functools
import platform
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


@functools.cache
def commit() -> str | None:
    """The clone's commit, marked `-dirty` where files differ from it; None outside a clone.

    Asked once: of the code that runs, whatever is committed meanwhile.
    """
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        described = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name where the system tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
