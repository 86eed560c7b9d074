"""Join scripts of the page into one module: for the widget, which has no server, and for the published page."""

import posixpath
import re
from collections.abc import Iterable, Sequence

from oanquan_env.play.server import WEB

STATIC = re.compile(r'^import (?:[^"]* from )?"(\.[\w./-]+\.js)";$', flags=re.MULTILINE)
DYNAMIC = re.compile(r'import\("(\.[\w./-]+\.js)"\)')
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)\n", flags=re.MULTILINE)
IMPORT = re.compile(r'^import (?:\{\s+([^}]*?),?\s+\} from )?"(\.[\w./-]+\.js)";\n', flags=re.MULTILINE)
EXPORT = re.compile(r"^export (?:default )?(?:async )?(?:function|const|class) ([\w$]+)", flags=re.MULTILINE)


def target(name: str, path: str) -> str:
    """Return the name in `WEB` of the script that the script `name` imports by the relative `path`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def relative(name: str, place: str) -> str:
    """Return the path by which the script `place` imports the script `name`."""
    path = posixpath.relpath(name, posixpath.dirname(place) or ".")
    return path if path.startswith(".") else f"./{path}"


def in_order(starts: Iterable[str], *patterns: re.Pattern[str]) -> list[str]:
    """Return `starts` and all scripts that they import, each after its own imports; `patterns` match the imports."""
    order, seen = list[str](), set[str]()

    def add(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        text = (WEB / name).read_text(encoding="utf-8")
        for path in (path for pattern in patterns for path in pattern.findall(text)):
            add(target(name, path))
        order.append(name)

    for start in starts:
        add(start)
    return order


def linked(name: str, joined: Iterable[str], place: str | None = None) -> str:
    """Return the text of a script, with imports of the scripts in `joined` replaced by look-ups in `modules`.

    Paths of other imports start from the script `place` into which the text is put, by default `name` itself.
    """

    def imported(clause: re.Match[str]) -> str:
        names, other = clause[1], target(name, clause[2])
        if other not in joined:
            return clause[0].replace(clause[2], relative(other, place or name))
        return f'const {{ {names.replace(" as ", ": ")} }} = modules["{other}"];\n' if names else ""

    def later(call: re.Match[str]) -> str:
        other = target(name, call[1])
        if other not in joined:
            return f'import("{relative(other, place or name)}")'
        return f'Promise.resolve(modules["{other}"])'

    text = IMPORT.sub(imported, (WEB / name).read_text(encoding="utf-8"))
    return DYNAMIC.sub(later, text)


def bundle(starts: Sequence[str], *patterns: re.Pattern[str]) -> str:
    """Join `starts` and their imports (see `in_order`) into one module, which exports them in the object `modules`.

    The module takes the place of the first script in `starts`.
    """
    order, parts = in_order(starts, *patterns), ["export const modules = {};\n"]
    for name in order:
        text = linked(name, order, starts[0])
        body = COMMENT.sub("", re.sub(r"^export (?:default )?", "", text, flags=re.MULTILINE))
        parts.append(f'modules["{name}"] = (() => {{\n{body}return {{ {", ".join(EXPORT.findall(text))} }};\n}})();\n')
    return "".join(parts)
