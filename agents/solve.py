"""Prove the value of a position: the future margin in points, seen by its mover, if both sides play their best.

    python -m agents.solve
    python -m agents.solve --rules tonkin --position "5,5,5,5,5,10/5,5,5,5,5,10 0,0 0 0" --time 600

Prints the bounds after each round of proofs, and the best line at the end. An interruption (Ctrl-C, --time) prints the
bounds proved so far. agents/search/solver.py defines a proof. --certificate writes a strategy for each bound, and
`python -m oanquan_env verify FILE` checks it.
"""

import json
import math
import time
from dataclasses import asdict, dataclass
from typing import Annotated

import tyro

from agents.config import OptionalFile, command
from agents.search.certificates import certify
from agents.search.proof import LimitReachedError
from agents.search.solver import ProofState, Solver
from oanquan_env import Core
from oanquan_env.benchmark.verification import verify
from oanquan_env.engine.notation import format_position, parse_position
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.files import check_place, write_atomically

MOST_MEGABYTES = 10**9


@dataclass(frozen=True)
class Options:
    """The command line."""

    rules: str = DEFAULT_PRESET  # rules by name, with changed fields
    # a position string; the set-up if left out
    position: Annotated[str | None, tyro.conf.arg(metavar="TEXT", help_behavior_hint="")] = None
    megabytes: float = 1024.0  # size of the table
    time: Annotated[float, tyro.conf.arg(metavar="SECONDS")] = math.inf  # stop after so many seconds
    json: OptionalFile = None  # also write the result to this file, as JSON
    certificate: OptionalFile = None  # write the bounds that are proved to this file, with a strategy for each


@command(Options, "python -m agents.solve", __doc__)
def main(options: Options) -> int:
    """Solve; the exit status is 0 if the value was proved, 1 if not, 2 for a mistake."""
    if not (0 < options.megabytes <= MOST_MEGABYTES and options.time > 0):
        raise ValueError(f"--megabytes and --time must be above 0, --megabytes at most {MOST_MEGABYTES:,}")
    for option, path in (("--json", options.json), ("--certificate", options.certificate)):
        if path is not None:
            check_place(option, path)
    core = Core(options.rules)
    position = core.start() if options.position is None else parse_position(core, options.position)
    try:
        solver = Solver(core, position, megabytes=options.megabytes)
    except MemoryError:
        raise ValueError(f"--megabytes: there is no memory for a table of {options.megabytes:,.0f}") from None
    asked = {"rules": str(core.rules), "position": format_position(core, position)}
    print(f"rules {asked['rules']}, position {asked['position']}")
    run(solver, time.monotonic() + options.time)
    print(describe(solver.progress))
    if options.json is not None:
        result = {**asked, **asdict(solver.progress), "solved": solver.progress.solved}
        write_atomically(options.json, (json.dumps(result, indent=2) + "\n").encode())
    if options.certificate is not None:
        certificate = certify(solver)
        print(f"certificate: {options.certificate}\n{verify(certificate)}")
        write_atomically(options.certificate, certificate.to_bytes())
    return 0 if solver.progress.solved else 1


def run(solver: Solver, deadline: float) -> None:
    """Prove until the value is known, the search finds no better bound, the time is up or the user interrupts."""
    print(f"{'lower':>6} {'upper':>6} {'moves played':>14} {'a second':>11} {'seconds':>8}  line")
    try:
        for progress in solver.rounds(deadline):
            print(row(progress), flush=True)
    except (LimitReachedError, KeyboardInterrupt):
        print("stopped")


def row(progress: ProofState) -> str:
    """One line of the table."""
    lower, upper = ("-" if bound is None else f"{bound:+d}" for bound in (progress.lower, progress.upper))
    speed = progress.nodes / max(progress.seconds, 1e-9)
    numbers = f"{lower:>6} {upper:>6} {progress.nodes:14,} {speed:11,.0f} {progress.seconds:8.1f}"
    return f"{numbers}  {' '.join(progress.line)}"


def describe(progress: ProofState) -> str:
    """The proved bounds, in words."""
    if progress.solved:
        line = f"; best line {' '.join(progress.line)}" if progress.line else ""
        return f"proved: the value is {progress.lower:+d} for the mover{line}"
    named = (("least", progress.lower), ("most", progress.upper))
    bounds = [f"at {word} {bound:+d}" for word, bound in named if bound is not None]
    return f"proved: {' and '.join(bounds) or 'nothing yet'}. Lines that are not finished prove nothing"


if __name__ == "__main__":
    raise SystemExit(main())
