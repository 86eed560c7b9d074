"""The parts of the documentation that come from the code, and the examples in its pages and in the README."""

import dataclasses
import functools
import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from docs import generated
from oanquan_env import PRESETS, Core, Rules
from oanquan_env.benchmark.pairs import play_pairs
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.players import GreedyPolicy
from oanquan_env.playing import random_openings

DOCS = Path(generated.__file__).parent
ROOT = DOCS.parent
PAGES = sorted(DOCS.rglob("*.md"))
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
OUTSIDE += sorted([*(ROOT / "agents").rglob("README.md"), *(ROOT / "benchmarks").rglob("report.md")])
"""Pages that are read in the repository; MkDocs checks the links of the others."""
OWN = ("configs/", "oanquan_env/", "agents/", "benchmarks/", "examples/", "tests/")
"""Folders whose files a page's commands may name; `runs/` and `out/` are the reader's own."""
LINK = re.compile(r"""(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)""")
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^( *)```python\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| \[`python (?:-m )?([\w./]+)`\]", flags=re.MULTILINE)
LISTED = TABLE.findall((DOCS / "commands.md").read_text(encoding="utf-8"))


def examples(page: Path) -> list[str]:
    """The Python blocks of a page, without their indentation."""
    found = PYTHON.findall(page.read_text(encoding="utf-8"))
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def commands(text: str) -> list[list[str]]:
    """The Python commands of a page's shell blocks, without comments."""
    lines = [line for block in SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    parts = [part for line in lines for part in re.split(r"\s&&\s|\|", line)]
    return [words for part in parts if (words := shlex.split(part, comments=True)) and words[0] == "python"]


def test_tables_of_rules_are_whole() -> None:
    fields, presets = generated.rules_fields(), generated.presets()
    rows = fields.splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [field.name for field in dataclasses.fields(Rules)]
    assert all(len(row.split(" | ")[3]) > 20 for row in rows)
    assert "seeds on it stay (MW's Neweco, APP)." in fields  # a meaning of two lines is whole
    for name, preset in PRESETS.items():
        changes = [f"`{field}={value}`" for field, value in preset.rules.differences(Rules()).items()]
        assert f"| `{name}` | {', '.join(changes) or 'the default'} | " in presets


def test_the_reference_lists_names_for_readers_and_becomes_directives_for_the_site() -> None:
    page = "<!-- oanquan_env.board:begin -->\n- `Board`\n<!-- oanquan_env.board:end -->\n<!-- a:begin --><!-- a:end -->"
    options = "    options: { members: [Board, Outcome, IllegalMoveError] }"
    assert generated.directives(page) == f"::: oanquan_env.board\n{options}\n::: a"
    names = generated.names("oanquan_env.render").splitlines()
    assert names[:2] == ["### `oanquan_env.render`", ""]
    assert names[4] == "- `text`: The board in lines of text, with fields numbered from each player's own left."
    assert all(len(line) > 20 for line in names[4:])
    with pytest.raises(ValueError, match=r"docs/api names oanquan_env\.nothing, which does not exist"):
        generated.names("oanquan_env.nothing")


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    for code in examples(page):
        exec(compile(code, str(page), "exec"), {})


def test_the_readme_s_examples_do_what_they_say_and_none_leans_on_another_s_imports(tmp_path: Path) -> None:
    blocks = examples(ROOT / "README.md")
    assert len(blocks) == 2
    lacking = '>>> import gymnasium\n>>> game = gymnasium.make("OAnQuan-v0")\n'
    for block in (*blocks, lacking):  # each in a fresh Python
        (tmp_path / "example.txt").write_text(block, encoding="utf-8")
        command = [sys.executable, "-m", "doctest", str(tmp_path / "example.txt")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
        printed = done.stdout + done.stderr
        assert "NameNotFound" in printed if block == lacking else (block.count(">>>") > 3 and printed == ""), printed


def test_the_example_of_an_agent_plays_better_than_greedy() -> None:
    names: dict[str, type] = {}
    exec(examples(DOCS / "how-to" / "agent.md")[0], names)
    core, rng = Core(), np.random.default_rng(0)
    openings = random_openings(core, 200, 4, rng)
    assert play_pairs(core, names["Cautious"](core), GreedyPolicy(core), openings, rng).score.mean() > 0.55
    assert OAnQuanVectorEnv(4, opponent=names["Cautious"](core)).reset(seed=0)[0].shape == (4, 18)


def anchors(page: Path) -> set[str]:
    """What links to a page's headings end with."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if ":" in target:
            assert re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]+/[^ ]*", link), link
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
