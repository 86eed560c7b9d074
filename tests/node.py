"""The page's scripts run by Node.js, without a browser. Tests that need it are skipped where it is not installed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CALLS = Path(__file__).parent / "page"
"""Programs that ask the page's modules."""


def node() -> str:
    """The program; skips the test without it."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node.js")
    return found


def run_node(*arguments: str | Path, asked: str) -> bytes:
    """The output of a run with `asked` on its standard input; a failure is told with its words."""
    done = subprocess.run([node(), *arguments], input=asked.encode(), capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def run_script(script: str, *arguments: str | Path, asked: str) -> bytes:
    """The output of a module given as text, as of `run_node`."""
    return run_node("--input-type=module", "-e", script, *arguments, asked=asked)


def answers_of(output: bytes) -> list[Any]:
    """The answers that a program of `CALLS` gave: values, or refusals."""
    return [answer["value"] if "value" in answer else answer["refused"] for answer in json.loads(output)]
