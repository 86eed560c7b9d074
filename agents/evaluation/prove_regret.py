"""Prove the values of a regret suite's moves, each with a limited number of nodes.

    python -m agents.evaluation.prove_regret oanquan_env/data/regret-mancala-world.json.gz --nodes 4000000

The value found by search is the first guess: the proof search asks whether the mover can force this value, and whether
it can force more. If there is no proof, the search tries weaker bounds (see `oanquan_env.proofs.solver.BoundSearch`).
Near the ply limit, a search to the end of the game gives the value. A move whose value is not proved keeps the searched
value, clipped to the proved bounds. The file keeps all bounds, so a call with more nodes proves more values, and the
same command resumes interrupted work.
"""

import dataclasses
import functools
import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from agents.config import Count, command
from agents.evaluation.labels import HERE, Labeller, LabelOptions, prove_moves
from oanquan_env.benchmark.regret import Suite
from oanquan_env.benchmark.suites import format_suite, read_suite
from oanquan_env.files import text_bytes, write_atomically

PROG = "python -m agents.evaluation.prove_regret"


def prove_suite(suite: Suite, nodes: int, labeller: Labeller = HERE) -> Suite:
    """Return the suite after trying to prove every value with a search of up to `nodes` moves for each bound.

    Raises `ValueError` for more than two players, because values cannot be proved then.
    """
    if suite.core.rules.players != 2:
        raise ValueError(f"proofs need rules for two players; '{suite.core.rules}' has {suite.core.rules.players}")
    work = functools.partial(prove_moves, str(suite.core.rules), nodes)
    positions = [suite.positions[row : row + 1] for row in range(len(suite))]
    searched = list(zip(positions, suite.values, suite.lower, suite.upper, strict=True))
    lower, upper = map(np.stack, zip(*labeller.label("positions", work, searched), strict=True))
    command = f"{PROG} {shlex.quote(f'oanquan_env/data/{suite.name}.json.gz')} --nodes {nodes}"
    more = bool((lower > suite.lower).any() or (upper < suite.upper).any())
    made = {**suite.made, "version": suite.version + more, "proved_by": command}
    return dataclasses.replace(suite, values=np.clip(suite.values, lower, upper), lower=lower, upper=upper, made=made)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(LabelOptions):
    """The options of the command line."""

    suite: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]  # the suite's file, which is replaced
    nodes: Count = 4_000_000  # node limit of one proof


@command(Options, PROG, __doc__)
def main(options: Options) -> None:
    """Prove a suite's values and rewrite its file."""
    path = options.suite
    with options.labeller(path) as labeller:
        suite = prove_suite(read_suite(path), options.nodes, labeller)
        write_atomically(path, text_bytes(path, format_suite(suite)))
    print(
        f"{int(suite.proved.sum())} of {int(np.isfinite(suite.values).sum())} moves proved, all moves of "
        f"{int(suite.all_proved().sum())} of {len(suite)} positions, in {path}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
