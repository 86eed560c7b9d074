"""Test the project's own files: the commands of its workflows and its Makefile, and its version."""

import importlib.util
import os
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

import oanquan_env
from tests import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = dict(re.findall(r"^(\w+):.*\n((?:\t.*\n)*)", (ROOT / "Makefile").read_text(), re.MULTILINE))

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PROGRAMS = {re.split(r"[<>=\[]", requirement)[0] for requirement in EXTRAS["docs"]} | {"npm"}
"""Packages of the extra `docs`, whose programs have the same names, and Node.js: they need not be installed."""


def check_command(line: str) -> None:
    """Check that a command's program, module or make target exists, and that its paths in tests/ exist."""
    words = [word for word in shlex.split(re.sub(r"\$\{\{.*?\}\}", "", line)) if not re.match(r"[A-Z_0-9]+=", word)]
    if words[0] == "make":
        assert words[1] in TARGETS
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2])
    elif words[0] not in PROGRAMS:
        assert shutil.which(words[0]) or (ROOT / words[0]).is_file()
    for word in words[1:]:
        assert not word.startswith("tests/") or (ROOT / word).exists()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    assert all(re.fullmatch(r"[\w/-]+@[\w/.]+", step["uses"]) for step in steps if "uses" in step)
    for step in steps:
        for line in step.get("run", "").splitlines():
            check_command(line)


@pytest.mark.parametrize("target", TARGETS)
def test_every_command_of_the_makefile_exists(target: str) -> None:
    for line in TARGETS[target].splitlines():
        check_command(line)


def test_the_version_is_the_same_everywhere() -> None:
    heading = re.search(r"^## (\S+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading
    assert heading[1] == oanquan_env.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == oanquan_env.__version__
    assert heading[2] == str(citation.get("date-released", "unreleased"))
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        assert os.environ["GITHUB_REF_NAME"] == f"v{oanquan_env.__version__}"
        assert heading[2] != "unreleased"
