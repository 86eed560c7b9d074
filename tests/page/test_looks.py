"""Test the page's layout on phones and desktops, its animation of moves, and what a screen reader announces."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.helpers.browsers import PHONE, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow  # a browser takes seconds

SIZES = {
    "phone": PHONE,
    "landscape": {**PHONE, "viewport": {"width": 844, "height": 390}},
    "desktop at 200 %": {"viewport": {"width": 640, "height": 400}},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
}
INSIDE = """nodes => nodes.length > 0 && nodes.map(node => node.getBoundingClientRect()).filter(box => box.width).every(
    box => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)"""
LUMINANCE = """(node, name) => {  // as WCAG defines it
    const parts = getComputedStyle(node)[name].match(/[0-9.]+/g).slice(0, 3).map(part => part / 255);
    const [red, green, blue] = parts.map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}"""


@pytest.mark.parametrize("size", SIZES)
def test_board_and_buttons_are_in_sight(visit: Visit, size: str) -> None:
    person = visit(locale="vi-VN", **SIZES[size])
    assert person.board.locator(".tools button:not([hidden]), .say").evaluate_all(INSIDE)
    assert person.board.locator(".hit").evaluate_all(INSIDE)
    assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    field = person.fields.first.bounding_box()
    assert field is not None
    assert min(field["width"], field["height"]) >= (100 if size == "desktop" else 56)


def test_a_phone_in_landscape_shows_all_values_and_puzzles(visit: Visit) -> None:
    page = visit("#tree=5A&at=1", **SIZES["landscape"]).page
    page.locator("#analysis-valued").check()
    page.locator("#analysis-values .best").first.wait_for()
    assert page.locator("#analysis-values button").evaluate_all(INSIDE)
    page.keyboard.press("Escape")
    for language in ("English", "Vietnamese"):
        if language == "Vietnamese":
            page.locator("#language").click()
        page.locator("#puzzles").click()
        page.locator("#puzzle-list .kinds button").first.wait_for()
        assert page.locator("#puzzle-list button").evaluate_all(INSIDE), language
        page.keyboard.press("Escape")
    other = visit("#rules=mancala-world&moves=5A3A&north=human", **SIZES["landscape"])
    other.page.locator("#review").tap()
    other.page.locator("#mistakes button").first.tap()
    assert other.page.locator("nav button, #mistake").evaluate_all(INSIDE)


@pytest.mark.parametrize(
    ("rules", "scheme"), [("mancala-world", "light"), ("three-player", "dark"), ("four-player", "light")]
)
def test_a_small_phone_shows_words_that_stand_out_and_arrows_that_can_be_hit(
    visit: Visit, rules: str, scheme: str
) -> None:
    person = visit(f"#rules={rules}", color_scheme=scheme, **{**PHONE, "viewport": {"width": 360, "height": 640}})
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.fields.first.tap()
    for way in person.board.locator(".way circle").all():
        box = way.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert 0 <= box["x"] <= 360 - box["width"]
    sizes = """nodes => nodes.filter(node => node.textContent && node.checkVisibility()).map(
        node => parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a
    )"""
    assert min(person.board.locator("text").evaluate_all(sizes)) >= 9.9  # pixels
    page, board = person.page, person.board
    back = page.locator("body").evaluate(LUMINANCE, "backgroundColor")
    assert (back > 0.5) == (scheme == "light")
    words = [(board.locator(kind), "fill", back) for kind in (".label:not(.legal)", ".label.legal", ".plate text")]
    words += [(board.locator(".say"), "color", back), (page.locator("#about-game"), "color", back)]
    words.append((board.locator(".count"), "fill", board.locator(".floor").first.evaluate(LUMINANCE, "fill")))
    for shown, name, behind in words:
        low, high = sorted((shown.first.evaluate(LUMINANCE, name), behind))
        assert (high + 0.05) / (low + 0.05) >= 4.5


APART = """([board, ones, others]) => {  // whether no element of one kind overlaps an element of the other
    const root = document.querySelector(board).shadowRoot;
    const boxes = kind => [...root.querySelectorAll(kind)].map(node => node.getBoundingClientRect());
    const [some, rest] = [boxes(ones), boxes(others)];
    const apart = (one, other) => one.right <= other.left || one.left >= other.right
        || one.bottom <= other.top || one.top >= other.bottom;
    const shown = some.filter(one => one.width);
    return some.length && rest.length && shown.every(one => rest.every(other => apart(one, other)));
}"""


@pytest.mark.parametrize("players", ["east=easy&west=perfect", "east=easy&north=perfect&west=hard"])
def test_names_and_faces_inside_the_ring_are_away_from_arrows_and_squares(visit: Visit, players: str) -> None:
    rules = "four" if "north" in players else "three"
    person = visit(f"#rules={rules}-player&{players}", **PHONE)
    for field in range(1, 6):
        person.board.locator(f".hit.legal[data-field='{field}']").tap()
        assert person.page.evaluate(APART, ["#board", ".way", ".plate text, .plate circle"])
        assert person.board.locator(".plate.covered").count() == 0
    if rules == "four":  # squares of slanting rows are smaller than their boxes
        assert person.page.evaluate(APART, ["#board", ".plate text, .plate circle", ".hit"])


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
def test_arrows_hide_the_names_that_they_would_cover_in_landscape(visit: Visit, rules: str) -> None:
    person, hidden = visit(f"#rules={rules}", **SIZES["landscape"]), set[int]()
    for field in range(1, 6):
        person.board.locator(f".hit.legal[data-field='{field}']").tap()
        hidden.add(person.board.locator(".plate.covered").count())
        if person.board.locator(".plate:not(.covered)").count():
            assert person.page.evaluate(APART, ["#board", ".way circle", ".plate:not(.covered) text"])
    assert max(hidden) > 0 or rules == "mancala-world"  # there, it depends on the font
    person.board.locator(".hit:not(.legal)").first.tap()
    assert person.board.locator(".plate.covered").count() == 0


@pytest.mark.parametrize("players", ["three", "four"])
def test_names_and_points_are_apart_in_landscape(visit: Visit, players: str) -> None:
    board = visit(f"#rules={players}-player&east=easy", **SIZES["landscape"]).board
    boxes = [text.bounding_box() for text in board.locator(".plate text").all() if text.is_visible()]
    assert len(boxes) == {"three": 3, "four": 4}[players]
    for one, other in itertools.combinations(boxes, 2):
        assert one is not None
        assert other is not None
        overlaps = [
            min(one[at] + one[size], other[at] + other[size]) - max(one[at], other[at])
            for at, size in (("x", "width"), ("y", "height"))
        ]
        assert min(overlaps) < 5  # pixels, as boxes have margins


@pytest.mark.parametrize(("size", "players"), [((360, 640), "four"), ((390, 844), "four"), ((844, 390), "three")])
def test_the_options_stay_close_like_a_menu_and_cover_no_square_or_text(
    visit: Visit, size: tuple[int, int], players: str
) -> None:
    options = {**PHONE, "viewport": {"width": size[0], "height": size[1]}}
    for rules in (f"{players}-player", "vietnamese"):
        person = visit(f"#rules={rules}&north=human", **options)
        opener, panel = person.board.locator("[data-tool=options]"), person.board.locator(".options")
        place = opener.bounding_box()
        opener.tap()
        box = panel.bounding_box()
        assert box is not None
        assert panel.evaluate_all(INSIDE)
        others = [part.bounding_box() for part in person.board.locator(".hit, .say").all()]
        assert all(other and other["y"] + other["height"] <= box["y"] + 1 for other in others)
        person.page.keyboard.press("Escape")
        assert panel.is_hidden()
        opener.tap()
        person.board.locator("select").select_option("none")
        person.fields.first.tap()  # a tap outside the options
        assert panel.is_hidden()
        opener.tap()
        opener.tap()
        assert panel.is_hidden()
        assert person.moves == []
        person.board.locator(".way").first.tap()
        person.page.locator("#moves button").nth(1).wait_for()
        assert opener.bounding_box() == place


COMPARE = """async () => {
    const [{ BoardView }, { page: { state } }, { view }] = await Promise.all(
        ["board/board", "page-state", "current-game"].map(name => import(`./${name}.js`)));
    const { plain } = view.board, host = document.body.appendChild(document.createElement("div")), wrong = [];
    const shown = new BoardView(host);
    shown.speed = 1e9;  // each step runs without a delay
    shown.setDrawing(plain);
    let before = { frame: state.start, mover: state.starter };
    for (const serial of state.line) {
        const move = state.moves[serial], after = { frame: move.after, mover: move.mover };
        const reached = await shown.play(move, before, after), drawn = shown.heaps.map(heap => heap.length);
        const heaps = move.after.seeds.map(seeds => Math.min(seeds, plain.most_pebbles));
        const same = ["seeds", "stones", "scores"].every(part => reached[part].join() === move.after[part].join());
        if (!same || drawn.join() !== heaps.join()) wrong.push(move);
        before = after;
    }
    shown.destroy();
    host.remove();
    return [state.line.length, wrong];
}"""
"""A script that returns the number of moves, and the moves whose animation does not end in the engine's position."""


