"""Test the page as static files: their sizes, the lists of cached files, offline play and new versions."""

from __future__ import annotations

import contextlib
import functools
import graphlib
import gzip
import http.server
import json
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oanquan_env.play import bundle
from oanquan_env.play.bundle import DYNAMIC, STATIC, in_order, target
from oanquan_env.play.server import WEB
from tests.helpers.browsers import Person, serve
from tests.helpers.node import CALLS, run_node
from tools import page_bundle
from tools.page_lists import (
    KEEPER,
    PAGE,
    START,
    UNKEPT,
    before_the_first_move,
    lists,
    of_its_beginning,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Request

KILOBYTE = 1000
IMPORTS = """import "./one.js";
import { two } from "../two.js";
import {
  three,
  four as five,
} from "./parts/three.js";
"""
REGISTER = """async () => {
    await navigator.serviceWorker.register("service-worker.js");
    await navigator.serviceWorker.ready;
}"""

FIND_NEW_VERSION = """async () => {
    const kept = await navigator.serviceWorker.ready;
    await kept.update();
    while (!kept.waiting) await new Promise(done => setTimeout(done, 50));
}"""


def size(names: list[str]) -> int:
    """Return the number of bytes that a server sends for these files: hosts of files compress them with gzip."""
    return sum(len(gzip.compress((WEB / name).read_bytes())) for name in names)


def scripts() -> dict[str, str]:
    """Return the texts of the page's scripts by name."""
    return {path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8") for path in WEB.rglob("*.js")}


def test_sizes() -> None:
    assert size(before_the_first_move()) <= 99 * KILOBYTE
    assert size(of_its_beginning()) <= 566 * KILOBYTE


def test_imports_may_have_several_lines() -> None:
    names = ["./one.js", "../two.js", "./parts/three.js"]
    assert STATIC.findall(IMPORTS) == names
    asked = [*zip(("", "two", "three,\n  four as five"), names, strict=True)]
    assert bundle.IMPORT.findall(IMPORTS) == asked


def test_imports_have_no_cycle() -> None:
    imports = {
        name: [target(name, path) for path in STATIC.findall(text) + DYNAMIC.findall(text)]
        for name, text in scripts().items()
    }
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError, which names the scripts


def test_a_bundle_has_all_names_that_its_scripts_import() -> None:
    """The bundle takes one name from each `export`, so a declaration must not export two."""
    texts = scripts()
    for script, text in texts.items():
        for names, path in bundle.IMPORT.findall(text):
            imported = {re.sub(" as .*", "", name) for name in re.split(r",\s+", names) if name}
            assert imported <= {*bundle.EXPORT.findall(texts[target(script, path)])}, (script, path)


def test_lists_of_files_are_as_the_command_writes_them() -> None:
    for name, text in lists():
        renew = f"{name} is out of date; renew it with: python -m tools.write_page"
        assert (WEB / name).read_text(encoding="utf-8") == text, renew
    page = (WEB / PAGE).read_text(encoding="utf-8")
    assert all(page.count(f'"{name}"') == 1 for name in in_order([START], STATIC))
    keeper = (WEB / KEEPER).read_text(encoding="utf-8")
    names = {path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file()}
    assert {name for name in names if f'"{name}"' not in keeper} == {"index.html", KEEPER, *UNKEPT}


def test_a_new_version_keeps_the_files_of_other_rules_that_an_earlier_one_has_cached() -> None:
    scope, drawing, net = "https://example.org/play/", "data/drawing-3-5.json", "data/net-tonkin.bin"
    old, other = f"oanquan {scope} old", "oanquan https://example.org/ old"
    given = {
        "source": (WEB / KEEPER).read_text(encoding="utf-8"),
        "scope": scope,
        "caches": {old: {net: "old", "words/words.js": "old", "gone.js": "old"}, other: {net: "other"}},
        "later": {old: {drawing: "old"}},  # a game under other rules while the new version waited
    }
    stores = json.loads(run_node(CALLS / "hosting.mjs", stdin=json.dumps(given)))
    assert stores[0] == [other, {net: "other"}]
    ((name, files),) = stores[1:]
    assert name.startswith(f"oanquan {scope} ")
    assert (files[net], files[drawing], files["words/words.js"]) == ("new", "old", "new")
    assert set(files) == {net, drawing, *of_its_beginning()} - {PAGE} | {"./"}


class Files(http.server.SimpleHTTPRequestHandler):
    """A request handler that serves static files and logs nothing."""

    def log_message(self, format: str, *values: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(WEB))) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()
        thread.join()


@pytest.mark.slow  # a browser takes seconds
def test_a_plain_host_of_files_serves_the_page_and_a_kept_page_plays_without_a_network(
    browser: Browser, address: str
) -> None:
    page = browser.new_page(reduced_motion="reduce", locale="en-GB")
    asked: list[str] = []

    def heard(request: Request) -> None:
        asked.append(request.url.removeprefix(address).partition("#")[0])

    page.on("request", heard)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    unlisted = {"", "players.json"}  # the page itself, and a request that only the Python server answers
    assert set(asked) - unlisted <= set(of_its_beginning())  # the files of the first opponent also load at once
    assert set(in_order([START], STATIC)) <= set(asked)
    page.evaluate(REGISTER)
    assert page.evaluate("caches.match('icon.png').then(Boolean)")
    page.context.set_offline(True)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.locator(".hit.legal[data-field='3']").click()
    page.locator(".way[data-move='3A']").click()
    page.locator("#moves button").nth(2).wait_for()  # the page's player has replied
    page.locator("#learn").click()
    page.locator("#learn-title", has_text="The board").wait_for()
    page.context.close()


@pytest.mark.slow  # a browser takes seconds
def test_the_published_page_asks_for_few_files_and_has_all_parts(browser: Browser, tmp_path: Path) -> None:
    for name, content in page_bundle.published():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with serve(tmp_path) as address:
        page, asked = browser.new_page(reduced_motion="reduce", locale="en-GB"), list[str]()
        person = Person(page)
        page.on("request", lambda request: asked.append(request.url.removeprefix(address)))
        person.open(address)
        assert len(set(asked)) <= 14, asked  # including the worker and its engine
        assert sum(len(gzip.compress((tmp_path / name).read_bytes())) for name in ("page.js", "worker.js")) <= 80_000
        person.move("3A")
        page.locator("#moves button").nth(2).wait_for()
        for part in ("learn", "openings", "new", "share", "puzzles"):
            page.locator(f"#{part}").click()
            page.locator("dialog[open] :is(.end, header) button").last.wait_for()
            page.keyboard.press("Escape")
        page.evaluate(REGISTER)
        assert page.evaluate("caches.match('page.js').then(Boolean)")
        assert person.errors == []
        page.context.close()


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Serve a copy of the page's folder over HTTPS with a self-signed certificate; yield the folder and the address."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder, key, certificate = tmp_path / "web", tmp_path / "key.pem", tmp_path / "certificate.pem"
    shutil.copytree(WEB, folder)
    asked = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*asked, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder))) as served:
        served.socket = context.wrap_socket(served.socket, server_side=True)
        served.daemon_threads = True
        thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield folder, f"https://localhost:{served.server_port}/"
        served.shutdown()
        thread.join()


