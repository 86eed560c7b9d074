"""Packages that only some parts of the project need: one message where one is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

TRAIN = [
    "matplotlib",
    "numba",
    "pydantic",
    "rich",
    "safetensors",
    "sb3_contrib",
    "stable_baselines3",
    "tensorboard",
    "torch",
    "tyro",
    "yaml",
]
EXTRAS = {
    **dict.fromkeys(TRAIN, "train"),
    **dict.fromkeys(("nbclient", "nbformat", "ipykernel"), "notebooks"),
    **dict.fromkeys(("minari", "h5py"), "minari"),
    "PIL": "render",
    "pygame": "human",
    "ray": "ray",
}
"""Name of an import, and the extra that installs it."""
USAGE_ERROR, INTERRUPTED = 2, 130


class MissingExtraError(ImportError, ValueError):
    """A package is not installed; says what installs it."""


def what_it_needs(error: BaseException) -> str | None:
    """What to say of a package that is not installed; None of any other error."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return f'this needs {package}: pip install -e ".[{EXTRAS[package]}]"' if package in EXTRAS else None


@contextmanager
def needing_extras(program: str | None = None) -> Iterator[None]:
    """Within it a package that is not installed is a `MissingExtraError`, or a line and the end of `program`.

    Ctrl-C, as long as `program` is imported, ends it without a traceback.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        said = what_it_needs(error)
        if said is None:
            raise
        if program is None:
            raise MissingExtraError(said) from None
        print(f"{program}: {said}", file=sys.stderr)
        raise SystemExit(USAGE_ERROR) from None
    except KeyboardInterrupt:
        if program is None:
            raise
        raise SystemExit(INTERRUPTED) from None


def say_what_commands_need() -> None:
    """Let a module that is run by `python -m` end with a line where a package is not installed, and without on Ctrl-C.

    Called by packages when they are imported; it does nothing in any other program.
    """
    if sys.argv[:1] != ["-m"]:  # what Python puts there while it looks for the module
        return
    as_before = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        said = what_it_needs(error)
        if isinstance(error, KeyboardInterrupt):
            return
        if said is None:
            as_before(kind, error, traceback)
        else:
            print(f"error: {said}", file=sys.stderr)

    sys.excepthook = show
