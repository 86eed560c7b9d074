"""What MkDocs is told to do beside building pages: fill in generated parts, show the notebooks, skip absent pages."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from docs import generated  # noqa: E402  (MkDocs loads this file by its path)

SUFFIXES = {"image/svg+xml": "svg", "image/png": "png"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave pages out of the navigation that this clone does not have."""
    config.nav = _present(config.nav or [])
    return config


def _present(entries: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        title, target = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(target, list):
            kept.append({title: _present(target)})
        elif target.startswith("notebooks/") or (ROOT / "docs" / target).is_file():
            kept.append(entry)
    return kept


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, with the pictures that are stored in it."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for place, content in notebook_page(path).items():
            files.append(File.generated(config, f"notebooks/{place}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what comes from the code."""
    return generated.fill(markdown)


def notebook_page(path: Path) -> dict[str, str | bytes]:
    """File name -> content: the notebook as Markdown, and its pictures."""
    made: dict[str, str | bytes] = {}
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace(".ipynb)", ".md)"))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            ((kind, content),) = output["data"].items()
            name = f"{path.stem}-{len(made)}.{SUFFIXES[kind]}"
            made[name] = base64.b64decode(content) if kind == "image/png" else "".join(content)
            parts.append(f"![]({name})")
    made[f"{path.stem}.md"] = "\n\n".join(parts)
    return made
