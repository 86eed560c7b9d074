"""Test searches and nets with bounds checks, compiled for other processors, and without compilation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

NETS = "signature or value_net or plain_minimax"
PLAIN = "not net and not mcts and not maxn and (core or best or says and (tonkin or three))"
"""The tests of nets, and of small searches without nets, as plain Python is slow."""


@pytest.mark.daily
@pytest.mark.parametrize(
    ("variable", "value", "tests"),
    [
        ("NUMBA_BOUNDSCHECK", "1", "not any_rules and not mcts"),
        ("NUMBA_CPU_NAME", "haswell", NETS),  # AVX2 without AVX-512
        ("NUMBA_CPU_NAME", "generic", NETS),  # SSE2
        ("NUMBA_DISABLE_JIT", "1", PLAIN),
    ],
)
def test_searches_and_nets_do_the_same(variable: str, value: str, tests: str, tmp_path: Path) -> None:
    overflows = ["-W", "ignore:overflow encountered:RuntimeWarning"]  # in plain Python, and intended
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "tests/search", "-k", tests, *overflows],
        env=os.environ | {variable: value, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
