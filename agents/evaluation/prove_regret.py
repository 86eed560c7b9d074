"""Prove the values of a regret suite's moves, each with a limited number of nodes.

    python -m agents.evaluation.prove_regret oanquan_env/data/regret-mancala-world.json.gz --nodes 4000000

A move's searched value is the first guess. Can the mover force it? Can it force more? Where no proof is found, weaker
bounds are tried (see `oanquan_env.search.solver.BoundSearch`). Near the ply limit a search to the end settles the rest.
A move without a proved value keeps the searched one, within the proved bounds. Bounds of the suite are kept: a call
with more nodes, or after an interruption, proves the rest. Every position has its own table, so the result does not
depend on --threads or --ray.
"""

import dataclasses
import functools
import os
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.progress import Progress

from agents.config import Count, RayAddress, Threads, command, progress_bar
from agents.support.parallel import spread
from oanquan_env import Core, Positions
from oanquan_env.arrays import Floats
from oanquan_env.benchmark.regret import Suite
from oanquan_env.benchmark.suites import format_suite, read_suite
from oanquan_env.engine.move import RUNNING
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.search.bounds import Bounds
from oanquan_env.search.compiled import mover_first, play
from oanquan_env.search.deepening import Limits, Search
from oanquan_env.search.memory import MAX_DEPTH
from oanquan_env.search.proof import ProofTable
from oanquan_env.search.solver import BoundSearch

PROG = "python -m agents.evaluation.prove_regret"
MEGABYTES = 128.0  # size of a position's table of proofs
SAVED = 100  # positions after which the proofs are saved


def prove_position(rules: str, nodes: int, searched: tuple[Positions, Floats, Floats, Floats]) -> dict[int, Bounds]:
    """Bounds on the values of a position's moves: the move's gain less the opponent's best result.

    So many nodes (moves) may be played for one question. `searched` is a batch of one running position, and for each
    of its moves, (A,), the value in points, and the lower and the upper bound that are proved. A value decides the
    first question, never the proof.
    """
    position, values, lower, upper = searched
    core = _core(rules)
    own, other = mover_first(position)[0].tolist()
    plies_left = core.rules.max_plies - int(position.ply[0])
    unproved = (np.isfinite(values) & (lower < upper)).nonzero()[0].tolist()
    if not unproved:
        return {}
    found = {}
    table = ProofTable(core, MEGABYTES)  # a new one, as earlier proofs change how many nodes a proof takes
    for action in unproved:
        child_own, child_other, gain, state = play(table.rules, own, other, action, plies_left - 1)
        reply = Bounds(0, 0)
        if state == RUNNING:
            known = Bounds(gain - upper[action], gain - lower[action])
            bound_search = BoundSearch(table, child_own, child_other, known, plies_left - 1)
            bound_search.narrow(gain - int(values[action]), nodes)
            reply = bound_search.bounds
        found[action] = Bounds(gain - reply.upper, gain - reply.lower)
    if plies_left <= MAX_DEPTH and not all(bounds.meet for bounds in found.values()):
        search = Search(core, table_megabytes=MEGABYTES, threads=1)
        result = search.best(position, Limits(depth=plies_left, nodes=nodes), every_move=True)
        if result.proved:
            return {action: Bounds(value, value) for action, value in result.values.items()}
    return found


_core = functools.lru_cache(maxsize=1)(Core)
"""A worker's core: to make its tables takes longer than many a proof."""


def prove_suite(
    suite: Suite,
    nodes: int,
    threads: int,
    progress: Progress | None = None,
    ray: str | None = None,
    save: Callable[[Suite], None] = lambda _: None,
) -> Suite:
    """The suite, with all values proved for which `nodes` are enough; see `Options` for the arguments.

    `save` is called now and then with the values proved so far.

    Raises `ValueError` for more than two players, in whose games no value can be forced.
    """
    if suite.core.rules.players != 2:
        raise ValueError(f"values are proved for two players; '{suite.core.rules}' has {suite.core.rules.players}")
    progress = progress or Progress(disable=True)
    task = progress.add_task("positions", total=len(suite))
    work = functools.partial(prove_position, str(suite.core.rules), nodes)
    values, lower, upper = suite.values.copy(), suite.lower.copy(), suite.upper.copy()
    searched = [
        (suite.positions[row : row + 1], suite.values[row], suite.lower[row], suite.upper[row])
        for row in range(len(suite))
    ]
    with ThreadPoolExecutor(threads) as pool:
        everything = spread(work, searched, ray=ray) if ray else enumerate(pool.map(work, searched))
        for row, found in everything:
            for action, bounds in found.items():
                lower[row, action], upper[row, action] = bounds.lower, bounds.upper
                values[row, action] = np.clip(values[row, action], bounds.lower, bounds.upper)
            progress.advance(task)
            if row % SAVED == SAVED - 1:
                save(dataclasses.replace(suite, values=values, lower=lower, upper=upper))
    command = f"{PROG} {shlex.quote(f'oanquan_env/data/{suite.name}.json.gz')} --nodes {nodes}"
    more = bool((lower > suite.lower).any() or (upper < suite.upper).any())
    made = {**suite.made, "version": suite.version + more, "proved_by": command}
    return dataclasses.replace(suite, values=values, lower=lower, upper=upper, made=made)


@dataclasses.dataclass(frozen=True)
class Options:
    """The command line."""

    suite: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]  # the suite's file, which is replaced
    nodes: Count = 4_000_000  # moves that may be played for one question about a value
    threads: Threads = os.cpu_count() or 1  # positions worked on at once
    ray: RayAddress = None


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Prove a suite's values in its file."""

    def save(suite: Suite) -> None:
        write_atomically(options.suite, text_bytes(options.suite, format_suite(suite)))

    with progress_bar() as bar:
        suite = prove_suite(read_suite(options.suite), options.nodes, options.threads, bar, options.ray, save)
    save(suite)
    print(
        f"{int(suite.proved.sum())} of {int(np.isfinite(suite.values).sum())} moves proved, all moves of "
        f"{int(suite.all_proved().sum())} of {len(suite)} positions, in {options.suite}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
