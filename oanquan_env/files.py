"""Files that are written in one step: a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

TEMPORARY = ".part"
"""How the name of a file ends while it is written."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, in place of one of that name if there is one, whose permissions it keeps.

    Raises OSError, leaving the old file, if it cannot be written.
    """
    path = path.resolve()
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, path.stat().st_mode if path.exists() else _new_mode())
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _new_mode() -> int:
    """The permissions of a new file; a temporary one is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
