"""Sweeps: train one configuration with several seeds, each in its own run folder, in processes or on Ray."""

import contextlib
import functools
import multiprocessing
import os
import re
import signal
import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from agents.checkpoint import CONFIG_NAME, read_evaluations
from agents.config import validated
from agents.parallel import spread
from agents.run import RunConfig, StopTrainingError, config_type, load_config, run_type
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR, UsageError
from oanquan_env.files import one_line

STOPPING = "stopping after this iteration; Ctrl-C once more to stop at once"
stop_asked = threading.Event()
"""Set by the first Ctrl-C or SIGTERM that this process receives."""


@dataclass(frozen=True)
class SeedResult:
    """The result of training with one seed."""

    seed: int
    folder: Path
    figures: dict[str, float] = field(default_factory=dict)  # of the last evaluation; empty if training did not finish
    error: str | None = None


@contextlib.contextmanager
def stopping(first: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Handle signals: the first Ctrl-C or SIGTERM calls `first`, and the yielded function returns True from then on.

    The first signal also asks the worker processes of a sweep to stop; a second Ctrl-C raises `KeyboardInterrupt`.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if not stop_asked.is_set():
            stop_asked.set()
            first()
            for worker in multiprocessing.active_children():
                worker.terminate()

    main = threading.current_thread() is threading.main_thread()  # only the main thread receives signals
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM) if main}
    try:
        yield stop_asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def parse_seeds(text: str) -> list[int]:
    """Parse a list of different seeds such as `0,1,2`. Raises `UsageError` if it is invalid."""
    seeds = [int(part) for part in text.split(",")] if re.fullmatch(r"[0-9]{1,10}(,[0-9]{1,10})*", text) else []
    if not seeds or max(seeds) >= 2**32 or len(set(seeds)) < len(seeds):
        raise UsageError(f"--sweep takes different seeds below {2**32}, such as 0,1,2; got {one_line(repr(text))}")
    return seeds


def sweep(
    folder: Path, config: RunConfig, seeds: list[int], command: str, say: Callable[[str], None], *,
    ray: str | None, jobs: int | None,
) -> int:  # fmt: skip
    """Train all seeds, even if some fail, in `jobs` processes or on the Ray cluster `ray`; return the exit status.

    A new call resumes it. Raises `UsageError` if a folder holds a run with another configuration, or a worker dies.
    """
    config = config.model_copy(update={"threads": config.threads or 1})
    configs = [config.model_copy(update={"seed": seed}) for seed in seeds]
    for one in configs:
        there = folder / f"seed-{one.seed}" / CONFIG_NAME
        if there.exists() and load_config(there) != one:
            raise UsageError(f"{there.parent} holds a run with another configuration: choose another --output")
    say(f"training {len(seeds)} seeds in {folder}: {config.total_plies:,} plies each of {config.rules}")
    processes = min(jobs or max(1, (os.cpu_count() or 1) // config.threads), len(seeds))
    gpus = int(getattr(config, "device", "cpu") != "cpu")
    work, values = functools.partial(train_seed, folder, command), [one.model_dump() for one in configs]
    results: list[SeedResult] = []
    on_stop, never = functools.partial(say, STOPPING), contextlib.nullcontext[Callable[[], bool]](lambda: False)
    with never if ray else stopping(on_stop) as stop:  # a cluster receives no signals
        for _, result in spread(work, values, ray=ray, processes=processes, cpus=config.threads, gpus=gpus):
            results.append(result)
            how = "stopped" if stop() else "failed" if result.error else "is done"
            say(f"seed {result.seed} {how}, {len(results)} of {len(seeds)}: {result.folder}")
        if stop():
            say("stopped; the same command resumes the sweep")
            return INTERRUPTED
    good, failures = ([one for one in results if bool(one.error) == failed] for failed in (False, True))
    for name in good[0].figures if good else ():
        of_seeds = [one.figures[name] for one in good]
        deviation = f" ± {statistics.stdev(of_seeds):.2f} (standard deviation over seeds)" if len(of_seeds) > 1 else ""
        say(f"{name}: {statistics.mean(of_seeds):.2f}{deviation}")
    for failure in failures:
        print(f"train.py: seed {failure.seed}: {failure.error}", file=sys.stderr)
    return USAGE_ERROR if failures else 0


def train_seed(sweep: Path, command: str, values: dict[str, Any]) -> SeedResult:
    """Train one seed in a subfolder of `sweep`, resuming a run there; return its figures, or the error that ended it.

    The configuration is passed as plain values, because a class created for a custom network cannot be pickled.
    """
    config = validated(config_type(values), values, "command line")
    folder, kind = sweep / f"seed-{config.seed}", run_type(config.kind)

    def report(line: str) -> None:
        print(f"seed {config.seed}: {line.strip()}", flush=True)

    try:
        if (folder / CONFIG_NAME).exists():
            run = kind.resume(folder, report, command=command)
        else:
            run = kind.create(folder, config, command, report)
        with stopping() as stop:
            run.learn(lambda plies: None, stop)
        return SeedResult(config.seed, folder, figures(read_evaluations(folder)[-1]))
    except StopTrainingError:
        return SeedResult(config.seed, folder, error="stopped")
    except (ValueError, RuntimeError, OSError, MemoryError) as error:  # ours are ValueErrors, torch's are RuntimeErrors
        return SeedResult(config.seed, folder, error=str(error))


def figures(row: dict[str, Any]) -> dict[str, float]:
    """Return the figures of an evaluation by name: scores in percent, regrets in points."""
    scores = {f"score against {name}, %": 100 * result["score"] for name, result in row["results"].items()}
    regrets = row.get("regrets") or ({"": row["regret"]} if "regret" in row else {})
    return scores | {f"regret {name}".strip() + ", points": regret["mean"] for name, regret in regrets.items()}
