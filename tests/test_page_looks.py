"""How the page looks on a phone, and what it holds in memory."""

from __future__ import annotations

import gc
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oanquan_env.play.server import PlayServer
from tests.browsers import Person, Visit, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.slow  # a browser takes seconds


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(visit: Visit, persons: PlayServer, rules: str, scheme: str) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    person = visit(f"{persons.address}#rules={rules}", color_scheme=scheme, **phone)
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.fields.first.tap()
    for way in person.board.locator(".way circle").all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    sizes = """nodes => nodes.filter(node => node.textContent).map(
        node => parseFloat(getComputedStyle(node).fontSize) * node.ownerSVGElement.getScreenCTM().a
    )"""
    assert min(person.board.locator("text").evaluate_all(sizes)) >= 9.9  # pixels
    light = person.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light == {"light": "rgb(251, 248, 241)", "dark": "rgb(27, 25, 22)"}[scheme]


@pytest.mark.parametrize("rules", ["three-player", "four-player"])
def test_names_do_not_lie_on_the_board(visit: Visit, rules: str) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    with serve("human", "human") as server:
        person = visit(server.address, locale="vi-VN", **phone)
        person.page.locator("#new").click()
        person.page.locator("#preset").select_option(rules)
        for seat in range(1, {"three-player": 3, "four-player": 4}[rules]):
            person.page.locator(".seat select").nth(seat).select_option("perfect")
        person.page.locator("#begin").click()
        person.page.locator("#about-game", has_text="hoàn hảo").wait_for()
        covered = """board => [...board.shadowRoot.querySelectorAll(".plate")].filter(plate => {
            const { x, y, width, height } = plate.getBBox();
            const corners = [[x, y], [x + width, y], [x, y + height], [x + width, y + height]];
            return [...board.shadowRoot.querySelectorAll(".hit")].some(
                square => corners.some(([x, y]) => square.isPointInFill(new DOMPoint(x, y))));
        }).map(plate => plate.textContent)"""
        assert person.board.evaluate(covered) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_lies_behind_them(visit: Visit, persons: PlayServer, scheme: str) -> None:
    person = visit(persons.address, color_scheme=scheme)
    colours = "(node, name) => getComputedStyle(node)[name].match(/[0-9.]+/g).slice(0, 3).map(Number)"

    def light(shown: Locator, name: str) -> float:
        """Relative luminance, as WCAG defines it."""
        parts = [part / 255 for part in shown.first.evaluate(colours, name)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    page, board = person.page.locator("body"), person.board
    written = [(board.locator(kind), "fill") for kind in (".label:not(.legal)", ".label.legal", ".plate text")]
    written += [(board.locator(".say"), "color"), (person.page.locator("#keys"), "color")]
    behind = [light(page, "backgroundColor")] * len(written) + [light(board.locator(".floor"), "fill")]
    for (words, name), back in zip([*written, (board.locator(".count"), "fill")], behind, strict=True):
        low, high = sorted((light(words, name), back))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_notice_takes_the_width_of_a_phone(visit: Visit, server: PlayServer) -> None:
    person = visit(f"{server.address}#position=5", viewport={"width": 360, "height": 740})
    box = person.page.locator("#notice").bounding_box()
    assert box is not None
    assert box["width"] > 320
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def resident() -> int:
    """Bytes of memory that this process, in which the server runs, holds; 0 where that cannot be read."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * resource.getpagesize() if statm.exists() else 0


def test_memory_is_flat_over_two_hundred_games(browser: Browser) -> None:
    """What the page and the server hold after 200 games is what they hold after 20."""
    with serve("random", "random") as server:
        context = browser.new_context()
        person = Person(context.new_page()).open(server.address)
        protocol = context.new_cdp_session(person.page)
        held = []
        for number in range(1, 201):
            person.page.evaluate(
                "number => { location.hash = `rules=mancala-world max_plies=${number % 2 + 9}`; }", number
            )
            person.page.locator("#about-game", has_text=f"max_plies={number % 2 + 9}").wait_for()
            person.page.locator("#next:not([hidden])").wait_for()
            if number in (20, 200):
                gc.collect()
                protocol.send("HeapProfiler.collectGarbage")
                counters = protocol.send("Memory.getDOMCounters")
                heap = person.page.evaluate("performance.memory.usedJSHeapSize")
                held.append((counters["nodes"], counters["jsEventListeners"], heap, resident()))
        print(f"nodes, listeners, bytes of the page's scripts, bytes of the server: {held[0]}, then {held[1]}")
        assert held[1][0] < 1.5 * held[0][0]
        assert held[1][1] < 1.5 * held[0][1]
        assert held[1][2] < held[0][2] + 3_000_000
        assert held[1][3] < held[0][3] + 20_000_000
        assert person.errors == []
        context.close()
