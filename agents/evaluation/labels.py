"""One loop that labels positions: the commands that make suites, tables of openings and data sets give it the work.

It spreads the work over processes or a Ray cluster, keeps finished labels beside the command's output so that the same
command resumes, and shows the progress. Labels depend neither on the number of processes nor on Ray.

The work stands here, too, not in the commands: workers cannot import functions of the program that was started.
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
from oanquan_env.arrays import Floats, Mask
from oanquan_env.engine.core import relative_points
from oanquan_env.engine.move import RUNNING
from oanquan_env.search.bounds import Bounds
from oanquan_env.search.compiled import mover_first, play
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.memory import MAX_DEPTH
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.proof import PROVED, ProofTable
from oanquan_env.search.solver import FIRST_NODES, BoundSearch
from oanquan_env.search.value_net import ValueNet, read_value_net

Item = TypeVar("Item")
Label: TypeAlias = tuple[npt.NDArray[Any], ...]
CHUNK = 25  # positions that are searched as one item
TABLE_MEGABYTES, OPENING_MEGABYTES = 128.0, 256.0
"""Sizes of a position's table of proofs: a new one for each, as earlier proofs change how many nodes a proof takes."""
GUESS = Limits(nodes=20_000)  # of the search whose value is the first guess of an opening's
SHALLOW_DEPTH, SHALLOW_MAXN_DEPTH = 8, 3
SHALLOW_SLACK = 5
"""A shallow search (plies above, for two players and for more) passes a line on to the deep one up to this many points
beyond the limit."""
EVEN_NODES = 4_000_000
"""Moves that may be played to prove each of the two bounds of an even line."""


@dataclass(frozen=True)
class Labeller:
    """Labels positions in worker processes, or on the Ray cluster at the address `ray`.

    Finished labels are stored in the folder `parts` and found there by a later call; None keeps nothing.
    """

    jobs: int = 1
    ray: str | None = None
    parts: Path | None = None
    progress: Progress = field(default_factory=lambda: Progress(disable=True))

    def label(self, name: str, work: Callable[[Item], Label], items: Sequence[Item]) -> Iterator[Label]:
        """Yield `work(item)` for every item, in their order; the progress bar is called `name`.

        `work` is a function at the top of a module or a `functools.partial` of one, and returns a tuple of arrays.
        """
        task, finished = self.progress.add_task(name, total=len(items)), FinishedParts(self.parts)
        keys = [([name, str(number)], {"work": joblib.hash((work, item))}) for number, item in enumerate(items)]
        known = [finished.find(*key) for key in keys]
        missing = [number for number, label in enumerate(known) if label is None]
        self.progress.advance(task, len(items) - len(missing))

        def found() -> Iterator[tuple[int, Label]]:
            for place, label in spread(work, [items[number] for number in missing], ray=self.ray, processes=self.jobs):
                finished.store(*keys[missing[place]], [array.tolist() for array in label])
                self.progress.advance(task)
                yield place, label

        labels = in_order(found())
        for kept in known:
            yield next(labels) if kept is None else tuple(map(np.array, kept))

    def label_rows(self, name: str, work: Callable[[Positions], Label], positions: Positions) -> Label:
        """Return the labels of N positions as arrays of N rows; `work` gets up to `CHUNK` of the positions at once."""
        chunks = [positions[begin : begin + CHUNK] for begin in range(0, len(positions), CHUNK)]
        return tuple(map(np.concatenate, zip(*self.label(name, work, chunks), strict=True)))


HERE = Labeller()
"""Labels positions in this process, without a progress bar, and keeps nothing."""


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """The options of every command that labels positions."""

    jobs: Workers = field(default_factory=joblib.cpu_count)  # worker processes
    ray: RayAddress = None

    @contextlib.contextmanager
    def labeller(self, output: Path) -> Iterator[Labeller]:
        """Give a labeller with a progress bar, whose finished labels lie in `OUTPUT.parts` until this has ended."""
        parts = output.with_name(f"{output.name}.parts")
        with progress_bar() as bar:
            yield Labeller(self.jobs, self.ray, parts, bar)
        shutil.rmtree(parts, ignore_errors=True)


# ---- work ------------------------------------------------------------------------------------------------------------

core_of = functools.lru_cache(maxsize=1)(Core)
"""The core of a worker process: making its tables takes longer than many a proof."""


def net_bytes(source: str | None, core: Core) -> bytes | None:
    """Return the value net of a file, a run's folder or `pretrained` for the work; None without one."""
    return None if source is None else read_value_net(source, core.rules).to_bytes()


@functools.lru_cache(maxsize=2)
def _search(rules: str, depth: int, net: bytes | None) -> MoveValues:
    return MoveValues(core_of(rules), depth, ValueNet.from_bytes(net) if net else None, threads=1)


def search_moves(rules: str, depth: int, net: bytes | None, positions: Positions) -> tuple[Floats, Mask]:
    """Return (N, A) the values of all moves by a search, NaN for illegal ones, and (N, A) which of them are proved."""
    return _search(rules, depth, net).movers_values(positions)


def final_margins(search: MoveValues, positions: Positions) -> Floats:
    """(N, P) points by which each player is expected to win over the others' mean: its lead so far and its value."""
    return relative_points(positions.scores) + search.position_values(positions)


def find_even(
    rules: str, depth: int, net: bytes | None, within: int, proved: bool, positions: Positions
) -> tuple[Floats, Mask]:
    """Return (N, P) final margins by a search, and (N,) whether all of a position's are at most `within` from 0.

    Margins are NaN where a shallow search expects far greater ones. With `proved` the margin is not only expected to be
    that small, but proved, for two players.
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

    `searched` is a batch of one running position, and (A,) values of its moves, and their lower and upper bounds proved
    so far. A value decides the first question, never the proof. `nodes` moves may be played for one question.
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
        child_own, child_other, gain, state = play(table.rules, own, other, action, plies_left - 1)
        reply = Bounds(0, 0)
        if state == RUNNING:
            known = Bounds(gain - upper[action], gain - lower[action])
            bound_search = BoundSearch(table, child_own, child_other, known, plies_left - 1)
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
    """Return (2,) the bounds of a position's value, and the processor time in seconds.

    `asked` is a batch of one position and its bounds so far. Questions come in rounds, each with twice the nodes, up to
    `nodes`.
    """
    (position, known), core, began = asked, core_of(rules), time.process_time()
    guess = round(Search(core, table_megabytes=16, threads=1).best(position, GUESS).value)
    own, other = mover_first(position)[0].tolist()
    bound_search = BoundSearch(ProofTable(core, OPENING_MEGABYTES), own, other, known, plies_left)
    limit = min(FIRST_NODES, nodes)
    bound_search.narrow(guess, limit)
    while limit < nodes and bound_search.limited and not bound_search.bounds.meet:
        limit = min(2 * limit, nodes)
        bound_search.narrow(guess, limit)
    return np.array(bound_search.bounds, dtype=np.float64), np.array(time.process_time() - began)
