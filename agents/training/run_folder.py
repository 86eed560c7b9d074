"""A run's folder: the names of its files, its evaluations, its origin, and checks of the folder."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.support import provenance
from oanquan_env.files import FileError, naming_damage, parse_json, write_atomically

CONFIG_NAME = "config.yaml"  # the configuration, resolved
RUN_NAME = "run.yaml"  # the origin of the run: command, commit, versions
CHECKPOINT_NAME = "checkpoint.safetensors"  # all that a run needs to go on
EVALUATIONS_NAME = "evaluations.jsonl"  # one evaluation a line
PACKAGES = ("torch", "numpy", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "safetensors")


class StopTrainingError(Exception):
    """The run was asked to stop; raised between two iterations, after the checkpoint."""


def refuse_run(folder: Path) -> None:
    """Raises `FileError` if a run is in the folder already."""
    if (folder / CONFIG_NAME).exists():
        raise FileError(f"{folder} holds a run already: continue it with --resume {folder}, or choose another --output")


def read_evaluations(folder: Path, check: Callable[[Any], None] = lambda row: None) -> list[dict[str, Any]]:
    """The evaluations in a run's folder, oldest first; raises `FileError` that names a damaged line.

    `check` takes what a line says, and raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` for what is
    no evaluation of such a run.
    """
    path, rows = folder / EVALUATIONS_NAME, []
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], 1):
        with naming_damage(path, f"line {number} is damaged", "; delete it to go on"):
            rows.append(parse_json(line))
            check(rows[-1])
    return rows


def write_evaluations(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Replace the evaluations in a run's folder."""
    write_atomically(folder / EVALUATIONS_NAME, "".join(json.dumps(row) + "\n" for row in rows).encode())


def describe_run(command: str) -> dict[str, Any]:
    """The origin of a run: command, commit, time, processor, versions."""
    return {
        "command": command,
        "commit": provenance.commit(),
        "started": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "processor": provenance.processor(),
        "versions": provenance.versions(PACKAGES),
    }


def figures(row: dict[str, Any]) -> dict[str, float]:
    """The figures of an evaluation, by name: scores in percent, regrets in points."""
    scores = {f"score against {name}, %": 100 * result["score"] for name, result in row["results"].items()}
    regrets = row.get("regrets") or ({"": row["regret"]} if "regret" in row else {})
    return scores | {f"regret {name}".strip() + ", points": found["mean"] for name, found in regrets.items()}
