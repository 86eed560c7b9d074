"""A lock that lets one program at a time use a folder. The system releases it even if the program is killed."""

from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout

from oanquan_env.files import TEMPORARY, FileError


def lock_folder(folder: Path) -> AcquireReturnProxy[FileLock]:
    """Lock a folder, and delete the temporary files that killed programs left in it.

    The lock is held until the `with` block ends or `.lock.release()` is called on the returned object. Raises
    `FileError` if another program holds the lock.
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
