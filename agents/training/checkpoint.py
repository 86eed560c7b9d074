"""Checkpoints of a training run: one safetensors file with everything that the next rollout depends on.

They are taken between two iterations, so a resumed run does what an uninterrupted one would have done, bit for bit.
Unlike stable-baselines3's zip files they hold no pickled objects.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from agents.support.files import write_atomically
from agents.training.policy import network_of
from agents.training.selfplay import SelfPlayVecEnv
from agents.training.teacher import TaughtPPO, Teacher
from oanquan_env.positions import Positions

FORMAT = "4"
TARGET_FORMATS = ("2", "3", FORMAT)
"""Formats whose training targets are the same."""
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
    metadata = {
        "format": FORMAT,
        "plies": str(model.num_timesteps),
        "seconds": str(seconds),
        "updates": str(model._n_updates),
        "starts": str(env.starts.drawn),
        "random.numpy": json.dumps(_numpy_state()),
        "random.python": json.dumps(random.getstate()),
    }
    if env.opponents:
        tensors.update(_under("opponents", env.opponents.state()))
    if model.teacher:
        for index, optimizer in enumerate(model.teacher.optimizers):
            tensors.update(_under(f"{TEACHER}.optimizer_{index}", _optimizer_tensors(optimizer)))
        tensors.update(_target_tensors(model.teacher))
        metadata[f"{TEACHER}.iterations"] = str(model.teacher.iterations)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(contiguous, metadata))


def load_checkpoint(path: Path, model: TaughtPPO, env: SelfPlayVecEnv) -> float:
    """Restore what `save_checkpoint` wrote into a model and games made from the same configuration.

    The random generators of torch, NumPy and Python are restored too.

    Returns:
        Seconds trained so far.

    Raises:
        CheckpointError: if the file is missing, damaged or does not fit.
    """
    tensors, metadata = _read(path)
    try:
        network_of(model).load_state_dict(_part(tensors, "network"))
        _restore_optimizer(_part(tensors, "optimizer"), model.policy.optimizer)
        model.num_timesteps, model._n_updates = int(metadata["plies"]), int(metadata["updates"])
        _restore_games(_part(tensors, "games"), env)
        env.starts.drawn = int(metadata["starts"])
        if env.opponents:
            env.opponents.restore(_part(tensors, "opponents"), network_of(model))
        if model.teacher:
            for index, optimizer in enumerate(model.teacher.optimizers):
                _restore_optimizer(_part(tensors, f"{TEACHER}.optimizer_{index}"), optimizer)
            model.teacher.restore(*_targets(tensors), int(metadata[f"{TEACHER}.iterations"]))
        model._last_obs = env.observe()
        model._last_episode_starts = tensors["last_episode_starts"].numpy().copy()
        _restore_chance(tensors, metadata, model.device)
        return float(metadata["seconds"])
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"{path}: does not fit the run's configuration: {error}") from None


def save_targets(path: Path, teacher: Teacher) -> None:
    """Write the positions and values that a teacher remembers, to be read by `read_targets`."""
    write_atomically(path, save(_target_tensors(teacher), {"format": FORMAT}))


def read_targets(path: Path) -> tuple[Positions, npt.NDArray[np.int16]]:
    """The (N,) positions and their values that the teacher of a checkpoint remembers, see `Teacher`.

    Args:
        path: a checkpoint, or what `save_targets` wrote.

    Raises:
        CheckpointError: if the file is missing, damaged, of a format that is not read or of a run without a teacher.
    """
    tensors, _ = _read(path, TARGET_FORMATS, f"{TEACHER}.")
    try:
        return _targets(tensors)
    except KeyError:
        raise CheckpointError(f"{path}: of a run without a teacher; it holds no training targets") from None


def _read(path: Path, formats: tuple[str, ...] = (FORMAT,), prefix: str = "") -> tuple[Tensors, dict[str, str]]:
    """The tensors whose names begin with `prefix`, and the metadata, of a file of one of the formats."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata, names = file.metadata() or {}, file.keys()
            tensors = {name: file.get_tensor(name) for name in names if name.startswith(prefix)}
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except SafetensorError as error:
        raise CheckpointError(f"{path}: damaged: {error}") from None
    if metadata.get("format") not in formats:
        read = " and ".join(repr(name) for name in formats)
        raise CheckpointError(f"{path}: format {metadata.get('format')!r}, this version reads {read}")
    return tensors, metadata


def _restore_games(tensors: Tensors, env: SelfPlayVecEnv) -> None:
    positions = _positions(tensors)
    if positions.squares.shape != env.positions.squares.shape:
        raise ValueError(f"games of shape {positions.squares.shape}, expected {env.positions.squares.shape}")
    env.positions = positions
    env.first_ply = tensors["first_ply"].numpy().copy()


def _restore_chance(tensors: Tensors, metadata: dict[str, str], device: torch.device) -> None:
    torch.set_rng_state(tensors["random.torch"])
    if "random.cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
    name, keys, position, has_gauss, cached = json.loads(metadata["random.numpy"])
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))  # noqa: NPY002  (SB3 uses it)
    version, internal, gauss = json.loads(metadata["random.python"])
    random.setstate((version, tuple(internal), gauss))


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """The state of an optimiser of plain tensors, such as Adam's or Muon's."""
    states = optimizer.state_dict()["state"]
    return {f"{index}.{name}": tensor for index, state in states.items() for name, tensor in state.items()}


def _restore_optimizer(tensors: Tensors, optimizer: torch.optim.Optimizer) -> None:
    states: dict[int, Tensors] = {}
    for name, tensor in tensors.items():
        index, _, kind = name.partition(".")
        states.setdefault(int(index), {})[kind] = tensor
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def _target_tensors(teacher: Teacher) -> Tensors:
    positions = _under(f"{TEACHER}.positions", _position_tensors(teacher.positions))
    return {**positions, f"{TEACHER}.values": torch.from_numpy(teacher.values.copy())}


def _targets(tensors: Tensors) -> tuple[Positions, npt.NDArray[np.int16]]:
    return _positions(_part(tensors, f"{TEACHER}.positions")), tensors[f"{TEACHER}.values"].numpy().copy()


def _position_tensors(positions: Positions) -> Tensors:
    arrays = zip(POSITION_NAMES, positions.arrays(), strict=True)
    return {name: torch.from_numpy(array.copy()) for name, array in arrays}


def _positions(tensors: Tensors) -> Positions:
    return Positions(*(tensors[name].numpy().copy() for name in POSITION_NAMES))


def _under(prefix: str, tensors: Tensors) -> Tensors:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _part(tensors: Tensors, prefix: str) -> Tensors:
    """What `_under` put under this prefix."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def _numpy_state() -> list[Any]:
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)  # noqa: NPY002  (SB3 uses it)
    return [name, np.asarray(keys).tolist(), position, has_gauss, cached]
