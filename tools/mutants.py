"""Change the code a little, many times, and find the changes that no test notices (mutation testing).

    python -m tools.mutants --source COMMIT --output mutants.jsonl
    python -m tools.mutants --source COMMIT --earlier OTHER --output mutants.jsonl

Each mutant is the source of COMMIT with one operator, number or truth value replaced. A seed draws the mutants, so the
same command always gives the same ones. On each mutant, the tests of its room run, as COMMIT has them, until one fails.
The second command compares them with the tests of OTHER: if the room's tests in COMMIT miss a mutant, the room's tests
in OTHER run, and if these notice it, all tests in COMMIT. Each line of the output is a mutant with the test that
noticed it at each of these steps, or null: power is lost where `earlier` names a test and `elsewhere` does not. Mutants
that the output already has are not run again, so the same command continues it.
"""

import argparse
import ast
import io
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import track

ROOT = Path(__file__).parents[1]
PAGE = "oanquan_env/play/web"
PYTHON = 120  # mutants of Python, and of the page's JavaScript
JAVASCRIPT = 60
SEED = 20_261_128
_EXCHANGED = [
    *(("==", "!="), ("<", "<="), (">", ">="), ("+", "-"), ("&", "|"), ("<<", ">>"), ("and", "or")),
    *(("True", "False"), ("===", "!=="), ("&&", "||"), ("true", "false")),
]
REPLACED = dict(_EXCHANGED) | {after: before for before, after in _EXCHANGED}
REPLACED |= {"*": "+", "/": "*", "//": "*", "%": "*", "^": "&", "not": "", "!": ""}
"""The replacement for each operator and truth value; a whole number is replaced by the next one."""
SCRIPT = re.compile(
    r"//.*|/\*[\s\S]*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`"  # skipped: comments and strings
    r"|(?<= )(?P<operator>===|!==|<=?|>=?|[-+*/%&|]|&&|\|\|)(?= )|(?P<not>!(?=[\w(#]))"
    r"|(?<![\w.#])(?P<value>\d+|true|false)(?![\w.])"
)
"""The places for changes in a script; Prettier puts blanks around each operator of two operands."""
ROOMS = {PAGE: "tests/page", "agents": "tests/agents", "train.py": "tests/agents", "evaluate.py": "tests/agents"}
"""The tests of a room whose folder in tests has another name than its folder in `oanquan_env`."""


@dataclass(frozen=True)
class Mutant:
    """One change: `after` replaces `before` in a file, at a line and an offset in characters."""

    file: str
    line: int
    offset: int
    before: str
    after: str

    def of(self, text: str) -> str:
        """Return the changed text of the file, given its text."""
        return text[: self.offset] + self.after + text[self.offset + len(self.before) :]


def changed(token: str) -> str:
    """Return the replacement of a token."""
    return str(int(token) + 1) if token.isdecimal() else REPLACED[token]


def python_mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield all mutants of a Python module, except those of types and of decorators."""
    kept = []  # where types and decorators begin and end
    for node in ast.walk(ast.parse(text)):
        parts = [
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            *getattr(node, "decorator_list", []),
        ]
        kept += [
            ((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0))
            for part in parts
            if isinstance(part, ast.expr)
        ]
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number = token.type == tokenize.NUMBER and token.string.isdecimal()
        changeable = number or (token.type in (tokenize.OP, tokenize.NAME) and token.string in REPLACED)
        if changeable and not any(begin <= token.start <= end for begin, end in kept):
            offset = begins[token.start[0] - 1] + token.start[1]
            yield Mutant(file, token.start[0], offset, token.string, changed(token.string))


def script_mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield all mutants of a script of the page."""
    for place in SCRIPT.finditer(text):
        if place.lastgroup:
            line = text.count("\n", 0, place.start()) + 1
            yield Mutant(file, line, place.start(), place[0], changed(place[0]))


