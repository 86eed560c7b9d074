"""A browser for the tests, and a person who uses the page in it. Without a browser, the tests are skipped."""

from __future__ import annotations

import contextlib
import functools
import http.server
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

WEB = ROOT / "oanquan_env" / "play" / "web"
LONGEST_WAIT = 20_000
"""The timeout of the browser's waits, in milliseconds."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def launch() -> Iterator[Browser]:
    """Start a Chromium browser, yield it, and close it; skip the test if Playwright or a browser is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs a Chromium browser, such as Debian's package chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class _Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextlib.contextmanager
def serve(folder: Path = WEB) -> Iterator[str]:
    """Serve the files of a folder over HTTP, and yield the server's address."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Person:
    """A person who uses the page, or a widget; `errors` lists uncaught errors and breaches of the security policy."""

    def __init__(self, page: Page, board: str = "#board") -> None:
        self.page = page
        self.board = page.locator(board)
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.extend([said.text] * ("Security Policy" in said.text)))
        page.set_default_timeout(LONGEST_WAIT)

    def open(self, address: str) -> Person:
        """Open the page, and wait for its game."""
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready]")
        return self

    @property
    def state(self) -> dict[str, Any]:
        """The state of the page's game."""
        state: dict[str, Any] = self.page.evaluate("import('./page-state.js').then(({ page }) => page.state)")
        return state

    def waits_until(self, condition: str, arg: object = None) -> None:
        """Wait until `condition` holds, a JavaScript expression or promise of `arg` and page-state.js's `page`.

        Playwright's own `wait_for_function` takes a promise for true.
        """
        script = f"arg => import('./page-state.js').then(({{ page }}) => {condition})"
        end = time.monotonic() + LONGEST_WAIT / 1000
        while not self.page.evaluate(script, arg):
            assert time.monotonic() < end, f"not reached: {condition}"
            self.page.wait_for_timeout(50)

    @property
    def fields(self) -> Locator:
        """The fields that can be played now."""
        return self.board.locator(".hit.legal")

    def move(self, text: str) -> None:
        """Play a move such as `3A`: choose its field, then its arrow."""
        self.board.locator(f".hit.legal[data-field='{text[0]}']").click()
        self.board.locator(f".way[data-move='{text}']").click()

    def play(self, *moves: str) -> None:
        """Play moves in turn, waiting after each until it appears in the list of moves."""
        for move in moves:
            listed = self.page.locator("#moves button").count()
            self.move(move)
            self.page.locator("#moves button").nth(listed).wait_for()

    def wait_for_turn(self) -> bool:
        """Wait until a person is to move or the game is over; return False if it is over."""
        self.page.locator(".hit.legal, #next:not([hidden])").first.wait_for(state="attached")
        return self.page.locator("#next:not([hidden])").count() == 0

    def press(self, tool: str) -> None:
        """Press a button below the board, such as `undo`."""
        self.board.locator(f"[data-tool={tool}]").click()

    def stop_the_clock(self) -> None:
        """Let timers, but not motion, wait for `page.clock.run_for(milliseconds)`."""
        self.page.clock.install(time=0)
        self.page.clock.pause_at(1)

    def waits_for(self, words: str) -> None:
        """Wait until the text below the board contains `words`."""
        self.board.locator(".say", has_text=words).wait_for()

    @property
    def said(self) -> str:
        """The text below the board."""
        return self.board.locator(".say").inner_text()

    @property
    def moves(self) -> list[str]:
        """The moves of the game."""
        state = self.state
        return [state["moves"][str(serial)]["move"] for serial in state["line"]]


Visit = Callable[..., Person]
"""A function that opens the page in a new window; see the fixture `visit`."""
