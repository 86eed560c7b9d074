"""Shared parts of the benchmarks: the command line, the table, and the JSON with machine and commit."""

import json
import statistics
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from agents.config import Flag, OptionalFile, parse_options
from agents.support import provenance
from oanquan_env.benchmark.report import table
from oanquan_env.benchmark.statistics import Estimate, interquartile_estimate
from oanquan_env.errors import USAGE_ERROR
from oanquan_env.files import check_place, write_atomically

RESULTS = Path(__file__).parent / "results"

Name = TypeVar("Name", bound=Hashable)
Contestant: TypeAlias = Callable[[float], float]
"""A function that runs for the given number of seconds, and returns its speed in operations per second."""
Speeds: TypeAlias = dict[str, dict[str, float]]
"""Operations per second, by the name of a table's row and then by the number of parallel games, as text."""


@dataclass(frozen=True)
class Options:
    """The options of every benchmark. By default the results are only printed."""

    json: OptionalFile = None
    """also write the results to this file"""
    publish: Flag = False
    """also write the results to benchmarks/results, which the documentation shows; needs a clean clone"""


Made = TypeVar("Made", bound=Options)


def read_options(kind: type[Made], description: str | None, name: str, arguments: Sequence[str] | None = None) -> Made:
    """Return the parsed options of the benchmark `name`; exit if its results could not be written later."""
    prog = f"python -m benchmarks.{name}"
    options = parse_options(kind, sys.argv[1:] if arguments is None else arguments, prog=prog, description=description)
    try:
        if options.json:
            check_place("--json", options.json)
        if options.publish:
            check_commit(provenance.commit())
    except ValueError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    return options


def check_commit(commit: str | None) -> None:
    """Raise `ValueError` unless the commit identifies the measured code exactly."""
    if commit is None:
        raise ValueError("--publish needs a clone, so that the results name the commit that was measured")
    if commit.endswith(provenance.DIRTY):
        raise ValueError(
            f"--publish: files differ from commit {commit.removesuffix(provenance.DIRTY)}, so the results could not be "
            "reproduced; commit first, or use --json FILE"
        )


def show(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with the first column aligned left and the others right."""
    print(f"{title}\n\n{table(headings, rows, padded=True)}\n")


def write(options: Options, name: str, results: dict[str, Any]) -> None:
    """Write the results of the benchmark `name`, with a description of the machine, to the requested files."""
    content = json.dumps({"measured_on": describe_machine(), **results}, indent=1) + "\n"
    for path in (options.json, RESULTS / f"{name}.json" if options.publish else None):
        if path:
            write_atomically(path, content.encode())
            print(f"written to {path}")


def median_speeds(contestants: Mapping[Name, Contestant], rounds: int, seconds: float) -> dict[Name, float]:
    """Return each contestant's median speed over `rounds` rounds, in which all take turns of `seconds` seconds."""
    measured: dict[Name, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            measured[name].append(contestant(seconds))
    return {name: statistics.median(speeds) for name, speeds in measured.items()}


def over_runs(runs: Sequence[Estimate]) -> Estimate:
    """Return a single run's estimate, or the interquartile mean of several runs, with its interval over runs."""
    if len(runs) == 1:
        return runs[0]
    return interquartile_estimate([[run.mean] for run in runs], np.random.default_rng(0))


def by_size(speeds: Speeds) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a table of speeds, in millions per second; columns are numbers of games."""
    sizes = list(next(iter(speeds.values())))
    rows = [[name, *(millions(row[size]) if size in row else "" for size in sizes)] for name, row in speeds.items()]
    return ["games", *(f"{int(size):,}" for size in sizes)], rows


def millions(speed: float) -> str:
    """Format a speed in millions, with one decimal or, below one million, with two significant digits."""
    return f"{speed / 1e6:.1f}" if speed >= 995_000 else f"{speed / 1e6:#.2g}"


def describe_machine() -> dict[str, Any]:
    """Return the processor, the clone's commit, and the versions of Python, Numba, NumPy and PyTorch."""
    return {
        "processor": provenance.processor(),
        "commit": provenance.commit(),
        **provenance.versions(["numba", "numpy", "torch"]),
    }
