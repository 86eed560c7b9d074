"""Folders that commands write: a lock for one program at a time, and the options that made a folder's data."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout

from oanquan_env.files import TEMPORARY, FileError, read_json, short_hash, write_atomically
from oanquan_env.provenance import origin

ABOUT_NAME = "about.json"
"""The data card: the options, the meaning of the arrays, the origin, the licence, counts and a checksum."""


def lock_folder(folder: Path) -> AcquireReturnProxy[FileLock]:
    """Lock a folder, and delete the temporary files that killed programs left in it.

    The lock is held until the `with` block ends or `.lock.release()` is called on the returned object; the system
    releases it even if the program is killed. Raises `FileError` if another program holds the lock.
    """
    try:
        lock = FileLock(folder / ".lock").acquire(blocking=False)
    except Timeout:
        raise FileError(
            f"{folder} is in use by another program: wait until it ends, or choose another folder"
        ) from None
    for left in folder.glob(f".*{TEMPORARY}"):
        left.unlink(missing_ok=True)
    return lock


@contextlib.contextmanager
def data_folder(
    folder: Path, kind: str, asked: Mapping[str, Any], fields: Mapping[str, str], command: str
) -> Iterator[Callable[[Mapping[str, int]], None]]:
    """Lock a folder, creating it if needed. Record `asked` (options) and `fields` (the meaning of the files' arrays).

    The block receives a function that completes the data card when all files exist, with the counts that it is given,
    such as the number of games, the origin, and a checksum of the `.npz` files.

    Raises `ValueError` if the folder was made with other options; the message calls the content `kind`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        path = folder / ABOUT_NAME
        former = read_json(path) if path.exists() else {}
        before = former.get("asked")

        def write(**card: Any) -> None:
            write_atomically(path, (json.dumps({"asked": asked, "fields": fields, **card}, indent=1) + "\n").encode())

        def complete(counts: Mapping[str, int]) -> None:
            if (found := checksum(folder)) == former.get("checksum"):
                return  # nothing was made, so the files have the origin that the card names
            write(
                rules=asked["rules"],
                **origin(command),
                licence=metadata.metadata("oanquan")["License-Expression"],
                counts={**counts, "files": len(list(folder.glob("*.npz")))},
                checksum=found,
            )

        if before is None:
            write()
        elif before != asked:
            changed = [(key, before.get(key), value) for key, value in asked.items() if before.get(key) != value]
            differing = ", ".join(f"{key} {old!r}, not {new!r}" for key, old, new in changed)
            raise ValueError(f"{folder} holds {kind} made with {differing}; choose another folder")
        yield complete


def checksum(folder: Path) -> str:
    """Return a short hash of the names and contents of the `.npz` files in a folder."""
    files = sorted(folder.glob("*.npz"))
    return short_hash(*(f"{path.name} {short_hash(path.read_bytes())}\n".encode() for path in files))
