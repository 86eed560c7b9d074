"""Test the scripts of the page's board in Node.js: marks, the sweep at the end of a game, and texts."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from oanquan_env import Rules
from oanquan_env.render import LastMove
from oanquan_env.render.layout import layout_of
from oanquan_env.render.scene import arrows, marks, ownership_tabs, pebble_places
from oanquan_env.render.svg import fragment
from oanquan_env.render.theme import PEBBLES
from tests import ROOT
from tests.helpers import node
from tests.helpers.boards import played_board
from tests.helpers.strategies import PRESET_NAMES
from tools.write_page import drawing

WEB = ROOT / "oanquan_env/play/web"


def run_script(module: str, result: str, given: dict[str, Any]) -> Any:
    """Return the value of the JavaScript expression `result`, which may use `given` and the exports of `module`."""
    script = f"""
        import {{ readFileSync }} from "node:fs";
        const module = await import({json.dumps((WEB / module).as_uri())});
        const given = JSON.parse(readFileSync(0, "utf8"));
        console.log(JSON.stringify({result}));
    """
    return json.loads(node.run_script(script, stdin=json.dumps(given)))


def assert_same(made: list[str], expected: list[str]) -> None:
    """Check that SVG elements agree; coordinates may differ by 0.01, because 0.005 may round either way."""
    number = re.compile(r"-?\d+(?:\.\d+)?")
    assert number.sub("#", "\n".join(made)) == number.sub("#", "\n".join(expected))
    drawn, wanted = (np.array(number.findall("".join(texts)), float) for texts in (made, expected))
    np.testing.assert_allclose(drawn, wanted, rtol=0, atol=0.0101)


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_marks_and_tabs_are_those_of_python(name: str) -> None:
    rules, lasts = Rules.parse(name), list[LastMove]()
    for seed in range(2):
        lasts += [board.last_mark for board in played_board(rules, seed, 60).boards() if board.last_mark]
    owners = np.random.default_rng(3).integers(3, size=(8, rules.players, rules.fields)).tolist()
    moves = [{**vars(last), "step": last.step(len(drawing(rules.players, rules.fields)["squares"]))} for last in lasts]
    shapes, tabs = run_script(
        "board/move-markers.js",
        """[given.moves.map(move => module.markShapes(given.drawing, move)),
            given.owners.map(codes => module.tabShapes(given.drawing, codes))]""",
        {"drawing": drawing(rules.players, rules.fields), "moves": moves, "owners": owners},
    )
    assert any(last.captured for last in lasts)
    assert_same([shape["under"] for shape in shapes], [fragment(marks(rules, last)) for last in lasts])
    assert_same([shape["over"] for shape in shapes], [fragment(arrows(rules, last)) for last in lasts])
    assert_same(tabs, [fragment(ownership_tabs(rules, codes)) for codes in owners])


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_the_sweep_gives_each_player_the_points_that_are_left(name: str) -> None:
    rules, ends = Rules.parse(name), list[dict[str, Any]]()
    for seed in range(12):
        board = played_board(rules, seed, 400)
        assert board.last_trace is not None
        assert board.outcome is not None
        ends.append({"frame": board.last_trace.frames()[-1]._asdict(), "standings": board.outcome.scores})
    sweeps = run_script(
        "board/moving-board.js",
        "given.ends.map(({ frame, standings }) => module.sweeping(given.drawing, frame, standings))",
        {"drawing": drawing(rules.players, rules.fields), "ends": ends},
    )
    for end, sweep in zip(ends, sweeps, strict=True):
        points, left = np.array(end["frame"]["scores"]), np.array(end["frame"]["seeds"])
        for step in sweep["taken"]:
            points[step["player"]] += step["seeds"]
            left[step["square"]] -= step["seeds"]
        assert points.tolist() == sweep["after"]["scores"] == list(end["standings"])
        assert left.tolist() == sweep["after"]["seeds"]
        assert (left >= 0).all()


VIEW = """{ language: "en", notes: new Map(), goals: [], viewing: null, whole: "",
    board: { language: "en", two: true, drawing: given.drawing, called: ["South", "North"] }, state: given.state }"""
SEATS = [{"name": "human", "person": True}, {"name": "perfect", "person": False}]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours such as `#1f6a58`, as WCAG defines it."""

    def luminance(colour: str) -> float:
        digits = colour.removeprefix("#").ljust(6, colour[-1])  # `#fff` is short for `#ffffff`
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_marks_of_both_directions_stand_out(mode: str) -> None:
    style = (WEB / "board/board-style.js").read_text(encoding="utf-8")
    palette = drawing(2, 5)["colours"][mode]

    def colour(selector: str, name: str) -> str:
        (body,) = re.findall(rf"^{re.escape(selector)} {{([^}}]*)}}", style, re.MULTILINE)
        (role,) = re.findall(rf"\b{name}: var\(--(\w+)\)", body)
        return str(palette[role])

    ground, floors = palette["card"], [palette["field"], palette["mandarin"]]
    disc, other, arrow = (colour(one, "fill") for one in (".way circle", ".way.other > circle", ".way path"))
    chosen = colour(".way:hover circle, .way:focus-visible circle", "fill")
    assert min(contrast(disc, ground), contrast(other, ground), contrast(chosen, ground)) >= 3
    assert min(contrast(arrow, disc), contrast(arrow, other), contrast(arrow, chosen)) >= 3
    dot, outline = (colour(".paths circle", name) for name in ("fill", "stroke"))
    assert contrast(dot, outline) >= 3
    inside, edge = (colour(".paths .other circle", name) for name in ("fill", "stroke"))
    assert min(contrast(edge, floor) for floor in [*floors, inside]) >= 3
    middle, ring = (colour(".paths .last", name) for name in ("fill", "stroke"))
    assert min(contrast(ring, middle), contrast(dot, middle)) >= 3
    assert contrast(colour(".paths .other .last + circle", "fill"), inside) >= 3
    for words in (".badge.gain", ".hint.best"):
        assert contrast(colour(f"{words} text", "fill"), colour(f"{words} rect", "fill")) >= 4.5


