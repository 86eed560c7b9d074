"""Train an agent by self-play PPO, or a value net by self-play TD(lambda).

    python train.py --config configs/quick.yaml [--output FOLDER] [--ppo.learning-rate 5e-4]
    python train.py --resume runs/quick
    python train.py --config configs/quick.yaml --sweep 0,1,2 [--ray ADDRESS]
    python train.py --config configs/quick.yaml --sweep "ppo.learning_rate=1e-3,3e-4 seed=0-4"
    python train.py --config configs/value.yaml [--rules vietnamese]
    python train.py --kind td --help
    python train.py --kind my_learning:PenaltyRun --kl-coef 3   # your own loss: docs/how-to/learning.md

A run folder holds the resolved configuration, TensorBoard logs, evaluations, the last checkpoint and the result:
an agent for the player `ppo:FOLDER`, or a value net for players such as `minimax:nodes=20000,net=FOLDER`.
Ctrl-C saves and stops; --resume continues, even if the run was killed.
A sweep trains each combination of seeds and other values in its own folder and process; the same command resumes it.
"""

import functools
import os
import re
import shlex
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from oanquan_env.errors import INTERRUPTED, USAGE_ERROR, UsageError, needing_extra
from oanquan_env.files import one_line

with needing_extra("train", "train.py" if __name__ == "__main__" else None):
    import tyro
    from pydantic import ValidationError
    from rich.console import Console

    from agents import workers
    from agents.checkpoint import CONFIG_NAME
    from agents.config import (
        MOST_THREADS,
        OptionalFile,
        OptionalFolder,
        RayAddress,
        Whole,
        explain,
        parse_options,
        progress_bar,
        refused,
        validated,
        widen,
    )
    from agents.run import Run, RunConfig, StopTrainingError, load_config, run_type
    from agents.sweep import STOPPING, parse_sweep, stopping, sweep
    from agents.workers import launch, launched

CHANGEABLE = {"threads", "device", "total_plies", "workers"}  # fields that a resumed run may change
SettingsT = TypeVar("SettingsT", bound=RunConfig)


# ---- options ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The options that name the file or folder from which settings are read."""

    config: OptionalFile = None  # the YAML file to start from
    # resume the run in this folder; --threads, --device, --total-plies and --workers may change its configuration
    resume: OptionalFolder = None


@dataclass(frozen=True, kw_only=True)
class KindOptions(SourceOptions):
    """The options that determine which other settings exist."""

    kind: str = "ppo"
    network: Annotated[str | None, tyro.conf.arg(name="network.name")] = None


@dataclass(frozen=True, kw_only=True)
class Command(SourceOptions, Generic[SettingsT]):
    """The options of the command line; `settings` holds the configuration of a run."""

    output: OptionalFolder = None  # the run folder (default: runs/ and the config's name)
    # train once for each of these seeds, such as 0,1,2, or for each combination of values of fields
    sweep: Annotated[str | None, tyro.conf.arg(metavar="VALUES", help_behavior_hint="")] = None
    # number of runs of a sweep trained at once (default: limited by the processors); with --ray, Ray decides
    jobs: Annotated[Whole | None, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None
    ray: RayAddress = None
    settings: Annotated[SettingsT, tyro.conf.arg(name="")]

    def folder(self, ending: str = "") -> Path:
        """Return `--output`, or by default a folder in `runs/`: the config's name followed by `ending`."""
        return self.output or Path("runs") / f"{self.config.stem if self.config else 'default'}{ending}"


def parse(arguments: list[str]) -> Command[Any]:
    """Parse the command line. Raises `UsageError` for incompatible options and invalid settings."""
    if arguments and not arguments[0].startswith("-"):
        raise UsageError(f"unexpected argument {arguments[0]!r}: give a file by --config or a folder by --resume")
    settings = read_settings(arguments)
    options: Any = Command[type(settings)]  # type: ignore[misc]
    try:
        command: Command[Any] = parse_options(
            options, arguments, prog="train.py", description=__doc__, default=Command(settings=settings)
        )
    except ValidationError as error:  # tyro itself reports errors within a group of settings
        raise UsageError(f"command line: {explain(error, type(settings))}") from None
    check(command, changed={name for name, value in command.settings if value != getattr(settings, name)})
    if launched():
        size = {"workers": int(os.environ["WORLD_SIZE"])}
        command = replace(command, settings=command.settings.model_copy(update=size))
    return command


def read_settings(arguments: list[str]) -> RunConfig:
    """Return the settings that the command line changes: of --config, of the run to resume, or the defaults."""
    widen()
    source, _ = tyro.cli(KindOptions, args=arguments, add_help=False, return_unknown_args=True)
    file = source.config or (source.resume / CONFIG_NAME if source.resume else None)
    config_class: Any = run_type(source.kind).config_type
    settings: RunConfig = load_config(file) if file and (source.config or file.exists()) else config_class()
    if source.network and not source.resume:
        with_network = run_type(settings.kind).config_type.with_network(source.network)
        if with_network is not type(settings):  # the network on the command line has other options
            values = settings.model_dump()
            values["network"]["name"] = source.network
            settings = validated(with_network, values, "command line")
    return settings


def check(command: Command[Any], changed: set[str]) -> None:
    """Raise `UsageError` if options cannot be used together; `changed` names the settings that the options change."""
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - CHANGEABLE or any(option is not None for option in others)):
        fitting = "--threads, --device, --total-plies and --workers"
        raise UsageError(f"--resume uses the run's own configuration; only {fitting} can be given with it")
    if command.sweep is not None and command.settings.workers > 1:
        raise UsageError("--sweep trains each run in one process and cannot be used with --workers")
    if command.sweep is None and (command.ray or command.jobs is not None):
        raise UsageError("--ray and --jobs spread the runs of a sweep and need --sweep")
    if command.jobs is not None and not 1 <= command.jobs <= MOST_THREADS:
        raise UsageError(f"--jobs must be a whole number from 1 to {MOST_THREADS:,}; got {command.jobs}")


