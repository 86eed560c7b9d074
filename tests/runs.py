"""Training runs of both kinds, whose iterations take some milliseconds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.networks.agent_files import WEIGHTS_NAME
from agents.support.tensor_files import unpack
from agents.training.kinds import RUNS, parse_config
from agents.training.run import Run
from agents.training.run_folder import CHECKPOINT_NAME, EVALUATIONS_NAME, StopTrainingError

ITERATION = 32 * 8
SHARED = {"total_plies": 6 * ITERATION, "checkpoint_seconds": 1e-9, "starts": {"max_plies": 4}}
PPO: dict[str, Any] = {
    **SHARED,
    "network": {"embed": 2, "width": 8, "depth": 1},
    "ppo": {"n_envs": 32, "n_steps": 8, "batch_size": 64, "n_epochs": 2},
    "evaluation": {"every_plies": 2 * ITERATION, "pairs": 4, "opponents": ["random"]},
}
VALUE: dict[str, Any] = {
    **SHARED,
    "kind": "value",
    "rules": "mancala-world fields=3 seeds=3",
    "td": {"games": 32, "steps": 8, "batch_size": 64, "replay": 3},
    "evaluation": {"every_plies": 2 * ITERATION, "nodes": [50]},
}
PLAIN = {"name": "plain", "width": 8}


def quiet(_: object) -> None:
    """No progress shown."""


def begin(
    folder: Path, settings: dict[str, Any] = PPO, report: Callable[[str], None] = quiet, **changes: object
) -> Any:
    """A new run, of `PPO` or `VALUE` with changes."""
    config = parse_config({**settings, **changes}, "test")
    return RUNS[config.kind].create(folder, config, "python train.py", report)


def learn(run: Run[Any], stop_at: int | None = None) -> None:
    run.learn(quiet, lambda: stop_at is not None and run.plies >= stop_at)


def stopped(folder: Path, plies: int, **changes: object) -> Path:
    """The folder of a run that was stopped after so many plies."""
    with pytest.raises(StopTrainingError):
        learn(begin(folder, **changes), plies)
    return folder


def evaluations(folder: Path) -> list[dict[str, Any]]:
    """All that was measured but the clock."""
    rows = [json.loads(line) for line in (folder / EVALUATIONS_NAME).read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def checkpoint(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """A checkpoint's tensors, and its notes but for the clock."""
    tensors, notes = unpack(folder / CHECKPOINT_NAME)
    return tensors, {name: text for name, text in notes.items() if name != "seconds"}


def same_tensors(a: Path, b: Path) -> bool:
    """Whether two checkpoints have the same weights, games and all else, to the bit."""
    (mine, _), (theirs, _) = checkpoint(a), checkpoint(b)
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


def assert_same_run(a: Path, b: Path) -> None:
    assert evaluations(a) == evaluations(b)
    assert checkpoint(a)[1] == checkpoint(b)[1]
    assert same_tensors(a, b)
    assert [path.read_bytes() for path in a.glob(WEIGHTS_NAME)] == [path.read_bytes() for path in b.glob(WEIGHTS_NAME)]
