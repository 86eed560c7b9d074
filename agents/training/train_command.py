"""The command line of `train.py`: where a run comes from and goes, and its settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import tyro
from pydantic import ValidationError

from agents.support.command_line import OptionalFile, OptionalFolder, RayAddress, parse_options
from agents.support.strict_yaml import explain
from agents.training.config import RunConfig
from agents.training.kinds import load_config
from agents.training.ppo.config import TrainConfig
from agents.training.run_folder import CONFIG_NAME
from oanquan_env.errors import UsageError

CHANGEABLE = {"threads", "device", "total_plies"}  # fields that a resumed run may change
Settings = TypeVar("Settings", bound=RunConfig)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The file or folder of the settings, which names their kind."""

    config: OptionalFile = None  # the YAML file to start from
    # resume the run in this folder; --threads, --device and --total-plies may change its configuration
    resume: OptionalFolder = None

    def settings_file(self) -> Path | None:
        """The file that the settings come from, if there is one."""
        kept = self.resume / CONFIG_NAME if self.resume else None
        return self.config or (kept if kept and kept.exists() else None)


@dataclass(frozen=True, kw_only=True)
class Command(Origin, Generic[Settings]):
    """The command line; the settings are those of an agent or of a value net."""

    output: OptionalFolder = None  # the run folder (default: runs/ and the config's name)
    # train each of these seeds, as in 0,1,2, in FOLDER/seed-0, ...
    sweep: Annotated[str | None, tyro.conf.arg(metavar="SEEDS", help_behavior_hint="")] = None
    # seeds of a sweep trained at once (default: as many as there are processors for); --ray decides itself
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None
    ray: RayAddress = None
    settings: Annotated[Settings, tyro.conf.arg(name="")]

    def folder(self, ending: str = "") -> Path:
        """Where the run goes, or the runs of a sweep."""
        return self.output or Path("runs") / f"{self.config.stem if self.config else 'default'}{ending}"


def parse(arguments: list[str], description: str | None = None) -> Command[Any]:
    """The command line; `description` is the text of `--help`.

    Raises `UsageError` for options that do not go together, and for a configuration that cannot be used.
    """
    if arguments and not arguments[0].startswith("-"):
        raise UsageError(f"what is {arguments[0]!r}? A configuration is given by --config, a run's folder by --resume")
    origin, _ = tyro.cli(Origin, args=arguments, add_help=False, return_unknown_args=True)
    file = origin.settings_file()
    default: Command[Any] = Command(settings=load_config(file) if file else TrainConfig())
    kind: Any = Command[type(default.settings)]  # type: ignore[misc]
    try:
        command: Command[Any] = parse_options(
            kind, arguments, prog="train.py", description=description, default=default
        )
    except ValidationError as error:  # tyro itself tells those of a group of settings
        raise UsageError(f"command line: {explain(error)}") from None
    changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - CHANGEABLE or any(one is not None for one in others)):
        raise UsageError("--resume takes the run's configuration: only --threads, --device, --total-plies go with it")
    if command.sweep is None and (command.ray or command.jobs is not None):
        raise UsageError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if command.jobs is not None and command.jobs < 1:
        raise UsageError(f"--jobs must be 1 or more; got {command.jobs}")
    return command
