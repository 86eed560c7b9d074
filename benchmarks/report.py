"""What all benchmarks share: the command line, the table, the JSON with the machine and the commit."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agents.support import provenance

RESULTS = Path(__file__).parent / "results"


def parser(description: str | None, name: str) -> argparse.ArgumentParser:
    """A parser with the option that all benchmarks have."""
    made = argparse.ArgumentParser(description=description, prog=f"python -m benchmarks.{name}")
    made.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", help="where to write the results")
    return made


def show(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column to the left, numbers to the right."""
    table = Table(title=title)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def write(path: Path, results: dict[str, Any]) -> None:
    """Write results with where they were measured."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"measured_on": describe_machine(), **results}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def median_speeds(contestants: Mapping[str, Callable[[float], float]], rounds: int, seconds: float) -> dict[str, float]:
    """Each contestant's median speed over several rounds, all in turn in each; called with the seconds to run."""
    measured: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            measured[name].append(contestant(seconds))
    return {name: statistics.median(speeds) for name, speeds in measured.items()}


def describe_machine() -> dict[str, Any]:
    """Processor, versions and commit."""
    return {
        "processor": provenance.processor(),
        "commit": provenance.commit(),
        **provenance.versions(["numpy", "torch"]),
    }
