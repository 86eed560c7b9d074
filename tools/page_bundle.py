"""Bundle the page for publication: `page.js` gets all scripts for the first move, and `worker.js` the worker's scripts.

A phone on a slow network waits for each request, so bundling reduces requests. Scripts that load later stay separate.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from tools import page_lists

LATER = ("players/thinker.js",)
"""Scripts that the page imports later but that are bundled, so that the first reply comes sooner."""
SOON = ("data/catalogue.json", "data/drawing-2-5.json", "engine.json", "moves.wasm")  # files that the page preloads
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)\n", flags=re.MULTILINE)
IMPORT = re.compile(r'^import (?:\{\s+([^}]*?),?\s+\} from )?"(\.[\w./-]+\.js)";\n', flags=re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) ([\w$]+)", flags=re.MULTILINE)


def in_order(starts: Iterable[str]) -> list[str]:
    """Return the scripts in `starts` and all scripts that they import, each after its own imports."""
    order: list[str] = []

    def add(name: str) -> None:
        for path in page_lists.STATIC.findall((page_lists.WEB / name).read_text(encoding="utf-8")):
            add(page_lists.target(name, path))
        if name not in order:
            order.append(name)

    for start in starts:
        add(start)
    return order


def linked(name: str, joined: Iterable[str], place: str | None = None) -> str:
    """Return the text of a script, with imports of the scripts in `joined` replaced by look-ups in `modules`.

    Paths of other imports start from the script `place` into which the text is put, by default `name` itself.
    """

    def imported(clause: re.Match[str]) -> str:
        names, other = clause[1], page_lists.target(name, clause[2])
        if other not in joined:
            return clause[0].replace(clause[2], relative(other, place or name))
        return f'const {{ {names.replace(" as ", ": ")} }} = modules["{other}"];\n' if names else ""

    def later(call: re.Match[str]) -> str:
        other = page_lists.target(name, call[1])
        if other not in joined:
            return f'import("{relative(other, place or name)}")'
        return f'Promise.resolve(modules["{other}"])'

    text = IMPORT.sub(imported, (page_lists.WEB / name).read_text(encoding="utf-8"))
    return page_lists.DYNAMIC.sub(later, text)


def relative(name: str, place: str) -> str:
    """Return the path by which the script `place` imports the script `name`."""
    path = posixpath.relpath(name, posixpath.dirname(place) or ".")
    return path if path.startswith(".") else f"./{path}"


def bundle(starts: Sequence[str]) -> str:
    """Join the scripts in `starts` and their imports into one module, which exports them in the object `modules`.

    The module takes the place of the first script in `starts`.
    """
    order, parts = in_order(starts), ["export const modules = {};\n"]
    for name in order:
        text = linked(name, order, starts[0])
        body = COMMENT.sub("", re.sub(r"^export ", "", text, flags=re.MULTILINE))
        parts.append(f'modules["{name}"] = (() => {{\n{body}return {{ {", ".join(EXPORT.findall(text))} }};\n}})();\n')
    return "".join(parts)


def published() -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file of the published page."""
    first = in_order([page_lists.START, *LATER])
    texts = {page_lists.START: bundle([page_lists.START, *LATER]), page_lists.WORKER: bundle([page_lists.WORKER])}
    for name in page_lists.modules([page_lists.START], page_lists.STATIC, page_lists.DYNAMIC):
        if name not in first:
            text = linked(name, first)
            start = f'import {{ modules }} from "{relative(page_lists.START, name)}";\n' if "modules[" in text else ""
            texts[name] = start + text
    page = (page_lists.WEB / page_lists.PAGE).read_text(encoding="utf-8")
    links = "".join(f'<link rel="preload" as="fetch" crossorigin href="{name}">' for name in SOON)
    texts[page_lists.PAGE] = re.sub(r'<link rel="modulepreload".*>', links, page)
    every = page_lists.modules([page_lists.START, page_lists.WORKER], page_lists.STATIC, page_lists.DYNAMIC)
    left_out = {"README.md", "widget.js", *every} - {*texts}
    files = {
        path.relative_to(page_lists.WEB).as_posix(): path.read_bytes()
        for path in sorted(page_lists.WEB.rglob("*"))
        if path.is_file()
    }
    files = {name: content for name, content in files.items() if name not in left_out}
    files |= {name: text.encode() for name, text in texts.items()}
    files[page_lists.KEEPER] = page_lists.keeper(files).encode()
    yield from files.items()