def test_the_motion_ends_in_the_position_of_the_engine(visit: Visit) -> None:
    for link in (
        "#south=random&north=random",
        "#rules=ludii&south=random&north=random",
        "#rules=three-player&south=random&east=random&west=random",
    ):
        person = visit(link)
        person.page.locator("#rematch").wait_for()
        plies, wrong = person.page.evaluate(COMPARE)
        assert (plies > 1, wrong) == (True, [])


def test_the_board_stays_in_view_and_a_reply_comes_after_a_rest(visit: Visit) -> None:
    person = visit("#rules=three-player&east=easy&west=medium", viewport={"width": 1280, "height": 800})
    page = person.page
    assert person.board.locator(".plate circle").count() > 2  # faces of three players
    other = visit("#north=easy")
    for one in (person, other):
        one.stop_the_clock()
    person.fields.first.click()
    person.board.locator(".way").first.click()
    person.waits_until("page.state.line.length === 3")  # both opponents have replied
    listed = page.locator("#moves button")
    page.clock.run_for(399)  # milliseconds
    assert listed.count() == 2  # the start and the person's move
    page.clock.run_for(1)
    listed.nth(3).wait_for()
    other.move("1A")
    other.waits_until("page.state.line.length === 2")
    other.press("undo")  # before the reply is shown
    other.page.clock.run_for(400)
    assert other.moves == []
    page.evaluate("document.querySelector('aside').style.minHeight = '3000px'")
    page.evaluate("scrollTo(0, 1500)")
    assert person.board.locator(".hit").evaluate_all(INSIDE)
    page.evaluate("scrollTo(0, 0)")
    page.set_viewport_size({"width": 320, "height": 200})  # as at a zoom of 400 %
    assert person.board.locator(".tools").evaluate("node => getComputedStyle(node).position") == "static"


