"""Settings and fixtures shared by all tests."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from oanquan_env.board import shared_core
from oanquan_env.engine import compiled
from oanquan_env.engine.core import COMPILED_VARIABLE
from oanquan_env.render import Window
from tests.helpers.browsers import Person, Visit, launch, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=400)  # --hypothesis-profile thorough
hypothesis.settings.load_profile("default")

compiled._say_once = lambda text: None  # what commands print must not depend on the cache of compiled code
# Commands that a shell runs in the background ignore Ctrl-C, and so would the programs that tests start from there.
signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":  # compile proofs while the others compile alpha-beta
    importlib.import_module("oanquan_env.proofs.proof_search")


def pytest_collection_modifyitems() -> None:
    """Limit torch to one thread, because two are slower than one on a busy machine with two cores."""
    with contextlib.suppress(ImportError):  # the lowest versions are tested without torch
        import torch

        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def windows_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `Window.hold` return without waiting. `test_recording` tests the real method with its own clock."""
    monkeypatch.setattr(Window, "hold", lambda window, seconds: window.poll())


@pytest.fixture
def in_plain_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let new environments run without Numba, which takes longer to compile than a few games take to play."""
    monkeypatch.setenv(COMPILED_VARIABLE, "0")
    shared_core.cache_clear()
    yield
    shared_core.cache_clear()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from launch()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Serve the page from a plain file server and yield its address."""
    with serve() as address:
        yield address


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """Yield a function that opens the page's address + `link` in a new window; then check that no script failed."""
    opened: list[tuple[Any, Person]] = []

    def visited(link: str = "", site: str = site, **options: Any) -> Person:
        context = browser.new_context(**{"reduced_motion": "reduce", "locale": "en-GB", **options})
        person = Person(context.new_page())
        opened.append((context, person))
        return person.open(site + link)

    yield visited
    for context, person in opened:
        context.close()
        assert person.errors == []
