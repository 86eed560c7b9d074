"""Settings shared by all tests."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from oanquan_env.render import Window
from tests.browsers import Person, Visit, launch, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=400)  # --hypothesis-profile thorough
hypothesis.settings.load_profile("default")

# A shell ignores Ctrl-C in what it runs in the background, and so would all programs that tests start there.
signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":  # compile proofs while the others compile alpha-beta
    importlib.import_module("oanquan_env.search.proof")


def pytest_collection_modifyitems() -> None:
    """One thread for torch: two on a busy machine of two cores are slower than one."""
    with contextlib.suppress(ImportError):  # the lowest versions are tested without torch
        import torch

        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def windows_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that a test opens is not held for a person to see; `test_recording` alone has its own clock."""
    monkeypatch.setattr(Window, "hold", lambda window, seconds: window.poll())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from launch()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the page at a plain server of files."""
    with serve() as address:
        yield address


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """Opens the page, with what follows its address, in a tab of a new window; no script may fail there."""
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
