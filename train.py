"""Train an agent by self-play PPO, or a value net.

    python train.py --config configs/quick.yaml [--output FOLDER] [--ppo.learning-rate 5e-4 ...]
    python train.py --resume runs/quick
    python train.py --config configs/quick.yaml --sweep 0,1,2 [--ray ADDRESS]
    python train.py --config configs/value.yaml [--rules vietnamese] [--ray ADDRESS]

A run folder holds the resolved configuration, TensorBoard logs, evaluations, the last checkpoint and the agent, which
`python evaluate.py ppo:FOLDER greedy` plays. Ctrl-C saves and stops; --resume goes on, after a kill too.
A sweep trains each seed in a run folder of its own, in a process of its own; the same command goes on with it.
A configuration of `kind: value` makes a value net, for players such as `minimax:nodes=20000,net=FOLDER`.
"""

from __future__ import annotations

import functools
import operator
import os
import shlex
import signal
import statistics
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Annotated, get_type_hints

from agents.support.extras import needing_extras

with needing_extras("train.py" if __name__ == "__main__" else None):
    import tyro
    from pydantic import BaseModel
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    from agents.networks.agent_files import AgentFileError
    from agents.support.folder_lock import FolderInUseError
    from agents.support.parallel import HELP, ScaleError
    from agents.support.renamed import renamed
    from agents.support.strict_yaml import ConfigError, read_yaml
    from agents.training.checkpoint import CheckpointError
    from agents.training.config import TrainConfig, load_config, parse_config
    from agents.training.run import RunError, StopTrainingError, TrainingRun
    from agents.training.run_folder import CONFIG_NAME
    from agents.training.sweep import SeedEnd, parse_seeds, plan, stopping_workers, train_seeds
    from agents.training.value_command import make_value_net

CHANGEABLE = {"threads", "device", "total_plies"}
"""Fields that a resumed run may change."""
FIRST = (
    ("rules",),
    ("total_plies",),
    ("seed",),
    ("threads",),
    ("device",),
    ("init_from",),
    ("network", "name"),
    ("network", "width"),
    ("ppo", "n_envs"),
    ("ppo", "learning_rate"),
    ("ppo", "ent_coef"),
    ("opponents", "players"),
    ("teacher", "depths"),
    ("evaluation", "every_plies"),
    ("evaluation", "opponents"),
)
"""Settings that people change first; `--help` shows them, and `--help-all` all."""


@dataclass(frozen=True)
class Start:
    """Where a run's configuration comes from."""

    config: Annotated[Path | None, tyro.conf.arg(help="the YAML file to start from")] = None
    resume: Annotated[
        Path | None,
        tyro.conf.arg(
            help="go on with the run in this folder, by its own configuration; --threads, --device and "
            "--total-plies may change"
        ),
    ] = None


@dataclass(frozen=True)
class Command(Start):
    """The command line."""

    output: Annotated[Path | None, tyro.conf.arg(help="the run folder (runs/ and the config's name)")] = None
    sweep: Annotated[
        str | None, tyro.conf.arg(help="train each of these seeds, as in 0,1,2, in FOLDER/seed-0, ...")
    ] = None
    jobs: Annotated[
        int | None, tyro.conf.arg(help="seeds of a sweep trained at once (as many as there are processors for)")
    ] = None
    ray: Annotated[str | None, tyro.conf.arg(help=f"{HELP}; Ray then decides how many seeds run at once")] = None
    settings: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)

    def folder(self, ending: str = "") -> Path:
        """Where the run goes, or the runs of a sweep."""
        return self.output or Path("runs") / f"{self.config.stem if self.config else 'default'}{ending}"


class PliesPerSecond(ProgressColumn):
    """Speed since the program began, evaluations included."""

    def render(self, task: Task) -> Text:
        """Plies a second; nothing before the first iteration has ended."""
        done, seconds = task.completed - task.fields["begun"], task.finished_time or task.elapsed
        return Text(f"{done / seconds:,.0f} plies/s" if done and seconds else "")


