"""Which changes of a module do its tests not notice?

    python -m tests.mutate                                                                # the mutation score
    python -m tests.mutate oanquan_env/benchmark/estimates.py tests/test_estimates.py         # one module, every change

Changes one operator, comparison or constant at a time in a copy of the repository, runs the tests there, and lists the
changes that they passed. Some of these change nothing that matters; each of the others wants a test. What comes after
the module goes to pytest: files, `-k`, `-m slow`.

The score is that of `CHANGES` changes of the rules and of the search, drawn with a fixed seed. Nothing is compiled:
the tests of the search are the small ones.
"""

from __future__ import annotations

import ast
import importlib
import multiprocessing
import os
import random
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[1]
NOT_COPIED = (".*", "__pycache__", "build", "dist", "runs")
SWAPS = (
    "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Mult Div, LShift RShift, BitAnd BitOr, And Or, USub UAdd"
)
PAIRS = [[getattr(ast, name) for name in pair.split()] for pair in SWAPS.split(",")]
OTHER = {ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Add}
OTHER |= {one: two for pair in PAIRS for one, two in (pair, pair[::-1])}


SEED = 1
CHANGES = 300
ENGINE = "rules tables positions sowing scalar singles symmetry position_checks core"
SCORED = (
    ("oanquan_env/engine", ENGINE, "rules core referee singles rule_moves", ""),
    ("oanquan_env/players", "full_width selective", "full_width selective", ""),
    ("agents/search", "mcts", "mcts", ""),
    (
        "agents/search",
        "compiled memory alphabeta root deepening move_values",
        "search minimax signature",
        "holds_at_greater or with_and_without or repeats_itself",
    ),
    ("agents/search", "proof solver", "solve", "tonkin_is_solved or from_its_file or found_in_time or bounds_are"),
)
"""A folder, modules in it, the tests that shall notice a change of them, and those among these that are left out:
without compilation they take minutes."""
PRELOADED = ("numpy", "gymnasium", "pettingzoo", "hypothesis", "numba", "torch")
"""Modules that each child process finds loaded."""
SAME: frozenset[str] = frozenset()
"""Changes that change no behaviour, and so are not tried."""
Mutant: TypeAlias = tuple[int, str, str, str]


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


def mutants(source: str) -> Iterator[Mutant]:
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


def run_pytest(folder: Path, tests: str) -> None:
    """The work of a child process: pytest in a copy of the repository. Exits as pytest does."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.chdir(folder)
    os.environ["PYTHONPATH"] = sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    os._exit(pytest.main(shlex.split(f"-x -q -n 0 -p no:cacheprovider --assert=plain {tests}")))


def passes(folder: Path, tests: str, seconds: float | None = None) -> bool:
    """Whether the tests pass in a copy of the repository, and in that time."""
    child = multiprocessing.get_context("fork").Process(target=run_pytest, args=(folder, tests))
    child.start()
    child.join(seconds)
    child.kill()
    child.join()
    return child.exitcode == 0


def unnoticed(tried: list[tuple[str, str, Mutant]]) -> list[str]:
    """Print and return those changes, each of a module and beside the tests that may notice it, that the tests pass."""
    found: list[str] = []
    limits: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(ROOT, Path(scratch, "copy"), ignore=shutil.ignore_patterns(*NOT_COPIED)))
        for done, (module, tests, (line, before, after, changed)) in enumerate(tried):
            print(f"\r{done} of {len(tried)} changes", end="\r", file=sys.stderr, flush=True)
            if tests not in limits:
                begin = time.monotonic()
                if not passes(folder, tests):
                    sys.exit(f"error: the tests fail before anything is changed: {tests}")
                limits[tests] = 30 + 5 * (time.monotonic() - begin)
            whole = (folder / module).read_text(encoding="utf-8")
            (folder / module).write_text(changed, encoding="utf-8")
            if passes(folder, tests, limits[tests]):
                found.append(f"{module}:{line}: {before}  ->  {after}")
                print(found[-1], flush=True)
            (folder / module).write_text(whole, encoding="utf-8")
    return found


def changes_of(module: str) -> list[Mutant]:
    """All changes of a module, in the order of its lines, but for those of `SAME`."""
    every = sorted(mutants((ROOT / module).read_text(encoding="utf-8")))
    return [change for change in every if f"{Path(module).name}: {change[1]}  ->  {change[2]}" not in SAME]


def main(module: str | None = None, *tests: str) -> None:
    """Print the changes that the tests pass: of `module`, or of a sample of the rules and the search."""
    if module:
        tried = [(module, shlex.join(tests), change) for change in changes_of(module)]
    else:
        every = [
            (
                f"{folder}/{name}.py",
                shlex.join([*(f"tests/test_{test}.py" for test in tests.split()), *left_out]),
                change,
            )
            for folder, names, tests, slow in SCORED
            for left_out in [["-k", f"not ({slow})"] if slow else []]
            for name in names.split()
            for change in changes_of(f"{folder}/{name}.py")
        ]
        tried = sorted(random.Random(SEED).sample(every, CHANGES))
        # plain NumPy says when a hash overflows, as it should
        os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_ADDOPTS": "-W ignore:overflow:RuntimeWarning"}
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}  # stale bytecode is the old module
    for name in PRELOADED:
        importlib.import_module(name)
    found = unnoticed(tried)
    noticed = len(tried) - len(found)
    print(f"{len(tried)} changes, {noticed} noticed ({noticed / len(tried):.1%}), {len(found)} unnoticed")


if __name__ == "__main__":
    sys.exit(__doc__) if len(sys.argv) == 2 or sys.argv[1:2] == ["-h"] else main(*sys.argv[1:])