def test_the_words_of_the_page_stand_out() -> None:
    style = (WEB / "page.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in re.findall(r":root {([^}]*)}", style)[:2])
    for colours in (light, dark):
        pairs = [(words, back) for words in ("ink", "soft", "green", "red", "amber") for back in ("page", "panel")]
        pairs += [("on-green", "green"), ("ink", "warm"), ("amber", "warm")]
        assert [pair for pair in pairs if contrast(*(colours[name] for name in pair)) < 4.5] == []


def test_heaps_are_those_of_python_rounded() -> None:
    heaps = run_script(
        "board/rotation.js",
        "given.squares.map(square => Array.from({ length: 13 }, (_, seeds) => module.heap(square, seeds)))",
        drawing(2, 5),
    )
    for index, square in enumerate(layout_of(Rules()).squares):
        for seeds, heap in enumerate(heaps[index]):
            places = pebble_places(index, square, seeds)
            wanted = [(*at, size, angle, PEBBLES.index(role)) for at, size, angle, role in places]
            differences = np.reshape(heap, (-1, 5)) - np.reshape(wanted, (-1, 5))
            assert (np.abs(differences) <= [0.0501, 0.0501, 0.0005, 0.5, 0]).all(), (index, seeds)


def test_a_heap_of_seeds_turns_with_its_square() -> None:
    plain, angles = drawing(3, 5)["squares"][0], [0, np.pi / 3, -np.pi / 2]
    given = {"squares": [{**plain, "turn": angle} for angle in angles]}
    heaps = np.array(run_script("board/rotation.js", "given.squares.map(one => module.heap(one, 5))", given))
    for heap, angle in zip(heaps, angles, strict=True):
        x, y = (heaps[0, :, :2] - plain["pile"]).T
        turned = [x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)]
        np.testing.assert_allclose(heap[:, :2] - plain["pile"], np.transpose(turned), atol=1e-9)


def test_who_loses_to_one_player_does_not_share_the_win() -> None:
    state: dict[str, Any] = {"turn": "over", "resigned": None, "puzzle": None, "match": None, "seats": SEATS}
    state |= {"outcome": {"scores": [30, 40]}, "winners": [1]}
    given = {"drawing": drawing(2, 5), "state": state}
    text = run_script("words/narration.js", f"module.status({VIEW})", given)
    assert text == "The game is over. You lose (you\N{NO-BREAK SPACE}30, Trạng\N{NO-BREAK SPACE}40)."
    state["seats"] = SEATS[1:] * 2
    text = run_script("words/narration.js", f"module.status({VIEW})", given)
    assert text.startswith("The game is over. North (Trạng) wins (")
    state |= {"outcome": None, "resigned": 0, "winners": [1, 2], "seats": SEATS[:1] * 3}
    view = VIEW.replace('["South", "North"]', '["South", "East", "West"]')
    text = run_script("words/narration.js", f"module.status({view})", given)
    assert text == "South resigns: East and West share the win."


