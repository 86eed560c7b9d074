"""The notebooks run from a clean kernel, and nothing but small pictures is stored in them."""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
import pytest

from notebooks.run import MOST_CHARACTERS, execute, notebooks, pictures

each_notebook = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert len(notebooks()) == 4


@each_notebook
def test_only_small_pictures_are_stored(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count is None
            assert len(pictures(cell)) == len(cell.outputs)
            assert all(len(output.data) == 1 for output in cell.outputs)
            assert all(len(content) <= MOST_CHARACTERS for _, content in pictures(cell))


@each_notebook
@pytest.mark.slow
def test_notebook_runs_from_a_clean_kernel(path: Path) -> None:
    """And what it shows includes every picture that is stored."""
    stored = nbformat.read(path, as_version=4)
    begin = time.perf_counter()
    fresh = execute(path)
    print(f"{path.name}: {time.perf_counter() - begin:.0f} s")
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        assert [kind for kind, _ in pictures(before)] == [kind for kind, _ in pictures(after)], before.source
