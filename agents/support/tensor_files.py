"""Tensors in safetensors files: nothing in a file is run."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from oanquan_env.files import FileError, check_readable, one_line


def pack(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> bytes:
    """The content of a file with these tensors and metadata."""
    return save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, dict(metadata))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file of tensors as safetensors opens it; raises `FileError`."""
    try:
        check_readable(path)
        with safe_open(path, framework="pt") as file:
            yield file
    except (SafetensorError, RuntimeError, TypeError) as error:
        raise FileError(f"{path}: damaged: {one_line(error)}") from None


def unpack(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and the metadata in a file; raises `FileError`."""
    with _opened(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no mapping)
        return tensors, dict(file.metadata() or {})


def count_numbers(path: Path) -> int:
    """How many numbers a file holds by its header, which alone is read; raises `FileError`."""
    with _opened(path) as file:
        return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
