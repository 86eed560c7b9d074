"""Train an agent by self-play PPO, or a value net by self-play TD(lambda).

    python train.py --config configs/quick.yaml [--output FOLDER] [--ppo.learning-rate 5e-4 ...]
    python train.py --resume runs/quick
    python train.py --config configs/quick.yaml --sweep 0,1,2 [--ray ADDRESS]
    python train.py --config configs/value.yaml [--rules vietnamese]

A run folder holds the resolved configuration, TensorBoard logs, evaluations, the last checkpoint and the result:
an agent, the player `ppo:FOLDER`, or a value net, for players such as `minimax:nodes=20000,net=FOLDER`.
Ctrl-C saves and stops; --resume continues, also after a kill.
A sweep trains each seed in its own folder and process; the same command resumes it.
"""

import functools
import os
import shlex
import statistics
import sys
from typing import Any

from agents.support.extras import needing_extras
from oanquan_env.errors import UsageError

with needing_extras("train.py" if __name__ == "__main__" else None):
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

    from agents.support.command_line import refused
    from agents.training.kinds import RUNS, resume_run
    from agents.training.run import Run
    from agents.training.run_folder import StopTrainingError
    from agents.training.sweep import SeedEnd, interrupts, parse_seeds, plan, stopping_workers, train_seeds
    from agents.training.train_command import CHANGEABLE, Command, parse


class PliesPerSecond(ProgressColumn):
    """Speed since the program began, evaluations included."""

    def render(self, task: Task) -> Text:
        """Plies a second; nothing before the first iteration has ended."""
        done, seconds = task.completed - task.fields["begun"], task.finished_time or task.elapsed
        return Text(f"{done / seconds:,.0f} plies/s" if done and seconds else "")


def begin(command: Command[Any], typed: str, console: Console) -> Run[Any]:
    """The run that the command line asks for; its lines are broken between words on a terminal."""
    report = functools.partial(console.print, soft_wrap=not console.is_terminal)
    if command.resume:
        run = resume_run(command.resume, report, command.settings.model_dump(include=CHANGEABLE))
        done = run.plies >= run.config.total_plies
        console.print(f"{'finished' if done else 'resuming'} {run.folder} at {run.plies:,} plies")
        if done:
            console.print(f"to train longer: python train.py --resume {run.folder} --total-plies {2 * run.plies}")
        return run
    config, folder = command.settings, command.folder()
    run = RUNS[config.kind].create(folder, config, typed, report)
    console.print(f"training in {folder}: {config.total_plies:,} plies of {config.rules}")
    if run.planned_plies > config.total_plies:
        console.print(f"whole iterations make them {run.planned_plies:,} plies")
    return run


def sweep(command: Command[Any], seeds: list[int], typed: str, console: Console) -> int:
    """Train all seeds, the others too where one fails; returns the exit status."""
    config, folder = command.settings, command.folder("-sweep")
    configs = plan(folder, config, seeds)
    jobs = command.jobs or max(1, (os.cpu_count() or 1) // config.threads)
    console.print(f"training {len(configs)} seeds in {folder}: {config.total_plies:,} plies each of {config.rules}")
    ends: list[SeedEnd] = []
    try:
        with stopping_workers():
            for end in train_seeds(folder, configs, typed, ray=command.ray, processes=jobs):
                ends.append(end)
                how = "failed" if end.error else "is done"
                console.print(f"seed {end.seed} {how}, {len(ends)} of {len(configs)}: {end.folder}")
    except (KeyboardInterrupt, StopTrainingError):
        console.print("stopped; the same command resumes it")
        return 130
    show_figures([end for end in ends if not end.error], console)
    failures = [end for end in ends if end.error]
    for failure in failures:
        print(f"train.py: seed {failure.seed}: {failure.error}", file=sys.stderr)
    return 2 if failures else 0


def show_figures(results: list[SeedEnd], console: Console) -> None:
    """Mean of each figure over the seeds."""
    for name in results[0].figures if results else ():
        found = [result.figures[name] for result in results]
        deviation = f" ± {statistics.stdev(found):.2f}" if len(found) > 1 else ""
        console.print(f"{name}: {statistics.mean(found):.2f}{deviation} (deviation over seeds)")


def main(arguments: list[str]) -> int:
    """Train; returns the exit status."""
    console = Console(highlight=False, soft_wrap=True)  # what it says to type is not broken into lines
    if not arguments:
        print("train.py: what to train? try: python train.py --config configs/quick.yaml (or --help)", file=sys.stderr)
        return 2
    try:
        typed = shlex.join(["python", "train.py", *arguments])
        command = parse(arguments, __doc__)
        if command.sweep is not None:
            return sweep(command, parse_seeds(command.sweep), typed, console)
        run = begin(command, typed, console)
        stopping = interrupts(lambda: console.print("stopping after this iteration; Ctrl-C once more to stop at once"))
        columns = (BarColumn(), MofNCompleteColumn(), PliesPerSecond(), TextColumn("ETA"), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("training", total=run.planned_plies, completed=run.plies, begun=run.plies)
            run.learn(lambda plies: bar.update(task, completed=plies), stopping)
    except StopTrainingError:
        console.print(f"saved at {run.plies:,} plies; resume with: python train.py --resume {run.folder}")
        return 130
    except KeyboardInterrupt:
        console.print("stopped at once; a run or a sweep that was begun resumes from its last checkpoint")
        return 130
    except (UsageError, OSError) as error:
        return refused("train.py", error)
    console.print(run.usage)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
