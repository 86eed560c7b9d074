"""The loop that labels positions for the commands that make suites, opening tables and data sets.

It spreads the work over processes or a Ray cluster, stores finished labels beside the command's output so that the same
command can resume, and shows the progress. Labels depend neither on the number of processes nor on Ray.

The work functions are also defined here, because workers cannot import functions from the `__main__` module.
"""

import contextlib
import functools
import shutil
import time
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
from agents.support.parallel import in_order, spread
from oanquan_env import Core, Positions
from oanquan_env.array_types import Floats, Mask
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.move import RUNNING
from oanquan_env.files import check_place
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.proof import PROVED, ProofTable
from oanquan_env.proofs.solver import FIRST_NODES, BoundSearch
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.search_state import MAX_DEPTH, apply_move, mover_first
from oanquan_env.search.value_net import ValueNet, read_value_net

Item = TypeVar("Item")
Label: TypeAlias = tuple[npt.NDArray[Any], ...]
CHUNK = 25  # positions per work item
TABLE_MEGABYTES, OPENING_MEGABYTES = 128.0, 256.0
"""Sizes of proof tables in MiB, for suites and for openings. Each position gets a new table, independent of others."""
GUESS = Limits(nodes=20_000)  # limits of the search that makes the first guess at an opening's value
SHALLOW_DEPTH, SHALLOW_MAXN_DEPTH = 8, 3
SHALLOW_SLACK = 5
"""`find_even` first searches lines to one of these depths, for two players or for more. It skips the deep search of a
line whose margins then exceed the limit by more than `SHALLOW_SLACK` points."""
EVEN_NODES = 4_000_000
"""Maximum number of moves played to prove each of the two bounds of an even line."""


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


# ---- work ------------------------------------------------------------------------------------------------------------

core_of = functools.lru_cache(maxsize=1)(Core)
"""Function that returns the core for rules; each process caches it, as making it takes longer than many proofs."""


def net_bytes(source: str | None, core: Core) -> bytes | None:
    """Return the bytes of a value net, given as a file, a run's folder or `pretrained`; None if `source` is None."""
    return None if source is None else read_value_net(source, core.rules).to_bytes()


@functools.lru_cache(maxsize=2)
def _search(rules: str, depth: int, net: bytes | None) -> MoveValues:
    return MoveValues(core_of(rules), depth, ValueNet.from_bytes(net) if net else None, threads=1)


def search_moves(rules: str, depth: int, net: bytes | None, positions: Positions) -> tuple[Floats, Mask]:
    """Return (N, A) searched values of all moves, NaN for illegal moves, and (N, A) flags of the proved values."""
    return _search(rules, depth, net).movers_values(positions)


def final_margins(search: MoveValues, positions: Positions) -> Floats:
    """Return (N, P) expected final margins in points: each player's lead plus its expected future margin."""
    return relative_points(positions.scores) + search.position_values(positions)


def find_even(
    rules: str, depth: int, net: bytes | None, within: int, proved: bool, positions: Positions
) -> tuple[Floats, Mask]:
    """Return (N, P) searched final margins, and (N,) flags: True if all margins of the position are within ±`within`.

    Margins are NaN if a shallow search expects far larger margins. With `proved`, which needs two players, a flag is
    True only if the margin is also proved to be within this range.
    """
    shallow = _search(rules, SHALLOW_DEPTH if core_of(rules).rules.players == 2 else SHALLOW_MAXN_DEPTH, net)
    near = abs(final_margins(shallow, positions)).max(axis=1) <= within + SHALLOW_SLACK
    margins = np.full((len(positions), core_of(rules).rules.players), np.nan)
    margins[near] = final_margins(_search(rules, depth, net), positions[near])
    even = abs(margins).max(axis=1) <= within
    if proved:
        for row in even.nonzero()[0].tolist():
            even[row] = _is_proved_even(core_of(rules), positions[row : row + 1], within)
    return margins, even


def _is_proved_even(core: Core, position: Positions, within: int) -> bool:
    (own, other), mover = mover_first(position)[0].tolist(), int(position.mover[0])
    lead = int(position.scores[0, mover] - position.scores[0, 1 - mover])
    table = ProofTable(core, TABLE_MEGABYTES)
    for is_lower, bound in ((True, -within - lead), (False, within - lead)):
        if table.prove(own, other, bound, is_lower=is_lower, nodes=EVEN_NODES) != PROVED:
            return False
        if table.plies(own, other, bound, is_lower=is_lower) > core.rules.max_plies - int(position.ply[0]):
            return False
    return True


def prove_moves(rules: str, nodes: int, searched: tuple[Positions, Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Return (A,) proved lower and upper bounds of the values of a position's moves, in points.

    `searched` holds a batch of one running position, (A,) searched values of its moves, and the (A,) lower and upper
    bounds proved so far. Searched values only determine which bound is tried first. `nodes` limits the moves played in
    each attempt to prove a bound.
    """
    position, values, lower, upper = searched
    core, lower, upper = core_of(rules), lower.copy(), upper.copy()
    own, other = mover_first(position)[0].tolist()
    plies_left = core.rules.max_plies - int(position.ply[0])
    unproved = (np.isfinite(values) & (lower < upper)).nonzero()[0].tolist()
    if not unproved:
        return lower, upper
    table = ProofTable(core, TABLE_MEGABYTES)
    for action in unproved:
        child_own, child_other, gain, state = apply_move(table.rules, own, other, action, plies_left - 1)
        reply = Bounds(0, 0)
        if state == RUNNING:
            bounds = Bounds(gain - upper[action], gain - lower[action])
            bound_search = BoundSearch(table, child_own, child_other, bounds, plies_left - 1)
            bound_search.narrow(gain - int(values[action]), nodes)
            reply = bound_search.bounds
        lower[action], upper[action] = reply.before(gain)
    if plies_left <= MAX_DEPTH and (lower < upper).any():
        search = Search(core, table_megabytes=TABLE_MEGABYTES, threads=1)
        result = search.best(position, Limits(depth=plies_left, nodes=nodes), every_move=True)
        if result.proved:
            actions = list(result.values)
            lower[actions] = upper[actions] = list(result.values.values())
    return lower, upper


def prove_opening(rules: str, nodes: int, plies_left: int, asked: tuple[Positions, Bounds]) -> Label:
    """Return (2,) bounds of a position's value with `plies_left` plies left, and the processor time in seconds.

    `asked` holds a batch of one position and its bounds so far. The search runs in rounds; each round doubles the node
    limit, up to `nodes`.
    """
    (position, bounds), core, began = asked, core_of(rules), time.process_time()
    guess = round(Search(core, table_megabytes=16, threads=1).best(position, GUESS).value)
    own, other = mover_first(position)[0].tolist()
    bound_search = BoundSearch(ProofTable(core, OPENING_MEGABYTES), own, other, bounds, plies_left)
    limit = min(FIRST_NODES, nodes)
    bound_search.narrow(guess, limit)
    while limit < nodes and bound_search.limited and not bound_search.bounds.meet:
        limit = min(2 * limit, nodes)
        bound_search.narrow(guess, limit)
    return np.array(bound_search.bounds, dtype=np.float64), np.array(time.process_time() - began)
