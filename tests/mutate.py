"""Which changes of a module do its tests not notice?

    python -m tests.mutate 300                                                          # the mutation score
    python -m tests.mutate oanquan_env/benchmark/estimates.py tests/test_estimates.py   # one module, every change

Changes one operator, comparison or constant at a time in a copy of the repository, runs the tests there, and lists the
changes that they passed. Some of these change nothing that matters; each of the others wants a test. What comes after
the module goes to pytest: files, `-k`, `-m slow`.

The score is that of a number of changes of the rules and the search, drawn with a fixed seed, or with one that follows
the number. The draw goes by the text of each change, so it hardly differs when code changes elsewhere. Changes that
`mutants_same.txt` lists are left out. Nothing is compiled, and the tests of the search are the small ones. Interrupted,
it tells the score so far.
"""

import ast
import collections
import contextlib
import hashlib
import importlib
import multiprocessing
import os
import resource
import shlex
import shutil
import sys
import tempfile
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

ENGINE = "rules tables positions sowing move loops symmetry position_checks core"
SLOW = (
    "greater or with_and or repeats or plays_every or in_all_presets or 4] or 5]"
    " or says and not tonkin or counted and not tonkin-False"
)
PROOFS = "tonkin or many or holds_by and not 0.01-app or bounds_are or goes_on or too_many or time or deadline"
SCORED = (
    ("oanquan_env/engine", ENGINE, "rule_moves core referee singles rules", ""),
    (
        "oanquan_env/players",
        "full_width selective",
        "selective full_width many_player_net signature",
        "by_name or says and not tonkin",
    ),
    ("oanquan_env/search", "mcts", "mcts signature", "says and not three"),
    (
        "oanquan_env/search",
        "compiled memory alphabeta root deepening move_values",
        "search search_player signature",
        SLOW,
    ),
    ("oanquan_env/search", "proof proof_tables solver", "solve solve_command", PROOFS),
)
"""Folder, modules, the tests that shall notice a change of them, and those that take too long without compilation."""
PRELOADED = ("numpy", "gymnasium", "pettingzoo", "hypothesis", "numba", "torch")
"""Modules that each child process finds loaded."""
SAME = Path(__file__).with_name("mutants_same.txt")
"""Changes that are left out, with reasons: as they are printed, but for the folder and the line's number."""
Mutant: TypeAlias = tuple[int, str, str]


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
    """For each change of a module its line's number, the line with the change marked, and the whole module after."""
    tree, lines = ast.parse(source), source.splitlines()
    hints = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    types = {part for hint in hints if hint for part in ast.walk(hint)}
    for node in ast.walk(tree):
        for name, other in () if node in types else changes(node):
            kept, before = getattr(node, name), ast.unparse(node)
            setattr(node, name, other)
            line = lines[node.lineno - 1].encode()
            rest = line[node.end_col_offset :] if node.end_lineno == node.lineno else b""
            marked = f"{line[: node.col_offset].decode()}[{before} -> {ast.unparse(node)}]{rest.decode()}"
            yield node.lineno, marked.strip(), ast.unparse(tree)
            setattr(node, name, kept)


def run_pytest(folder: Path, tests: str, seconds: int) -> None:
    """The work of a child process: pytest in a copy of the repository. Exits as pytest does."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.chdir(folder)
    os.environ["PYTHONPATH"] = sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    os._exit(pytest.main(shlex.split(f"-x -q -n 0 -p no:cacheprovider --assert=plain {tests}")))


def passes(folder: Path, tests: str, seconds: int = 3600) -> bool:
    """Whether the tests pass in a copy of the repository, and in so many seconds of the processor."""
    child = multiprocessing.get_context("fork").Process(target=run_pytest, args=(folder, tests, seconds))
    child.start()
    child.join(20 * seconds)  # it may wait for ever without the processor
    child.kill()
    child.join()
    return child.exitcode == 0


def seconds_of_children() -> float:
    """Seconds that the processor has worked for child processes that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def score(tried: list[tuple[str, str, Mutant]]) -> None:
    """Try changes, each of a module and beside the tests that may notice it; print those that the tests pass."""
    done, found = 0, list[str]()
    limits: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(KeyboardInterrupt):
        folder = Path(shutil.copytree(ROOT, Path(scratch, "copy"), ignore=shutil.ignore_patterns(*NOT_COPIED)))
        for module, tests, (line, change, changed) in tried:
            if tests not in limits:
                begin = seconds_of_children()
                if not passes(folder, tests):
                    sys.exit(f"error: the tests fail before anything is changed: {tests}")
                limits[tests] = 5 + round(2 * (seconds_of_children() - begin))
            whole = (folder / module).read_text(encoding="utf-8")
            (folder / module).write_text(changed, encoding="utf-8")
            if passes(folder, tests, limits[tests]):
                found.append(f"{module}:{line}: {change}")
                print(found[-1], flush=True)
            (folder / module).write_text(whole, encoding="utf-8")
            done += 1
            print(f"{done} of {len(tried)} changes, {done - len(found)} noticed", end="\r", file=sys.stderr, flush=True)
    noticed = done - len(found)
    print(f"{done} changes, {noticed} noticed ({noticed / max(1, done):.1%}), {len(found)} unnoticed")


def changes_of(module: str) -> list[Mutant]:
    """All changes of a module, in the order of its lines."""
    return sorted(mutants((ROOT / module).read_text(encoding="utf-8")))


def sample(number: int, seed: int = 1) -> list[tuple[str, str, Mutant]]:
    """So many changes of the modules of `SCORED`, each beside its module and its tests, less those of `SAME`."""
    every = []
    for folder, modules, names, slow in SCORED:
        tests = " ".join(f"tests/test_{name}.py" for name in names.split()) + (f" -k 'not ({slow})'" if slow else "")
        for module in (f"{name}.py" for name in modules.split()):
            seen = collections.Counter[str]()
            for mutant in changes_of(f"{folder}/{module}"):
                text = f"{module}: {mutant[1]}"
                seen[text] += 1
                draw = hashlib.sha256(f"{seed} {seen[text]} {text}".encode()).digest()
                every.append((draw, text, (f"{folder}/{module}", tests, mutant)))
    same = SAME.read_text(encoding="utf-8").splitlines()
    return [tried for _, text, tried in sorted(every)[:number] if text not in same]


def main(module: str, *tests: str) -> None:
    """Print the changes that the tests pass: of `module`, or of a sample of the rules and the search."""
    if module.isdigit():
        tried = sample(int(module), *map(int, tests))
        # plain NumPy says when a hash overflows, as it should
        os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_ADDOPTS": "-W ignore:overflow:RuntimeWarning"}
    else:
        tried = [(module, shlex.join(tests), change) for change in changes_of(module)]
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}  # stale bytecode is the old module
    for name in PRELOADED:
        importlib.import_module(name)
    score(tried)


if __name__ == "__main__":
    sys.exit(__doc__) if len(sys.argv) < 2 or sys.argv[1].startswith("-") else main(*sys.argv[1:])
