"""Run the page's scripts in Node.js, without a browser. Tests are skipped if Node.js is not installed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

CALLS = ROOT / "tests" / "page"
"""The folder of the programs that call the page's modules."""


def node() -> str:
    """Return the path of Node.js; skip the test if it is not installed."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node.js")
    return found


def run_node(*arguments: str | Path, stdin: str) -> bytes:
    """Run Node.js with the input `stdin` and return its output; if it fails, raise AssertionError with its messages."""
    done = subprocess.run([node(), *arguments], input=stdin.encode(), capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def run_script(script: str, *arguments: str | Path, stdin: str) -> bytes:
    """Run a JavaScript module given as text, and return its output; see `run_node`."""
    return run_node("--input-type=module", "-e", script, *arguments, stdin=stdin)


def answers_of(output: bytes) -> list[Any]:
    """Return what a program of `CALLS` printed for each call: its value, or the error message if it failed."""
    return [answer["value"] if "value" in answer else answer["refused"] for answer in json.loads(output)]
