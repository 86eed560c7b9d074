"""One program at a time works in a folder: an advisory lock that the system takes back however the program ends."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import weakref
from pathlib import Path

from oanquan_env.files import TEMPORARY, FileError, one_line

LOCK_NAME = ".lock"


class FolderLock:
    """Holds a folder, which must exist, until `release`, the end of a `with`, or until nobody refers to the lock.

    What a killed program left half-written in the folder is removed. On a file system without locks nothing is held.

    Raises `FileError` if another one holds it.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK_NAME
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _lock(descriptor):
                holder = one_line(os.read(descriptor, 200).decode(errors="replace")) or "another process"
                os.close(descriptor)
                raise FileError(
                    f"{folder} is in use by {holder}: wait until it ends, stop it, or choose another folder"
                )
            if _is_still_there(path, descriptor):
                break
            os.close(descriptor)  # the one who held it has removed it
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        self.release = weakref.finalize(self, _release, path, descriptor)
        for left in folder.glob(f".*{TEMPORARY}"):
            left.unlink(missing_ok=True)

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _release(path: Path, descriptor: int) -> None:
    with contextlib.suppress(OSError):  # Windows removes no open file
        path.unlink()
    os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    BEYOND = 1 << 20
    """Windows keeps others from reading locked bytes: this one is behind the text."""

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True
