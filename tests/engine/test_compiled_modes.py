"""Test searches and nets with bounds checks, compiled for other processors, and without compilation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

SEARCH = ["tests/search/test_search.py"]
NETS = ["tests/search/test_signature.py", "tests/search/test_value_net.py"]
PLAIN = ["-k", "plain_minimax or core or best or says and (tonkin or three)"]
PLAIN += ["-W", "ignore:overflow encountered:RuntimeWarning"]
"""Pytest options that select small searches, as plain Python is slow, and ignore warnings of intended overflows."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value", "tests"),
    [
        ("NUMBA_BOUNDSCHECK", "1", [*SEARCH, *NETS, "tests/search/test_maxn.py"]),
        ("NUMBA_CPU_NAME", "haswell", NETS),  # AVX2 without AVX-512
        ("NUMBA_CPU_NAME", "generic", NETS),  # SSE2
        ("NUMBA_DISABLE_JIT", "1", [*SEARCH, "tests/search/test_signature.py", *PLAIN]),
    ],
)
def test_searches_and_nets_do_the_same(variable: str, value: str, tests: list[str], tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", *tests],
        env=os.environ | {variable: value, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
