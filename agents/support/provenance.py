"""The origin of numbers: commit, versions, processor."""

import contextlib
import functools
import platform
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent
DIRTY = "-dirty"  # the mark of a commit from which files differ
RESULTS = "benchmarks/results"
"""The folder of measurements in the clone. No code is there, so that a new result makes no commit dirty."""


@functools.cache
def commit() -> str | None:
    """The clone's commit, marked `-dirty` if files other than results differ from it; None outside a clone.

    Read once: that of the running code, whatever is committed meanwhile.
    """
    try:
        described = _git("describe", "--always", "--abbrev=12")
        described.check_returncode()
        changed = _git("diff", "--quiet", "HEAD", "--", ":/", f":(top,exclude){RESULTS}")
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip() + DIRTY * bool(changed.returncode)


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def processor() -> str:
    """The processor's name if the system has it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
