"""Search the values of a regret suite's moves anew, deeper than before.

    python -m agents.evaluation.deepen_regret oanquan_env/data/regret-app.json.gz --depths 22 26 28 --net pretrained

The positions stay, so agents and nets that were taught without them can still be measured by them; and so do values
that are proved. `python -m agents.evaluation.prove_regret` should follow: it proves more where the guess is better, and
keeps other values within the bounds that it proves. --parts and --ray are those of
`python -m agents.evaluation.make_regret`.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.progress import Progress

from agents.evaluation.make_regret import searched_values
from agents.support.command_line import OptionalFolder, RayAddress, parse_options, progress_bar, refused
from oanquan_env.benchmark.regret import PHASES, Suite
from oanquan_env.benchmark.suites import format_suite, read_suite
from oanquan_env.files import text_bytes, write_atomically
from oanquan_env.players.value_net import read_value_net

PROG = "python -m agents.evaluation.deepen_regret"


def deepen_suite(
    suite: Suite,
    depths: tuple[int, int, int],
    net: str | None,
    progress: Progress | None = None,
    ray: str | None = None,
    parts: Path | None = None,
) -> Suite:
    """The suite, with values searched to these depths in opening, middle and end; see `Options` for the arguments.

    Raises as `make_suite` does for parts, and `ValueNetError` for a net that cannot be read.
    """
    progress = progress or Progress(disable=True)
    value_net = None if net is None else read_value_net(net, suite.core.rules)
    values, proved, phase = suite.values.copy(), suite.proved.copy(), suite.phases()
    for number, (name, depth) in enumerate(zip(PHASES, depths, strict=True)):
        rows = (phase == number).nonzero()[0]
        task = progress.add_task(name, total=len(rows))
        positions, folder = suite.positions[rows], parts and parts / name
        for place, (found, is_proved) in searched_values(suite.core, positions, depth, folder, net=value_net, ray=ray):
            some = rows[place]
            values[some] = np.where(suite.proved[some], suite.values[some], found)
            proved[some] |= is_proved
            progress.advance(task, len(found))
    command = f"{PROG} oanquan_env/data/{suite.name}.json.gz --depths {' '.join(map(str, depths))}"
    made = {**suite.made, "deepened_by": command + (f" --net {net}" if net else "")}
    return dataclasses.replace(suite, values=values, proved=proved, made=made)


@dataclasses.dataclass(frozen=True)
class Options:
    """The command line.

    Attributes:
        suite: the suite's file, which is replaced
        depths: plies of the search in opening, middle and end
        net: value net of the search, a file, a run's folder or `pretrained`; none if left out
        parts: folder for values found so far, from which the same command goes on
    """

    suite: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    depths: tuple[int, int, int]
    net: str | None = None
    parts: OptionalFolder = None
    ray: RayAddress = None


def main(arguments: list[str]) -> int:
    """Deepen a suite in its file; returns the exit status."""
    options = parse_options(Options, arguments, prog=PROG, description=__doc__)
    try:
        before = read_suite(options.suite)
        with progress_bar() as bar:
            suite = deepen_suite(before, options.depths, options.net, bar, options.ray, options.parts)
        write_atomically(options.suite, text_bytes(options.suite, format_suite(suite)))
    except (ValueError, OSError) as error:
        return refused(PROG, error)
    known = np.isfinite(before.values)
    changed = (suite.values != before.values) & known
    print(f"{int(changed.sum())} of {int(known.sum())} values changed in {options.suite}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
