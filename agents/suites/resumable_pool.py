"""A pool of workers for the commands that make suites, opening values and data sets.

It spreads the work over processes or a Ray cluster, stores finished results beside the command's output so that the
same command can resume, and shows the progress. Results depend neither on the number of processes nor on Ray.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import joblib
import numpy as np
import numpy.typing as npt
from rich.progress import Progress

from agents.config import RayAddress, Workers, progress_bar
from agents.evaluation.finished_parts import FinishedParts
from agents.parallel import in_order, spread
from oanquan_env import Positions
from oanquan_env.files import check_place

ItemT = TypeVar("ItemT")
Arrays: TypeAlias = tuple[npt.NDArray[Any], ...]
CHUNK = 25  # positions per work item


@dataclass(frozen=True)
class ResumablePool:
    """A pool of `jobs` worker processes, or of the Ray cluster at the address `ray`.

    Finished results are stored in the folder `parts`, unless it is None; later calls reuse them. `progress` shows bars.
    """

    jobs: int = 1
    ray: str | None = None
    parts: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress(disable=True))

    def map(self, name: str, work: Callable[[ItemT], Arrays], items: Sequence[ItemT]) -> Iterator[Arrays]:
        """Yield `work(item)` for every item, in order; the progress bar is called `name`.

        `work` is a module-level function or a `functools.partial` of one, and returns a tuple of arrays.
        """
        task, finished = self.progress.add_task(name, total=len(items)), FinishedParts(self.parts)
        keys = [([name, str(number)], {"work": joblib.hash((work, item))}) for number, item in enumerate(items)]
        stored = [finished.find(*key) for key in keys]
        missing = [number for number, result in enumerate(stored) if result is None]
        self.progress.advance(task, len(items) - len(missing))

        def computed() -> Iterator[tuple[int, Arrays]]:
            for place, result in spread(work, [items[number] for number in missing], ray=self.ray, processes=self.jobs):
                finished.store(*keys[missing[place]], [array.tolist() for array in result])
                self.progress.advance(task)
                yield place, result

        results = in_order(computed())
        for earlier in stored:
            yield next(results) if earlier is None else tuple(map(np.array, earlier))

    def map_rows(self, name: str, work: Callable[[Positions], Arrays], positions: Positions) -> Arrays:
        """Return the results for N positions as arrays of N rows; each call of `work` gets up to `CHUNK` positions."""
        chunks = [positions[begin : begin + CHUNK] for begin in range(0, len(positions), CHUNK)]
        return tuple(map(np.concatenate, zip(*self.map(name, work, chunks), strict=True)))


HERE = ResumablePool()
"""A pool that works in this process, shows no progress bar and stores nothing."""


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """The options of every command that uses a pool."""

    jobs: Workers = field(default_factory=joblib.cpu_count)  # worker processes
    ray: RayAddress = None

    @contextlib.contextmanager
    def pool(self, output: Path) -> Iterator[ResumablePool]:
        """Yield a pool with a progress bar. Its finished results stay in `OUTPUT.parts` until the block succeeds.

        Raises `ValueError` if `output` cannot be written.
        """
        check_place("the output", output)
        parts = output.with_name(f"{output.name}.parts")
        with progress_bar() as bar:
            yield ResumablePool(self.jobs, self.ray, parts, bar)
        shutil.rmtree(parts, ignore_errors=True)
