"""Arrays in `.npz` files: written in one step, and read without running anything that is in them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.files import FileError, check_readable, one_line, write_atomically

Array: TypeAlias = npt.NDArray[Any]


@contextmanager
def naming_damage(path: Path, what: str) -> Iterator[None]:
    """What fails within it, as `path` does not hold `what` it should, becomes a `FileError`."""
    try:
        check_readable(path)
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = one_line(str(error).removeprefix(f"{path}: "))
        raise FileError(f"{path}: not a file of {what}: {reason}; delete it to make it anew") from None


def write_npz(path: Path, *arrays: Array, **named: Array) -> None:
    """Write arrays, compressed; those without a name are called arr_0, arr_1, .. ."""
    file = io.BytesIO()
    np.savez_compressed(file, *arrays, **named)  # type: ignore[arg-type]
    write_atomically(path, file.getvalue())
