"""Run independent tasks, either in local processes through joblib or on a Ray cluster.

    for number, result in spread(work, items, ray="auto"):
        ...

Ray is imported only when an address is given; `pip install -e ".[ray]"` installs it. Every machine of a cluster needs
this clone under the same path (a shared file system). We do not use joblib's Ray backend, because it returns no result
before all tasks are finished and does not restart tasks whose worker died.
"""

import functools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

import joblib

from oanquan_env.errors import UsageError, needing_extra

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
ANSWER_SECONDS = 10.0  # how long a cluster may take to answer
RETRIES = 3  # number of times that Ray restarts a task whose worker died
HELP = "spread the work over the Ray cluster at this address: auto, local (starts one here), HOST:PORT, ray://HOST:PORT"


def spread(
    work: Callable[[ItemT], ResultT], items: Sequence[ItemT], *, ray: str | None = None, processes: int = 1,
    cpus: float = 1, gpus: float = 0,
) -> Iterator[tuple[int, ResultT]]:  # fmt: skip
    """Call `work` on every item; yield (item's index, result) in the order in which the calls finish.

    An exception raised by `work` is re-raised here. Raises `UsageError` if a worker process dies or no cluster is
    found; `MissingExtraError` if Ray is not installed.

    Args:
        work: a module-level function, or a `functools.partial` of one.
        items: arguments of `work`, one per call; items and results are pickled.
        ray: address of a cluster, see `HELP`; None for this machine's processes.
        processes: worker processes without Ray; with 1, the work runs in this process.
        cpus: processors that Ray reserves for one item, at most all processors of the largest machine.
        gpus: GPUs that Ray reserves for one item.
    """
    if ray:
        yield from _with_ray(work, items, ray, cpus, gpus)
        return
    parallel = joblib.Parallel(processes, return_as="generator_unordered", batch_size=1, pre_dispatch="all")
    try:
        task, here, parent = joblib.delayed(_work), os.getcwd(), os.getpid()
        yield from parallel(task(work, here, parent, number, item) for number, item in enumerate(items))
    except BrokenProcessPool as error:
        message = f"a worker process died, perhaps for lack of memory: {str(error).splitlines()[0]}"
        raise UsageError(message) from None


def in_order(results: Iterator[tuple[int, ResultT]]) -> Iterator[ResultT]:
    """Yield the results of `spread` in the order of the items."""
    waiting: dict[int, ResultT] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _work(
    work: Callable[[ItemT], ResultT], folder: str, parent: int | None, number: int, item: ItemT
) -> tuple[int, ResultT]:
    """Call `work` in `folder`, the caller's working directory, so that relative paths work; return (number, result)."""
    if parent is not None and parent != os.getpid():
        _watch(parent)
    os.chdir(folder)
    return number, work(item)


@functools.cache
def _watch(parent: int) -> None:
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()


def end_with(parent: int) -> None:
    """Wait until the parent process has ended, even if it was killed, and then exit this worker."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _with_ray(
    work: Callable[[ItemT], ResultT], items: Sequence[ItemT], address: str, cpus: float, gpus: float
) -> Iterator[tuple[int, ResultT]]:
    """Run one Ray task for each item; Ray restarts a task whose worker or machine dies."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning of Ray
    with needing_extra("ray"):
        import ray
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if host and port.isascii() and port.isdecimal():  # fail fast, as Ray would wait for minutes
            socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
        ray.init(address, logging_level=logging.WARNING)
    except (ConnectionError, OSError, OverflowError, RuntimeError, ValueError) as error:
        raise UsageError(f"no Ray cluster at {address!r}: {error}") from None
    try:
        nodes: Any = ray.nodes  # a function without types, but only where Ray is installed
        machines = [node["Resources"] for node in nodes() if node["Alive"] and node["Resources"].get("GPU", 0) >= gpus]
        reserved = min(cpus, max((machine.get("CPU", 0) for machine in machines), default=0) or cpus)
        remote: Any = ray.remote(num_cpus=reserved, num_gpus=gpus, max_retries=RETRIES)(_work)
        running = [remote.remote(work, os.getcwd(), None, number, item) for number, item in enumerate(items)]
        while running:
            (done,), running = ray.wait(running)
            yield ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:  # the worker died too often
        raise UsageError(f"{len(running) + 1} of {len(items)} tasks are unfinished: {error}") from None
    finally:
        ray.shutdown()  # also ends the tasks of this driver
