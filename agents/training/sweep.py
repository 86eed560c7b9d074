"""One configuration trained with several seeds: a run folder for each, on this machine's processes or a Ray cluster."""

import functools
import multiprocessing
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from agents.support.parallel import spread
from agents.training.config import RunConfig
from agents.training.kinds import RUNS, load_config
from agents.training.run_folder import CONFIG_NAME, figures
from oanquan_env.errors import UsageError
from oanquan_env.files import one_line


@dataclass(frozen=True)
class SeedEnd:
    """How the training of a seed ended."""

    seed: int
    folder: Path
    figures: dict[str, float]
    """The figures of the last evaluation, by name; none if it failed."""
    error: str | None = None  # the error and its remedy; None without one


def parse_seeds(text: str) -> list[int]:
    """Seeds of a list such as `0,1,2`. Raises `UsageError` for anything else, or for a seed given twice."""
    if not re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10})*", text):
        raise UsageError(f"--sweep takes seeds, as in 0,1,2; got {one_line(repr(text))}")
    seeds = [int(part) for part in text.split(",")]
    if max(seeds) >= 2**32 or len(set(seeds)) < len(seeds):
        raise UsageError(f"--sweep takes different seeds below {2**32}; got {one_line(repr(text))}")
    return seeds


def seed_folder(folder: Path, config: RunConfig) -> Path:
    """The run folder of one seed of the sweep in `folder`."""
    return folder / f"seed-{config.seed}"


def plan(folder: Path, config: RunConfig, seeds: list[int]) -> list[RunConfig]:
    """The configuration of each seed; raises `UsageError` if its folder holds a run of another one."""
    configs = [config.model_copy(update={"seed": seed}) for seed in seeds]
    for one in configs:
        there = seed_folder(folder, one)
        if (there / CONFIG_NAME).exists() and load_config(there / CONFIG_NAME) != one:
            raise UsageError(f"{there} holds a run of another configuration: choose another --output")
    return configs


def train_seed(sweep: Path, command: str, config: RunConfig) -> SeedEnd:
    """Train one seed, or resume it where it stopped; a finished one stays as it is.

    An error is returned, not raised, so that the other seeds go on; on Ctrl-C `StopTrainingError` is raised after a
    checkpoint. `sweep` is the folder of the sweep, and `command` is for the run's history.
    """
    folder = seed_folder(sweep, config)

    def report(line: str) -> None:
        print(f"seed {config.seed}: {line.strip()}", flush=True)

    try:
        if (folder / CONFIG_NAME).exists():
            run = RUNS[config.kind].resume(folder, report)
            report(f"resumes at {run.plies:,} plies")
        else:
            run = RUNS[config.kind].create(folder, config, command, report)
        run.learn(lambda plies: None, interrupts())
        found = figures(run.evaluations()[-1])
    except (ValueError, RuntimeError, OSError) as error:  # ours are ValueErrors, torch's are RuntimeErrors
        return SeedEnd(config.seed, folder, {}, str(error))
    return SeedEnd(config.seed, folder, found)


def interrupts(first: Callable[[], None] = lambda: None) -> Callable[[], bool]:
    """A function that says whether Ctrl-C or SIGTERM came, which calls `first`; a second Ctrl-C interrupts as usual."""
    wished = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if not wished.is_set():
            first()
        wished.set()

    if threading.current_thread() is threading.main_thread():  # only that one gets signals
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handle)
    return wished.is_set


@contextmanager
def stopping_workers() -> Iterator[None]:
    """Within it Ctrl-C and SIGTERM let the worker processes save, and raise KeyboardInterrupt; a second one kills them.

    SIGTERM reaches the workers only through this, and Ctrl-C both ways: that it is sent on as SIGTERM, which they take
    for the same wish, keeps the first from counting twice.
    """
    stopped = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        for worker in multiprocessing.active_children():
            if stopped:
                worker.kill()
            else:
                worker.terminate()
        stopped = True
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train_seeds(
    folder: Path, configs: list[RunConfig], command: str, *, ray: str | None, processes: int
) -> Iterator[SeedEnd]:
    """Train the seeds that `plan` made; yields how each ended, as it ends.

    They are trained by so many processes of this machine, or by the Ray cluster at the address `ray`, whose machines
    share the folder. Raises `UsageError` if workers die again and again, and on Ctrl-C `StopTrainingError` or
    `KeyboardInterrupt`; called again with the same configurations, it goes on.
    """
    gpus = int(getattr(configs[0], "device", "cpu") != "cpu")
    work = functools.partial(train_seed, folder, command)
    for _, result in spread(work, configs, ray=ray, processes=processes, cpus=configs[0].threads, gpus=gpus):
        yield result
