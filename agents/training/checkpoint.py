"""Checkpoints of a training run: one safetensors file with everything that the next rollout depends on.

They are taken between two iterations, so a resumed run does what an uninterrupted one would have done, bit for bit.
Unlike stable-baselines3's zip files they hold no pickled objects.
"""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from agents.support.tensor_files import DIGEST, TensorFileError, pack, unpack
from agents.training.policy import network_of
from agents.training.selfplay import SelfPlayVecEnv
from agents.training.teacher import TaughtPPO
from oanquan_env import Core, Positions
from oanquan_env.files import one_line, parse_json, write_atomically

FORMAT = "6"
TEACHER = "teacher"
"""What names of the teacher's tensors begin with."""
POSITION_NAMES = ("squares", "scores", "mover", "ply", "ended")

Tensors: TypeAlias = dict[str, torch.Tensor]


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or of another run; names the file."""


def save_checkpoint(path: Path, model: TaughtPPO, env: SelfPlayVecEnv, seconds: float) -> None:
    """Write the state of `model` and `env`, and the seconds trained so far, in one atomic step."""
    tensors = {
        **_under("network", network_of(model).state_dict()),
        **_under("optimizer", _optimizer_tensors(model.policy.optimizer)),
        **_under("games", _position_tensors(env.positions)),
        "games.first_ply": torch.from_numpy(env.first_ply.copy()),
        "last_episode_starts": torch.as_tensor(model._last_episode_starts),
        "random.torch": torch.get_rng_state(),
    }
    if model.device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(model.device)
    name, keys, *gauss = np.random.get_state(legacy=True)  # noqa: NPY002  (SB3 uses it)
    metadata = {
        "format": FORMAT,
        "plies": str(model.num_timesteps),
        "seconds": str(seconds),
        "updates": str(model._n_updates),
        "starts": str(env.starts.drawn),
        "random.numpy": json.dumps([name, np.asarray(keys).tolist(), *gauss]),
        "random.python": json.dumps(random.getstate()),
    }
    if env.opponents:
        tensors.update(_under("opponents", env.opponents.state()))
    if model.teacher:
        for index, optimizer in enumerate(model.teacher.optimizers):
            tensors.update(_under(f"{TEACHER}.optimizer_{index}", _optimizer_tensors(optimizer)))
        tensors.update(_under(f"{TEACHER}.positions", _position_tensors(model.teacher.positions)))
        tensors[f"{TEACHER}.values"] = torch.from_numpy(model.teacher.values.copy())
        tensors[f"{TEACHER}.guesses"] = torch.from_numpy(model.teacher.guesses.copy())
        metadata[f"{TEACHER}.iterations"] = str(model.teacher.iterations)
    write_atomically(path, pack(tensors, metadata))


def load_checkpoint(path: Path, model: TaughtPPO, env: SelfPlayVecEnv) -> float:
    """Restore what `save_checkpoint` wrote into a model and games made from the same configuration.

    The random generators of torch, NumPy and Python are restored too. Returns the seconds trained so far; raises
    `CheckpointError` if the file is missing, damaged or does not fit.
    """
    tensors, metadata = _read(path)
    try:
        _check_finite(_part(tensors, "network"))
        network_of(model).load_state_dict(_part(tensors, "network"))
        _restore_optimizer(_part(tensors, "optimizer"), model.policy.optimizer)
        model.num_timesteps, model._n_updates = _count(metadata, "plies"), _count(metadata, "updates")
        _restore_games(_part(tensors, "games"), env)
        env.starts.drawn = _count(metadata, "starts")
        if env.opponents:
            env.opponents.restore(_part(tensors, "opponents"), network_of(model))
        if model.teacher:
            for index, optimizer in enumerate(model.teacher.optimizers):
                _restore_optimizer(_part(tensors, f"{TEACHER}.optimizer_{index}"), optimizer)
            positions = _positions(_part(tensors, f"{TEACHER}.positions"), env.core)
            values = _array(tensors, f"{TEACHER}.values", np.int16, (len(positions),))
            guesses = _array(tensors, f"{TEACHER}.guesses", np.int16, (len(positions), model.teacher.guesses.shape[1]))
            model.teacher.restore(positions, values, guesses, _count(metadata, f"{TEACHER}.iterations"))
        model._last_obs = env.observe()
        model._last_episode_starts = _array(tensors, "last_episode_starts", np.bool_, (env.num_envs,))
        _restore_chance(tensors, metadata, model.device)
        seconds = float(metadata["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds is {seconds}")
        return seconds
    except KeyError as error:
        raise CheckpointError(f"{path}: does not fit the run's configuration: {error} is missing") from None
    except (RuntimeError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise CheckpointError(f"{path}: does not fit the run's configuration: {one_line(error)}") from None


def _read(path: Path) -> tuple[Tensors, dict[str, str]]:
    """The tensors and the metadata of a checkpoint."""
    try:
        tensors, metadata = unpack(path)
    except TensorFileError as error:
        raise CheckpointError(str(error)) from None
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{path}: format {metadata.get('format')!r}, this version reads {FORMAT!r}")
    if DIGEST not in metadata:
        raise CheckpointError(f"{path}: damaged: it has no digest")
    return tensors, metadata


def _restore_games(tensors: Tensors, env: SelfPlayVecEnv) -> None:
    positions = _positions(tensors, env.core)
    if positions.squares.shape != env.positions.squares.shape:
        raise ValueError(f"games of shape {positions.squares.shape}, expected {env.positions.squares.shape}")
    env.positions = positions
    first_ply = _array(tensors, "first_ply", np.int32, (env.num_envs,))
    if not ((first_ply >= 0) & (first_ply <= positions.ply)).all():
        raise ValueError("a game's first ply is after its last, or below 0")
    env.first_ply = first_ply


def _restore_chance(tensors: Tensors, metadata: dict[str, str], device: torch.device) -> None:
    torch.set_rng_state(tensors["random.torch"])
    if "random.cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
    name, keys, position, has_gauss, cached = parse_json(metadata["random.numpy"])
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))  # noqa: NPY002  (SB3 uses it)
    version, internal, gauss = parse_json(metadata["random.python"])
    random.setstate((version, tuple(internal), gauss))


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """The state of an optimiser of plain tensors, such as Adam's or Muon's."""
    states = optimizer.state_dict()["state"]
    return {f"{index}.{name}": tensor for index, state in states.items() for name, tensor in state.items()}


def _restore_optimizer(tensors: Tensors, optimizer: torch.optim.Optimizer) -> None:
    _check_finite(tensors)
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    states: dict[int, Tensors] = {}
    for name, tensor in tensors.items():
        index, _, kind = name.partition(".")
        if tensor.shape not in ((), parameters[int(index)].shape):
            raise ValueError(f"the optimiser's {name} has the shape {list(tensor.shape)}")
        states.setdefault(int(index), {})[kind] = tensor
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def _position_tensors(positions: Positions) -> Tensors:
    arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
    return {name: torch.from_numpy(array.copy()) for name, array in arrays}


def _positions(tensors: Tensors, core: Core) -> Positions:
    """Running positions; raises `ValueError` for what is none of the core's."""
    n = len(tensors["mover"].reshape(-1))
    own = zip(POSITION_NAMES, core.start(1).arrays(), strict=True)
    positions = Positions(*(_array(tensors, name, array.dtype, (n, *array.shape[1:])) for name, array in own))
    columns = core.seeds(positions), core.stones(positions), positions.scores, positions.mover, positions.ply
    if not core.setup(*columns).same(positions).all():
        raise ValueError("it holds games that are over, or positions that there are not")
    return positions


def _array(tensors: Tensors, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A tensor as an array of its own; raises `ValueError` for another type or shape."""
    array: npt.NDArray[Any] = tensors[name].numpy().copy()
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of {shape}")
    return array


def _count(metadata: dict[str, str], name: str) -> int:
    """A number of 0 or more."""
    if not re.fullmatch(r"[0-9]{1,15}", metadata[name]):
        raise ValueError(f"{name} is {metadata[name]!r}")
    return int(metadata[name])


def _check_finite(tensors: Tensors) -> None:
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite")


def _under(prefix: str, tensors: Tensors) -> Tensors:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _part(tensors: Tensors, prefix: str) -> Tensors:
    """What `_under` put under this prefix."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
