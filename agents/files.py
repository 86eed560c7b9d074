"""Writing files so that a kill at any moment leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

PLAY_VERSION = 3
"""To be raised when agents come to play otherwise by the same files: results kept of them are then told apart."""
PRETRAINED = "pretrained"
"""In a player's name: the agent that comes with the project for the rules to be played."""
PRETRAINED_FOLDER = Path(__file__).parent / PRETRAINED
"""Where those agents lie, a folder for each of the rules."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step. Raises OSError, leaving the old file, if it cannot be written."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
