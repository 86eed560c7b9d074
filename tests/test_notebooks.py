"""Test that notebooks run from a clean kernel, and that only small pictures and short text are stored in them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from notebooks.run import MOST_CHARACTERS, TEXT, execute, notebooks, shown

each_notebook = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


@each_notebook
def test_only_what_is_shown_is_stored(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] is None and len(shown(cell)) == len(cell["outputs"]) for cell in cells)
    stored = [part for cell in cells for part in shown(cell)]
    assert all(len(content) <= MOST_CHARACTERS[kind] for kind, content in stored)
    assert {TEXT} < {kind for kind, _ in stored}


@each_notebook
@pytest.mark.slow
def test_notebook_runs_from_a_clean_kernel_and_shows_what_is_stored(path: Path) -> None:
    # The numbers that networks compute differ between processors.
    changing = r"\d+\.\d+" if path.stem == "03_train_and_benchmark" else r" +\d+\.\d+ s\b"

    import nbformat

    def stable(cell: Any) -> list[tuple[str, str]]:
        return [(kind, "" if kind == "image/png" else re.sub(changing, "", part)) for kind, part in shown(cell)]

    for before, after in zip(nbformat.read(path, as_version=4).cells, execute(path).cells, strict=True):
        assert stable(before) == stable(after), f"out of date: python notebooks/run.py {path.name}\n{before.source}"
