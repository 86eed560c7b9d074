"""Test that a forked child can use the objects whose threads, locks and memories it has inherited."""

import copy
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from oanquan_env import Board, Core
from oanquan_env.envs import games
from oanquan_env.envs.vector import OAnQuanVectorEnv
from oanquan_env.play import choosing
from oanquan_env.search.deepening import Search
from oanquan_env.search.limits import Limits

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
MOST_SECONDS = 5


def in_child(work: Callable[[], bool]) -> bool:
    """Return what `work` returns in a forked child; False also if it raises an error or takes `MOST_SECONDS`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside other threads
        child = os.fork()
    if not child:
        status = 1
        try:
            status = not work()
        finally:
            os._exit(status)
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_a_batch_with_threads_plays_on_in_a_forked_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "FEWEST_SHARED", 2)
    batch = OAnQuanVectorEnv(4, threads=3)
    mask = batch.reset(seed=0)[1]["action_mask"]
    mask = batch.step(mask.argmax(axis=1))[4]["action_mask"]  # starts the threads
    wanted = copy.deepcopy(batch).step(mask.argmax(axis=1))[0]

    def step() -> bool:
        return np.array_equal(batch.step(mask.argmax(axis=1))[0], wanted)

    assert in_child(lambda: step() and in_child(lambda: batch.step(mask.argmax(axis=1))[0].shape == wanted.shape))
    assert step()


@contextmanager
def holding(work: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """Run `work` in another thread, which calls `hold` in the middle; run the block while it waits there."""
    held, done, parent = threading.Event(), threading.Event(), os.getpid()

    def hold() -> None:
        if os.getpid() == parent:
            held.set()
            done.wait(MOST_SECONDS)

    thread = threading.Thread(target=work, args=(hold,))
    thread.start()
    held.wait(MOST_SECONDS)
    yield
    done.set()
    thread.join()


def test_a_search_runs_in_a_child_that_was_forked_while_another_thread_searched() -> None:
    core, limits = Core("tonkin"), Limits(depth=3)
    search = Search(core, threads=1, table_megabytes=1)
    wanted = search.best(core.start(), limits)
    with holding(lambda hold: search._workers.run(1, lambda *_: hold(), limits)):
        assert in_child(lambda: search.best(core.start(), limits) == wanted)


def test_a_chooser_answers_in_a_child_that_was_forked_while_it_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    chooser, choose = choosing.Chooser(), choosing.choose_move
    asked = {"player": "greedy", "rules": "tonkin", "position": Board("tonkin").text()}

    def slowly(hold: Callable[[], None]) -> None:
        monkeypatch.setattr(choosing, "choose_move", lambda *arguments: (hold(), choose(*arguments))[1])
        chooser.choose(asked)

    with holding(slowly):
        assert in_child(lambda: "move" in chooser.choose(asked))
