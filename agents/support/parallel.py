"""Independent pieces of work on this machine's processes, or on a Ray cluster where one machine is too small.

    for number, result in spread(work, items, ray="auto"):
        ...

Scheduling, placement and the replacement of workers and machines that die are Ray's; here is only how to ask for them.
Ray is imported only where an address is given, and `pip install -e ".[ray]"` brings it.

Every machine of a cluster needs this clone under the same path (a shared file system): work begins in the folder in
which the command was given, so that names of files mean the same everywhere.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 3
"""How often a piece of work is begun anew after its worker died."""
HELP = "spread the work over the Ray cluster at this address: auto, local (a new one here), HOST:PORT, ray://HOST:PORT"


class ScaleError(ValueError):
    """Work that cannot be spread; says what to do."""


def spread(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    ray: str | None = None,
    processes: int = 1,
    cpus: float = 1,
    gpus: float = 0,
) -> Iterator[tuple[int, Result]]:
    """Call `work` on every item; yields (number of the item, result) as they get finished.

    A worker that dies loses nothing that was yielded, and its item is begun anew. An exception of `work` itself is
    raised here, and no item is tried again for it.

    Args:
        work: a function of a module, as other processes must find it; all that it needs is in the item.
        items: what to work on; they travel to the workers, as the results travel back.
        ray: address of a cluster, see `HELP`; None for this machine without Ray.
        processes: worker processes without Ray.
        cpus: processors that Ray reserves for one item, at most all those of a machine.
        gpus: GPUs that Ray reserves for one item.

    Raises:
        ScaleError: if Ray is not installed or there is no cluster, or if workers die again and again.
    """
    if not items:
        return iter(())
    return _with_ray(work, items, ray, cpus, gpus) if ray else _with_processes(work, items, processes)


def in_order(results: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    """What `spread` yields, in the order of the items."""
    waiting: dict[int, Result] = {}
    wanted = 0
    for number, result in results:
        waiting[number] = result
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


def _with_processes(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Iterator[tuple[int, Result]]:
    """A process that dies takes its whole pool with it: what is unfinished then goes to a new pool."""
    left, deaths = list(range(len(items))), 0
    while left:
        # spawned, as a fork copies the locks of other threads in whatever state they are
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
                raise ScaleError(
                    f"worker processes died {deaths} times on end, perhaps for lack of memory; {len(left)} of "
                    f"{len(items)} pieces of work are unfinished"
                ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """Let a worker not outlive who waits for its results, even one that was killed: nobody else would end it."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_for_the_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


def _with_ray(
    work: Callable[[Item], Result], items: Sequence[Item], address: str, cpus: float, gpus: float
) -> Iterator[tuple[int, Result]]:
    """One task for each item. Ray itself begins it anew where its worker or its machine dies."""
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
            except ray.exceptions.RayError as error:  # the worker died more often than Ray tries
                raise ScaleError(f"{len(running)} of {len(items)} pieces of work are unfinished: {error}") from None
            yield running.pop(reference), result
    finally:
        ray.shutdown()  # with it end the tasks of this driver


def _processors_of_a_machine(ray: Any, gpus: float) -> float:
    """Processors of the largest machine with as many GPUs; 0 while all that is there is a head that does no work.

    Work that asks for more would wait for ever.
    """
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return max((machine.get("CPU", 0.0) for machine in machines if machine.get("GPU", 0.0) >= gpus), default=0.0)


def _join(address: str) -> Any:
    """Ray, as a driver of the cluster."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without it Ray warns of what will change
    try:
        import ray
    except ModuleNotFoundError:
        raise ScaleError('Ray is not installed: pip install -e ".[ray]"') from None
    try:
        ray.init(address)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ScaleError(f"no Ray cluster at {address!r}: {error}") from None
    return ray


def _in_folder(folder: str, work: Callable[[Item], Result], item: Item) -> Result:
    """The work, in the driver's folder: Ray's workers begin in one of their own."""
    os.chdir(folder)
    return work(item)
