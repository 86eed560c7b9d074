"""Files are written at once: a program killed at any moment leaves the old file or the new one, never a half."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def check_place(option: str, path: Path) -> None:
    """Check, before hours of work, that a file can be written. Raises `ValueError` that names the option."""
    if not path.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{option}: {path} is a folder, not a file")


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
