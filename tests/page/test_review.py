"""Test the page's hints and its reviews of finished games."""

import re

import pytest

from tests.helpers.browsers import PHONE, Visit

pytestmark = pytest.mark.slow  # a browser takes seconds

SPOKEN = "[aria-live]"
IN_SIGHT = """nodes => new Promise(done => setTimeout(() => done(nodes.length > 0 && nodes.every(node => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
})), 1000))"""  # after the page has scrolled

HIDING = """hints => {
    const board = hints[0].ownerSVGElement;
    const boxes = kind => [...board.querySelectorAll(kind)].map(node => node.getBoundingClientRect());
    const texts = boxes(".hint text"), floors = boxes(".floor");
    return boxes(".hint rect").some((box, number) => texts[number].width > box.width || floors.some(floor =>
        box.left < floor.right - 1 && box.right > floor.left + 1
        && box.top < floor.bottom - 1 && box.bottom > floor.top + 1));
}"""  # whether a hint covers a square, or its text overflows


def test_hints_and_spoken_words_are_of_the_position_shown(visit: Visit) -> None:
    person = visit("#north=human")
    looking, spoken = person.board.locator("[data-tool=previous]"), person.board.locator(SPOKEN)
    assert looking.is_disabled()  # there is nothing to look through
    person.play("3A")
    assert looking.is_enabled()
    assert "South plays 3A." in spoken.inner_text()
    person.press("hint")
    person.board.locator(".hint").first.wait_for()
    assert not person.board.locator(".hint").evaluate_all(HIDING)  # no number is covered, no hint overflows
    found = person.page.evaluate("import('./current-game.js').then(({ hint }) => hint())")
    equals = [move for move, value in found["values"].items() if value == found["values"][found["best"]]]
    assert person.board.locator(".marks rect").count() == len(equals)  # one arrow for each best move
    person.press("previous")
    assert person.board.locator(".hint").count() == 0
    assert person.said == "Start"
    person.page.keyboard.press("End")
    person.press("undo")
    person.waits_for("South to move.")
    assert "plays" not in spoken.inner_text()


def test_a_review_is_of_one_game_and_keeps_the_board_in_sight(visit: Visit) -> None:
    person = visit("#moves=5A&north=human", **PHONE)
    page = person.page
    person.move("3A")
    person.waits_for("The game is over. North wins (South 22, North 46).")
    assert page.locator("#board .floor, #board .say, #next button:visible").evaluate_all(IN_SIGHT)
    assert "North wins" not in page.locator("aside").inner_text()  # the result is shown only once
    page.locator("#review").tap()
    page.locator("#mistakes button", has_text="1. South 5A −36").tap()
    person.waits_for("Start. South played 5A, which gives away 36 points, turns a win into a loss")
    assert person.board.locator(".floor, .say").evaluate_all(IN_SIGHT)
    person.page.keyboard.press("End")
    person.waits_for("One move gave away three points or more, or changed who wins.")
    person.press("after")
    person.waits_for("Start.")
    labels = page.locator("#graph text").all_text_contents()
    assert [text for text in labels if text[0] in "+0"] != []
    assert [text for text in labels if text.isdigit() and text != "0"] == ["1"]  # both moves are of the first round
    assert page.locator("#moves button").all_inner_texts() == ["Start", "1. 5A −36", "3A"]
    page.locator("#rematch").tap()
    person.wait_for_turn()
    assert page.locator("#lead").is_hidden()


def test_a_mistake_is_shown_beside_the_best_move(visit: Visit) -> None:
    person = visit("#moves=5A3A&north=easy")
    page, arrows, panel = (
        person.page,
        person.board.locator(".marks [stroke-dasharray]"),
        person.page.locator("#mistake"),
    )
    page.locator("#review").click()
    page.locator("#mistakes button", has_text="−36").click()
    assert panel.locator("li").all_inner_texts() == [
        "You played 5A: 24 points behind at the end (proved)",
        "Best was 2C: 12 points ahead at the end (proved)",
    ]
    assert panel.locator(".key").evaluate_all("keys => keys.map(key => key.ariaLabel)") == [
        "dashed red arrow",
        "solid green arrow",
    ]
    assert arrows.count() == 2  # the field and the shaft of the played move's arrow
    panel.get_by_text("Show the best line").click()
    person.waits_for("Best line, 1 of 3: 2C.")
    assert arrows.count() == 0
    panel.get_by_text("Stop").click()
    person.waits_for("Start. You played 5A")
    assert arrows.count() == 2
    panel.get_by_text("Show the best line").click()
    panel.get_by_text("Stop").wait_for()
    person.page.keyboard.press("Home")  # something else than the line is shown
    panel.get_by_text("Show the best line").wait_for()
    person.waits_for("Start. You played 5A")
    reviewed = page.locator("#mistakes").all_inner_texts()
    page.locator("#next").get_by_text("Analyse").click()
    assert page.locator("#analysis-tree [aria-current]").inner_text() == "Start"
    page.keyboard.press("Escape")
    assert person.moves == ["5A", "3A"]
    assert page.locator("#mistakes").all_inner_texts() == reviewed  # kept, not computed again
    page.locator("#mistakes button", has_text="Practise your mistakes").click()
    person.waits_for("This is from your game")
    person.move("4A")  # as good as 2C
    person.waits_for("Correct – 4A!")
    page.locator("#next-puzzle").wait_for(state="hidden")  # the buttons follow the status
    page.locator("#puzzles").click()
    page.locator("#puzzle-list button", has_text="From your games").filter(has_text="1 of 1 solved").wait_for()
    page.keyboard.press("Escape")
    page.locator("#retry").click()  # the panel is not empty
    person.waits_for("This is from your game")
    page.locator("#resume").click()
    person.waits_for("One move gave away")


