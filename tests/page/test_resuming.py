"""Test that no error at the start, and no damaged entry, costs a person a stored game."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oanquan_env import Board
from tests.helpers.browsers import Visit
from tests.helpers.node import CALLS, run_node

Json = dict[str, Any]
THREE = ["new", {"rules": "three-player", "moves": "1A"}]
UNKNOWN, APP = (f'[Rules "{rules}"]\n[Result "*"]\n\n*\n' for rules in ("from-the-future", "app"))


def resumed(*games: Json, lists: tuple[list[str], ...] = ()) -> Any:
    """Return what `resuming.mjs` says of stored games and of lists."""
    output = json.loads(run_node(CALLS / "resuming.mjs", stdin=json.dumps({"games": games, "lists": lists})))
    return output["lists"] if lists else output["games"]


def test_a_file_that_is_missing_for_once_changes_no_stored_game() -> None:
    random, easy = (
        ["new", {"rules": "tonkin", "moves": "2A", "seats": ["human", name]}] for name in ("random", "easy")
    )
    puzzle = ["puzzle", {"level": "hard", "number": 2, "day": 20_000}]
    games = {"drawing-3-5.json": [THREE], "players/thinker.js": [random], "puzzles-tonkin.json": [easy, puzzle]}
    found = resumed(*({"requests": asked, "missing": [file]} for file, asked in games.items()))
    assert found == [{"failed": file, "copies": None} for file in games]
    three, level, solved = resumed(*({"requests": asked} for asked in games.values()))
    assert (three["moves"], three["rules"], three["seats"]) == (["1A"], "three-player", ["human"] * 3)
    assert (level["moves"], level["seats"]) == (["2A"], ["human", "random"])
    assert (solved["puzzle"]["number"], solved["puzzle"]["day"]) == (2, 20_000)


def test_only_what_was_read_and_refused_is_replaced_and_it_is_kept() -> None:
    friend = ["new", {"rules": "three-player", "moves": "1A", "seats": ["human", "friend", "easy"], "id": "a1"}]
    game = {"text": UNKNOWN, "seats": ["human", "easy"], "id": None}
    aim = {"par": 3, "day": 20_000}
    gone, unread, puzzle, damaged, both = resumed(
        {"requests": [friend], "changes": {"seats": ["human", "friend", "gone"]}},
        {"requests": [THREE], "changes": {**game, "aim": aim}},
        {"requests": [THREE], "changes": {"puzzle": {"rules": "tonkin", "level": "gone"}, "aim": aim}},
        {"texts": ["{", json.dumps({"text": "x"})]},
        {
            "texts": [
                json.dumps({**game, "text": APP}, separators=(",", ":")),
                "[5",
            ]
        },
    )
    assert (gone["seats"], gone["id"], gone["moves"]) == (["human", "friend", "human"], "a1", ["1A"])
    kept = {**game, "rules": "from-the-future", "moves": 0}
    assert [{**one, "at": 0} for one in unread["refused"]] == [{**kept, "at": 0}]
    assert unread["errors"] == ["record"]
    assert (unread["seats"], unread["moves"], unread["aim"]) == (["human", "beginner"], [], None)
    assert (puzzle["moves"], puzzle["rules"]) == (["1A"], "three-player")
    assert (puzzle["errors"], puzzle["aim"]["par"], puzzle["refused"]) == (["request"], 3, [])
    assert (damaged["seats"], damaged["copies"]) == (["human", "beginner"], '{\n{"text": "x"}\n')
    assert (both["rules"], both["copies"].endswith("[5\n")) == ("app", True)


def test_each_entry_of_a_list_is_read_by_itself_and_the_rest_is_copied() -> None:
    a, b = {"id": "a1"}, {"id": "a2"}
    damaged = json.dumps([a, None, b, {"id": 5}])
    fine, first, again, other, no_list = resumed(lists=([json.dumps([a, b]), damaged, damaged, "[{", "5"],))[0]
    assert fine == [[a, b], None]
    assert first == again == [[a, b], f"{damaged}\n"]
    assert other == [[], f"{damaged}\n[{{\n"]
    assert no_list[1].endswith("\n5\n")


@pytest.mark.slow  # a browser takes seconds
def test_a_failed_start_names_what_is_missing_keeps_the_game_and_offers_to_try_again(visit: Visit) -> None:
    person = visit("#rules=three-player&moves=1A")
    page, failed = person.page, person.page.locator("#failed")
    for part in ("moves.wasm", "data/drawing-3-5.json", "model/record-reading.js"):
        page.route(f"**/{part}", lambda route: route.abort())
        page.reload()
        failed.get_by_text(part.rpartition("/")[2]).wait_for()
        assert page.locator("main").is_hidden()
        assert page.locator("#new").is_disabled()
        page.keyboard.press("u")
        page.unroute(f"**/{part}")
        page.locator("#reload").click()
        page.wait_for_selector("body[data-ready]")
        assert (person.moves, person.state["rules"]) == (["1A"], "three-player"), part
    page.route("**/activities/files.js", lambda route: route.abort())
    page.evaluate("location.hash = 'rules=tonkin&moves=2A'")
    failed.get_by_text("files.js").wait_for()
    assert person.moves == ["1A"]
    page.unroute("**/activities/files.js")
    page.locator("#reload").click()  # the address still has the link
    page.locator("#about-game", has_text="1944").wait_for()
    page.route("**/model/session.js", lambda route: route.abort())
    page.reload()
    page.evaluate("document.getAnimations().forEach(each => each.finish())")  # as after some seconds
    assert "reload the page" in page.locator("#board .late").inner_text()
    page.unroute("**/model/session.js")
    page.add_init_script("delete window.WebAssembly")
    page.reload()
    failed.get_by_text("This browser has no WebAssembly").wait_for()
    page.locator("#language").click()
    failed.get_by_text("Trình duyệt này không có WebAssembly").wait_for()


@pytest.mark.slow  # a browser takes seconds
def test_one_bad_entry_costs_no_other_puzzle_and_no_other_game(visit: Visit) -> None:
    page = visit().page
    own = [{"id": f"{n}", "rules": "app", "puzzle": {"position": Board().text(), "line": ["1A"]}} for n in range(4)]
    game = {"text": UNKNOWN, "seats": ["human", "human"], "id": None, "rules": "tonkin", "moves": 1, "at": 10**12}
    stored = {"own": json.dumps([*own[:3], None]), "games": json.dumps([game, game | {"at": 10**18}, game])}
    page.evaluate("stored => { for (const key in stored) localStorage[`oanquan-${key}`] = stored[key]; }", stored)
    page.evaluate("one => import('./activities/puzzles.js').then(({ keepOwn }) => keepOwn([one]))", own[3])
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert json.loads(json.loads(kept)["oanquan-own"]) == own
    assert json.loads(json.loads(kept)["oanquan-own-unread"].strip()) == [*own[:3], None]
    page.reload()
    page.locator("#resume", has_text="Unfinished games (2)").click()
    page.locator("#games button").nth(1).wait_for()
    assert page.locator("#games button").count() == 2