def draw(folder: Path) -> list[Mutant]:
    """Draw the mutants of the source in `folder`, which git has checked out."""
    names = git("ls-files", "oanquan_env/*.py", "agents/*.py", "train.py", "evaluate.py", f"{PAGE}/*.js", at=folder)
    sources = {name: (folder / name).read_text(encoding="utf-8") for name in sorted(names.splitlines())}
    generator, drawn = random.Random(SEED), list[Mutant]()
    for kind, mutants_of, count in ((".py", python_mutants, PYTHON), (".js", script_mutants, JAVASCRIPT)):
        mutants = [mutant for name in sources if name.endswith(kind) for mutant in mutants_of(name, sources[name])]
        generator.shuffle(mutants)
        drawn += itertools.islice((mutant for mutant in mutants if differs(mutant, sources[mutant.file])), count)
    return drawn


def differs(mutant: Mutant, text: str) -> bool:
    """Return whether the mutant of a Python module is a program, and another one; True for scripts."""
    if mutant.file.endswith(".js"):
        return True
    try:
        return ast.dump(ast.parse(mutant.of(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def git(*arguments: str, at: Path = ROOT) -> str:
    """Run git in a folder and return its output."""
    return subprocess.run(["git", *arguments], cwd=at, capture_output=True, text=True, check=True).stdout


def room_of(file: str) -> str:
    """Return the folder of the tests of a file's room; `tests` if it has none of its own."""
    for begin, tests in ROOMS.items():
        if file.startswith(begin):
            return tests
    own = f"tests/{Path(file).parts[1]}"
    return own if (ROOT / own).is_dir() else "tests"


def take_tests(folder: Path, commit: str) -> None:
    """Replace the tests in `folder` by the tests of a commit."""
    git("rm", "-rqf", "tests", at=folder)
    git("checkout", "-q", commit, "--", "tests", at=folder)


def noticed_by(folder: Path, tests: str) -> str | None:
    """Run tests in `folder` until one fails; return the name of a test that failed, or None if all pass."""
    command = [sys.executable, "-m", "pytest", tests, "-x", "-q", "-p", "no:cacheprovider", "--timeout", "300"]
    parts = (["-m", "not slow"], ["-m", "slow"]) if tests == ROOMS[PAGE] else ([],)  # tests in a browser are slow
    for options in parts:
        run = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
        if run.returncode:
            failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", run.stdout, flags=re.MULTILINE)
            return failures[0] if failures else f"pytest ends with status {run.returncode}"
    return None


def main() -> None:
    """Run the tests on the mutants."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--source", required=True, metavar="COMMIT", help="the source that is changed, with its tests")
    parser.add_argument("--earlier", metavar="COMMIT", help="compare with the tests of this commit")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="JSON lines, one for each mutant")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "source"
        git("clone", "-q", "--shared", str(ROOT), str(folder))
        git("checkout", "-q", options.source, at=folder)
        mutants = draw(folder)
        lines = options.output.read_text(encoding="utf-8").splitlines() if options.output.is_file() else []
        done = {(row["file"], row["offset"]) for row in map(json.loads, lines)}
        left = [mutant for mutant in mutants if (mutant.file, mutant.offset) not in done]
        for commit in () if done else filter(None, (options.earlier, options.source)):
            take_tests(folder, commit)
            if failing := noticed_by(folder, "tests"):
                raise SystemExit(f"{failing} of {commit} fails without any change; mend it first")
        for mutant in track(left, "mutants", completed=len(done), total=len(mutants)):
            path, room, begin = folder / mutant.file, room_of(mutant.file), time.monotonic()
            path.write_text(mutant.of(path.read_text(encoding="utf-8")), encoding="utf-8")
            if mutant.file.startswith(PAGE):  # else the list of the page's files notices every mutant
                subprocess.run([sys.executable, "-m", "tools.write_page"], cwd=folder, capture_output=True, check=True)
            row = asdict(mutant) | {"noticed_by": noticed_by(folder, room), "earlier": None, "elsewhere": None}
            if options.earlier and not row["noticed_by"]:
                take_tests(folder, options.earlier)
                row["earlier"] = noticed_by(folder, room)
                take_tests(folder, options.source)
            if row["earlier"]:
                row["elsewhere"] = noticed_by(folder, "tests")
            git("checkout", "-q", "--", *("oanquan_env", "agents", "train.py", "evaluate.py"), at=folder)
            with options.output.open("a", encoding="utf-8") as output:
                output.write(json.dumps(row | {"seconds": round(time.monotonic() - begin, 1)}) + "\n")


if __name__ == "__main__":
    main()
