"""Sweeps: train a configuration with several seeds or values of other fields, each run in a folder of its own."""

import contextlib
import functools
import itertools
import multiprocessing
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from agents.checkpoint import CONFIG_NAME, read_evaluations
from agents.config import validated
from agents.parallel import spread
from agents.run import RunConfig, StopTrainingError, config_type, load_config, run_type
from oanquan_env.benchmark.statistics import interquartile_estimate
from oanquan_env.benchmark.tables import of_runs, table
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR, UsageError
from oanquan_env.files import one_line, write_atomically
from oanquan_env.provenance import made_by, origin

STOPPING = "stopping after this iteration; Ctrl-C once more to stop at once"
stop_asked = threading.Event()
"""Set by the first Ctrl-C or SIGTERM that this process receives."""


@dataclass(frozen=True)
class RunResult:
    """The result of one run of a sweep, which is named after its subfolder."""

    name: str
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


def parse_sweep(text: str) -> dict[str, list[str]]:
    """Parse lists of values by field, such as `0,1,2` (seeds) or `ppo.learning_rate=1e-3,3e-4 seed=0-4`.

    Raises `UsageError` if the text has another form, or repeats a field or a value.
    """
    fields, ok = dict[str, list[str]](), bool(text.strip()) and text.count("'") % 2 == text.count('"') % 2 == 0
    for word in shlex.split(text) if ok else ():
        name, _, listed = word.partition("=") if "=" in word else ("seed", "", word)
        values = [value for part in listed.split(",") for value in _values(part)]
        ok &= "=" in word or bool(re.search("[0-9]", word))
        ok &= bool(re.fullmatch(r"[A-Za-z][\w.-]*", name)) and all(values) and len(set(values)) == len(values)
        ok &= name not in fields
        fields[name] = values
    if not ok:
        example = "such as 0,1,2 or 'ppo.learning_rate=1e-3,3e-4 seed=0-4'"
        raise UsageError(f"--sweep takes lists of different values, {example}; got {one_line(repr(text))}")
    return fields


def _values(part: str) -> list[str]:
    bounds = re.fullmatch(r"([0-9]{1,6})-([0-9]{1,6})", part)
    return [str(number) for number in range(int(bounds[1]), int(bounds[2]) + 1)] or [""] if bounds else [part]


def sweep_configs(config: RunConfig, fields: dict[str, list[str]]) -> dict[str, tuple[dict[str, str], RunConfig]]:
    """Return the changed fields (except the seed) and the configuration of each run, by its subfolder.

    Raises `UsageError` if a configuration is invalid, or two are equal.
    """
    runs = dict[str, tuple[dict[str, str], RunConfig]]()
    for combination in itertools.product(*fields.values()):
        changes, values = dict(zip(fields, combination, strict=True)), config.model_dump()
        for name, text in changes.items():
            *groups, field_name = name.replace("-", "_").split(".")
            group = values
            for part in groups:
                if not isinstance(group := group.setdefault(part, {}), dict):
                    raise UsageError(f"--sweep: {name}: {part} has no fields")
            group[field_name] = text
        changed = validated(config_type(values, "--sweep"), values, "--sweep")
        changed = changed.model_copy(update={"threads": changed.threads or 1})
        if changed.workers > 1:
            raise UsageError("--sweep trains each run in one process and cannot be used with workers")
        shown = {name: text for name, text in changes.items() if name != "seed"}
        label = re.sub(r"[^\w.,=+-]+", "_", ",".join(f"{name}={text}" for name, text in shown.items()))
        folder = str(Path(label) / f"seed-{changed.seed}")
        if folder in runs or any(changed == other for _, other in runs.values()):
            raise UsageError(f"--sweep: two runs have the same configuration or folder: {folder}")
        runs[folder] = shown, changed
    return runs


