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

import os
import shlex
import signal
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Annotated

import tyro
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from agents.networks.agent_files import AgentFileError
from agents.support.parallel import HELP, ScaleError
from agents.support.renamed import renamed
from agents.support.strict_yaml import ConfigError, explain, read_yaml
from agents.training.checkpoint import CheckpointError
from agents.training.config import TrainConfig, load_config
from agents.training.run import RunError, StopTrainingError, TrainingRun
from agents.training.run_folder import CONFIG_NAME
from agents.training.sweep import SeedEnd, parse_seeds, plan, train_seeds
from agents.training.value_command import make_value_net

MACHINE = {"threads", "device"}
"""Fields that a resumed run may change."""


@dataclass(frozen=True)
class Start:
    """Where a run's configuration comes from."""

    config: Path | None = None
    """The YAML file to start from; without one, the defaults below."""
    resume: Path | None = None
    """Go on with the run in this folder, by its own configuration; only --threads and --device go with it."""


@dataclass(frozen=True)
class Command(Start):
    """The command line."""

    output: Path | None = None
    """The run folder; runs/ and the config's name if left out."""
    sweep: str | None = None
    """Train each of these seeds, as in 0,1,2, in FOLDER/seed-0, ..."""
    jobs: int | None = None
    """Seeds of a sweep trained at once; as many as there are processors for if left out."""
    ray: Annotated[str | None, tyro.conf.arg(help=f"{HELP}; Ray then decides how many seeds run at once")] = None
    settings: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)

    def folder(self, ending: str = "") -> Path:
        """Where the run goes, or the runs of a sweep."""
        return self.output or Path("runs") / f"{self.config.stem if self.config else 'default'}{ending}"


class PliesPerSecond(ProgressColumn):
    """Speed of the run."""

    def render(self, task: Task) -> Text:
        """Plies a second, smoothed."""
        return Text(f"{task.speed or 0:,.0f} plies/s")


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
    try:
        command = tyro.cli(Command, default=default, args=arguments, prog="train.py", description=__doc__)
    except ValidationError as error:  # tyro shows what is wrong with nested settings, but raises this for the others
        raise ConfigError(f"command line: {explain(error)}") from None
    changed = {name for name, value in command.settings if value != getattr(default.settings, name)}
    others = (command.config, command.output, command.sweep, command.ray, command.jobs)
    if command.resume and (changed - MACHINE or any(one is not None for one in others)):
        raise RunError("--resume takes the run's own configuration: only --threads and --device go with it")
    if not command.sweep and (command.ray or command.jobs is not None):
        raise RunError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if command.jobs is not None and command.jobs < 1:
        raise RunError(f"--jobs must be 1 or more; got {command.jobs}")
    return command


def begin(command: Command, typed: str, console: Console) -> TrainingRun:
    """The run that the command line asks for."""
    if command.resume:
        run = TrainingRun.resume(command.resume, console.print, command.settings.model_dump(include=MACHINE))
        console.print(f"resuming {run.folder} at {run.plies:,} plies")
        return run
    config, folder = command.settings, command.folder()
    run = TrainingRun.create(folder, config, typed, console.print)
    console.print(f"training in {folder}: {config.total_plies:,} plies of {config.rules}")
    return run


def sweep(command: Command, seeds: list[int], typed: str, console: Console) -> int:
    """Train all seeds, the others too where one fails; returns the exit status."""
    config, folder = command.settings, command.folder("-sweep")
    works = plan(folder, config, seeds, typed)
    jobs = command.jobs or max(1, (os.cpu_count() or 1) // config.processors)
    console.print(f"training {len(works)} seeds in {folder}: {config.total_plies:,} plies each of {config.rules}")
    ends: list[SeedEnd] = []
    try:
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
    typed = shlex.join(["python", "train.py", *arguments])
    try:
        file = config_file(arguments)
        if file and read_yaml(file).get("kind") == "value":
            return make_value_net(file, arguments, typed, console, lambda: Interrupt(console).is_wished)
        command = parse(arguments)
        if command.sweep:
            return sweep(command, parse_seeds(command.sweep), typed, console)
        run = begin(command, typed, console)
        interrupt = Interrupt(console)
        columns = (BarColumn(), MofNCompleteColumn(), PliesPerSecond(), TextColumn("ETA"), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("training", total=run.config.total_plies, completed=run.plies)
            run.learn(lambda plies: bar.update(task, completed=plies), interrupt.is_wished)
    except StopTrainingError:
        console.print(f"saved at {run.plies:,} plies; go on with: python train.py --resume {run.folder}")
        return 130
    except (ConfigError, RunError, CheckpointError, AgentFileError, ScaleError, OSError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    console.print(f"the agent is in {run.folder}; try: python evaluate.py ppo:{run.folder} greedy random")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