@pytest.mark.slow  # a browser takes seconds
def test_a_new_version_waits_while_a_page_is_open_and_takes_over_at_the_next_visit(
    browser: Browser, secure: tuple[Path, str]
) -> None:
    from playwright.sync_api import TimeoutError as NotShown

    folder, address = secure
    with browser.browser_type.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox", "--ignore-certificate-errors"]
    ) as trusting:
        page = trusting.new_page(reduced_motion="reduce", locale="en-GB")
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        page.evaluate(REGISTER)  # ends after the page's own registration
        keeper, changed = folder / KEEPER, folder / "words/words.js"
        words = changed.read_text(encoding="utf-8")
        changed.write_text(words.replace('puzzles: "Puzzles"', 'puzzles: "Riddles"'), encoding="utf-8")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        page.evaluate(REGISTER)
        old = keeper.read_text(encoding="utf-8")
        version = re.search('VERSION = "(.*)"', old)
        assert version
        keeper.write_text(old.replace(version[1], "another"), encoding="utf-8")
        page.evaluate(FIND_NEW_VERSION)
        assert page.locator("#puzzles").inner_text() == "Puzzles"
        for _ in range(20):  # the document that a reload replaces may count as another tab for a moment
            with contextlib.suppress(NotShown):  # also of a reload that the page's own reload interrupts
                page.reload()
                page.wait_for_selector("body[data-ready]")
                page.locator("#puzzles", has_text="Riddles").wait_for(timeout=3000)
                break
        page.locator("#puzzles", has_text="Riddles").wait_for()
        names = page.evaluate("caches.keys()")
        assert [name.rpartition(" ")[2] for name in names] == ["another"]
