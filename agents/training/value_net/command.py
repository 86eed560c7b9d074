"""The command line of a value net's run, for `train.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from agents.support.parallel import HELP
from agents.support.strict_yaml import ConfigError, explain, read_yaml, validated
from agents.training.run_folder import RunError, StopTrainingError
from agents.training.train_command import Place
from agents.training.value_net.config import ValueConfig
from agents.training.value_net.run import ValueRun


@dataclass(frozen=True)
class ValueCommand(Place):
    """Make a value net, by the configuration of a run of `kind: value`."""

    ray: Annotated[str | None, tyro.conf.arg(help=f"{HELP}; it values the positions, the net is the same")] = None
    settings: Annotated[ValueConfig, tyro.conf.arg(name="")] = field(default_factory=ValueConfig)


def make_value_net(
    file: Path, arguments: list[str], typed: str, console: Console, catch_signals: Callable[[], Callable[[], bool]]
) -> int:
    """Begin or go on with the run of a value net; returns the exit status.

    The configuration is in `file`; `typed` is the whole command, for the run's history. From the call of
    `catch_signals` on, what it returns says whether to stop. Raises `ConfigError` or `RunError` for a configuration or
    options that cannot be.
    """
    default = ValueCommand(settings=validated(ValueConfig, read_yaml(file), str(file)))
    try:
        command = tyro.cli(ValueCommand, default=default, args=arguments, prog="train.py")
    except ValidationError as error:
        raise ConfigError(f"command line: {explain(error)}") from None
    if command.resume:
        changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
        if changed - {"threads"} or command.config or command.output:
            raise RunError("--resume takes the run's own configuration: only --threads and --ray go with it")
        run = ValueRun(command.resume, command.settings, console.print)
    else:
        run = ValueRun.create(command.folder(), command.settings, typed, console.print)
    console.print(f"a value net of {run.config.rules}, in {run.folder}")
    stopping = catch_signals()
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=console) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(stage: str, done: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0)
            bar.update(tasks[stage], completed=done)

        try:
            run.learn(progress, stopping, command.ray)
        except StopTrainingError:
            console.print(f"saved; go on with: python train.py --resume {run.folder}")
            return 130
    player = "minimax:nodes=2000" if run.core.rules.players == 2 else f"--rules {run.config.rules!r} maxn:depth=2"
    console.print(f"the net is in {run.folder}; try: python evaluate.py {player},net={run.folder}")
    return 0
