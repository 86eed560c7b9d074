"""Test what people do on the page: play games and matches, take lessons and solve puzzles."""

from __future__ import annotations

import re

import pytest

from oanquan_env import Board, Rules, parse_records
from tests.helpers.boards import boards_of
from tests.helpers.browsers import PHONE, WEB, Visit
from tests.helpers.strategies import PRESET_NAMES
from tests.play.test_server import serve

pytestmark = pytest.mark.slow  # a browser takes seconds

LAST = "#rules=mancala-world&from=2,3,1,0,0,4%2A/3,0,1,2,0,0+22,22+0+30&north=human"
"""A link to a position in which 3A captures the last stone and wins 42 to 28."""


def test_a_whole_game_against_a_level_offline(visit: Visit) -> None:
    person = visit(**PHONE)
    person.page.evaluate(
        "navigator.serviceWorker.register('service-worker.js').then(() => navigator.serviceWorker.ready)"
    )
    person.page.context.set_offline(True)
    person.page.reload()
    person.page.wait_for_selector("body[data-ready]")
    assert person.board.locator(".plate .name").all_text_contents() == ["You", "Bống"]
    assert person.state["rules"] == "vietnamese"
    said = []
    while person.wait_for_turn():
        said.append(person.said)
        person.fields.first.tap()
        person.board.locator(".way").first.tap()
    assert said[:2] == ["Choose one of your squares, then a direction.", "To win, capture more points than Bống."]
    assert said[2:4] == ["Bống: “I never want the game to end!”", "Your turn."]
    board = Board("vietnamese")
    for move in person.moves:
        board.push(move)
    assert board.outcome is not None
    assert person.state["outcome"]["scores"] == list(board.outcome.scores)
    assert [seat["name"] for seat in person.state["seats"]] == ["human", "beginner"]
    assert "The game is over" in person.said


def test_a_game_by_keyboard_in_vietnamese(visit: Visit) -> None:
    person = visit(LAST, locale="vi-VN")
    press = person.page.keyboard.press
    assert "Chọn một ô" in person.said
    press("ArrowRight")  # to the first field
    focused = "document.querySelector('#board').shadowRoot.activeElement.dataset.field"
    assert person.page.evaluate(focused) == "1"
    person.page.evaluate("document.body.dispatchEvent(new Event('keydown', { bubbles: true }))")  # as an autofill sends
    for _ in range(3):
        person.page.keyboard.down("Enter")  # held down, it opens the arrows and plays no move
    person.page.keyboard.up("Enter")
    for key in ("Escape", "ArrowRight", "Enter", "ArrowRight", "Escape", "Enter", "ArrowRight", "Enter"):
        press(key)
    person.page.locator("#moves button").nth(1).wait_for()
    assert person.moves == ["2A"]
    person.board.locator("[data-tool=undo]").focus()
    press("Enter")
    person.page.locator("#moves button").nth(1).wait_for(state="detached")
    press("o")
    person.board.locator(".options select:focus").wait_for()
    press("Escape")
    person.page.locator("#language").focus()
    press("Enter")
    press("Enter")
    assert person.page.locator("#language:focus").count() == 1  # the board has not taken the focus
    person.board.locator(".hit.legal").first.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter", "Enter"):
        press(key)
    person.waits_for("Ván đã kết thúc")
    assert person.state["outcome"]["scores"] == [42, 28]
    person.page.locator("#next button:focus").wait_for()  # the keyboard focus is there now


def test_undo_hint_redo_and_review(visit: Visit) -> None:
    person = visit("#moves=5A&north=human")
    page = person.page
    person.press("hint")
    person.waits_for("Try ")
    hints = person.board.locator(".hint text").all_text_contents()
    assert len(hints) == len(person.state["legal"])
    assert all(re.fullmatch(r"[+−]?\d+", text) for text in hints)
    person.move("3A")
    person.waits_for("The game is over.")
    page.locator("#rematch").wait_for()
    person.press("undo")
    assert person.moves == ["5A"]
    person.press("redo")
    person.waits_for("The game is over.")
    page.locator("#review").click()
    worst = page.locator("#mistakes button", has_text="1. South 5A −36")
    worst.wait_for()
    assert "turns a win into a loss and lets North capture a mandarin with 3A" in worst.inner_text()
    worst.click()
    assert person.said.startswith("Start. South played 5A, which gives away 36 points")
    page.locator("#lead", has_text="South +12").wait_for()
    page.locator("#from-here").click()
    person.wait_for_turn()
    assert person.moves == []


