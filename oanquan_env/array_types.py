"""Type aliases for arrays."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Index: TypeAlias = slice | npt.NDArray[np.intp] | npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]
Ints: TypeAlias = npt.NDArray[np.intp]
Floats: TypeAlias = npt.NDArray[np.float64]
Points: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]