def test_a_settlement_tells_the_fields_that_changed_hands() -> None:
    changes = {"sold": ["S1", "S2"], "pawned": ["S3"], "returned": ["N1"]}
    rounds: list[dict[str, Any]] = [{"scores": [10, 60], "winner": 1, "owed": 25, **changes}]
    rounds.append({"scores": [35, 35], "winner": None, "owed": 0, **{name: [] for name in changes}})
    settled, drawn = run_script(
        "activities/match-table.js",
        f"given.rounds.map(round => module.settlement({VIEW}, round))",
        {"drawing": drawing(2, 5), "rounds": rounds, "state": {}},
    )
    assert settled == (
        "North leads by 50 and gets back square 1.\nSouth owes 25 points and sells squares 1 and 2, and pawns square 3."
    )
    assert drawn == "No square changes hands."
    yours = run_script(
        "activities/match-table.js",
        f"module.settlement({VIEW.replace('South', 'you')}, given.rounds[0])",
        {"drawing": drawing(2, 5), "rounds": rounds, "state": {}},
    )
    assert yours.endswith("You owe 25 points and sell squares 1 and 2, and pawn square 3.")


def test_a_key_that_is_held_down_acts_once_and_a_key_without_a_name_does_nothing() -> None:
    press = """given.keys.map(([key, repeat, tag]) => {
        const acts = [], act = (name) => () => acts.push(name), button = { click: act("click") };
        const dataset = { move: "3A" }, closest = () => ({ dataset });
        const at = { tagName: tag, dataset, closest, focus: act("focus") };
        const event = { key, repeat, target: at, preventDefault: act("kept"), stopPropagation() {} };
        event.composedPath = () => [at];
        const made = Object.assign(Object.create(module[given.name].prototype), {
            legal: new Map([[0, []]]), chosen: null, buttons: { undo: button, next: button },
            send: (move) => acts.push(move), wayTowards: () => at,
        });
        return [given.name === "ButtonBar" ? made.key(event, true) : made.onKey(event), acts];
    })"""

    def pressed(module: str, name: str, *keys: list[Any]) -> Any:
        return run_script(module, press, {"name": name, "keys": keys})

    way = [["Enter", False, "g"], ["Enter", True, "g"], [" ", True, "g"], ["ArrowLeft", True, "g"], [None, False, "g"]]
    acts = [["3A", "kept"], ["kept"], ["kept"], ["focus", "kept"], []]
    assert [found for _, found in pressed("board/board.js", "BoardView", *way)] == acts
    keys = [["u", False, "BODY"], ["u", True, "BODY"], ["ArrowRight", True, "BODY"], ["u", True, "INPUT"]]
    keys += [[None, False, "BODY"], ["Enter", False, "BUTTON"], ["Enter", True, "BUTTON"], ["Enter", True, "TEXTAREA"]]
    found = pressed("buttons.js", "ButtonBar", *keys)
    assert found == [
        [True, ["click"]], [True, []], [True, []], [False, []], [False, []], [False, []], [True, []], [False, []],
    ]  # fmt: skip


def test_a_motion_that_is_cut_short_leaves_the_next_game_alone() -> None:
    played = run_script(
        "board/moving-board.js",
        """await (async () => {
            const seen = [], step = { kind: "taking" }, move = { steps: [step], lines: { en: ["", "it takes"] } };
            const board = Object.assign(Object.create(module.MovingBoard.prototype), {
                speed: 1, language: "en", show() {}, say() {},
                async taking(_, run) { await this.wait(run, 60000); seen.push("points for nobody"); },
            });
            const ends = board.play(move, {}, {}, (line) => seen.push(line));
            board.cancel();
            return [await ends, seen];
        })()""",
        {},
    )
    assert played == [None, ["it takes"]]
