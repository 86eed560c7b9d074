"""What all experiments share: command line, file of results, and the tables that pages show."""

import dataclasses
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from agents.config import Flag, OptionalFile, command, command_of
from oanquan_env import provenance
from oanquan_env.benchmark.statistics import Estimate, interquartile_estimate
from oanquan_env.benchmark.tables import table
from oanquan_env.files import check_place, read_json, write_atomically

RESULTS = Path(__file__).parent / "results"

Cells: TypeAlias = dict[str, str]
"""The cells of a table's row, by the headings of their columns."""


@dataclass(frozen=True)
class Options:
    """The options of every experiment. By default the results are only printed."""

    json: OptionalFile = None
    """also write the results to this file"""
    publish: Flag = False
    """also write the results to experiments/results, which the documentation shows; needs a clean clone"""


OptionsT = TypeVar("OptionsT", bound=Options)


@dataclass(frozen=True)
class Experiment(Generic[OptionsT]):
    """A program that measures something, the file of its results, and the tables that show them.

    Attributes:
        name: name of the module, and of its file in `RESULTS`.
        description: the module's docstring.
        options: class of the options of the command line.
        measure: generator of all results so far; they are written each time.
        tables: functions that return a table's rows for results, by the name of the table's part of a page.
        left: number of columns that are aligned left.
    """

    name: str
    description: str | None
    options: type[OptionsT]
    measure: Callable[[OptionsT], Iterator[dict[str, Any]]]
    tables: Mapping[str, Callable[[dict[str, Any]], Iterable[Cells]]]
    left: int = 1

    def main(self, *arguments: Sequence[str]) -> int:
        """Measure with the options of the command line; write and print the results. Return the exit status."""
        return command(self.options, program(self.name), self.description)(self._run)(*arguments)

    def _run(self, options: OptionsT) -> None:
        if options.json:
            check_place("--json", options.json)
        if options.publish:
            check_commit(provenance.commit())
        results: dict[str, Any] = {}
        for results in self.measure(options):
            self.write(options, results)
        print((self.description or self.name).splitlines()[0])
        for name, rows in self.tables.items() if results else ():
            if listed := list(rows(results)):
                print(f"\n{name}\n\n{table_of(listed, self.left, padded=True)}")

    def write(self, options: OptionsT, results: dict[str, Any]) -> None:
        """Write the results, with the machine and the command, to the files that the options name."""
        changes = dataclasses.replace(options, json=None, publish=False)
        content = {**head_of_results(command_of(program(self.name), changes)), **results}
        for path in (options.json, RESULTS / f"{self.name}.json" if options.publish else None):
            if path:
                write_atomically(path, f"{json.dumps(content, indent=1)}\n".encode())
                print(f"written to {path}")

    def parts(self) -> dict[str, Callable[[], str]]:
        """Return functions that make parts of a page: the tables of the published results, each with its origin."""
        return {name: functools.partial(self._part, name) for name in self.tables}

    def _part(self, name: str) -> str:
        results = published(self.name)
        machine = results["measured_on"]
        where = f"at commit `{machine['commit']}` ({machine['processor']})"
        return f"{table_of(self.tables[name](results), self.left)}\n\nMeasured by `{results['command']}` {where}."


def program(name: str) -> str:
    """Return the command that runs the experiment `name`, without options."""
    return f"python -m experiments.{name}"


def published(name: str) -> dict[str, Any]:
    """Return the published results of the experiment `name`."""
    results: dict[str, Any] = read_json(RESULTS / f"{name}.json")
    return results


def check_commit(commit: str | None) -> None:
    """Raise `ValueError` unless the commit identifies the measured code exactly."""
    if commit is None:
        raise ValueError("--publish needs a clone, so that the results name the commit that was measured")
    if commit.endswith(provenance.DIRTY):
        raise ValueError(
            f"--publish: files differ from commit {commit.removesuffix(provenance.DIRTY)}, so the results could not be "
            "reproduced; commit first, or use --json FILE"
        )


def head_of_results(command: str) -> dict[str, Any]:
    """Return the head of a file of results: the processor, the clone's commit, versions of packages, and `command`."""
    made = provenance.origin(command)
    return {
        "measured_on": {**{key: made[key] for key in ("processor", "commit")}, **made["versions"]},
        "command": command,
    }


def table_of(rows: Iterable[Cells], left: int | None = 1, *, padded: bool = False) -> str:
    """Return a Markdown table (see `oanquan_env.benchmark.tables.table`); a cell that a row lacks is empty."""
    listed = list(rows)
    heads = list(dict.fromkeys(heading for row in listed for heading in row))
    return table(heads, [[row.get(heading, "") for heading in heads] for row in listed], left, padded=padded)


def over_runs(runs: Sequence[Estimate]) -> Estimate:
    """Return a single run's estimate, or the interquartile mean of several runs, with its interval over runs."""
    if len(runs) == 1:
        return runs[0]
    return interquartile_estimate([[run.mean] for run in runs], np.random.default_rng(0))
