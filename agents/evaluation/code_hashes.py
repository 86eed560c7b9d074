"""Hashes of the code behind a result: the project's packages, and custom code that is named as MODULE:NAME."""

import ast
import functools
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from oanquan_env.files import short_hash
from oanquan_env.players.adapters import MODULE, module_files
from oanquan_env.players.making import kinds

PROJECT = ("agents", "oanquan_env")


@functools.cache
def project_code() -> dict[str, str]:
    """Return a hash of each of the project's packages. The code is read once, so later edits do not change it."""
    return {name: short_hash(*_contents(module_files(name))) for name in PROJECT}


def custom_code(text: str) -> list[str]:
    """Return the code outside the project, each as MODULE:NAME, that the players or settings in `text` refer to."""
    known = kinds()
    # `minimax:depth=4` looks like MODULE:NAME, but is a kind of player; the code of a kind is the module that makes it
    code = [match[0] for match in MODULE.finditer(text) if match[1] not in known]
    code += [f"{kind.make.__module__}:{word}" for word, kind in known.items() if re.search(rf"\b{word}\b", text)]
    return [name for name in code if re.split("[.:]", name)[0] not in PROJECT]


def code_hashes(names: Iterable[str], *, files: bool = False) -> dict[str, str]:
    """Return a hash, by top-level module, of the code outside the project that `names` (each MODULE:NAME) refer to.

    This code is the whole top-level package of each module, and all packages and modules that it imports, except
    installed ones. With `files`, a hash also covers the files whose names are string literals in the code, relative to
    the module's folder or to the current folder. Modules that do not exist have no hash.
    """
    hashes, todo = dict[str, str](), [(re.split("[.:]", name)[0], True) for name in names]
    while todo:
        top, installed = todo.pop()
        if top in hashes or top in PROJECT or top in sys.stdlib_module_names:
            continue
        sources = module_files(top, installed=installed)
        content = _contents(sources)
        for folder, node in [(path.parent, node) for path in sources.values() for node in _nodes(path)]:
            if isinstance(node, ast.Import):
                todo += [(alias.name.partition(".")[0], False) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                todo.append((node.module.partition(".")[0], False))
            elif files and isinstance(node, ast.Constant) and isinstance(node.value, str):
                paths = [os.path.join(base, node.value) for base in (folder, "")]
                content += [Path(file).read_bytes() for file in paths if os.path.isfile(file)]
        if sources:
            hashes[top] = short_hash(*content)
    return dict(sorted(hashes.items()))


def _contents(files: dict[str, Path]) -> list[bytes]:
    return [part for name, path in sorted(files.items()) for part in (name.encode(), b"\0", path.read_bytes(), b"\0")]


def _nodes(path: Path) -> Iterable[ast.AST]:
    try:
        return ast.walk(ast.parse(path.read_bytes()))
    except (SyntaxError, ValueError):  # a compiled module, or a template in a package
        return []
