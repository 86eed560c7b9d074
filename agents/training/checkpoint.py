"""Checkpoints of training runs: one safetensors file with everything that the next rollout depends on.

They are written between two iterations, so a resumed run equals an uninterrupted one, bit for bit.
Unlike stable-baselines3's zip files they hold no pickled objects.
"""

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from agents.support.tensor_files import pack, unpack
from oanquan_env import Core, Positions
from oanquan_env.files import FileError, naming_damage, parse_json, write_atomically

FORMAT = "8"
POSITION_NAMES = ("squares", "scores", "mover", "ply", "ended")

Tensors: TypeAlias = dict[str, torch.Tensor]


@dataclass
class State:
    """Everything that a run's next rollout depends on: tensors and short texts, by name.

    What is taken out is checked: `KeyError`, `ValueError` and `RuntimeError` say that it does not fit the run.
    """

    tensors: Tensors = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def put(self, part: str, tensors: Tensors) -> None:
        """Tensors of one part of the state."""
        self.tensors |= {f"{part}.{name}": tensor for name, tensor in tensors.items()}

    def part(self, part: str) -> Tensors:
        """The tensors that `put` stored."""
        start = f"{part}."
        return {name.removeprefix(start): one for name, one in self.tensors.items() if name.startswith(start)}

    def array(self, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """A tensor as an array of its own; raises `ValueError` for another type or shape."""
        array: npt.NDArray[Any] = self.tensors[name].numpy().copy()
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of {shape}")
        return array

    def count(self, name: str) -> int:
        """A number of 0 or more among the texts."""
        if not re.fullmatch(r"[0-9]{1,15}", self.texts[name]):
            raise ValueError(f"{name} is {self.texts[name]!r}")
        return int(self.texts[name])

    def put_learner(self, part: str, network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """A network, and the state of its optimiser of plain tensors, such as Adam's."""
        self.put(part, network.state_dict())
        states = optimizer.state_dict()["state"]
        self.put("optimizer", {f"{k}.{name}": tensor for k, state in states.items() for name, tensor in state.items()})

    def restore_learner(self, part: str, network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Restore the learner that `put_learner` stored."""
        _check_finite(self.part(part))
        network.load_state_dict(self.part(part))
        _check_finite(self.part("optimizer"))
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        states: dict[int, Tensors] = {}
        for name, tensor in self.part("optimizer").items():
            index, _, kind = name.partition(".")
            if tensor.shape not in ((), parameters[int(index)].shape):
                raise ValueError(f"the optimiser's {name} has the shape {list(tensor.shape)}")
            states.setdefault(int(index), {})[kind] = tensor
        optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})

    def put_games(self, positions: Positions) -> None:
        """The positions to move in."""
        arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
        self.put("games", {name: torch.from_numpy(array.copy()) for name, array in arrays})

    def games(self, core: Core, n: int) -> Positions:
        """The `n` running positions that `put_games` stored."""
        own = zip(POSITION_NAMES, core.start(1).arrays(), strict=True)
        positions = Positions(*(self.array(f"games.{name}", one.dtype, (n, *one.shape[1:])) for name, one in own))
        columns = core.seeds(positions), core.stones(positions), positions.scores, positions.mover, positions.ply
        if not core.setup(*columns).same(positions).all():
            raise ValueError("it holds games that are over, or positions that there are not")
        return positions

    def put_chance(self, device: torch.device) -> None:
        """The random generators of torch, NumPy and Python."""
        self.tensors["random.torch"] = torch.get_rng_state()
        if device.type == "cuda":
            self.tensors["random.cuda"] = torch.cuda.get_rng_state(device)
        name, keys, *gauss = np.random.get_state(legacy=True)  # noqa: NPY002  (SB3 uses it)
        self.texts["random.numpy"] = json.dumps([name, np.asarray(keys).tolist(), *gauss])
        self.texts["random.python"] = json.dumps(random.getstate())

    def restore_chance(self, device: torch.device) -> None:
        """Set the generators as `put_chance` found them."""
        torch.set_rng_state(self.tensors["random.torch"])
        if "random.cuda" in self.tensors and device.type == "cuda":
            torch.cuda.set_rng_state(self.tensors["random.cuda"], device)
        name, keys, *gauss = parse_json(self.texts["random.numpy"])
        np.random.set_state((name, np.array(keys, dtype=np.uint32), *gauss))  # noqa: NPY002  (SB3 uses it)
        version, internal, gauss = parse_json(self.texts["random.python"])
        random.setstate((version, tuple(internal), gauss))


def write_checkpoint(path: Path, state: State, seconds: float) -> None:
    """Write a run's state and the seconds trained so far in one atomic step."""
    write_atomically(path, pack(state.tensors, {**state.texts, "format": FORMAT, "seconds": str(seconds)}))


def read_checkpoint(path: Path, restore: Callable[[State], None]) -> float:
    """Give what `write_checkpoint` wrote to `restore`, of a run made from the same configuration.

    Returns the seconds trained so far; raises `FileError` if the file is missing, damaged or does not fit.
    """
    state = State(*unpack(path))
    if state.texts.get("format") != FORMAT:
        raise FileError(f"{path}: format {state.texts.get('format')!r}, this version reads {FORMAT!r}")
    with naming_damage(path, "does not fit the run's configuration"):
        restore(state)
        seconds = float(state.texts["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds is {seconds}")
        return seconds


def _check_finite(tensors: Tensors) -> None:
    """Raises `ValueError` for a tensor with numbers that are not finite."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite")
