"""The command line of `train.py`: where a run comes from and goes, and its settings."""

from __future__ import annotations

import functools
import operator
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias, get_type_hints

import tyro
from pydantic import BaseModel

from agents.support.parallel import HELP
from agents.training.kinds import AnyConfig, load_config, parse_config
from agents.training.ppo.config import TrainConfig
from agents.training.run_folder import CONFIG_NAME, RunError
from agents.training.td.config import ValueConfig

CHANGEABLE = {"threads", "device", "total_plies"}
"""Fields that a resumed run may change."""
FIRST = {
    "ppo": (
        ("rules",),
        ("total_plies",),
        ("seed",),
        ("threads",),
        ("device",),
        ("network", "name"),
        ("network", "width"),
        ("ppo", "n_envs"),
        ("ppo", "learning_rate"),
        ("ppo", "ent_coef"),
        ("evaluation", "every_plies"),
        ("evaluation", "opponents"),
    ),
    "value": (
        ("rules",),
        ("total_plies",),
        ("seed",),
        ("threads",),
        ("td", "depth"),
        ("td", "uses"),
        ("td", "lam"),
        ("td", "learning_rate"),
        ("evaluation", "every_plies"),
    ),
}
"""Settings that people change first; `--help` shows them, and `--help-all` all."""


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
    arguments = read_values(arguments, default.settings)
    command = tyro.cli(type(default), default=default, args=arguments, prog="train.py", description=description)
    changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - CHANGEABLE or any(one is not None for one in others)):
        raise RunError("--resume takes the run's configuration: only --threads, --device, --total-plies go with it")
    if not command.sweep and (command.ray or command.jobs is not None):
        raise RunError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if command.jobs is not None and command.jobs < 1:
        raise RunError(f"--jobs must be 1 or more; got {command.jobs}")
    return command


def read_values(arguments: list[str], base: AnyConfig) -> list[str]:
    """The command line with all numbers in plain digits; `base` is what its settings change.

    Raises `ConfigError` for a value that a setting cannot have.
    """
    options = {option_of(path): path for path in setting_paths(type(base))}
    values = base.model_dump()
    words: list[str] = []
    places: list[tuple[tuple[str, ...] | None, int]] = []
    for argument in arguments:
        option, sign, text = argument.partition("=")
        if argument.startswith("--"):
            places.append((options.get(option.replace("_", "-")), len(words) + 1))
            words.append(option)
        if sign or not argument.startswith("--"):
            words.append(text if argument.startswith("--") else argument)
    ends = [begin - 1 for _, begin in places[1:]] + [len(words)]
    given = [(path, begin, end) for (path, begin), end in zip(places, ends, strict=True) if path and begin < end]
    for path, begin, end in given:
        into = functools.reduce(operator.getitem, path[:-1], values)
        into[path[-1]] = words[begin:end] if isinstance(into[path[-1]], list) else words[begin]
    config = parse_config(values, "command line").model_dump()
    for path, begin, end in given:
        value = functools.reduce(operator.getitem, path, config)
        if isinstance(value, int | list):
            words[begin:end] = [str(one) for one in (value if isinstance(value, list) else [value])]
    return words


def setting_paths(model: type[BaseModel], way: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names that lead to each setting."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from setting_paths(info.annotation, (*way, name))
        else:
            yield (*way, name)


def option_of(path: tuple[str, ...]) -> str:
    """A setting as an option of the command line."""
    return f"--{'.'.join(path)}".replace("_", "-")


def help_page(description: str, config: AnyConfig) -> str:
    """What `--help` shows: where runs come from and go, and the settings of `config` that people change first."""
    hints = get_type_hints(_Command, include_extras=True)
    lines = {
        option_of((name,)): hints[name].__metadata__[0].help for name in ("config", "resume", "output", "sweep", "jobs")
    }
    for path in FIRST[config.kind]:
        owner: BaseModel = functools.reduce(getattr, path[:-1], config)
        said = type(owner).model_fields[path[-1]].description
        lines[option_of(path)] = f"{said} (default: {getattr(owner, path[-1])})"
    shown = [textwrap.fill(f"  {option:24} {said}", 110, subsequent_indent=27 * " ") for option, said in lines.items()]
    return "\n".join(
        [
            "usage: train.py [-h] [--help-all] [OPTIONS]",
            "",
            description,
            "options:",
            *shown,
            "",
            "--help-all shows all settings.",
        ]
    )
