"""The README's examples run as they stand, each in a process of its own: none leans on another's imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def complaints(block: str, folder: Path) -> str:
    """What a fresh Python finds wrong with an example; nothing if it does what it says."""
    path = folder / "example.txt"
    path.write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "doctest", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert bool(done.returncode) == bool(done.stdout + done.stderr)
    return done.stdout + done.stderr


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_an_example_does_what_it_says(block: str, tmp_path: Path) -> None:
    assert block.count(">>>") > 3
    assert complaints(block, tmp_path) == ""


def test_there_are_examples() -> None:
    assert len(BLOCKS) == 2


def test_an_example_that_lacks_an_import_is_noticed(tmp_path: Path) -> None:
    block = '>>> import gymnasium\n>>> game = gymnasium.make("OAnQuan-v0")\n'
    assert "NameNotFound" in complaints(block, tmp_path)
