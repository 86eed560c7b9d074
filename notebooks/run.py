"""Run the notebooks, each in a fresh kernel, and store them with their pictures: `python notebooks/run.py [NAME ...]`.

Only pictures are stored, and only small ones: text and times would differ at every run and hide what has changed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from agents.support.extras import needing_extras

with needing_extras("notebooks/run.py" if __name__ == "__main__" else None):
    import nbformat
    from nbclient import NotebookClient
    from nbformat import NotebookNode

FOLDER = Path(__file__).parent
PICTURES = ("image/svg+xml", "image/png")
MOST_CHARACTERS = 200_000
"""Most characters of a stored picture."""
CELL_SECONDS = 600
"""A cell that takes longer is stuck."""


def notebooks() -> list[Path]:
    """All notebooks, in order."""
    return sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path) -> NotebookNode:
    """The notebook with the outputs of a run from a clean kernel. Raises `CellExecutionError` where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=CELL_SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def pictures(cell: NotebookNode) -> list[tuple[str, str]]:
    """Format and content of the pictures that a code cell shows: the best format of each output."""
    shown = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        best = next((kind for kind in PICTURES if kind in data), None)
        if best is not None:
            shown.append((best, "".join(data[best])))
    return shown


def keep_pictures(notebook: NotebookNode) -> None:
    """Drop everything that a run leaves in a notebook, except pictures."""
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            small = [shown for shown in pictures(cell) if len(shown[1]) <= MOST_CHARACTERS]
            cell.outputs = [_display(kind, content) for kind, content in small]
            cell.execution_count = None


def _display(kind: str, content: str) -> Any:
    return nbformat.v4.new_output("display_data", {kind: content})


def main(names: list[str]) -> None:
    """Run and store the notebooks whose file names begin with one of `names`; all if none is given."""
    for path in notebooks():
        if not names or path.name.startswith(tuple(names)):
            print(f"running {path.name}", flush=True)
            notebook = execute(path)
            keep_pictures(notebook)
            nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