def test_reduced_motion_shows_none_and_a_screen_reader_hears_no_loose_numbers(visit: Visit) -> None:
    person = visit("#north=human")
    assert person.board.locator("select").input_value() == "none"
    person.board.locator(".hit.legal").first.focus()
    person.page.keyboard.press("Tab")  # the arrow keys lead to other squares
    assert person.board.locator("[data-tool=hint]:focus").count() == 1
    heard = person.board.aria_snapshot()
    assert '"square 3 of South: 5 seeds. Press Enter to choose it"' in heard
    assert not [line for line in heard.splitlines() if line.strip(' -"').removeprefix("text: ").strip('"').isdecimal()]


def test_how_to_play_shows_every_lesson(visit: Visit) -> None:
    person = visit(locale="vi-VN")
    page = person.page
    page.locator("#learn").click()
    page.locator("#learn-dialog[open]").wait_for()
    titles = []
    for lesson in range(1, 8):
        page.locator("#learn-page", has_text=f"{lesson} / 7").wait_for()
        page.locator("#learn-board svg").first.wait_for()
        titles.append(page.locator("#learn-title").inner_text())
        page.locator("#learn-next").click()
    assert len(set(titles)) == 7
    person.waits_for("Hãy chọn từng ô để xem dân sẽ đi đâu.")  # the help in a person's first game
    page.reload()
    person.waits_for("Hãy chọn từng ô để xem dân sẽ đi đâu.")


REACHED = """hits => hits.map(hit => {  // whether a tap on the middle of a square reaches it
    const { left, top, width, height } = hit.getBoundingClientRect();
    return hit.getRootNode().elementFromPoint(left + width / 2, top + height / 2) === hit;
})"""


