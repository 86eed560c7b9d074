"""Train an agent by self-play PPO.

    python train.py --config configs/quick.yaml [--output FOLDER] [--ppo.learning-rate 5e-4 ...]
    python train.py --resume runs/quick
    python train.py --config configs/quick.yaml --sweep 0,1,2 [--ray ADDRESS]

A run folder holds the resolved configuration, TensorBoard logs, evaluations, the last checkpoint and the agent, which
`python evaluate.py ppo:FOLDER greedy` plays. Ctrl-C saves and stops; --resume goes on, after a kill too.
A sweep trains each seed in a run folder of its own, in a process of its own; the same command goes on with it.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import statistics
import sys
from pathlib import Path
from types import FrameType

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from agents.networks.agent_files import AgentFileError
from agents.support.parallel import HELP, ScaleError
from agents.support.strict_yaml import ConfigError
from agents.training.checkpoint import CheckpointError
from agents.training.config import TrainConfig, load_config
from agents.training.run import RunError, StopTrainingError, TrainingRun
from agents.training.sweep import SeedFailure, SeedResult, parse_seeds, plan, train_seeds

OPTIONS = f"""
  --config FILE    the YAML file to start from (default: the defaults below)
  --output FOLDER  the run folder (default: runs/ and the config's name)
  --resume FOLDER  go on with a run, by its own configuration; only --threads and --device go with it
  --sweep SEEDS    train each of these seeds, as in 0,1,2, in FOLDER/seed-0, ...
  --jobs N         seeds of a sweep trained at once (default: as many as there are processors for)
  --ray ADDRESS    {HELP}; N is then Ray's business
"""


class PliesPerSecond(ProgressColumn):
    """Speed of the run."""

    def render(self, task: Task) -> Text:
        """Plies a second, smoothed."""
        return Text(f"{task.speed or 0:,.0f} plies/s")


class Interrupt:
    """Turns Ctrl-C and SIGTERM into a wish to stop; a second one kills at once, and the last checkpoint stands."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.wished = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.wished:
            raise KeyboardInterrupt
        self.wished = True
        self.console.print("stopping after this iteration; once more to stop at once")


def parse(arguments: list[str]) -> tuple[argparse.Namespace, TrainConfig]:
    """Our own options, and the configuration with the command line's changes."""
    ours = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--config", "--output", "--resume"):
        ours.add_argument(name, type=Path)
    ours.add_argument("--sweep")
    ours.add_argument("--jobs", type=int)
    ours.add_argument("--ray")
    options, rest = ours.parse_known_args(arguments)
    if options.resume:
        machine = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
        machine.add_argument("--threads", type=int)
        machine.add_argument("--device")
        changes, rest = machine.parse_known_args(rest)
        options.machine = vars(changes)
        if rest or any(value for name, value in vars(options).items() if name not in ("resume", "machine")):
            raise RunError("--resume takes the run's own configuration: only --threads and --device go with it")
    if not options.sweep and (options.ray or options.jobs is not None):
        raise RunError("--ray and --jobs spread the seeds of a --sweep; there is none")
    if options.jobs is not None and options.jobs < 1:
        raise RunError(f"--jobs must be 1 or more; got {options.jobs}")
    base = load_config(options.config) if options.config else TrainConfig()
    config = tyro.cli(TrainConfig, default=base, args=rest, prog="train.py", description=f"{__doc__}{OPTIONS}")
    return options, config


def begin(options: argparse.Namespace, config: TrainConfig, arguments: list[str], console: Console) -> TrainingRun:
    """The run that the command line asks for."""
    if options.resume:
        run = TrainingRun.resume(options.resume, console.print, options.machine)
        console.print(f"resuming {run.folder} at {run.plies:,} plies")
        return run
    folder = options.output or Path("runs") / (options.config.stem if options.config else "default")
    command = shlex.join(["python", "train.py", *arguments])
    run = TrainingRun.create(folder, config, command, console.print)
    console.print(f"training in {folder}: {config.total_plies:,} plies of {config.rules}")
    return run


def sweep(options: argparse.Namespace, config: TrainConfig, arguments: list[str], console: Console) -> int:
    """Train all seeds, the others too where one fails; returns the exit status."""
    folder = options.output or Path("runs") / f"{options.config.stem if options.config else 'default'}-sweep"
    works = plan(folder, config, parse_seeds(options.sweep), shlex.join(["python", "train.py", *arguments]))
    jobs = options.jobs or max(1, (os.cpu_count() or 1) // config.processors)
    console.print(f"training {len(works)} seeds in {folder}: {config.total_plies:,} plies each of {config.rules}")
    ends: list[SeedResult | SeedFailure] = []
    try:
        for end in train_seeds(works, ray=options.ray, processes=jobs):
            ends.append(end)
            how = "failed" if isinstance(end, SeedFailure) else "is done"
            console.print(f"seed {end.seed} {how}, {len(ends)} of {len(works)}: {end.folder}")
    except (KeyboardInterrupt, StopTrainingError):
        console.print("stopped; the same command goes on")
        return 130
    show_scores([end for end in ends if isinstance(end, SeedResult)], config, console)
    failures = [end for end in ends if isinstance(end, SeedFailure)]
    for failure in failures:
        print(f"train.py: seed {failure.seed}: {failure.error}", file=sys.stderr)
    return 2 if failures else 0


def show_scores(results: list[SeedResult], config: TrainConfig, console: Console) -> None:
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
    try:
        options, config = parse(arguments)
        if options.sweep:
            return sweep(options, config, arguments, console)
        run = begin(options, config, arguments, console)
        interrupt = Interrupt(console)
        columns = (BarColumn(), MofNCompleteColumn(), PliesPerSecond(), TextColumn("ETA"), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("training", total=run.config.total_plies, completed=run.plies)
            run.learn(lambda plies: bar.update(task, completed=plies), lambda: interrupt.wished)
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
