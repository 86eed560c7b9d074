"""The kinds of training, by the `kind` of their configuration."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.support.strict_yaml import read_yaml, validated
from agents.training.config import RunConfig
from agents.training.ppo.run import PPORun
from agents.training.run import Run
from agents.training.run_folder import CONFIG_NAME
from agents.training.td.run import TDRun
from oanquan_env.errors import UsageError

RUNS: dict[str, type[Run[Any]]] = {"ppo": PPORun, "value": TDRun}  # the run of each kind


def resume_run(folder: Path, report: Callable[[str], None], changes: dict[str, Any]) -> Run[Any]:
    """Resume the run in `folder`, of whichever kind; see `Run.resume`."""
    path = folder / CONFIG_NAME
    kind = load_config(path).kind if path.exists() else "ppo"
    return RUNS[kind].resume(folder, report, changes)


def load_config(path: Path) -> RunConfig:
    """Read a configuration; raises `UsageError` naming file and field."""
    return parse_config(read_yaml(path), str(path))


def parse_config(values: dict[str, Any], where: str) -> RunConfig:
    """A configuration of nested mappings; raises `UsageError` naming `where` and the field."""
    kind = values.get("kind", "ppo")
    if kind not in RUNS:
        raise UsageError(f"{where}: kind: must be {' or '.join(RUNS)} (got {kind!r})")
    return validated(RUNS[kind].config_type, values, where)
