"""Prove the value of a position: the mover's future margin in points under best play.

The command prints the bounds after each round of proofs, and the best line at the end. Ctrl-C or --time ends it early
with the bounds proved so far. `oanquan_env.proofs.solver` defines a proof. --certificate writes the bounds for which a
strategy is found; the search for strategies may again take --time seconds. `oanquan verify FILE` checks the file.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oanquan_env.cli.options import add_position, board_of, number
from oanquan_env.engine.notation import format_position
from oanquan_env.files import check_place, write_atomically
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.provenance import origin

if TYPE_CHECKING:
    from oanquan_env.proofs.solver import ProofState, Solver

EXIT_UNPROVED = 1  # exit status of a run that did not prove the value
MOST_MEGABYTES = 10**9
HELP = "prove the value of a position"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_position(parser)
    parser.add_argument(
        "--megabytes", type=number, default=1024.0, metavar="N", help="size of the proof table (default: 1024)"
    )
    parser.add_argument(
        "--time",
        type=number,
        default=math.inf,
        metavar="SECONDS",
        help="time limit of the proofs, and again of the search for strategies",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result, as JSON")
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="also write a certificate: strategies, and the bounds that they prove",
    )


def run(options: argparse.Namespace) -> int:
    """Prove the value; return 0, or EXIT_UNPROVED if the value or a bound of the certificate is unproved."""
    if not (0 < options.megabytes <= MOST_MEGABYTES and options.time > 0):
        raise ValueError(f"--megabytes and --time must be above 0, --megabytes at most {MOST_MEGABYTES:,}")
    for option, path in (("--json", options.json), ("--certificate", options.certificate)):
        if path is not None:
            check_place(option, path)
    from oanquan_env.proofs.certificate_making import certify
    from oanquan_env.proofs.solver import Solver

    board = board_of(options)
    try:
        solver = Solver(board.core, board.positions, megabytes=options.megabytes)
    except MemoryError:
        raise ValueError(f"--megabytes: there is no memory for a table of {options.megabytes:,.0f} MB") from None
    question = {"rules": str(board.rules), "position": format_position(board.core, board.positions)}
    print(f"rules {question['rules']}, position {question['position']}")
    _prove(solver, time.monotonic() + options.time)
    print(_describe(solver.progress))
    if options.json is not None:
        result: dict[str, Any] = {**question, **asdict(solver.progress), "solved": solver.progress.solved, **origin()}
        write_atomically(options.json, (json.dumps(result, indent=2) + "\n").encode())
    complete = solver.progress.solved
    if options.certificate is not None:
        certificate = certify(solver, time.monotonic() + options.time, functools.partial(print, flush=True))
        complete &= None not in (certificate.lower, certificate.upper)
        print(f"certificate: {options.certificate}\n{verify(certificate)}")
        write_atomically(options.certificate, certificate.to_bytes())
    return 0 if complete else EXIT_UNPROVED


def _prove(solver: Solver, deadline: float) -> None:
    from oanquan_env.proofs.proof_search import LimitReachedError

    print(f"{'lower':>6} {'upper':>6} {'moves played':>14} {'a second':>11} {'seconds':>8}  line")
    try:
        for progress in solver.rounds(deadline):
            print(_row(progress), flush=True)
    except (LimitReachedError, KeyboardInterrupt):
        print("stopped")


def _row(progress: ProofState) -> str:
    lower, upper = ("-" if bound is None else f"{bound:+d}" for bound in (progress.lower, progress.upper))
    speed = progress.nodes / max(progress.seconds, 1e-9)
    numbers = f"{lower:>6} {upper:>6} {progress.nodes:14,} {speed:11,.0f} {progress.seconds:8.1f}"
    return f"{numbers}  {' '.join(progress.line)}"


def _describe(progress: ProofState) -> str:
    if progress.solved:
        line = f"; best line {' '.join(progress.line)}" if progress.line else ""
        return f"proved: the value is {progress.lower:+d} for the mover{line}"
    named = (("least", progress.lower), ("most", progress.upper))
    bounds = [f"at {word} {bound:+d}" for word, bound in named if bound is not None]
    return f"proved: {' and '.join(bounds) or 'nothing yet'}. Only finished games prove a bound"
