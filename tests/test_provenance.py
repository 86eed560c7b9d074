"""Test the origin that files of results record."""

import json
import sys

import numba
import numpy as np
import pytest

import oanquan_env
from oanquan_env import provenance


def test_an_origin_names_the_program_the_commit_and_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/bin/python3", "-m", "my program", "5"])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    made = provenance.origin()
    assert made["command"] == "python -m 'my program' 5"
    assert (made["commit"], made["processor"]) == (provenance.commit(), provenance.processor())
    of_oanquan = {"oanquan": oanquan_env.__version__, "numpy": np.__version__, "numba": numba.__version__}
    assert made["versions"] == {"python": sys.version.split()[0], **of_oanquan}
    monkeypatch.setitem(sys.modules, "torch", pytest)
    assert "torch" in provenance.origin("mine")["versions"]
    assert provenance.origin("mine")["command"] == "mine"


def test_an_evaluation_records_its_origin_and_shows_only_its_result() -> None:
    result = oanquan_env.evaluate("greedy", opponents=["random"], pairs=1, part="development", runs=1)
    content = json.loads(result.to_json())
    assert {key: content[key] for key in ("command", "commit", "processor", "versions")} == provenance.origin()
    assert "# Evaluation" not in str(result)
