"""The files in a run's folder: configuration, origin, checkpoint (with all random generators) and evaluations."""

import json
import pickle
import random
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.config import Strict, dump_yaml, read_yaml
from agents.evaluation.code_hashes import code_hashes, custom_code, project_code
from agents.workers import gathered, rank
from oanquan_env.files import naming_damage, parse_json, read_bytes, replacing, write_atomically
from oanquan_env.provenance import origin

CONFIG_NAME = "config.yaml"  # the resolved configuration
RUN_NAME = "run.yaml"  # the origin of the run and of each resumption: command, commit, hashes of code, versions
CHECKPOINT_NAME = "checkpoint.pt"  # everything that the next iteration depends on
EVALUATIONS_NAME = "evaluations.jsonl"  # one evaluation per line
SHARED = {"network", "optimizer"}  # parts that are identical in all workers
PACKAGES = ("torch", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "safetensors")


def write_origin(folder: Path, config: Strict, command: str | None, plies: int | None = None) -> list[str]:
    """Write the origin of a run that begins now, or with `plies`, add the origin of a resumption after these plies.

    The default of `command` is this program. Return the packages and modules, sorted, that differ from those with which
    the run began. A name that the run did not record counts as different. Raises `FileError` if `RUN_NAME` is damaged.
    """
    path, own = folder / RUN_NAME, code_hashes(custom_code(dump_yaml(config).decode()))
    made = origin(command, PACKAGES)
    now = {**made, "started": time.strftime("%Y-%m-%d %H:%M:%S %z"), "code": {**project_code(), **own}}
    if plies is None:
        write_atomically(path, dump_yaml(now))
        return []
    with naming_damage(path, "not the origin of a run"):
        before = read_yaml(path)
        parts = [now[part].items() ^ before.get(part, {}).items() for part in ("code", "versions")]
        before.setdefault("resumed", []).append({"plies": plies, **now})
    write_atomically(path, dump_yaml(before))
    return sorted({name for part in parts for name, _ in part})


# ---- checkpoint ------------------------------------------------------------------------------------------------------


class RandomGenerators:
    """The global random generators of torch, NumPy and Python."""

    def state_dict(self) -> dict[str, Any]:
        """Return the generators' states."""
        name, keys, *gauss = np.random.get_state(legacy=True)  # noqa: NPY002  (SB3 uses it)
        numpy = [name, np.asarray(keys).tolist(), *gauss]
        cuda = torch.cuda.get_rng_state_all()
        return {"torch": torch.get_rng_state(), "cuda": cuda, "numpy": numpy, "python": random.getstate()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the generators' states."""
        torch.set_rng_state(state["torch"])
        torch.cuda.set_rng_state_all(state["cuda"][: torch.cuda.device_count()])
        name, keys, *gauss = state["numpy"]
        np.random.set_state((name, np.array(keys, dtype=np.uint32), *gauss))  # noqa: NPY002  (SB3 uses it)
        random.setstate(state["python"])


def write_checkpoint(folder: Path, numbers: dict[str, float], parts: Mapping[str, Any]) -> None:
    """Write a checkpoint: `numbers` (plies, seconds), each part's `state_dict`, and the random generators' states.

    All workers call this function, and worker 0 writes the states of all. Shared parts are written once.
    """
    states = {name: part.state_dict() for name, part in {**parts, "random": RandomGenerators()}.items()}
    shared = {name: states.pop(name) for name in SHARED & states.keys()}
    if by_worker := gathered(states):
        others = {"workers": by_worker[1:]} if by_worker[1:] else {}
        with replacing(folder / CHECKPOINT_NAME) as file:
            torch.save({**numbers, **shared, **by_worker[0], **others}, file)


def read_checkpoint(folder: Path, parts: Mapping[str, Any], workers: int) -> dict[str, Any] | None:
    """Restore `parts` and the random generators; return `plies`, `seconds` and `workers`, or None without a checkpoint.

    If the checkpoint was not written by `workers` workers, only the shared parts are restored. Raises `FileError` if
    the checkpoint is damaged.
    """
    path = folder / CHECKPOINT_NAME
    if not path.exists():
        return None
    with naming_damage(path, "no checkpoint of this run"):
        try:
            with zipfile.ZipFile(path) as archive:
                if damaged := archive.testzip():  # torch does not verify checksums
                    raise ValueError(f"{damaged} is damaged")
            state = torch.load(path, map_location="cpu", weights_only=True)  # never runs code from the file
        except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError) as error:
            raise ValueError(error) from None
        by_worker = [state, *state.pop("workers", [])]
        for name, part in {**parts, "random": RandomGenerators()}.items():
            if name in SHARED or len(by_worker) == workers:
                part.load_state_dict(by_worker[0 if name in SHARED else rank()][name])
        return {"plies": int(state["plies"]), "seconds": float(state["seconds"]), "workers": len(by_worker)}


# ---- evaluations -----------------------------------------------------------------------------------------------------


def read_evaluations(folder: Path) -> list[dict[str, Any]]:
    """Read the evaluations in a run's folder, oldest first. Raises `FileError` if a line is damaged."""
    path, rows = folder / EVALUATIONS_NAME, []
    for number, line in enumerate(read_bytes(path).splitlines() if path.exists() else [], 1):
        with naming_damage(path, f"line {number} is damaged", "; delete it to go on", text=True):
            rows.append(parse_json(line))
            if type(rows[-1]["plies"]) is not int:
                raise ValueError("plies is not a whole number")
    return rows


def write_evaluations(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write `rows`, one evaluation each, to the file of evaluations in a run's folder, replacing its content."""
    write_atomically(folder / EVALUATIONS_NAME, "".join(json.dumps(row) + "\n" for row in rows).encode())
