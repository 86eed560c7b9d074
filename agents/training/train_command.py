"""The command line of `train.py`: where a run comes from and goes, and its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias

import tyro
from pydantic import ValidationError

from agents.support.parallel import HELP
from agents.support.strict_yaml import ConfigError, explain
from agents.training.kinds import load_config
from agents.training.ppo.config import TrainConfig
from agents.training.run_folder import CONFIG_NAME, RunError
from agents.training.td.config import ValueConfig

CHANGEABLE = {"threads", "device", "total_plies"}
"""Fields that a resumed run may change."""


@dataclass(frozen=True)
class Place:
    """Where a run's configuration comes from, and where the run goes."""

    config: Annotated[Path | None, tyro.conf.arg(help="the YAML file to start from")] = None
    resume: Annotated[
        Path | None,
        tyro.conf.arg(
            help="resume the run in this folder, by its own configuration; --threads, --device and --total-plies "
            "may change"
        ),
    ] = None
    output: Annotated[Path | None, tyro.conf.arg(help="the run folder (runs/ and the config's name)")] = None

    def folder(self, ending: str = "") -> Path:
        """Where the run goes, or the runs of a sweep."""
        return self.output or Path("runs") / f"{self.config.stem if self.config else 'default'}{ending}"


@dataclass(frozen=True)
class _Command(Place):
    sweep: Annotated[
        str | None, tyro.conf.arg(help="train each of these seeds, as in 0,1,2, in FOLDER/seed-0, ...")
    ] = None
    jobs: Annotated[
        int | None, tyro.conf.arg(help="seeds of a sweep trained at once (as many as there are processors for)")
    ] = None
    ray: Annotated[str | None, tyro.conf.arg(help=f"{HELP}; Ray then decides how many seeds run at once")] = None


@dataclass(frozen=True)
class AgentCommand(_Command):
    """The command line where an agent is trained."""

    settings: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)


@dataclass(frozen=True)
class ValueCommand(_Command):
    """The command line where a value net is trained."""

    settings: Annotated[ValueConfig, tyro.conf.arg(name="")] = field(default_factory=ValueConfig)


Command: TypeAlias = AgentCommand | ValueCommand


def config_file(arguments: list[str]) -> Path | None:
    """The file that the configuration comes from, if there is one."""
    start, _ = tyro.cli(Place, args=arguments, add_help=False, return_unknown_args=True)
    kept = start.resume / CONFIG_NAME if start.resume else None
    return start.config or (kept if kept and kept.exists() else None)


def parse(arguments: list[str], description: str | None = None) -> Command:
    """The command line; `description` is what `--help` says of the program.

    Raises:
        RunError: for options that do not go together.
        ConfigError: for a configuration that cannot be.
    """
    if arguments and not arguments[0].startswith("-"):
        raise RunError(f"what is {arguments[0]!r}? A configuration is given by --config, a run's folder by --resume")
    file = config_file(arguments)
    settings = load_config(file) if file else TrainConfig()
    default: Command = (
        ValueCommand(settings=settings) if isinstance(settings, ValueConfig) else AgentCommand(settings=settings)
    )
    try:
        command = tyro.cli(type(default), default=default, args=arguments, prog="train.py", description=description)
    except ValidationError as error:  # tyro itself tells those of a group of settings
        raise ConfigError(f"command line: {explain(error)}") from None
    changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - CHANGEABLE or any(one is not None for one in others)):
        raise RunError("--resume takes the run's configuration: only --threads, --device, --total-plies go with it")
    if not command.sweep and (command.ray or command.jobs is not None):
        raise RunError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if command.jobs is not None and command.jobs < 1:
        raise RunError(f"--jobs must be 1 or more; got {command.jobs}")
    return command