@pytest.mark.parametrize("size", [(360, 640), (390, 844), (844, 390)])
def test_a_tap_on_another_square_plays_no_move(visit: Visit, size: tuple[int, int]) -> None:
    options = {**PHONE, "viewport": {"width": size[0], "height": size[1]}}
    person = visit("#rules=vietnamese&north=human", **options)
    for first in "12345":
        for second in "12345":
            for field in (first, second):
                person.board.locator(f".hit[data-field='{field}']").nth(0).tap()
            assert person.board.locator(".hit.chosen").get_attribute("data-field") == second
            assert person.board.locator(".way").evaluate_all(INSIDE)
        assert all(person.board.locator(".hit").evaluate_all(REACHED))
    assert person.moves == []
    person.move("2C")
    assert person.moves == ["2C"]
    for rules, fields in (("three-player", 5), ("four-player", 5), ("tonkin", 5), ("vietnamese fields=2", 2)):
        other = visit(f"#rules={rules.replace(' ', '+')}&north=human", **options)
        for field in range(1, fields + 1):
            other.board.locator(f".hit.legal[data-field='{field}']").tap()
            assert all(other.board.locator(".hit").evaluate_all(REACHED)), (rules, field)
            assert other.board.locator(".way").evaluate_all(INSIDE)


def test_a_chosen_or_focused_square_shows_both_paths_before_the_move(visit: Visit) -> None:
    person = visit("#rules=mancala-world&north=human", **PHONE)
    paths, last = person.board.locator(".paths circle:not(.last)"), person.board.locator(".paths .last")

    def shown(field: str) -> None:
        """Check that there is a dot for each square on both ways, and a ring for each last seed."""
        dots = {move: {*one["path"]} for move, one in person.state["previews"].items() if move[0] == field}
        assert [paths.count(), last.count()] == [sum(map(len, dots.values())), 2]

    person.board.locator(".hit.legal[data-field='5']").tap()
    shown("5")
    gains = person.board.locator(".way .badge text")
    assert gains.all_text_contents() == ["+11", "+6"]  # what each would capture
    assert person.said == "Square 5: choose a direction."
    person.board.locator(".hit:not(.legal)").first.tap()
    assert person.said == "Choose one of your squares that has seeds."
    person.board.locator(".hit.legal[data-field='5']").tap()
    person.board.locator(".way[data-move='5A']").tap()
    person.page.locator("#moves button").nth(1).wait_for()
    assert (person.moves, paths.count()) == (["5A"], 0)
    person.press("undo")
    person.page.keyboard.press("ArrowRight")
    shown("1")
    assert person.said.startswith("South to move.")
    person.board.locator(".hit.legal[data-field='5']").focus()
    shown("5")
    assert person.board.locator(".paths .badge text").all_text_contents() == ["+11", "+6"]
    person.board.locator(".hit.legal[data-field='5']").click()
    shown("5")
    assert person.board.locator(".paths .badge").count() == 0  # the arrows show this
    person.page.keyboard.press("ArrowDown")  # the choice stays when another square gets the focus
    shown("5")
    person.board.locator(".way[data-move='5C']").hover()  # shows only this way and its captures
    assert person.board.locator(".paths .aside").get_attribute("data-move") == "5A"
    assert person.board.locator(".way-taken").count() == len(person.state["previews"]["5C"]["taken"]) > 0
    person.page.evaluate("import('./current-game.js').then(({ view }) => view.option('preview', false))")
    person.board.locator(".hit.legal[data-field='3']").tap()
    assert (paths.count(), person.board.locator(".way").count()) == (0, 2)


TEXTS = """selectors => selectors.map(one => [...document.querySelectorAll(one)].filter(node => node.offsetParent)
    .map(node => node.textContent.trim()))"""
LABELLED = ["nav button", "aside button", "aside [data-word]"]


def test_words_and_a_board_are_there_before_the_scripts(visit: Visit, browser: Browser, site: str) -> None:
    wanted = visit().page.evaluate(TEXTS, LABELLED)
    with browser.new_context(viewport={"width": 1280, "height": 720}) as context:
        page = context.new_page()
        page.route("**/*.js", lambda route: route.abort())
        page.goto(site)
        texts = page.evaluate(TEXTS, LABELLED)
        assert texts[0] == wanted[0]
        assert all(text and text in wanted[number] for number in (1, 2) for text in texts[number])
        assert len(texts[2]) >= 5
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site)
        assert "JavaScript" in page.locator("noscript").inner_text()
        box = page.locator("#board svg").bounding_box()
        assert box is not None
        assert box["width"] > 400
        assert page.locator("nav button").all_inner_texts() == wanted[0]
