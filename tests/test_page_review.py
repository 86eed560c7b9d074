"""Looking back on the page: through a game, at its mistakes; previews, puzzles, seats, bowls, lost servers."""

from pathlib import Path

import pytest

from oanquan_env import parse_records
from oanquan_env.play.server import PlayServer
from tests.browsers import Person, Visit

pytestmark = pytest.mark.slow  # a browser takes seconds

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SIZES = {
    "phone": PHONE,
    "small phone": {**PHONE, "viewport": {"width": 360, "height": 640}},
    "landscape": {**PHONE, "viewport": {"width": 844, "height": 390}},
    "desktop at 200 %": {"viewport": {"width": 640, "height": 400}},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "1920": {"viewport": {"width": 1920, "height": 1080}},
}
INSIDE = """nodes => nodes.map(node => node.getBoundingClientRect()).filter(box => box.width).every(
    box => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)"""


def end(person: Person) -> None:
    """One of the shortest games: South takes a mandarin with its first move, and North the other one."""
    person.play("5A", "3A")
    person.page.locator("#next:not([hidden])").wait_for()


@pytest.mark.parametrize("size", SIZES)
def test_board_and_buttons_are_in_sight(visit: Visit, persons: PlayServer, size: str) -> None:
    person = visit(persons.address, **SIZES[size])
    assert person.board.locator(".tools button:not([hidden]), .tools summary, .say").evaluate_all(INSIDE)
    assert person.board.locator(".hit").evaluate_all(INSIDE)
    field = person.fields.first.bounding_box()
    assert field is not None
    assert min(field["width"], field["height"]) >= {"1920": 150, "desktop": 100}.get(size, 56)


@pytest.mark.usefixtures("hints")
def test_a_game_is_reviewed_and_played_on_from_a_mistake(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    end(person)
    page = person.page
    assert page.locator("#next h2").inner_text() == "North wins"
    page.locator("#review").click()
    worst = page.locator("#mistakes button", has_text="1. South 5A −36")
    worst.wait_for()
    assert "turns a win into a loss, lets North take a mandarin with 3A. Best was" in worst.inner_text()
    assert page.locator("#graph .mistake").count() == 1
    worst.click()
    assert person.said == "Move 1 of 2: 5A"
    page.locator("#bar output", has_text="North +24").wait_for()
    page.locator("#moves button", has_text="−36").wait_for()
    page.reload()  # its tick is remembered
    page.locator("#bar output", has_text="North +24").wait_for()
    person.press("first")
    page.locator("#bar output", has_text="South +12").wait_for()
    page.locator("#from-here").click()
    person.wait_for_turn()
    assert person.moves == []


def test_puzzles_tell_right_from_wrong(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="vi-VN")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-levels button").first.click()
    person.waits_for("Hãy ăn quan trong một nước.")
    person.move("4A")
    person.waits_for("4↺ chưa được")
    person.page.locator("#retry").click()
    person.fields.first.wait_for(state="attached")
    person.move("1A")
    person.waits_for("Đúng rồi: 1↺.")
    person.page.locator("#next-puzzle").click()
    person.waits_for("Vì sao nước ấy thua?")
    person.page.reload()
    person.waits_for("Vì sao nước ấy thua?")
    person.page.locator("#puzzles").click()
    person.page.locator("#puzzle-levels button", has_text="đã giải 1").wait_for()


def test_a_game_is_linked_copied_pasted_and_filmed(visit: Visit, persons: PlayServer, tmp_path: Path) -> None:
    person = visit(persons.address)
    end(person)
    page = person.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pasted = {}
    for name in ("link", "copy"):
        page.locator("#share").click()
        page.locator(f"#{name}").click()
        page.locator("#notice", has_text="copied").wait_for()
        pasted[name] = page.evaluate("navigator.clipboard.readText()")
    assert "moves=5A3A" in pasted["link"]
    assert [str(move) for move in parse_records(pasted["copy"])[0].moves] == ["5A", "3A"]
    for text in pasted.values():
        other = visit(persons.address)
        other.page.locator("#share").click()
        other.page.locator("#pasted").fill(text)
        other.page.locator("#paste").click()
        other.page.locator("#next:not([hidden])").wait_for()
        assert other.moves == ["5A", "3A"]
    for kind, begins in (("svg", b"<svg"), ("gif", b"GIF8")):
        page.locator("#share").click()
        with page.expect_download() as download:
            page.locator(f"#{kind}").click()
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begins)


def test_a_screen_reader_hears_no_loose_numbers(visit: Visit, persons: PlayServer) -> None:
    person = visit(persons.address, locale="en-GB")
    heard = person.board.aria_snapshot()
    assert '"South: 0 points"' in heard
    assert '"field 3 of South: 5 seeds. Enter chooses it"' in heard
    assert not [line for line in heard.splitlines() if line.strip(' -"').removeprefix("text: ").strip('"').isdecimal()]
