"""The origin of a result: the command, the commit, versions of packages, and the processor."""

import contextlib
import functools
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1]
DIRTY = "-dirty"  # suffix of the commit if files differ from it
RESULTS = "experiments/results"
"""The clone's folder of measurements. It holds no code, so changes there do not make a commit dirty."""


def origin(command: str | None = None, packages: Iterable[str] = ()) -> dict[str, Any]:
    """Return the origin of a result that `command` (default: this program) makes now, for the file of this result.

    The keys are `command`, `commit`, `processor` and `versions`: of Python, oanquan, NumPy, Numba, torch if it is
    loaded, and `packages`.
    """
    loaded = ["torch"] * ("torch" in sys.modules)
    return {
        "command": command or shlex.join(["python", *sys.orig_argv[1:]]),
        "commit": commit(),
        "processor": processor(),
        "versions": versions(["numpy", "numba", *loaded, *packages]),
    }


def made_by(command: str | None, commit: str | None, processor: str | None) -> str:
    """Return a phrase that names the command, commit and processor of a result."""
    where = f" at commit `{commit}`" if commit else ""
    return f"by `{command}`{where}, {processor}"


@functools.cache
def commit() -> str | None:
    """Return the clone's commit, marked `-dirty` if files other than results differ from it; None outside a clone.

    The commit is read once, so later commits do not change it while the code is running.
    """
    if not (FOLDER / ".git").exists():  # perhaps a package in an environment that another project's clone contains
        return None
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
    """Return the versions of Python, oanquan, and the installed packages among `packages`."""
    installed = {"python": platform.python_version(), "oanquan": sys.modules["oanquan_env"].__version__}
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed


@functools.cache
def processor() -> str:
    """Return the processor's name if the system reports it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
