"""Test that very long searches stop at a signal, and that a separate search thread gives the same result."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from oanquan_env import Core
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits
from tests import ROOT

DEEP = """
import sys, numpy as np
from oanquan_env import Core
from oanquan_env.players import make
from tests import ROOT
core = Core(sys.argv[2])
player = make(sys.argv[1], core.rules)
shallow = make(sys.argv[1].replace("40", "2"), core.rules)
shallow.choose(core.start(), np.random.default_rng(0))  # compiles what a signal must not interrupt
print("searching", flush=True)
player.choose(core.start(int(sys.argv[3])), np.random.default_rng(0))
"""


def stopped(*command: str, sign: str, number: signal.Signals) -> int:
    """Run Python with `command`, send it the signal `number` 1.5 s after it prints `sign`; return its exit status."""
    run = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert run.stdout
    try:
        for line in run.stdout:
            if sign in line:
                break
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(1.5)  # it is still running
        run.send_signal(number)
        run.wait(30)
    finally:
        run.kill()
        run.wait()
        run.stdout.close()
    return run.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("player", "rules", "games"),
    [("minimax:depth=40", "mancala-world", "1"), pytest.param("minimax:depth=40", "ludii", "9", marks=pytest.mark.slow),
     pytest.param("maxn:depth=40", "three-player", "2", marks=pytest.mark.slow)],
)  # fmt: skip
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_deep_search_notices_a_signal(player: str, rules: str, games: str, number: signal.Signals) -> None:
    assert stopped("-c", DEEP, player, rules, games, sign="searching", number=number) != 0


def test_a_search_is_the_same_whichever_thread_plays_it() -> None:
    """A search that may take long runs in its own thread, so that the calling thread can handle signals."""
    core, limits = Core(), Limits(depth=5)
    search = Search(core, threads=1, table_megabytes=1)
    positions = core.expand(core.start()).positions
    found = search.best_moves(positions, limits)
    lasting = search.best_moves(positions, Limits(depth=5, milliseconds=10**6))
    assert [result.values for result in found] == [result.values for result in lasting]
    assert np.isfinite([result.value for result in found]).all()
