"""Folders that commands write: a lock for one program at a time, and the options that made a folder's data."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout

from oanquan_env.files import TEMPORARY, FileError, read_json, write_atomically

ABOUT_NAME = "about.json"  # records the options, and the meaning of the arrays in each file


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
def data_folder(folder: Path, kind: str, asked: Mapping[str, Any], fields: Mapping[str, str]) -> Iterator[None]:
    """Lock a folder, creating it if needed. Record `asked` (options) and `fields` (the meaning of the files' arrays).

    Raises `ValueError` if the folder was made with other options; the message calls the content `kind`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        path = folder / ABOUT_NAME
        before = read_json(path).get("asked") if path.exists() else None
        if before is None:
            write_atomically(path, (json.dumps({"asked": asked, "fields": fields}, indent=1) + "\n").encode())
        elif before != asked:
            raise ValueError(f"{folder} holds {kind} made with {before}; choose another folder for {asked}")
        yield
