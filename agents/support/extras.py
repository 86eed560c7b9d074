"""Packages that only some parts of the project need: one message where one is not installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from oanquan_env.errors import MissingExtraError

TRAIN = (
    *("filelock", "joblib", "matplotlib", "numba", "pydantic", "rich", "safetensors", "sb3_contrib"),
    *("stable_baselines3", "tensorboard", "torch", "tyro", "yaml"),
)
EXTRAS = {
    **dict.fromkeys(TRAIN, "train"),
    **dict.fromkeys(("nbclient", "nbformat", "ipykernel"), "notebooks"),
    **dict.fromkeys(("pyspiel", "open_spiel"), "openspiel"),
    "PIL": "render",
    "pygame": "human",
    "ray": "ray",
}
"""Name of an import, and the extra that installs it."""
USAGE_ERROR, INTERRUPTED = 2, 130


@contextmanager
def needing_extras(program: str | None = None) -> Iterator[None]:
    """Within it a missing package raises `MissingExtraError`; it ends a `program` with a line that names the extra.

    Ctrl-C while a `program` is imported ends it without a traceback.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        said = f'this needs {package}: pip install -e ".[{EXTRAS[package]}]"'
        if program is None:
            raise MissingExtraError(said) from None
        print(f"{program}: {said}", file=sys.stderr)
        raise SystemExit(USAGE_ERROR) from None
    except KeyboardInterrupt:
        if program is None:
            raise
        raise SystemExit(INTERRUPTED) from None
