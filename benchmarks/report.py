"""What all benchmarks share: the command line, the table, the JSON with the machine and the commit."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

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


def describe_machine() -> dict[str, Any]:
    """Processor, versions and commit."""
    return {
        "processor": _processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