class Interrupt:
    """Turns Ctrl-C and SIGTERM into a wish to stop; a second one stops at once, and the last checkpoint stays."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.wished = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def is_wished(self) -> bool:
        """Whether to stop."""
        return self.wished

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.wished:
            raise KeyboardInterrupt
        self.wished = True
        self.console.print("stopping after this iteration; once more to stop at once")


def config_file(arguments: list[str]) -> Path | None:
    """The file that the configuration comes from, if there is one."""
    start, _ = tyro.cli(Start, args=arguments, add_help=False, return_unknown_args=True)
    kept = start.resume / CONFIG_NAME if start.resume else None
    return start.config or (kept if kept and kept.exists() else None)


def parse(arguments: list[str]) -> Command:
    """The command line.

    Raises:
        RunError: for options that do not go together.
        ConfigError: for a configuration that cannot be, and for options of former names.
    """
    for argument in arguments:
        option = argument.partition("=")[0].rpartition(".")[2].removeprefix("--").replace("-", "_")
        if argument.startswith("--") and (said := renamed(option)):
            raise ConfigError(f"{argument}: {said}")
    file = config_file(arguments)
    default = Command(settings=load_config(file) if file else TrainConfig())
    arguments = read_values(arguments, default.settings)
    command = tyro.cli(Command, default=default, args=arguments, prog="train.py", description=__doc__)
    changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - CHANGEABLE or any(one is not None for one in others)):
        raise RunError("--resume takes the run's configuration: only --threads, --device, --total-plies go with it")
    if not command.sweep and (command.ray or command.jobs is not None):
        raise RunError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if command.jobs is not None and command.jobs < 1:
        raise RunError(f"--jobs must be 1 or more; got {command.jobs}")
    return command


def read_values(arguments: list[str], base: TrainConfig) -> list[str]:
    """The command line with all numbers in plain digits; `base` is what its settings change.

    Raises `ConfigError` for a value that a setting cannot have.
    """
    options = {option_of(path): path for path in setting_paths(TrainConfig)}
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


def help_page() -> str:
    """What `--help` shows: where runs come from and go, and the settings that people change first."""
    hints = get_type_hints(Command, include_extras=True)
    lines = {
        option_of((name,)): hints[name].__metadata__[0].help for name in ("config", "resume", "output", "sweep", "jobs")
    }
    config = TrainConfig()
    for path in FIRST:
        owner: BaseModel = functools.reduce(getattr, path[:-1], config)
        said = type(owner).model_fields[path[-1]].description
        lines[option_of(path)] = f"{said} (default: {getattr(owner, path[-1])})"
    shown = [textwrap.fill(f"  {option:24} {said}", 110, subsequent_indent=27 * " ") for option, said in lines.items()]
    return "\n".join([__doc__ or "", "options:", *shown, "", "--help-all shows all settings."])


def begin(command: Command, typed: str, console: Console) -> TrainingRun:
    """The run that the command line asks for."""
    if command.resume:
        run = TrainingRun.resume(command.resume, console.print, command.settings.model_dump(include=CHANGEABLE))
        done = run.plies >= run.config.total_plies
        console.print(f"{'finished' if done else 'resuming'} {run.folder} at {run.plies:,} plies")
        if done:
            console.print(f"to train on: python train.py --resume {run.folder} --total-plies {2 * run.plies}")
        return run
    config, folder = command.settings, command.folder()
    run = TrainingRun.create(folder, config, typed, console.print)
    console.print(f"training in {folder}: {config.total_plies:,} plies of {config.rules}")
    if run.planned_plies > config.total_plies:
        console.print(f"whole iterations make them {run.planned_plies:,} plies")
    return run


def sweep(command: Command, seeds: list[int], typed: str, console: Console) -> int:
    """Train all seeds, the others too where one fails; returns the exit status."""
    config, folder = command.settings, command.folder("-sweep")
    works = plan(folder, config, seeds, typed)
    jobs = command.jobs or max(1, (os.cpu_count() or 1) // config.processors)
    console.print(f"training {len(works)} seeds in {folder}: {config.total_plies:,} plies each of {config.rules}")
    ends: list[SeedEnd] = []
    try:
        with stopping_workers():
            for end in train_seeds(works, ray=command.ray, processes=jobs):
                ends.append(end)
                how = "failed" if end.error else "is done"
                console.print(f"seed {end.seed} {how}, {len(ends)} of {len(works)}: {end.folder}")
    except (KeyboardInterrupt, StopTrainingError):
        console.print("stopped; the same command goes on")
        return 130
    show_scores([end for end in ends if not end.error], config, console)
    failures = [end for end in ends if end.error]
    for failure in failures:
        print(f"train.py: seed {failure.seed}: {failure.error}", file=sys.stderr)
    return 2 if failures else 0


def show_scores(results: list[SeedEnd], config: TrainConfig, console: Console) -> None:
    """Mean score of the seeds against each opponent; nothing without seeds."""
    if not results:
        return
    for opponent in config.evaluation.opponents:
        scores = [100 * result.scores[opponent] for result in results]
        deviation = f" ± {statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
        console.print(f"score against {opponent}: {statistics.mean(scores):.1f}{deviation} % (deviation over seeds)")


def main(arguments: list[str]) -> int:
    """Train; returns the exit status."""
    console = Console(highlight=False)
    if not arguments:
        print("train.py: what to train? try: python train.py --config configs/quick.yaml (or --help)", file=sys.stderr)
        return 2
    if {"-h", "--help"} & set(arguments):
        print(help_page())
        return 0
    try:
        typed = shlex.join(["python", "train.py", *arguments])
        file = config_file(arguments)
        if file and read_yaml(file).get("kind") == "value":
            return make_value_net(file, arguments, typed, console, lambda: Interrupt(console).is_wished)
        command = parse(["--help" if argument == "--help-all" else argument for argument in arguments])
        if command.sweep:
            return sweep(command, parse_seeds(command.sweep), typed, console)
        run = begin(command, typed, console)
        interrupt = Interrupt(console)
        columns = (BarColumn(), MofNCompleteColumn(), PliesPerSecond(), TextColumn("ETA"), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("training", total=run.planned_plies, completed=run.plies, begun=run.plies)
            run.learn(lambda plies: bar.update(task, completed=plies), interrupt.is_wished)
    except StopTrainingError:
        console.print(f"saved at {run.plies:,} plies; go on with: python train.py --resume {run.folder}")
        return 130
    except KeyboardInterrupt:
        console.print("stopped at once; a run or a sweep that was begun goes on from its last checkpoint")
        return 130
    except (ConfigError, FolderInUseError, RunError, CheckpointError, AgentFileError, ScaleError, OSError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    console.print(f"the agent is in {run.folder}; try: python evaluate.py ppo:{run.folder} greedy random")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