def test_a_match_goes_on_to_its_next_round(visit: Visit) -> None:
    person = visit()
    page = person.page
    page.locator("#new").click()
    page.locator("#preset").select_option("mancala-world")
    page.locator(".seat select").nth(1).select_option("human")
    page.locator("#as-match").check()
    assert page.locator("#starter").is_disabled()
    page.locator("#begin").click()
    person.waits_for("South to move. The first to sell 3 squares loses the match.")
    person.play("5A", "3A")
    person.waits_for("The round is over. North wins (South 22, North 46). South owes 11 points and sells square 1.")
    assert "\nSouth owes" in person.said  # on its own line
    page.locator("#language").click()
    person.waits_for("Ván đã kết thúc. Bên trên thắng (bên dưới 22, bên trên 46). Bên dưới nợ 11 điểm: bán ruộng 1.")
    page.locator("#language").click()
    page.locator("#next-round").click()
    page.locator("#match tr:nth-child(3)", has_text="Round 2").wait_for()
    linked = page.locator("#match a").get_attribute("href") or ""
    assert f'id="{linked.partition("#")[2]}"' in (WEB / linked.partition("#")[0]).read_text(encoding="utf-8")
    person.play("3A", "4A")
    page.locator("#resign").click()
    page.locator("#notice", has_text="goes to the other player").wait_for()
    page.locator("#resign").click()
    person.waits_for("South resigns: North wins (South 6, North 64).")
    assert "North wins the match" in page.locator("#next h2").inner_text()
    match = person.state["match"]
    assert (match["sold"], match["pawned"], match["over"]) == ([3, 0], [1, 0], True)
    rounds = parse_records(person.state["record"])
    assert [record.result for record in rounds] == ["22-46", "*"]


def test_lessons_are_played_and_lead_to_a_first_game_with_help(visit: Visit) -> None:
    person = visit()
    page, board = person.page, person.page.locator("#learn-board")
    page.locator("#learn").click()

    def tries(move: str, answer: str) -> None:
        board.locator(f".hit.legal[data-field='{move[0]}']").click()
        board.locator(f".way[data-move='{move}']").click()
        page.locator("#learn-task", has_text=answer).wait_for()

    page.locator("#learn-title", has_text="The board").wait_for()
    for lesson, move in enumerate(["", "2A", "1A", "1A", "1A", "1A", "3A"]):
        page.locator("#learn-page", has_text=f"{lesson + 1} / 7").wait_for()
        if lesson == 3:
            tries("5A", "not the one we’re after. Try square 1, anticlockwise.")
        if move:
            tries(move, "Well done!")
        assert board.locator(".plate.won", has_text="42").count() == (lesson == 6)  # the end is played out
        page.locator("#learn-next").click()
    person.waits_for("Choose a square to see where its seeds would go.")  # the largest capture is a mistake
    assert (person.state["rules"], [seat["name"] for seat in person.state["seats"]]) == (
        "vietnamese",
        ["human", "beginner"],
    )
    person.move("1A")
    assert person.wait_for_turn()
    best = max(preview["captured"] for preview in person.state["previews"].values())
    text = (
        "You can’t capture anything"
        if not best[0]
        else "capture a mandarin:"
        if best[1]
        else f"capture {best[0]} point"
    )
    person.waits_for(text)


def test_a_puzzle_and_back_to_the_game(visit: Visit) -> None:
    person = visit("#rules=tonkin&moves=2A&north=human", locale="vi-VN")
    page = person.page
    page.locator("#puzzles").click()
    page.locator("#puzzle-list .kinds button").first.click()
    person.waits_for("Hãy ăn quan trong một nước.")
    person.move("4A")
    person.waits_for("4A chưa được")
    page.locator("#retry").click()
    person.fields.first.wait_for(state="attached")
    person.move("1A")
    person.waits_for("Đúng rồi: 1A.")
    page.locator("#next-puzzle").click()
    person.waits_for("Vì sao nước ấy thua?")
    page.locator("#new").click()
    page.locator("#new-dialog[open]").wait_for()
    assert [select.input_value() for select in page.locator(".seat select").all()] == ["human", "easy"]
    page.keyboard.press("Escape")
    page.reload()
    person.waits_for("Vì sao nước ấy thua?")
    page.locator("#resume").click()
    person.wait_for_turn()
    assert (person.state["rules"], person.moves) == ("tonkin", ["2A"])
    page.locator("#puzzles").click()
    page.locator("#puzzle-list .kinds button").first.filter(has_text="đã giải 0/3").wait_for()  # solved after a mistake