# ---- training --------------------------------------------------------------------------------------------------------


def train(arguments: list[str], console: Console) -> int:
    """Train as the command line says, in one of these ways; return the exit status."""
    command, command_line = parse(arguments), shlex.join(["python", "train.py", *arguments])
    folder = command.resume or command.folder("" if command.sweep is None else "-sweep")
    if command.sweep is not None:  # each run in its own process
        fields = parse_sweep(command.sweep)
        return sweep(folder, command.settings, fields, command_line, console.print, ray=command.ray, jobs=command.jobs)
    if workers.rank() > 0:  # a worker that joins the run of worker 0
        workers.wait()  # for the files of worker 0
        return train_run(run_type(command.settings.kind).join(folder, command.settings), console)
    run = create_or_resume(command, folder, command_line, console)
    if run.config.workers > 1 and not launched():  # start all workers, which resume the run
        run.close()
        return launch(worker_command(run), run.config.workers, run.folder)
    workers.wait()
    return train_run(run, console)


def create_or_resume(command: Command[Any], folder: Path, command_line: str, console: Console) -> Run[Any]:
    """Create the run that `command` describes, or resume it; the run stores `command_line`."""
    report = functools.partial(console.print, soft_wrap=not console.is_terminal)
    config = command.settings
    if command.resume or (launched() and (folder / CONFIG_NAME).exists()):
        fixed = config.model_dump(exclude=CHANGEABLE)
        if load_config(folder / CONFIG_NAME).model_dump(exclude=CHANGEABLE) != fixed:
            raise UsageError(f"{folder} holds a run with another configuration: choose another --output")
        run = run_type(config.kind).resume(folder, report, config.model_dump(include=CHANGEABLE), command_line)
        done = run.plies >= run.config.total_plies
        console.print(f"{'finished' if done else 'resuming'} {run.folder} at {run.plies:,} plies")
        if done:
            longer = ["--resume", str(run.folder), "--total-plies", str(2 * run.plies)]
            console.print(f"to train longer: {shlex.join(['python', 'train.py', *longer])}")
        return run
    run = run_type(config.kind).create(folder, config, command_line, report)
    console.print(f"training in {folder}: {config.total_plies:,} plies of {config.rules}, threads {run.config.threads}")
    if run.planned_plies > config.total_plies:
        console.print(f"rounded up to whole iterations: {run.planned_plies:,} plies")
    return run


def worker_command(run: Run[Any]) -> list[str]:
    """Return the program and arguments with which each worker process resumes `run`, which this process has begun."""
    fields = [name for name in ("threads", "device") if hasattr(run.config, name)]
    options = [word for name in fields for word in (f"--{name}", str(getattr(run.config, name)))]
    return [__file__, "--resume", str(run.folder), *options]


def train_run(run: Run[Any], console: Console) -> int:
    """Train the run to its end or until Ctrl-C, showing its progress; return the exit status."""
    try:
        with stopping(lambda: console.print(STOPPING)) as stop, progress_bar(console=console) as bar:
            before, began = run.plies, time.monotonic()
            task = bar.add_task("training", total=run.planned_plies, completed=before)

            def progress(plies: int) -> None:
                done, seconds = plies - before, time.monotonic() - began  # evaluations included
                bar.update(task, completed=plies, description=f"{done / seconds:,.0f} plies/s" if done else None)

            run.learn(progress, stop)
    except StopTrainingError:
        resume = shlex.join(["python", "train.py", "--resume", str(run.folder)])
        console.print(f"saved at {run.plies:,} plies; resume with: {resume}")
        return INTERRUPTED
    console.print(run.usage)
    return 0


def main(arguments: list[str]) -> int:
    """Train, explain errors, and return the exit status."""
    if not arguments:
        print(
            "train.py: no configuration; try: python train.py --config configs/quick.yaml (or --help)", file=sys.stderr
        )
        return USAGE_ERROR
    other = launched() and os.environ["RANK"] != "0"  # a worker other than worker 0
    # do not wrap commands, which users copy, and do not read [brackets] or :colons: in a folder's name as markup
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False, quiet=other)
    try:
        if launched():
            workers.connect()
        return train(arguments, console)
    except KeyboardInterrupt:
        console.print("stopped at once; --resume continues from the last checkpoint; for a sweep, repeat its command")
        return INTERRUPTED
    except workers.LostWorkerError as error:  # the launcher restarts all workers
        print(f"train.py: {error}", file=sys.stderr)
        return 1
    except (UsageError, OSError) as error:
        return workers.give_up(refused("train.py", error))
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or re.search("out of memory|allocate memory", str(error))):  # of torch
            raise
        smaller = "choose a smaller rollout, minibatch, replay or network"
        return workers.give_up(refused("train.py", UsageError(f"out of memory: {one_line(error)}: {smaller}")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
