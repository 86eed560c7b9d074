"""Bundle the page for publication: `page.js` gets all scripts for the first move, and `worker.js` the worker's scripts.

A phone on a slow network waits for each request, so bundling reduces requests. Scripts that load later stay separate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oanquan_env.play.bundle import DYNAMIC, STATIC, bundle, in_order, linked, relative
from oanquan_env.play.server import WEB
from tools import page_lists

LATER = ("players/thinker.js",)
"""Scripts that the page imports later but that are bundled, so that the first reply comes sooner."""
SOON = ("data/catalogue.json", "data/drawing-2-5.json", "engine.json", "moves.wasm")  # files that the page preloads


def published() -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file of the published page."""
    first = in_order([page_lists.START, *LATER], STATIC)
    texts = {
        page_lists.START: bundle([page_lists.START, *LATER], STATIC),
        page_lists.WORKER: bundle([page_lists.WORKER], STATIC),
    }
    for name in sorted(in_order([page_lists.START], STATIC, DYNAMIC)):
        if name not in first:
            text = linked(name, first)
            start = f'import {{ modules }} from "{relative(page_lists.START, name)}";\n' if "modules[" in text else ""
            texts[name] = start + text
    page = (WEB / page_lists.PAGE).read_text(encoding="utf-8")
    links = "".join(f'<link rel="preload" as="fetch" crossorigin href="{name}">' for name in SOON)
    texts[page_lists.PAGE] = re.sub(r'<link rel="modulepreload".*>', links, page)
    every = in_order([page_lists.START, page_lists.WORKER], STATIC, DYNAMIC)
    left_out = {"README.md", "widget.js", *every} - {*texts}
    files = {path.relative_to(WEB).as_posix(): path.read_bytes() for path in sorted(WEB.rglob("*")) if path.is_file()}
    files = {name: content for name, content in files.items() if name not in left_out}
    files |= {name: text.encode() for name, text in texts.items()}
    files[page_lists.KEEPER] = page_lists.keeper(files).encode()
    yield from files.items()
