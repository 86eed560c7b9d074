"""Hooks that add the reference, changelog, board, notebooks and reports to docs/ when MkDocs builds the site."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tools import docs_from_code, page_bundle  # noqa: E402  (MkDocs loads this file by its path)

PICTURES = {"image/svg+xml": "svg", "image/png": "png"}
"""MIME types of pictures in notebooks, and their file extensions."""
COLOUR_CODES = re.compile(r"\x1b\[[0-9;]*m")
LONG_CODE = re.compile(r"<code>(?=[^<]{36})")
WIDE = b"---\nhide: [navigation, toc]\n---\n"
"""Front matter that hides the side columns of a page with wide tables."""
RESULTS = ROOT / "experiments" / "results"
BOARD = re.compile(r"<!-- board:begin -->.*?<!-- board:end -->", flags=re.DOTALL)
"""Pattern for the picture on docs/play.md, which is for readers of the repository; the site shows a playable board."""
PLAY = "**[Play now](play.md)**", "[Play now](board/index.html){ .md-button .md-button--primary }"
"""The link to the board on docs/index.md, and the button that replaces it on the site."""
PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img src="([^"]+)"([^>]*)>\s*</picture>')
"""Pattern for a picture in two colour schemes: on GitHub, the system chooses the scheme; on the site, a switch does."""
SWITCHED = r'<img src="\2#only-light"\3><img src="\1#only-dark"\3>'
NOTEBOOK = re.compile(r"\]\(\.\./(notebooks/\w+)\.ipynb\)")
"""Pattern for a link from a page of docs/ to a notebook, which is a page of the site."""
FRAME = """<iframe class="board" src="board/index.html" title="Ô Ăn Quan" allow="clipboard-write; web-share"></iframe>

<p><a href="board/index.html">Open the board on its own page</a></p>"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog, the board, and a page for each notebook and report, with its pictures."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=changelog))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for place, content in notebook_page(path).items():
            files.append(File.generated(config, f"notebooks/{place}", content=content))
    for path in sorted([*RESULTS.rglob("report.md"), *RESULTS.rglob("*.png")]):
        content = path.read_bytes()
        if path.suffix == ".md":
            content = WIDE + content
        files.append(File.generated(config, f"reports/{path.relative_to(RESULTS).as_posix()}", content=content))
    for name, content in page_bundle.published():
        files.append(File.generated(config, f"board/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page's Markdown; insert the full reference into docs/api pages, and the board into docs/play.md.

    Links to reports and notebooks are changed, because a clone has them in experiments/results and as .ipynb files, and
    the site has them in reports and as pages. Pictures in two colour schemes are changed so that they follow the site's
    switch between the schemes. In a search, pages come before the symbols of the reference.
    """
    markdown = NOTEBOOK.sub(r"](\1.md)", markdown.replace("](../experiments/results/", "](reports/"))
    markdown = PICTURE.sub(SWITCHED, markdown.replace(*PLAY))
    if page.file.src_uri.startswith("api/"):
        page.meta["search"] = {"boost": 0.3}
    return docs_from_code.directives(markdown) if page.file.src_uri.startswith("api/") else BOARD.sub(FRAME, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark inline code that is too long for a line on a phone, so that only this code may be wrapped."""
    return LONG_CODE.sub('<code class="long">', html)


def notebook_page(path: Path) -> dict[str, str | bytes]:
    """Convert a notebook to Markdown with its outputs; return the contents of the page and pictures by file name."""
    contents: dict[str, str | bytes] = {}
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace(".ipynb)", ".md)"))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = {"text/plain": output["text"]} if output["output_type"] == "stream" else output["data"]
            kind = next((kind for kind in PICTURES if kind in data), None)
            if "text/markdown" in data:
                parts.append("".join(data["text/markdown"]))
                continue
            if kind is None:
                printed = COLOUR_CODES.sub("", "".join(data["text/plain"])).rstrip()
                parts.append(f"```{{.text .printed}}\n{printed}\n```")
                continue
            content = "".join(data[kind])
            name = f"{path.stem}-{len(contents)}.{PICTURES[kind]}"
            contents[name] = base64.b64decode(content) if kind == "image/png" else content
            parts.append(f"![]({name})")
    contents[f"{path.stem}.md"] = "\n\n".join(parts)
    return contents
