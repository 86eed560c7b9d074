"""The browser of the tests, and a person at a page in it. Tests that need one are skipped where it is not installed."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from oanquan_env.play.server import PlayServer
from oanquan_env.play.session import Session

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

LONGEST_WAIT = 20_000
"""Milliseconds."""


def launch() -> Iterator[Browser]:
    """A Chromium for all tests of a module."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs a Chromium browser, such as Debian's package chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextlib.contextmanager
def serve(*names: str) -> Iterator[PlayServer]:
    """A server, in a thread, whose games have these players."""
    played = PlayServer(lambda: Session(names=names, rng=np.random.default_rng(1)))
    thread = threading.Thread(target=played.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield played
    finally:
        played.shutdown()
        played.server_close()
        thread.join()


class Person:
    """A person at a page, or at a widget in it; `errors` are those of its scripts."""

    def __init__(self, page: Page, board: str = "#board") -> None:
        self.page = page
        self.board = page.locator(board)
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(LONGEST_WAIT)

    def open(self, address: str, speed: str | None = "none") -> Person:
        """Open the page, and wait for its game."""
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready]")
        if speed is not None:
            self.board.locator("select").select_option(speed, force=True)  # under the button of options
        return self

    @property
    def fields(self) -> Locator:
        """The fields that can be played now."""
        return self.board.locator(".hit.legal")

    def move(self, text: str) -> None:
        """Tap a field, then an arrow."""
        self.board.locator(f".hit.legal[data-field='{text[0]}']").click()
        self.board.locator(f".way[data-move='{text}']").click()

    def play(self, *moves: str) -> None:
        """Make moves, each when the one before it is in the list."""
        for move in moves:
            listed = self.page.locator("#moves button").count()
            self.move(move)
            self.page.locator("#moves button").nth(listed).wait_for()

    def move_anyhow(self) -> None:
        """Tap the first field that can be played, and the first arrow."""
        self.fields.first.click()
        self.board.locator(".way").first.click()

    def wait_for_turn(self) -> bool:
        """Wait until a person is to move, or the game is over; false if it is."""
        self.page.locator(".hit.legal, #next:not([hidden])").first.wait_for(state="attached")
        return self.page.locator("#next:not([hidden])").count() == 0

    def press(self, tool: str) -> None:
        """Press a button below the board, such as `undo`."""
        self.board.locator(f"[data-tool={tool}]").click()

    def waits_for(self, words: str) -> None:
        """Wait until these words stand below the board."""
        self.board.locator(".say", has_text=words).wait_for()

    @property
    def said(self) -> str:
        """The words below the board."""
        return self.board.locator(".say").inner_text()

    @property
    def spoken(self) -> str:
        """What a screen reader was told."""
        return self.board.locator("[aria-live]").inner_text()

    @property
    def points(self) -> list[int]:
        """Each player's points."""
        return [int(text.replace("−", "-")) for text in self.board.locator(".plate .points").all_text_contents()]

    @property
    def moves(self) -> list[str]:
        """The list of moves."""
        shown = (text.split()[1] for text in self.page.locator("#moves button").all_inner_texts()[1:])
        return [move.replace("↺", "A").replace("↻", "C") for move in shown]


Visit = Callable[..., Person]
"""Opens an address in a tab of a new window; see the fixture `visit`."""


def session_of(server: PlayServer, person: Person) -> Session:
    """The game that a page plays."""
    return server.tab(person.page.evaluate("sessionStorage.getItem('oanquan-tab')")).session