def sweep(
    folder: Path, config: RunConfig, fields: dict[str, list[str]], command: str, say: Callable[[str], None], *,
    ray: str | None, jobs: int | None,
) -> int:  # fmt: skip
    """Train all runs, even if some fail, in `jobs` processes or on the Ray cluster `ray`; return the exit status.

    A new call resumes it. Raises `UsageError` if a folder holds a run with another configuration, or a worker dies.
    """
    runs = sweep_configs(config, fields)
    for name, (_, config) in runs.items():
        there = folder / name / CONFIG_NAME
        if there.exists() and load_config(there) != config:
            raise UsageError(f"{there.parent} holds a run with another configuration: choose another --output")
    threads = max(config.threads for _, config in runs.values())
    say(f"training {len(runs)} runs in {folder}")
    processes = min(jobs or max(1, (os.cpu_count() or 1) // threads), len(runs))
    gpus = int(any(getattr(config, "device", "cpu") != "cpu" for _, config in runs.values()))
    values = [(name, config.model_dump()) for name, (_, config) in runs.items()]
    work, results = functools.partial(train_one, folder, command), list[RunResult]()
    on_stop, never = functools.partial(say, STOPPING), contextlib.nullcontext[Callable[[], bool]](lambda: False)
    with never if ray else stopping(on_stop) as stop:  # a cluster receives no signals
        for _, result in spread(work, values, ray=ray, processes=processes, cpus=threads, gpus=gpus):
            results.append(result)
            how = "stopped" if stop() else "failed" if result.error else "is done"
            say(f"{result.name} {how}, {len(results)} of {len(runs)}: {folder / result.name}")
        if stop():
            say("stopped; the same command resumes the sweep")
            return INTERRUPTED
    if rows := sweep_table([(runs[result.name][0], result.figures) for result in results if not result.error]):
        say(rows)
        here = origin(command)
        made = made_by(here["command"], here["commit"], here["processor"])
        write_atomically(folder / "sweep.md", f"Made {made}.\n\n{rows}\n".encode())
    failures = [result for result in results if result.error]
    for failure in failures:
        print(f"train.py: {failure.name}: {failure.error}", file=sys.stderr)
    return USAGE_ERROR if failures else 0


def sweep_table(runs: list[tuple[dict[str, str], dict[str, float]]]) -> str:
    """Return a table of runs, each given by its changed fields and its figures; one row has the runs of all seeds."""
    groups = dict[tuple[str, ...], list[dict[str, float]]]()
    for changes, figures in runs:
        groups.setdefault(tuple(changes.values()), []).append(figures)
    if not runs:
        return ""
    rows = []
    for texts, of_seeds in groups.items():
        columns = [[figures[name] for figures in of_seeds if name in figures] for name in runs[0][1]]
        means = [interquartile_estimate([[x] for x in column], np.random.default_rng(0)) for column in columns]
        cells = [of_runs(column, mean, ".2f") for column, mean in zip(columns, means, strict=True)]
        rows.append([*texts, str(len(of_seeds)), *cells])
    return table([*runs[0][0], "runs", *runs[0][1]], rows, left=len(runs[0][0]), padded=True)


def train_one(sweep: Path, command: str, run_of_sweep: tuple[str, dict[str, Any]]) -> RunResult:
    """Train one run in a subfolder of `sweep`, resuming a run there; return its figures, or the error that ended it.

    The configuration is passed as plain values, because a class created for a custom network cannot be pickled.
    """
    name, values = run_of_sweep
    if stop_asked.is_set():
        return RunResult(name, error="stopped")
    config = validated(config_type(values), values, "command line")
    folder, kind = sweep / name, run_type(config.kind)

    def report(line: str) -> None:
        print(f"{name}: {line.strip()}", flush=True)

    try:
        if (folder / CONFIG_NAME).exists():
            run = kind.resume(folder, report, command=command)
        else:
            run = kind.create(folder, config, command, report)
        with stopping() as stop:
            run.learn(lambda plies: None, stop)
        return RunResult(name, figures(read_evaluations(folder)[-1]))
    except StopTrainingError:
        return RunResult(name, error="stopped")
    except (ValueError, RuntimeError, OSError, MemoryError) as error:  # ours are ValueErrors, torch's are RuntimeErrors
        return RunResult(name, error=str(error))


def figures(row: dict[str, Any]) -> dict[str, float]:
    """Return the figures of an evaluation by name: scores in percent, regrets in points."""
    scores = {f"score against {name}, %": 100 * result["score"] for name, result in row["results"].items()}
    regrets = row.get("regrets") or ({"": row["regret"]} if "regret" in row else {})
    return scores | {f"regret {name}".strip() + ", points": regret["mean"] for name, regret in regrets.items()}
