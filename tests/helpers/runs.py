"""Training runs of both kinds for tests, with iterations of a few milliseconds."""

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from agents.checkpoint import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME
from agents.config import validated
from agents.players.agent_files import WEIGHTS_NAME
from agents.run import Run, StopTrainingError, load_config, run_type
from oanquan_env.search.any_rules_net import read_any_rules_net
from oanquan_env.search.value_net import read_value_net
from tests import ROOT

ITERATION = 32 * 8
SHARED = {"threads": 1, "total_plies": 6 * ITERATION, "checkpoint_seconds": 1e-9, "starts": {"max_plies": 4}}
PPO: dict[str, Any] = {
    **SHARED,
    "network": {"embed": 2, "width": 8, "depth": 1},
    "ppo": {"n_envs": 32, "n_steps": 8, "batch_size": 64, "n_epochs": 2},
    "evaluation": {"every_plies": 2 * ITERATION, "pairs": 4, "opponents": ["random"]},
}
TD: dict[str, Any] = {
    **SHARED,
    "kind": "td",
    "rules": "mancala-world fields=3 seeds=3",
    "td": {"games": 32, "steps": 8, "batch_size": 64, "replay": 3},
    "evaluation": {"every_plies": 2 * ITERATION, "nodes": [50]},
}
ANY: dict[str, Any] = {
    **TD,
    "rules": "any",
    "td": {**TD["td"], "rule_sets": 5, "training_rule_sets": 12},
    "evaluation": {"every_plies": 5 * ITERATION, "nodes": [50]},
}
PLAIN = {"name": "plain", "width": 8}


def quiet(_: object) -> None:
    """Ignore a progress message."""


def begin(
    folder: Path, settings: dict[str, Any] = PPO, report: Callable[[str], None] = quiet, **changes: object
) -> Any:
    """Return a new, untrained run in `folder`; `changes` replace entries of `settings`, which is `PPO` or `TD`."""
    kind = run_type(settings.get("kind", "ppo"))
    return kind.create(folder, validated(kind.config_type, {**settings, **changes}, "test"), "python train.py", report)


def resume(folder: Path, **changes: object) -> Any:
    """Resume the run that `begin` created in `folder`, with `changes` to its configuration."""
    return run_type(load_config(folder / CONFIG_NAME).kind).resume(folder, quiet, changes)


def learn(run: Run[Any], stop_at: int | None = None) -> None:
    run.learn(quiet, lambda: stop_at is not None and run.plies >= stop_at)


def stopped(folder: Path, plies: int, **changes: object) -> Path:
    """Train a new run, stop it as soon as it has played `plies` plies, and return its folder."""
    with pytest.raises(StopTrainingError):
        learn(begin(folder, **changes), plies)
    return folder


def start(folder: Path, settings: dict[str, Any], *options: str) -> subprocess.Popen[str]:
    """Start a process that trains a new run in `folder`, or resumes the run that is there."""
    words = ["--resume", str(folder)]
    if not (folder / CONFIG_NAME).exists():
        config = folder.with_suffix(".yaml")
        config.write_text(yaml.safe_dump(settings))
        words = ["--config", str(config), "--output", str(folder), *options]
    command = [sys.executable, "train.py", *words]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[str], status: int = 0) -> tuple[str, str]:
    """Wait until a run ends, check its exit status, and return what it printed: output without line breaks, errors."""
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == status, errors
    assert "Traceback" not in errors
    return printed.replace("\n", ""), errors


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for a condition, for at most 300 seconds."""
    deadline = time.monotonic() + 300
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)


def wait_for(folder: Path, checkpoints: int) -> None:
    """Wait, for at most 300 seconds, until a run has written at least `checkpoints` new checkpoints."""
    seen = set[int]()

    def enough() -> bool:
        seen.update(path.stat().st_mtime_ns for path in folder.glob(CHECKPOINT_NAME))
        return len(seen) > checkpoints

    wait_until(enough)


def evaluations(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's evaluations file without their training times."""
    rows = [json.loads(line) for line in (folder / EVALUATIONS_NAME).read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def same(a: Any, b: Any) -> bool:
    """Return whether two states are exactly equal; tensors must also have the same dtype."""
    if isinstance(a, torch.Tensor):
        return bool(a.dtype == b.dtype and torch.equal(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def checkpoint(folder: Path) -> dict[str, Any]:
    """Return the state in a run's checkpoint without its training time."""
    state: dict[str, Any] = torch.load(folder / CHECKPOINT_NAME, weights_only=True)
    return {name: value for name, value in state.items() if name != "seconds"}


def weights(folder: Path) -> bytes:
    """Return an agent's weights as bytes, or a value net's bytes without its origin, because that contains a time."""
    if (folder / WEIGHTS_NAME).exists():
        return (folder / WEIGHTS_NAME).read_bytes()
    rules = load_config(folder / CONFIG_NAME).rules
    if rules == "any":
        return dataclasses.replace(read_any_rules_net(folder), origin={}).to_bytes()
    return dataclasses.replace(read_value_net(folder, rules), origin={}).to_bytes()


def assert_same_run(a: Path, b: Path) -> None:
    assert evaluations(a) == evaluations(b)
    assert same(checkpoint(a), checkpoint(b))
    assert weights(a) == weights(b)
