"""Checkpoints of training runs: one safetensors file with everything that the next rollout depends on.

They are taken between two iterations, so a resumed run does what an uninterrupted one would have done, bit for bit.
Unlike stable-baselines3's zip files they hold no pickled objects.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from agents.support.tensor_files import DIGEST, pack, unpack
from oanquan_env import Core, Positions
from oanquan_env.files import FileError, naming_damage, parse_json, write_atomically

FORMAT = "8"
POSITION_NAMES = ("squares", "scores", "mover", "ply", "ended")

Tensors: TypeAlias = dict[str, torch.Tensor]
Metadata: TypeAlias = dict[str, str]


def write_checkpoint(path: Path, tensors: Tensors, metadata: Metadata, seconds: float) -> None:
    """Write a run's state and the seconds trained so far in one atomic step."""
    write_atomically(path, pack(tensors, {**metadata, "format": FORMAT, "seconds": str(seconds)}))


def read_checkpoint(path: Path, restore: Callable[[Tensors, Metadata], None]) -> float:
    """Give what `write_checkpoint` wrote to `restore`, of a run made from the same configuration.

    Returns the seconds trained so far; raises `FileError` if the file is missing, damaged or does not fit.
    """
    tensors, metadata = _read(path)
    with naming_damage(path, "does not fit the run's configuration"):
        restore(tensors, metadata)
        seconds = float(metadata["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds is {seconds}")
        return seconds


def _read(path: Path) -> tuple[Tensors, Metadata]:
    """The tensors and the metadata of a checkpoint."""
    tensors, metadata = unpack(path)
    if metadata.get("format") != FORMAT:
        raise FileError(f"{path}: format {metadata.get('format')!r}, this version reads {FORMAT!r}")
    if DIGEST not in metadata:
        raise FileError(f"{path}: damaged: it has no digest")
    return tensors, metadata


# ---- parts of a state ------------------------------------------------------------------------------------------------


def chance_state(device: torch.device) -> tuple[Tensors, Metadata]:
    """The random generators of torch, NumPy and Python."""
    tensors = {"random.torch": torch.get_rng_state()}
    if device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(device)
    name, keys, *gauss = np.random.get_state(legacy=True)  # noqa: NPY002  (SB3 uses it)
    numpy_state = json.dumps([name, np.asarray(keys).tolist(), *gauss])
    return tensors, {"random.numpy": numpy_state, "random.python": json.dumps(random.getstate())}


def restore_chance(tensors: Tensors, metadata: Metadata, device: torch.device) -> None:
    """Take over what `chance_state` gave."""
    torch.set_rng_state(tensors["random.torch"])
    if "random.cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
    name, keys, position, has_gauss, cached = parse_json(metadata["random.numpy"])
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))  # noqa: NPY002  (SB3 uses it)
    version, internal, gauss = parse_json(metadata["random.python"])
    random.setstate((version, tuple(internal), gauss))


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """The state of an optimiser of plain tensors, such as Adam's."""
    states = optimizer.state_dict()["state"]
    return {f"{index}.{name}": tensor for index, state in states.items() for name, tensor in state.items()}


def restore_optimizer(tensors: Tensors, optimizer: torch.optim.Optimizer) -> None:
    """Take over what `optimizer_tensors` gave."""
    check_finite(tensors)
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    states: dict[int, Tensors] = {}
    for name, tensor in tensors.items():
        index, _, kind = name.partition(".")
        if tensor.shape not in ((), parameters[int(index)].shape):
            raise ValueError(f"the optimiser's {name} has the shape {list(tensor.shape)}")
        states.setdefault(int(index), {})[kind] = tensor
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def position_tensors(positions: Positions) -> Tensors:
    """Positions as tensors."""
    arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
    return {name: torch.from_numpy(array.copy()) for name, array in arrays}


def positions_of(tensors: Tensors, core: Core, n: int) -> Positions:
    """N running positions of `position_tensors`; raises `ValueError` for others."""
    own = zip(POSITION_NAMES, core.start(1).arrays(), strict=True)
    positions = Positions(*(array_of(tensors, name, array.dtype, (n, *array.shape[1:])) for name, array in own))
    columns = core.seeds(positions), core.stones(positions), positions.scores, positions.mover, positions.ply
    if not core.setup(*columns).same(positions).all():
        raise ValueError("it holds games that are over, or positions that there are not")
    return positions


def array_of(tensors: Tensors, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A tensor as an array of its own; raises `ValueError` for another type or shape."""
    array: npt.NDArray[Any] = tensors[name].numpy().copy()
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of {shape}")
    return array


def count_of(metadata: Metadata, name: str) -> int:
    """A number of 0 or more."""
    if not re.fullmatch(r"[0-9]{1,15}", metadata[name]):
        raise ValueError(f"{name} is {metadata[name]!r}")
    return int(metadata[name])


def check_finite(tensors: Tensors) -> None:
    """Raises `ValueError` for a tensor with numbers that are not finite."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite")


def under(prefix: str, tensors: Tensors) -> Tensors:
    """The tensors with names that begin with a prefix."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def part(tensors: Tensors, prefix: str) -> Tensors:
    """What `under` put under this prefix."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
