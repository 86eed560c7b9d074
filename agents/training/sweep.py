"""One configuration trained with several seeds: a run folder for each, on this machine's processes or a Ray cluster."""

from __future__ import annotations

import multiprocessing
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from agents.support.parallel import spread
from agents.training.config import TrainConfig, load_config
from agents.training.run import RunError, TrainingRun
from agents.training.run_folder import CONFIG_NAME
from oanquan_env.files import one_line


@dataclass(frozen=True)
class SeedWork:
    """All that another process needs to train one seed.

    Attributes:
        folder: the run folder.
        config: what to train, the seed included.
        command: the command line, for the run's history.
    """

    folder: Path
    config: TrainConfig
    command: str


@dataclass(frozen=True)
class SeedEnd:
    """How the training of a seed ended.

    Attributes:
        seed: the seed.
        folder: the run folder.
        scores: score against each opponent at the end, 0 to 1; none if it failed.
        error: what went wrong, and what to do; None if nothing did.
    """

    seed: int
    folder: Path
    scores: dict[str, float]
    error: str | None = None


def parse_seeds(text: str) -> list[int]:
    """Seeds of a list such as `0,1,2`. Raises `RunError` for anything else, or for a seed given twice."""
    if not re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10})*", text):
        raise RunError(f"--sweep takes seeds, as in 0,1,2; got {one_line(repr(text))}")
    seeds = [int(part) for part in text.split(",")]
    if max(seeds) >= 2**32 or len(set(seeds)) < len(seeds):
        raise RunError(f"--sweep takes different seeds below {2**32}; got {one_line(repr(text))}")
    return seeds


def plan(folder: Path, config: TrainConfig, seeds: list[int], command: str) -> list[SeedWork]:
    """The run of each seed, in `folder/seed-S`.

    Raises:
        RunError: if a folder holds a run of another configuration.
    """
    works = []
    for seed in seeds:
        work = SeedWork(folder / f"seed-{seed}", config.model_copy(update={"seed": seed}), command)
        there = work.folder / CONFIG_NAME
        if there.exists() and load_config(there) != work.config:
            raise RunError(f"{work.folder} holds a run of another configuration: choose another --output")
        works.append(work)
    return works


def train_seed(work: SeedWork) -> SeedEnd:
    """Train one seed, or go on with it where it stopped; a finished one stays as it is.

    An error is returned, not raised, so that the other seeds go on.

    Raises:
        StopTrainingError: after a checkpoint, on Ctrl-C.
    """
    try:
        return _train(work)
    except (ValueError, RuntimeError, OSError) as error:  # ours are ValueErrors, torch's are RuntimeErrors
        return SeedEnd(work.config.seed, work.folder, {}, str(error))


def _train(work: SeedWork) -> SeedEnd:
    seed = work.config.seed

    def report(line: str) -> None:
        print(f"seed {seed}: {line.strip()}", flush=True)

    if (work.folder / CONFIG_NAME).exists():
        run = TrainingRun.resume(work.folder, report)
        report(f"goes on at {run.plies:,} plies")
    else:
        run = TrainingRun.create(work.folder, work.config, work.command, report)
    run.learn(lambda plies: None, _interrupts())
    results: dict[str, Any] = run.evaluations()[-1]["results"]
    return SeedEnd(seed, work.folder, {name: result["score"] for name, result in results.items()})


def _interrupts() -> Callable[[], bool]:
    """A function that says whether Ctrl-C was pressed or SIGTERM came; a second Ctrl-C interrupts as usual."""
    wished = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
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


def train_seeds(works: list[SeedWork], *, ray: str | None, processes: int) -> Iterator[SeedEnd]:
    """Train all seeds; yields how each ended, as it ends.

    Args:
        works: what `plan` made.
        ray: address of a Ray cluster whose machines share the folders, see `agents.support.parallel`; None for
            this machine.
        processes: seeds trained at once on this machine.

    Raises:
        ScaleError: if workers die again and again.
        StopTrainingError: on Ctrl-C, as may KeyboardInterrupt; called again with the same works, it goes on.
    """
    config = works[0].config
    gpus = 0 if config.device == "cpu" else 1
    for _, result in spread(train_seed, works, ray=ray, processes=processes, cpus=config.processors, gpus=gpus):
        yield result
