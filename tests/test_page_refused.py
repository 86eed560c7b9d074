"""What the page and its server refuse, and how it is told; links."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from oanquan_env.play.server import PlayServer
from oanquan_env.play.session import Session
from tests.browsers import Visit, session_of

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.slow  # a browser takes seconds


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "cannot be read"), ("vi-VN", "Không đọc được thế")])
def test_a_bad_position_in_the_link_is_explained(visit: Visit, server: PlayServer, locale: str, words: str) -> None:
    person = visit(f"{server.address}#rules=vietnamese&position=5,5,5,x,5,0*/5,5,5,5,5,0*%200,0%200%200", locale=locale)
    said = person.page.locator("#notice").inner_text()
    assert words in said
    assert "5,5,5,▸x,5,0*" in said
    assert person.fields.count() == 5  # and a new game stands there


def test_what_is_wrong_with_rules_is_told_in_vietnamese(visit: Visit, server: PlayServer) -> None:
    person = visit(f"{server.address}#rules=chess", locale="vi-VN")
    assert "Không đọc được luật trong liên kết. Không có luật" in person.page.locator("#notice").inner_text()
    person.page.locator("#new").click()
    person.page.locator("#more summary").click()
    person.page.locator("[data-field=seeds]").fill("0")
    person.page.locator("#begin").click()
    person.page.locator("#new-error", has_text="“Số dân mỗi ô” phải là số nguyên từ 1 đến 255, không phải 0").wait_for()
    assert person.page.locator("[aria-invalid]").get_attribute("data-field") == "seeds"
    person.page.locator("[data-field=seeds]").fill("5")
    person.page.locator("[data-field=stones]").select_option("False")
    person.page.locator("#begin").click()
    person.page.locator("#new-error", has_text="Không có quan thì phải chơi đến khi").wait_for()
    assert person.page.locator("[data-field=seeds][aria-invalid]").count() == 0
    seen = "([error, buttons]) => error.getBoundingClientRect().bottom <= buttons.getBoundingClientRect().top"
    assert person.page.locator("#new-error, #new-dialog .end").evaluate_all(seen)


def test_a_link_holds_the_position(visit: Visit, persons: PlayServer) -> None:
    person = visit(f"{persons.address}#rules=vietnamese&position=0,3,1,2,0,0*/5,0,4,3,6,0*%2011,15%201%2020")
    board = session_of(persons, person).game.board
    assert (str(board.rules), board.text()) == ("vietnamese", "0,3,1,2,0,0*/5,0,4,3,6,0* 11,15 1 20")
    assert person.points == [11, 15]
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.page.locator("#share").click()
    person.page.locator("#link").click()
    person.page.locator("#notice", has_text="copied").wait_for()
    link = person.page.evaluate("navigator.clipboard.readText()")
    other = visit(link)
    assert session_of(persons, other).game.board == board


def test_the_page_asks_again_when_no_answer_came(
    visit: Visit, server: PlayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, answer = threading.Event(), Session.answer
    monkeypatch.setattr(Session, "answer", lambda played: lost.wait(60) and answer(played))
    person = visit(server.address, locale="en-GB")

    def lose(route: Route) -> None:
        if lost.is_set():
            route.continue_()
        else:
            lost.set()
            route.abort()

    person.page.route("**/wait", lose)
    person.move("3A")
    person.page.locator("#lost", has_text="does not answer").wait_for()
    person.page.locator("#moves button").nth(2).wait_for()
