"""Train one run in several processes (workers). Each plays its own games, and all average their weights.

`launch` starts the workers on this machine with torch's elastic launcher; `torchrun` starts them on several machines.
Without either, this process is the only worker, and the functions of this module return at once.
"""

import contextlib
import datetime
import logging
import math
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import joblib
import numpy as np
import torch
from torch import distributed
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from agents.parallel import end_with
from oanquan_env.errors import INTERRUPTED, USAGE_ERROR, UsageError
from oanquan_env.files import one_line

RESTARTS = 20
"""Maximum number of times that all workers are restarted because one of them was killed."""
PATIENCE = datetime.timedelta(days=1)
"""Timeout of workers that wait for another worker, such as for its evaluation. A killed worker is noticed at once."""
NEW_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""Environment variable of torch; without it, restarted workers find outdated addresses in gloo's store."""
LOG_NAME = "workers.log"  # which workers failed, when and how

launched = distributed.is_torchelastic_launched
"""Function that returns whether `launch` or torchrun started this process as a worker."""


class LostWorkerError(Exception):
    """Raised if another worker was killed, so that this worker cannot continue."""


def launch(command: Sequence[str], workers: int, folder: Path) -> int:
    """Run the Python program `command` in `workers` processes, restarting all if one fails; return the exit status.

    Failures are logged in `folder`. Raises `UsageError` if a worker still fails after `RESTARTS` restarts. A signal
    stops the workers, which then have half a minute to save.
    """
    handler = logging.FileHandler(folder / LOG_NAME, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logging.getLogger("torch.distributed.elastic").addHandler(handler)
    with tempfile.TemporaryDirectory() as errors:
        config = LaunchConfig(
            1, 1, workers, DefaultLogsSpecs(errors), run_id="oanquan", rdzv_backend="c10d",
            rdzv_endpoint="localhost:0", max_restarts=RESTARTS, local_addr="localhost",
        )  # fmt: skip
        os.environ[NEW_STORE] = "1"
        try:
            elastic_launch(config, sys.executable)(*command)
        except SignalException as stopped:
            return USAGE_ERROR if stopped.sigval == signal.SIGQUIT else INTERRUPTED
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            raise UsageError(f"worker {rank} failed {RESTARTS + 1} times: {failure.message}; see {folder}") from None
        finally:
            logging.getLogger("torch.distributed.elastic").removeHandler(handler)
    return 0


def connect() -> None:
    """Connect this process to the other workers, and make it exit when its launcher exits.

    Raises `UsageError` if torchrun would connect restarted workers to the previous ones.
    """
    if os.environ.get(NEW_STORE) != "1" and int(os.environ["TORCHELASTIC_MAX_RESTARTS"]):
        raise UsageError(f"with torchrun, set {NEW_STORE}=1, so that restarted workers find each other")
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    sys.excepthook = _fail
    with _together():
        distributed.init_process_group("gloo", timeout=PATIENCE)


def _fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.__excepthook__(kind, error, trace)
    give_up(1)


def give_up(status: int) -> int:
    """Stop all workers after an error that a restart would only repeat; return the exit status `status`."""
    if launched():
        attempt = Path(os.environ["TORCHELASTIC_ERROR_FILE"]).parents[1]  # one folder for all workers
        with contextlib.suppress(FileExistsError):  # a second signal would interrupt torch while it stops the workers
            (attempt / "given_up").touch(exist_ok=False)
            os.kill(os.getppid(), signal.SIGQUIT)
    return status


def rank() -> int:
    """Return this worker's number, from 0; worker 0 evaluates, logs and saves."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def own_seed(seed: int) -> int:
    """Return this worker's seed in a run with the seed `seed`, which worker 0 uses unchanged."""
    return int(np.random.SeedSequence([seed, rank()]).generate_state(1)[0]) if rank() else seed


@contextlib.contextmanager
def _together() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # torch has no exception type for broken connections
        raise LostWorkerError(f"worker {os.environ['RANK']} lost another worker: {one_line(error)}") from None


def wait() -> None:
    """Wait until all workers have called this function."""
    if distributed.is_initialized():
        with _together():
            distributed.barrier()


def any_of(*flags: bool) -> list[bool]:
    """Return, for each flag, whether it is true in at least one worker."""
    combined = torch.tensor(flags, dtype=torch.uint8)
    if distributed.is_initialized():
        with _together():
            distributed.all_reduce(combined, distributed.ReduceOp.MAX)
    return [bool(flag) for flag in combined]


def gathered(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Collect `state` from every worker; return all states, by rank, to worker 0, and an empty list to the others."""
    if not distributed.is_initialized():
        return [state]
    states: list[Any] | None = [None] * distributed.get_world_size() if rank() == 0 else None
    with _together():
        distributed.gather_object(state, states)
    return states or []


@torch.no_grad()
def average(network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Replace weights and optimiser moments by their means over all workers, in place."""
    tensors = [*network.parameters()]
    tensors += [moment for weight in tensors for moment in optimizer.state.get(weight, {}).values()]
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    with _together():
        distributed.all_reduce(flat)
    means = (flat / distributed.get_world_size()).split_with_sizes([tensor.numel() for tensor in tensors])
    for tensor, mean in zip(tensors, means, strict=True):
        tensor.copy_(mean.view_as(tensor))


def fastest_threads() -> int:
    """Measure whether 1, 2 or 4 torch threads are fastest now; return the number, at most one per processor.

    OMP_NUM_THREADS also limits it.
    """
    most = min(joblib.cpu_count(), torch.get_num_threads())
    network = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
    batch, seconds = torch.zeros(512, 256), dict.fromkeys((n for n in (1, 2, 4) if n <= most), math.inf)
    for threads in [*seconds] * 3:  # alternate, because the load of the machine changes
        torch.set_num_threads(threads)
        network(batch).sum().backward()  # starts the threads
        began = time.perf_counter()
        for _ in range(2):
            network(batch).sum().backward()
        seconds[threads] = min(seconds[threads], time.perf_counter() - began)
    return min(seconds, key=lambda threads: seconds[threads])
