"""Run the notebooks, each in a new kernel, and store them with their outputs: `python notebooks/run.py [NAME ...]`.

Small pictures, tables and printed text are stored, so that the notebooks can be read without running them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oanquan_env.errors import USAGE_ERROR, needing_extra

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = Path(__file__).parent
PICTURES = ("image/svg+xml", "image/png")
MARKDOWN, TEXT, WIDGET = "text/markdown", "text/plain", "application/vnd.jupyter.widget-view+json"
MOST_CHARACTERS = {**dict.fromkeys(PICTURES, 200_000), MARKDOWN: 5_000, TEXT: 5_000}
"""Maximum number of characters of an output in each format; longer outputs are not stored."""
CELL_SECONDS = 600
"""Time limit of a cell, in seconds."""


def notebooks() -> list[Path]:
    """Return the paths of all notebooks, sorted by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path) -> NotebookNode:
    """Run a notebook in a new kernel; return it with its outputs. Raises `CellExecutionError` if a cell fails."""
    with needing_extra("notebooks", "notebooks/run.py"):
        import nbformat
        from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=CELL_SECONDS, resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def shown(cell: NotebookNode) -> list[tuple[str, str]]:
    """Return the best storable format and the content of each output of a code cell; adjacent texts are joined."""
    found: list[tuple[str, str]] = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            data = {TEXT: output["text"]} if output["name"] == "stdout" else {}
        else:
            data = {} if WIDGET in output.get("data", {}) else output.get("data", {})  # it needs a running kernel
        best = next((kind for kind in MOST_CHARACTERS if kind in data), None)
        if best is None:
            continue
        content = "".join(data[best])
        if best == TEXT and found and found[-1][0] == TEXT:  # a kernel sends printed text in pieces
            content = found.pop()[1] + content
        found.append((best, content))
    return found


def keep_shown(notebook: NotebookNode) -> None:
    """Remove metadata, execution counts, and outputs that are too long or in other formats from a notebook in place."""
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            pictures = [output for output in cell.outputs if PICTURES[0] in output.get("data", {})]
            kept = [part for part in shown(cell) if len(part[1]) <= MOST_CHARACTERS[part[0]]]
            cell.outputs = [_output(kind, content, pictures) for kind, content in kept]
            cell.execution_count = None


def _output(kind: str, content: str, pictures: list[Any]) -> Any:
    """Return the output to store; an SVG gets its PNG from `pictures`, because JupyterLab shows no untrusted SVG."""
    from nbformat.v4 import new_output

    if kind == TEXT:
        return new_output("stream", name="stdout", text=content)
    same = (made for made in pictures if "".join(made["data"][PICTURES[0]]) == content and PICTURES[1] in made["data"])
    if kind != PICTURES[0] or (made := next(same, None)) is None:
        return new_output("display_data", {kind: content})
    both = {kind: content, PICTURES[1]: made["data"][PICTURES[1]]}
    return new_output("display_data", both, metadata=made["metadata"])


def main(names: list[str]) -> int:
    """Run and store the notebooks whose file names begin with one of `names`, or all if `names` is empty.

    Return the exit status: 0, or 2 if a name matches no notebook; then no notebook is run.
    """
    known = notebooks()
    for name in names:
        if not any(path.name.startswith(name) for path in known):
            exist = ", ".join(path.name for path in known)
            print(f"notebooks/run.py: no notebook begins with {name!r}; there are {exist}", file=sys.stderr)
            return USAGE_ERROR
    for path in known:
        if not names or path.name.startswith(tuple(names)):
            print(f"running {path.name}", flush=True)
            notebook = execute(path)
            keep_shown(notebook)
            import nbformat

            nbformat.write(notebook, path)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="prefix of a file name, such as 01 (default: all)")
    sys.exit(main(parser.parse_args().names))
