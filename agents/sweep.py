"""One configuration trained with several seeds: a run folder for each, on processes or a Ray cluster; clean stops."""

import functools
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from agents.run import RunConfig, StopTrainingError, load_config, run_type
from agents.run_files import CONFIG_NAME, read_evaluations
from agents.support.parallel import spread
from oanquan_env.errors import UsageError

stop_asked = threading.Event()
"""Set by the first Ctrl-C or SIGTERM of this process."""


@dataclass(frozen=True)
class SeedResult:
    """How the training of a seed ended."""

    seed: int
    folder: Path
    figures: dict[str, float] = field(default_factory=dict)  # of the last evaluation; none if it failed or stopped
    error: str | None = None


@contextmanager
def stopping(first: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Within it the first Ctrl-C or SIGTERM calls `first` and makes the function given true; another Ctrl-C interrupts.

    Worker processes of a sweep are asked to stop, too.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if not stop_asked.is_set():
            stop_asked.set()
            first()
            for worker in multiprocessing.active_children():
                worker.terminate()

    main = threading.current_thread() is threading.main_thread()  # only that one gets signals
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM) if main}
    try:
        yield stop_asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train_seeds(
    folder: Path, config: RunConfig, seeds: list[int], command: str, *, ray: str | None, processes: int
) -> Iterator[SeedResult]:
    """Train the seeds; yields how each ended, as it ends. Called again, it resumes.

    Raises `UsageError` if a folder holds a run of another configuration, or a worker process dies.
    """
    configs = [config.model_copy(update={"seed": seed}) for seed in seeds]
    for one in configs:
        there = folder / f"seed-{one.seed}" / CONFIG_NAME
        if there.exists() and load_config(there) != one:
            raise UsageError(f"{there.parent} holds a run of another configuration: choose another --output")
    work = functools.partial(train_seed, folder, command)
    gpus = int(getattr(config, "device", "cpu") != "cpu")
    for _, result in spread(work, configs, ray=ray, processes=processes, cpus=config.threads, gpus=gpus):
        yield result


def train_seed(sweep: Path, command: str, config: RunConfig) -> SeedResult:
    """Train one seed in a folder of `sweep`, or resume it; a finished one stays as it is. Errors are returned."""
    folder, kind = sweep / f"seed-{config.seed}", run_type(config.kind)

    def report(line: str) -> None:
        print(f"seed {config.seed}: {line.strip()}", flush=True)

    try:
        if (folder / CONFIG_NAME).exists():
            run = kind.resume(folder, report)
        else:
            run = kind.create(folder, config, command, report)
        with stopping() as stop:
            run.learn(lambda plies: None, stop)
        return SeedResult(config.seed, folder, figures(read_evaluations(folder)[-1]))
    except StopTrainingError:
        return SeedResult(config.seed, folder, error="stopped")
    except (ValueError, RuntimeError, OSError) as error:  # ours are ValueErrors, torch's are RuntimeErrors
        return SeedResult(config.seed, folder, error=str(error))


def figures(row: dict[str, Any]) -> dict[str, float]:
    """The figures of an evaluation, by name: scores in percent, regrets in points."""
    scores = {f"score against {name}, %": 100 * result["score"] for name, result in row["results"].items()}
    regrets = row.get("regrets") or ({"": row["regret"]} if "regret" in row else {})
    return scores | {f"regret {name}".strip() + ", points": found["mean"] for name, found in regrets.items()}