def test_vietnamese_texts_do_not_call_people_by_directions(visit: Visit) -> None:
    person = visit("#moves=5A3A&north=easy", locale="vi-VN")
    person.waits_for("Ván đã kết thúc. Bạn thua (bạn 22, Tí 46).")
    seen = person.page.locator("body").inner_text() + person.board.aria_snapshot()
    assert not re.search("Nam|Bắc", seen)
    assert "Tí đi 3A." in seen
    person.page.keyboard.press("Home")
    assert person.said == "Đầu ván"
    person.press("next")
    assert person.said == "Nước 1/1: Bạn 5A"


def test_motion_that_another_motion_replaces_leaves_it_alone(visit: Visit) -> None:
    person = visit("#moves=3A1C&north=human")
    person.page.keyboard.press("w")
    person.press("tour")
    person.board.locator("[data-tool=skip]").wait_for()
    person.page.wait_for_timeout(700)  # the first motion has ended by now
    assert person.board.locator("[data-tool=skip]").is_visible()
    person.waits_for("South to move.")
    speed = "import('./current-game.js').then(({ view }) => view.board.speed)"
    assert person.page.evaluate(speed) == float("inf")  # as with a preference for reduced motion


def test_what_arrives_late_moves_nothing_that_a_finger_aims_at(visit: Visit) -> None:
    person = visit("#moves=3A1C&north=human", **PHONE)
    page = person.page
    person.fields.nth(1).tap()
    aimed = [person.board.locator(".way").first, page.locator("#moves button").nth(1), page.locator("#about-game")]
    before = [(one.element_handle(), one.bounding_box()) for one in aimed]
    page.evaluate("import('./current-game.js').then(({ view, hint }) => hint().then(found => view.setHint(found)))")
    person.board.locator(".hint").first.wait_for(state="attached")
    page.evaluate("import('./current-game.js').then(({ view }) => view.dispatchEvent(new Event('render')))")
    for one, (handle, box) in zip(aimed, before, strict=True):
        assert handle is not None
        assert (handle.evaluate("node => node.isConnected"), one.bounding_box()) == (True, box)

    other = visit("#moves=5A&north=human", **PHONE)
    other.move("3A")
    other.page.locator("#review").tap()
    other.page.locator("#mistakes progress, #mistakes button").first.wait_for()
    other.page.keyboard.press("Home")  # the mistake, whether or not the review has found it yet
    names = "[...view.board.root.querySelectorAll('.tools button:not([hidden])')].map(one => one.dataset.tool)"
    tops = (
        "[view.buttonBar.bar, document.getElementById('moves')].map(one => one.getBoundingClientRect().top + scrollY)"
    )
    hidden = "document.getElementById('mistake').hidden"
    seen = f"import('./current-game.js').then(({{ view }}) => [{names}, {tops}, {hidden}])"
    before = other.page.evaluate(seen)
    other.page.locator("#mistakes button").first.wait_for()
    assert other.page.evaluate(seen) == before


def test_a_wide_screen_shows_the_review_without_scrolling_and_grows_with_the_window(visit: Visit) -> None:
    person = visit("#moves=5A3A&north=easy", viewport={"width": 1280, "height": 800})
    page = person.page
    page.locator("#review").click()
    page.locator("#mistakes button", has_text="−36").click()
    page.locator("#mistake button").wait_for()
    page.locator("aside").evaluate("node => node.scrollTo(0, 0)")
    assert page.evaluate("document.documentElement.scrollHeight") == 800
    assert page.locator("#moves, #mistakes, #mistake").evaluate_all(IN_SIGHT)
    assert page.locator("aside").evaluate("node => node.scrollHeight === node.clientHeight")
    widths = []
    for width, height in ((1280, 800), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        widths.append(
            person.board.locator("svg[role=group]").evaluate("node => node.getBoundingClientRect().width / innerWidth")
        )
    assert widths[1] > 0.95 * widths[0] > 0.6
    sizes = """nodes => Math.min(...nodes.filter(node => node.offsetParent)
        .map(node => parseFloat(getComputedStyle(node).fontSize)))"""
    assert page.locator("aside :is(p, li, button), nav button").evaluate_all(sizes) >= 18


def test_a_game_of_three_is_reviewed(visit: Visit) -> None:
    person = visit("#rules=three-player&moves=5A2A3A4A&south=easy&east=easy")
    page = person.page
    page.locator("#review").click()
    page.locator(
        "#mistakes button", has_text="You 3A −13 Gives away 13 points and lets East capture a mandarin"
    ).click()
    best = page.locator("#mistake li").nth(1).inner_text()
    assert re.match(r"Best was 5C: \d+ points? (ahead|behind) at the end, measured against the others’ average", best)
    assert page.locator("#lead").is_hidden()  # it says which of two players is ahead
    page.locator("#mistakes button", has_text="Practise your mistakes").click()
    person.waits_for("This is from your game")
    person.move("5C")
    person.waits_for("Correct – 5C!")
