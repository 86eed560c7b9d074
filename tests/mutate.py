"""Which changes of a module do its tests not notice?

    python -m tests.mutate agents/evaluation/estimates.py tests/test_estimates.py

Changes one operator, comparison or constant at a time in a copy of the repository, runs the tests there, and lists the
changes that they passed. Some of these change nothing that matters; each of the others wants a test. What comes after
the module goes to pytest: files, `-k`, `-m slow`.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_COPIED = (".*", "__pycache__", "build", "dist", "runs")
SWAPS = (
    "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Mult Div, LShift RShift, BitAnd BitOr, And Or, USub UAdd"
)
PAIRS = [[getattr(ast, name) for name in pair.split()] for pair in SWAPS.split(",")]
OTHER = {ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Add}
OTHER |= {one: two for pair in PAIRS for one, two in (pair, pair[::-1])}


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Attributes of a node with other values for them, each of which is one change."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            yield "ops", [*node.ops[:place], OTHER[type(op)](), *node.ops[place + 1 :]]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        yield "operand", ast.UnaryOp(node.op, node.operand)
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign, ast.UnaryOp)) and type(node.op) in OTHER:
        yield "op", OTHER[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        yield "value", not node.value if type(node.value) is bool else node.value + 1


def mutants(source: str) -> Iterator[tuple[int, str, str, str]]:
    """For each change of a module its line, the expression before and after, and the whole module after."""
    tree = ast.parse(source)
    hints = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    types = {part for hint in hints if hint for part in ast.walk(hint)}
    for node in ast.walk(tree):
        for name, other in () if node in types else changes(node):
            kept, before = getattr(node, name), ast.unparse(node)
            setattr(node, name, other)
            yield node.lineno, before, ast.unparse(node), ast.unparse(tree)
            setattr(node, name, kept)


def passes(folder: Path, tests: tuple[str, ...], seconds: float | None = None) -> bool:
    """Whether the tests pass in a copy of the repository, and in that time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *tests]
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}  # stale bytecode is the old module
    try:
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(module: str, *tests: str) -> None:
    """Print the changes of `module` that the tests pass."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(ROOT, Path(scratch, "copy"), ignore=shutil.ignore_patterns(*NOT_COPIED)))
        path, begin = folder / module, time.monotonic()
        if not passes(folder, tests):
            sys.exit("error: the tests fail before anything is changed")
        seconds, unnoticed = 30 + 5 * (time.monotonic() - begin), 0
        tried = sorted(mutants(path.read_text(encoding="utf-8")))
        for line, before, after, changed in tried:
            path.write_text(changed, encoding="utf-8")
            if passes(folder, tests, seconds):
                unnoticed += 1
                print(f"{module}:{line}: {before}  ->  {after}", flush=True)
    print(f"{len(tried)} changes, {unnoticed} unnoticed")


if __name__ == "__main__":
    sys.exit(__doc__) if len(sys.argv) < 3 or sys.argv[1].startswith("-") else main(*sys.argv[1:])
