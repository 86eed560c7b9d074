"""The loop that labels positions for the commands that make suites, opening tables and data sets.

It spreads the work over processes or a Ray cluster, stores finished labels beside the command's output so that the same
command can resume, and shows the progress. Labels depend neither on the number of processes nor on Ray.
"""

import contextlib
import functools
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
from agents.parallel import in_order, spread
from agents.tournament_run import FinishedParts
from oanquan_env import Core, Positions
from oanquan_env.array_types import Floats, Mask
from oanquan_env.files import check_place
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import ValueNet, read_value_net

Item = TypeVar("Item")
Label: TypeAlias = tuple[npt.NDArray[Any], ...]
CHUNK = 25  # positions per work item
TABLE_MEGABYTES = 128.0
"""Size of a proof table in MiB. Each position of a suite gets a new table, independent of others."""


@dataclass(frozen=True)
class Labeller:
    """A labeller of positions in `jobs` worker processes, or on the Ray cluster at the address `ray`.

    Finished labels are stored in the folder `parts`, unless it is None; later calls reuse them. `progress` shows bars.
    """

    jobs: int = 1
    ray: str | None = None
    parts: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress(disable=True))

    def label(self, name: str, work: Callable[[Item], Label], items: Sequence[Item]) -> Iterator[Label]:
        """Yield `work(item)` for every item, in order; the progress bar is called `name`.

        `work` is a module-level function or a `functools.partial` of one, and returns a tuple of arrays.
        """
        task, finished = self.progress.add_task(name, total=len(items)), FinishedParts(self.parts)
        keys = [([name, str(number)], {"work": joblib.hash((work, item))}) for number, item in enumerate(items)]
        stored = [finished.find(*key) for key in keys]
        missing = [number for number, label in enumerate(stored) if label is None]
        self.progress.advance(task, len(items) - len(missing))

        def computed() -> Iterator[tuple[int, Label]]:
            for place, label in spread(work, [items[number] for number in missing], ray=self.ray, processes=self.jobs):
                finished.store(*keys[missing[place]], [array.tolist() for array in label])
                self.progress.advance(task)
                yield place, label

        labels = in_order(computed())
        for stored_label in stored:
            yield next(labels) if stored_label is None else tuple(map(np.array, stored_label))

    def label_rows(self, name: str, work: Callable[[Positions], Label], positions: Positions) -> Label:
        """Return the labels of N positions as arrays of N rows; each call of `work` gets up to `CHUNK` positions."""
        chunks = [positions[begin : begin + CHUNK] for begin in range(0, len(positions), CHUNK)]
        return tuple(map(np.concatenate, zip(*self.label(name, work, chunks), strict=True)))


HERE = Labeller()
"""A labeller that works in this process, shows no progress bar and stores nothing."""


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """The options of every command that labels positions."""

    jobs: Workers = field(default_factory=joblib.cpu_count)  # worker processes
    ray: RayAddress = None

    @contextlib.contextmanager
    def labeller(self, output: Path) -> Iterator[Labeller]:
        """Yield a labeller with a progress bar. Its finished labels stay in `OUTPUT.parts` until the block succeeds.

        Raises `ValueError` if `output` cannot be written.
        """
        check_place("the output", output)
        parts = output.with_name(f"{output.name}.parts")
        with progress_bar() as bar:
            yield Labeller(self.jobs, self.ray, parts, bar)
        shutil.rmtree(parts, ignore_errors=True)


# ---- what suites share -----------------------------------------------------------------------------------------------

core_of = functools.lru_cache(maxsize=1)(Core)
"""Function that returns the core for rules; each process caches it, as making it takes longer than many proofs."""


def net_bytes(source: str | None, core: Core) -> bytes | None:
    """Return the bytes of a value net, given as a file, a run's folder or `pretrained`; None if `source` is None."""
    return None if source is None else read_value_net(source, core.rules).to_bytes()


@functools.lru_cache(maxsize=2)
def searcher(rules: str, depth: int, net: bytes | None) -> MoveValues:
    """Return a search to `depth` plies with a value net, given as bytes; each process caches the last two."""
    return MoveValues(core_of(rules), depth, ValueNet.from_bytes(net) if net else None, threads=1)


def search_moves(rules: str, depth: int, net: bytes | None, positions: Positions) -> tuple[Floats, Mask]:
    """Return (N, A) searched values of all moves, NaN for illegal moves, and (N, A) flags of the proved values."""
    return searcher(rules, depth, net).movers_values(positions)