def test_rules_and_players_of_a_new_game(visit: Visit) -> None:
    person = visit()
    page = person.page
    page.locator("#new").click()
    page.locator("#preset").select_option("vietnamese")
    page.locator("#more summary").click()
    page.locator("[data-field=seeds]").fill("4")
    page.locator("[data-field=stones]").select_option("True")
    page.locator("label", has_text="A first move can capture a mandarin").locator("select").select_option("no")
    page.locator(".seat select").nth(1).select_option("beginner")
    page.locator("#starter").select_option("1")
    page.locator("#new-rules summary").click()
    for seeds, said in (("", "Seeds per square"), ("3", "holds 3 seeds"), ("4", "holds 4 seeds")):
        page.locator("[data-field=seeds]").fill(seeds)
        page.locator("[data-field=seeds]").blur()
        page.locator("#new-rules p", has_text=said).wait_for()
    page.locator("#begin").click()
    page.locator("#about-game", has_text="seeds=4").wait_for()
    person.wait_for_turn()
    page.locator("#game-rules summary").click()
    page.locator("#game-rules p", has_text="holds 4 seeds").wait_for()
    page.locator("#language").click()
    page.locator("#game-rules p", has_text="mỗi ô dân có 4 dân").wait_for()
    page.locator("#language").click()
    state = person.state
    begun = (state["rules"], [seat["name"] for seat in state["seats"]], state["starter"], state["ply"])
    assert begun == ("vietnamese seeds=4 first_move_captures_mandarin=False", ["human", "beginner"], 1, 1)
    page.locator("#new").click()
    assert page.locator("#lot-about").is_hidden()
    page.locator("#starter").select_option("lot")
    assert page.locator("#lot-about").is_visible()
    linked = page.locator("#lot-about a").get_attribute("href") or ""
    assert f'id="{linked.partition("#")[2]}"' in (WEB / linked.partition("#")[0]).read_text(encoding="utf-8")
    page.locator("#begin").click()
    hand = "(rock ✊|paper ✋|scissors ✌️)"
    page.locator("#notice", has_text=re.compile(rf"You: {hand}, Bống: {hand}. (You start|Bống starts)\.")).wait_for()
    page.locator("#new").click()
    page.locator("#notice:popover-open").wait_for(state="detached")  # it would cover the dialog
    sides = page.locator(".seat span")
    assert sides.all_inner_texts() == ["You (below)", "Opponent (above)"]
    page.locator(".seat select").nth(0).select_option("easy")
    page.locator(".seat select").nth(1).select_option("human")  # the board turns to the only person
    assert sides.all_inner_texts() == ["Opponent (above)", "You (below)"]
    page.keyboard.press("Escape")
    page.locator("#new").click()
    page.locator("#new-dialog[open]").wait_for()
    assert page.locator(".seat select").nth(0).input_value() == "human"  # as in the game, not as in the dialog before
    page.locator(".seat select").nth(1).select_option("")
    page.locator(".seat input").nth(1).fill("nobody")
    page.locator("#begin").click()
    page.locator("#new-error", has_text="no such player").wait_for()


