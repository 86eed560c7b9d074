"""Test the examples, links and commands in the documentation and the README, and the notebooks."""

import ast
import doctest
import functools
import importlib
import json
import re
import runpy
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from notebooks.run import MOST_CHARACTERS, TEXT, execute, notebooks, shown
from tests import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md", "SECURITY.md")]
OUTSIDE += sorted([*(ROOT / "agents").rglob("README.md"), *(ROOT / "experiments").rglob("report.md")])
"""Pages outside the MkDocs site."""
OWN = ("configs/", "oanquan_env/", "agents/", "experiments/", "examples/", "tests/", "tools/")
"""Files in these folders must exist if a command names them; files in `runs/` and `out/` are made by commands."""
SLOW = ("frameworks", "generalisation", "league", "many-rules")
"""Pages whose examples take seconds, or compile what no other test needs."""
LINK = re.compile(r"""(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)""")
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^( *)```python\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| \[`python (?:-m )?([\w./]+)`\]", flags=re.MULTILINE)
LISTED = TABLE.findall((DOCS / "commands.md").read_text(encoding="utf-8"))


def examples(page: Path) -> list[str]:
    """Return the Python blocks of a page, without their indentation."""
    found = PYTHON.findall(page.read_text(encoding="utf-8"))
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def commands(text: str) -> list[list[str]]:
    """Return the words of each Python command in a page's shell blocks, without comments."""
    lines = [line for block in SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    parts = [part for line in lines for part in re.split(r"\s&&\s|\|", line)]
    return [words for part in parts if (words := shlex.split(part, comments=True)) and words[0] == "python"]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.stem in SLOW)) for page in PAGES if examples(page)],
    ids=lambda page: page.stem,
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem == "gpu" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    monkeypatch.chdir(tmp_path)
    for code in examples(page):
        exec(compile(code, str(page), "exec"), {})


def test_the_readme_s_examples_do_what_they_say_and_none_leans_on_another_s_imports(tmp_path: Path) -> None:
    blocks = examples(ROOT / "README.md")
    assert [block.count(">>>") > 3 for block in blocks] == [True, True]
    for block in blocks:
        (tmp_path / "example.txt").write_text(block, encoding="utf-8")
        assert doctest.testfile(str(tmp_path / "example.txt"), False, globs={}, encoding="utf-8").failed == 0


WITH_EXAMPLES = sorted(path for path in (ROOT / "oanquan_env").rglob("*.py") if ">>> " in path.read_text("utf-8"))


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_docstrings_do_what_they_say(module: Path) -> None:
    name = ".".join(module.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    ran = doctest.testmod(importlib.import_module(name))
    assert (ran.attempted > 1, ran.failed) == (True, 0)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page on a forge, which keeps letters such as λ, and those that the page sets itself."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return set(re.findall(r"\{ ?#([\w-]+) ?\}", text)) | {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", [*OUTSIDE, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if ":" in target:
            assert re.fullmatch(r"https?://[a-z0-9.-]+\.[a-z]+(/[^ ]*)?", link), link
        else:
            place = page.parent / target if target else page
            assert place.exists(), link
            assert not anchor or anchor in anchors(place), link


def test_commands_name_what_exists() -> None:
    assert commands("```sh\npip install x && python a.py b  # c\n```\n") == [["python", "a.py", "b"]]
    found = [words for page in (*PAGES, *OUTSIDE) for words in commands(page.read_text(encoding="utf-8"))]
    assert len(found) > 20
    for _, program, *words in found:
        assert find_spec(words[0]) if program == "-m" else (ROOT / program).is_file(), (program, words)
        for word in words:
            assert not word.startswith(OWN) or (ROOT / word).exists(), (program, words)


@pytest.mark.parametrize("folder", ["oanquan_env", "oanquan_env/engine", "agents"])
def test_the_architecture_lists_each_module_once(folder: str) -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rows = page.partition(f"| `{folder}` | content |\n")[2].partition("\n\n")[0].splitlines()[1:]
    names = [name.removesuffix(".py") for row in rows for name in re.findall(r"`([\w.]+)`", row.split(" | ")[0])]
    modules = [path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("__")]
    assert sorted(names) == sorted([*modules, *(path.parent.name for path in (ROOT / folder).glob("*/__init__.py"))])


PACKAGES = [ROOT / name for name in ("oanquan_env", "agents", "experiments")]
ROOMS = {path.parent for package in PACKAGES for path in package.rglob("__init__.py")}


@pytest.mark.parametrize("room", sorted(ROOMS), ids=lambda room: str(room.relative_to(ROOT)))
def test_each_room_names_its_modules(room: Path) -> None:
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in room.glob("*.py")} | {path.parent.name for path in room.glob("*/__init__.py")}
    assert modules - set(re.findall(r"`(\w+)`", docstring)) <= {"__init__", "__main__"}


@pytest.mark.parametrize("page", ["map.md", "how-to/rule.md"])
def test_guides_to_the_code_name_files_that_exist(page: str) -> None:
    files = re.findall(r"`([\w.-]+/[\w./-]+\.\w+)`", (DOCS / page).read_text(encoding="utf-8"))
    assert len(files) > 9
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("command", LISTED)
def test_listed_commands_help(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(LISTED) > 10
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    run = runpy.run_path if command.endswith(".py") else functools.partial(runpy.run_module, alter_sys=True)
    with pytest.raises(SystemExit) as ended:
        run(command, run_name="__main__")
    assert not ended.value.code
    usage = capsys.readouterr().out.splitlines()[0]
    assert re.match(rf"usage: (python -m )?{re.escape(command)} \[-h\]", usage), usage


TRAINING = "03_train_and_benchmark"
"""The name of the notebook that trains for minutes."""


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_only_what_is_shown_is_stored(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] is None and len(shown(cell)) == len(cell["outputs"]) for cell in cells)
    stored = [part for cell in cells for part in shown(cell)]
    assert all(len(content) <= MOST_CHARACTERS[kind] for kind, content in stored)
    assert {TEXT} < {kind for kind, _ in stored}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.daily if path.stem == TRAINING else pytest.mark.slow)
        for path in notebooks()
    ],
    ids=lambda path: path.stem,
)
def test_notebook_runs_from_a_clean_kernel_and_shows_what_is_stored(path: Path) -> None:
    # The numbers that networks compute differ between processors.
    changing = r"\d+\.\d+" if path.stem == TRAINING else r" +\d+\.\d+ s\b"

    import nbformat

    def stable(cell: Any) -> list[tuple[str, str]]:
        return [(kind, "" if kind == "image/png" else re.sub(changing, "", part)) for kind, part in shown(cell)]

    for before, after in zip(nbformat.read(path, as_version=4).cells, execute(path).cells, strict=True):
        assert stable(before) == stable(after), f"out of date: python notebooks/run.py {path.name}\n{before.source}"
