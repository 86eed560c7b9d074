"""One program at a time works in a folder: an advisory lock that the system takes back however the program ends."""

import os
import socket
import sys
import weakref
from pathlib import Path
from typing import Self

from oanquan_env.files import TEMPORARY, FileError, one_line

LOCK_NAME = ".lock"


class FolderLock:
    """Holds a folder, which must exist, until `release`, the end of a `with`, or until nobody refers to the lock.

    Half-written files of a killed program are removed. The lock's own file stays, as without it two programs could hold
    one each. On a file system without locks nothing is held.

    Raises `FileError` if another one holds it.
    """

    def __init__(self, folder: Path) -> None:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        self.release = weakref.finalize(self, os.close, descriptor)
        if not _lock(descriptor):
            holder = one_line(os.read(descriptor, 200).decode(errors="replace")) or "another process"
            self.release()
            raise FileError(f"{folder} is in use by {holder}: wait until it ends, stop it, or choose another folder")
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        for left in folder.glob(f".*{TEMPORARY}"):
            left.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


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
