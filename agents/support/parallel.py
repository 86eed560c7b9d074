"""Independent pieces of work on this machine's processes, or on a Ray cluster where one machine is too small.

    for number, result in spread(work, items, ray="auto"):
        ...

Ray does the scheduling, and replaces workers and machines that die. It is imported only when an address is given;
`pip install -e ".[ray]"` installs it.

Every machine of a cluster needs this clone under the same path (a shared file system). Work runs in the command's
folder, so that file names mean the same everywhere.
"""

import logging
import multiprocessing
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from agents.support.extras import needing_extras
from oanquan_env.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 3  # how often a piece of work is started again after its worker died
ANSWER_SECONDS = 10.0  # how long a cluster may take to answer
HELP = "spread the work over the Ray cluster at this address: auto, local (a new one here), HOST:PORT, ray://HOST:PORT"


def spread(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    ray: str | None = None,
    processes: int = 1,
    cpus: float = 1,
    gpus: float = 0,
) -> Iterator[tuple[int, Result]]:
    """Call `work` on every item; yields (number of the item, result) in the order in which they finish.

    If a worker dies, its item is started again; no result is lost. An exception of `work` itself is raised here, and
    the item is not tried again. Raises `MissingExtraError` if Ray is not installed; `UsageError` if there is no
    cluster, or if workers die again and again.

    Args:
        work: a function at the top of a module, where other processes find it, or a `functools.partial` of one.
        items: arguments of `work`, one a call; items and results are pickled.
        ray: address of a cluster, see `HELP`; None for this machine without Ray.
        processes: worker processes without Ray.
        cpus: processors that Ray reserves for one item, at most all those of a machine.
        gpus: GPUs that Ray reserves for one item.
    """
    if not items:
        return iter(())
    return _with_ray(work, items, ray, cpus, gpus) if ray else _with_processes(work, items, processes)


def in_order(results: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    """The results of `spread`, in the order of the items."""
    waiting: dict[int, Result] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _with_processes(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Iterator[tuple[int, Result]]:
    """A process that dies breaks its whole pool: unfinished items then go to a new pool."""
    left, deaths = list(range(len(items))), 0
    while left:
        # spawned: a fork would copy locks that other threads hold
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(processes, len(left)), context, initializer=_end_with_parent)
        running: dict[Future[Result], int] = {pool.submit(work, items[number]): number for number in left}
        try:
            while running:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=lambda one: one.exception() is not None):  # results first
                    result, number = future.result(), running.pop(future)
                    left.remove(number)
                    deaths = 0
                    yield number, result
        except BrokenProcessPool:
            deaths += 1
            if deaths > RETRIES:
                raise UsageError(
                    f"worker processes died {deaths} times in a row, perhaps for lack of memory; {len(left)} of "
                    f"{len(items)} pieces of work are unfinished"
                ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """End this worker when its parent ends, even by a kill, which no other process would notice."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_for_the_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


def _with_ray(
    work: Callable[[Item], Result], items: Sequence[Item], address: str, cpus: float, gpus: float
) -> Iterator[tuple[int, Result]]:
    """One task for each item, which Ray itself starts again if its worker or its machine dies."""
    ray = _join(address)
    try:
        reserved = min(cpus, _processors_of_a_machine(ray, gpus) or cpus)
        task = ray.remote(num_cpus=reserved, num_gpus=gpus, max_retries=RETRIES)(_in_folder)
        running = {task.remote(os.getcwd(), work, item): number for number, item in enumerate(items)}
        while running:
            (reference, *_), _ = ray.wait(list(running))
            try:
                result = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:  # the worker died too often
                raise UsageError(f"{len(running)} of {len(items)} pieces of work are unfinished: {error}") from None
            yield running.pop(reference), result
    finally:
        ray.shutdown()  # ends the tasks of this driver too


def _processors_of_a_machine(ray: Any, gpus: float) -> float:
    """Processors of the largest machine with as many GPUs; 0 if there is only a head node that does no work.

    Work that asks for more would wait forever.
    """
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return max((machine.get("CPU", 0.0) for machine in machines if machine.get("GPU", 0.0) >= gpus), default=0.0)


def _join(address: str) -> Any:
    """Ray, as a driver of the cluster."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns of a change to come
    with needing_extras():
        import ray
    _check_answers(address)
    try:
        ray.init(address, logging_level=logging.WARNING)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster at {address!r}: {error}") from None
    return ray


def _check_answers(address: str) -> None:
    """Raises `UsageError` where nothing answers at HOST:PORT; Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise UsageError(f"no Ray cluster at {address!r}: nothing answers there ({error})") from None


def _in_folder(folder: str, work: Callable[[Item], Result], item: Item) -> Result:
    """`work` in the driver's folder: Ray's workers start in a folder of their own."""
    os.chdir(folder)
    return work(item)