def test_both_languages_have_all_words(visit: Visit) -> None:
    page = visit().page
    keys = """async () => {
        const paths = (value, at = "") => typeof value === "object" && !Array.isArray(value)
            ? Object.entries(value).flatMap(([key, inner]) => paths(inner, `${at}.${key}`)) : [at];
        await import("./words/dialog-words.js"); // it adds its words, as the next one does
        await import("./words/puzzle-words.js");
        const files = ["words", "board-words", "puzzle-tasks", "analysis-words", "proof-words", "review-words"];
        const words = await Promise.all(files.map(file => import(`./words/${file}.js`)));
        return words.map(({ WORDS, TASKS, ANALYSIS, PROOF, REVIEW }) => WORDS ?? TASKS ?? ANALYSIS ?? PROOF ?? REVIEW)
            .map(texts => ["en", "vi"].map(language => paths(texts[language]).sort().join()));
    }"""
    for english, vietnamese in page.evaluate(keys):
        assert english == vietnamese
    page.locator("#language").click()
    page.locator("#language", has_text="English").wait_for()  # words that load later replace none
    assert page.locator("#about").inner_text() == "Về trò chơi"
    words = page.evaluate("import('./words/words.js').then(({ WORDS }) => JSON.parse(JSON.stringify(WORDS.en)))")
    assert set(words["presets"]) == set(words["presetWords"]) == set(PRESET_NAMES)
    assert set(words["fields"]) == set(vars(Rules()))


def test_players_of_python_play_where_python_serves_the_page(visit: Visit) -> None:
    first, failing = "tests.helpers.players:FirstMove", "tests.play.test_server:Failing"
    with serve(first, failing) as played:
        person = visit(f"#north={first}", site=played.address)
        person.move("1A")
        person.page.locator("#moves button").nth(2).wait_for()
        assert person.moves == ["1A", str(boards_of("1A")[-1].legal_moves[0])]
        person = visit(f"#north={failing}", site=played.address)
        person.move("1A")
        person.waits_for("ZeroDivisionError: no idea")
        person.press("undo")
        person.fields.first.wait_for(state="attached")
        assert person.moves == []


def test_the_end_is_heard_and_its_verse_seen_unless_the_sound_is_off(visit: Visit) -> None:
    person = visit(LAST, reduced_motion="no-preference")
    page = person.page
    page.evaluate("""() => {
        window.heard = [];
        for (const kind of [AudioBufferSourceNode, OscillatorNode]) {
            const { start } = kind.prototype;
            kind.prototype.start = function (...times) { heard.push(kind.name); return start.apply(this, times); };
        }
    }""")
    person.move("3A")
    person.board.locator(".verse text").nth(3).wait_for()
    person.waits_for("The game is over. South wins")
    assert person.board.locator(".verse").count() == 0
    heard = page.evaluate("heard")
    assert heard.count("OscillatorNode") == 8  # a note for each syllable
    assert heard.count("AudioBufferSourceNode") > 2
    person.press("loud")
    person.page.keyboard.press("w")
    person.board.locator(".verse text").nth(3).wait_for()
    assert page.evaluate("heard") == heard
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert person.board.locator("[data-tool=loud]").get_attribute("aria-pressed") == "false"


def test_a_match_from_a_position_is_refused_in_the_dialog(visit: Visit) -> None:
    page = visit("#north=human").page
    page.locator("#new").click()
    page.locator("#as-match").check()
    page.locator("#more summary").click()
    page.locator("#position").fill("hello")
    page.locator("#begin").click()
    page.locator("#new-error", has_text="A match begins from the initial position").wait_for()


def test_a_captured_mandarin_is_called_out_as_children_do(visit: Visit) -> None:
    person = visit(
        "#rules=mancala-world&from=1,0,0,4,0,1%2A/4,0,5,1,3,0%2A+16,15+0+20&north=human",
        locale="vi-VN",
        reduced_motion="no-preference",
    )
    person.move("1A")
    person.board.locator(".verse", has_text="Một đập ăn quan!").wait_for()
    person.page.locator("#moves button").nth(1).wait_for()
    person.board.locator(".verse").wait_for(state="detached")


def test_the_page_about_the_game_is_a_tap_away_in_both_languages_even_offline(visit: Visit) -> None:
    page = visit(**PHONE).page
    page.evaluate("navigator.serviceWorker.register('service-worker.js').then(() => navigator.serviceWorker.ready)")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.context.set_offline(True)
    page.locator("#about").tap()
    for title, other in (("About the game", "Bằng tiếng Việt"), ("Về trò chơi", "In English")):
        page.get_by_role("heading", name=title).wait_for()
        page.get_by_role("link", name=other).tap()
    page.get_by_role("link", name="← Ô Ăn Quan").tap()
    page.wait_for_selector("body[data-ready]")
