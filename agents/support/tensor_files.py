"""Tensors in safetensors files, with a digest of the content: damage is found, and nothing in a file is run."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from oanquan_env.files import FileError, check_readable, one_line

DIGEST = "digest"
"""Name of the digest in a file's metadata. Files of former versions have none."""


def pack(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> bytes:
    """The content of a file with these tensors, metadata and their digest."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, {**metadata, DIGEST: _digest(plain, metadata)})


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
        metadata = dict(file.metadata() or {})
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no mapping)
    content = {name: text for name, text in metadata.items() if name != DIGEST}
    if metadata.get(DIGEST) not in (None, _digest(tensors, content)):
        raise FileError(f"{path}: damaged: the content is not that of its digest")
    return tensors, metadata


def count_numbers(path: Path) -> int:
    """How many numbers a file holds by its header, which alone is read; raises `FileError`."""
    with _opened(path) as file:
        return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118


def _digest(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        flat = torch.empty(tensor.numel(), dtype=tensor.dtype).copy_(tensor.flatten())  # strides of 1, even of no rows
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
