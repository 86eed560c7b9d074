"""The notebooks run from a clean kernel, and nothing but small pictures and short text is stored in them."""

import re
from pathlib import Path

import nbformat
import pytest

from notebooks.run import MOST_CHARACTERS, TEXT, execute, main, notebooks, shown

TRAINED = "03_train_and_benchmark"
"""Shows networks, whose numbers differ from one processor to another."""

each_notebook = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


@each_notebook
def test_only_what_is_shown_is_stored(path: Path) -> None:
    kinds = set()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count is None
            assert len(shown(cell)) == len(cell.outputs)
            assert all(len(content) <= MOST_CHARACTERS[kind] for kind, content in shown(cell))
            kinds |= {kind for kind, _ in shown(cell)}
    assert TEXT in kinds
    assert len(kinds) > 1


@each_notebook
@pytest.mark.slow
def test_notebook_runs_from_a_clean_kernel(path: Path) -> None:
    """And it shows what is stored."""
    stored = nbformat.read(path, as_version=4)
    fresh = execute(path)
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        assert [kind for kind, _ in shown(before)] == [kind for kind, _ in shown(after)], before.source
        changing = r"\d+\.\d+" if path.stem == TRAINED else r" +\d+\.\d+ s\b"
        same = [
            [re.sub(changing, "", part) for kind, part in shown(cell) if kind != "image/png"]
            for cell in (before, after)
        ]
        assert same[0] == same[1], f"out of date: python notebooks/run.py {path.name}\n{before.source}"


def test_a_name_that_no_notebook_has_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notebooks.run.execute", lambda path: pytest.fail("something was run"))
    assert main(["01", "nowhere"]) == 2
    assert "no notebook begins with 'nowhere'; there are 01_the_game.ipynb, " in capsys.readouterr().err
