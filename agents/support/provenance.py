"""The origin of measurements: commit, package versions and processor."""

import contextlib
import functools
import platform
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent
DIRTY = "-dirty"  # suffix of the commit if files differ from it
RESULTS = "experiments/results"
"""The clone's folder of measurements. It holds no code, so changes there do not make a commit dirty."""


@functools.cache
def commit() -> str | None:
    """Return the clone's commit, marked `-dirty` if files other than results differ from it; None outside a clone.

    The commit is read once, so later commits do not change it while the code is running.
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
    """Return the versions of Python and of the installed packages among `packages`."""
    installed = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed


def processor() -> str:
    """Return the processor's name if the system reports it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
