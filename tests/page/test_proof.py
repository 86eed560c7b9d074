"""Test the page's proof checker and its explorer of openings against Python, in Node.js and in a browser."""

import base64
import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from oanquan_env import Board, Rules
from oanquan_env.engine.notation import Move
from oanquan_env.players import make
from oanquan_env.players.book import BookPolicy, with_book
from oanquan_env.proofs.certificate_checking import verify
from oanquan_env.proofs.certificates import Certificate, certificate_path
from oanquan_env.proofs.opening_values import opening_move_values, opening_value
from tests.helpers.boards import boards_of, played_board
from tests.helpers.browsers import PHONE, Visit
from tests.helpers.certificates import SHIPPED, SMALL, made, shipped
from tests.helpers.node import CALLS, answers_of, run_node
from tests.proofs.test_certificates import DAMAGED


def ask(*calls: tuple[Any, ...]) -> list[Any]:
    """Run calls in one Node.js process; return the value of each, or the error message if it failed."""
    return answers_of(run_node(CALLS / "proof.mjs", stdin=json.dumps(calls)))


def check(*contents: bytes) -> list[Any]:
    return ask(*(("check", base64.b64encode(content).decode()) for content in contents))


def claims(certificate: Certificate) -> dict[str, Any]:
    """Return what Python's checker proves, in the form of the page's result."""
    found = verify(certificate)
    bounds = {name: one and dataclasses.asdict(one) for name, one in (("lower", found.lower), ("upper", found.upper))}
    return {"text": str(certificate.rules), **bounds}


@pytest.fixture(scope="module")
def small() -> Certificate:
    return made(SMALL)


@pytest.mark.parametrize("names", [("tonkin", "app"), pytest.param(tuple(SHIPPED), marks=pytest.mark.slow)])
def test_the_page_proves_what_pythons_checker_proves(names: tuple[str, ...], small: Certificate) -> None:
    start = played_board(SMALL, seed=4, plies=3)
    others = [small, made(SMALL, start.positions), dataclasses.replace(small, lower=None)]
    certificates = [*(shipped(name) for name in names), *others]
    contents = [certificate_path(Rules.parse(name)).read_bytes() for name in names]
    contents += [certificate.to_bytes() for certificate in others]
    answers = check(*contents)
    for certificate, found in zip(certificates, answers, strict=True):
        progress = found.pop("heard")
        assert found == claims(certificate)
        everything = sum(one["positions"] for name in ("lower", "upper") if (one := found[name]))
        assert progress == sorted(progress)
        assert progress[-1] == [everything, everything]
    bounds = [tuple(found[side]["bound"] for side in ("lower", "upper")) for found in answers[: len(names)]]
    assert bounds == [SHIPPED[name] for name in names]


def test_damaged_proofs_are_refused_with_the_place(small: Certificate) -> None:
    assert small.lower
    places = {
        "one more position": "lower bound: ",
        "moves for": "lower bound: ",
        "cannot be played": f"lower bound, position {len(small.lower.moves) - 1}: move 200 cannot be played",
        "lower bound": "lower bound",
        "the strategy gets": f"lower bound: the strategy gets {small.lower.bound} for its player, not",
    }
    damaged = [
        (places[words], dataclasses.replace(small, lower=dataclasses.replace(small.lower, **change(small.lower))))
        for change, words in DAMAGED
    ]
    damaged += [
        ("lower bound", dataclasses.replace(small, rules=Rules.parse("app fields=3 seeds=2"))),
        ("lower bound: a game of ", dataclasses.replace(small, rules=small.rules.replace(max_plies=5))),
        ("lower bound", dataclasses.replace(small, position="2,2,1,0*/2,2,3,0* 0,0 0 0")),
        ("position: the game is over", dataclasses.replace(small, position="2,2,2,0/2,2,2,0 10,10 0 0")),
        ("position: ", dataclasses.replace(small, position="2,2,2,0*/2,2,2 0,0 0 0")),
        ("lower, upper: ", dataclasses.replace(small, lower=None, upper=None)),
    ]
    whole = small.to_bytes()
    contents = [*(certificate.to_bytes() for _, certificate in damaged), whole[:300], b"no archive"]
    places_found = [*(place for place, _ in damaged), "byte 300: ", "byte 10: "]
    for place, answer in zip(places_found, check(*contents), strict=True):
        assert answer["code"] == "request", place
        assert answer["detail"]["en"].startswith(f"proof.npz, {place}")
        assert answer["detail"]["vi"].startswith("Tệp hỏng: proof.npz, ")


def test_a_flipped_bit_is_refused_or_changes_no_claim(small: Certificate) -> None:
    whole, rng = small.to_bytes(), np.random.default_rng(0)
    flipped = [bytearray(whole) for _ in range(60)]
    for content in flipped:
        content[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
    (true, *answers) = check(whole, *map(bytes, flipped))
    refused = [answer for answer in answers if "detail" in answer]
    assert len(refused) > 30
    for answer in answers:
        if "detail" not in answer:
            assert {name: answer[name] for name in answer if answer[name] and name != "heard"}.items() <= true.items()


def south(board: Board, lower: float, upper: float) -> tuple[float, float]:
    """Convert bounds on the margin that the mover will gain to bounds on South's final lead."""
    lead = board.scores[0] - board.scores[1]
    return (lead - upper, lead - lower) if board.mover else (lead + lower, lead + upper)


def test_values_of_the_explorer_are_those_of_the_table_from_souths_view() -> None:
    games = {name: [played_board(name, seed, plies) for plies in range(5) for seed in range(6)] for name in SHIPPED}
    running = {name: [board for board in boards if not board.outcome] for name, boards in games.items()}
    answers = ask(*(("moves", name, [board.text() for board in boards]) for name, boards in running.items()))
    for boards, found in zip(running.values(), answers, strict=True):
        for board, answer in zip(boards, found, strict=True):
            known = {move: south(board, *bounds) for move, bounds in opening_move_values(board).items()}
            open_bounds = (-math.inf, math.inf)
            wanted = {str(move): known.get(move, open_bounds) for move in board.legal_moves}
            # JSON has null for an infinite bound
            bounds = {
                one["move"]: (
                    -math.inf if one["lower"] is None else one["lower"],
                    math.inf if one["upper"] is None else one["upper"],
                )
                for one in answer["moves"]
            }
            assert bounds == wanted
            assert {one["move"]: one["value"] for one in answer["moves"] if one["proved"]} == {
                move: lower for move, (lower, upper) in wanted.items() if lower == upper
            }
            values, moves = [one["value"] for one in answer["moves"]], [one["move"] for one in answer["moves"]]
            if None in values:  # moves are sorted only after the search has answered
                assert moves == list(map(str, board.legal_moves))
            else:
                assert values == sorted(values, reverse=board.mover == 0)
            value = opening_value(board)
            if value and value.meet:
                assert (answer["value"], answer["proved"]) == (south(board, *value)[0], True)


def test_searched_values_are_shown_with_proved_ones_and_marked() -> None:
    values = {f"{field}{way}": 0 for field in range(1, 6) for way in "AC"} | {"4A": 12, "2C": 12, "1A": 1, "5C": -3}
    (found,) = ask(("moves", "mancala-world", [Board().text()], {"values": values, "exact": ["5C"]}))
    shown = {one["move"]: (one["value"], one["proved"]) for one in found[0]["moves"]}
    assert shown["4A"] == shown["2C"] == (12, True)
    assert shown["5A"] == (-24, True)
    assert shown["1A"] == (1, False)
    assert shown["5C"] == (-3, True)
    assert [one["move"] for one in found[0]["moves"]][:2] in (["2C", "4A"], ["4A", "2C"])


def test_the_greedy_first_move_is_refuted() -> None:
    lines = ask(*(("refutation", name) for name in SHIPPED))
    assert {name: (line["upper"], line["exact"]) for name, line in zip(SHIPPED, lines, strict=True)} == {
        "mancala-world": (-24, True),
        "tonkin": (-6, True),
        "ludii": (-24, True),
        "app": (-8, True),
        "vietnamese": (-9, False),
    }
    for name, line in zip(SHIPPED, lines, strict=True):
        board = Board(name)
        captured = [board.sowing(move).captured for move in board.legal_moves]
        assert line["moves"][0] == "5A"
        assert line["points"] == max(captured) == 11
        for move in line["moves"]:
            board.push(move)
        if board.outcome:
            assert board.outcome.scores[0] - board.outcome.scores[1] == line["upper"]


@pytest.mark.slow  # a browser takes seconds
def test_a_person_checks_the_proof_explores_and_plays_against_it(visit: Visit) -> None:
    person = visit()
    page = person.page
    page.locator("#openings").click()  # with the page's default rules
    page.locator("#openings-claim", has_text="between +12 and +14; the exact value is still open").wait_for()
    page.locator("#openings-rules").select_option("mancala-world")
    page.locator("#openings-refuted", has_text="5A captures 11 points at once").wait_for()
    page.get_by_role("button", name="Check the proof").click()
    answer = page.locator("#openings-answer")
    answer.filter(has_text="Proved: South wins by 12. 5,796 + 15,226 positions checked").wait_for()
    page.locator("#openings-moves button", has_text="4A").click()
    page.locator("#openings-line button", has_text="1. 4A").wait_for()
    page.locator("#openings-moves button").first.click()
    page.locator("#openings-line button").nth(2).wait_for()
    page.locator("#openings-line button", has_text="1. 4A").click()
    page.get_by_role("button", name="Continue from here").click()
    page.locator("#openings-dialog").wait_for(state="hidden")
    assert person.moves == ["4A"]
    assert [seat["person"] for seat in person.state["seats"]] == [False, True]
    page.locator("#openings").click()
    page.get_by_role("button", name="Play against the proof").click()
    person.waits_for("hold its lead to +12")
    assert [seat["name"] for seat in person.state["seats"]] == ["perfect", "human"]
    book = with_book(make("random", "mancala-world"), Rules())
    assert isinstance(book, BookPolicy)
    while person.wait_for_turn():
        board = boards_of(*person.moves)[-1]
        person.move(str(Move.from_action(int(book.known(board.positions)[0]))))
    assert np.subtract(*person.state["outcome"]["scores"]) == 12
    person.waits_for("You held Trạng to +12: nobody can do better.")
    page.locator("#openings").click()
    page.get_by_role("button", name="Play against the proof").click()
    assert person.wait_for_turn()
    page.locator("#resign").click()
    page.locator("#resign").click()
    person.waits_for("You resign: Trạng wins.")
    assert "goal" not in person.said
    page.locator("#rematch").click()
    person.waits_for("hold its lead to +12")


@pytest.mark.slow
def test_values_under_custom_rules_come_from_the_net_for_any_rules_which_loads_when_needed(visit: Visit) -> None:
    rules, requested = "vietnamese stone_value=5", list[str]()
    person = visit(f"#rules={rules.replace(' ', '+')}&north=human")
    page = person.page
    page.on("request", lambda request: requested.append(request.url.rpartition("/")[2]))
    person.press("hint")
    person.waits_for("moves ahead with the net for any rules).")
    assert [name for name in requested if name.startswith("net-")] == ["net-any.bin"]
    page.locator("#openings").click()
    page.locator("#openings-value", has_text="(searched with the net for any rules)").wait_for()
    assert page.locator("#openings-rules").input_value() == rules
    assert not page.locator("#openings-claim").is_visible()
    page.locator("#openings-moves button", has_text="3A").click()
    page.locator("#openings-line button", has_text="1. 3A").wait_for()
    page.get_by_role("button", name="Continue from here").click()
    page.locator("#openings-dialog").wait_for(state="hidden")
    assert (person.state["rules"], person.moves) == (rules, ["3A"])


@pytest.mark.slow
def test_a_line_that_is_shown_ends_when_a_person_does_something_else(visit: Visit) -> None:
    person = visit("#rules=mancala-world&north=human")
    person.stop_the_clock()
    page = person.page
    page.locator("#openings").click()
    show, line, moves = (page.locator(f"#openings-{part} button") for part in ("refuted", "line", "moves"))
    for others in (["2A"], ["5A", "1C"]):  # another first move, and the line's first move with another answer
        show.click()
        line.nth(1).filter(has_text="5A").wait_for()
        line.first.click()
        for move in others:
            moves.filter(has_text=move).click()
            line.nth(1).wait_for()
        page.clock.run_for(2000)  # milliseconds: the line would go on
        assert [text.split()[-1] for text in line.all_inner_texts()] == ["Start", *others]
        assert show.is_hidden()  # it speaks of the first move
        line.first.click()


@pytest.mark.slow
def test_the_board_and_all_moves_of_the_explorer_fit_a_phone_and_stay_where_they_are(visit: Visit) -> None:
    for locale, (width, height) in (("en-GB", (390, 844)), ("vi-VN", (390, 844)), ("en-GB", (844, 390))):
        page = visit(**{**PHONE, "viewport": {"width": width, "height": height}}, locale=locale).page
        page.locator("#openings").tap()
        moves = page.locator("#openings-moves button")
        moves.nth(9).wait_for()
        assert page.locator("#openings-rules").evaluate("list => list !== document.activeElement")  # opens no picker
        before = [move.bounding_box() for move in moves.all()]
        page.locator("#openings-moves span", has_text="…").first.wait_for(state="detached")
        assert [move.bounding_box() for move in moves.all()] == before
        assert page.locator("#openings-board .hint").count() == 10  # each value is beside its square
        assert page.locator("#openings-board :is(.hit, .hint), #openings-moves button").evaluate_all(
            "nodes => nodes.every(node => node.getBoundingClientRect().bottom < innerHeight)"
        )


@pytest.mark.slow
def test_the_explorer_lists_the_best_moves_first_and_keeps_its_preset_without_a_network(visit: Visit) -> None:
    person = visit("#rules=mancala-world&north=human")
    page, moves = person.page, person.page.locator("#openings-moves button")
    page.locator("#openings").click()
    moves.filter(has_text="4A").click()
    for _ in range(2):
        page.locator("#openings-moves span", has_text="…").first.wait_for(state="detached")
        shown = [text.replace("−", "-").split() for text in moves.all_inner_texts()]
        assert shown == sorted(shown, key=lambda move: (-int(move[1]), int(move[0][0]), move[0]))
        assert {sign for _, _, sign in shown} <= {"✓", "≈"}
        waits = """move => {
            move.click();
            const all = [...document.querySelectorAll("#openings-moves button")];
            return all.map(one => one.disabled === all.some(other => other.innerText.includes("…")));
        }"""  # all buttons wait until the values, and with them the order, are known
        assert set(moves.last.evaluate(waits)) == {True}
    page.context.set_offline(True)
    page.locator("#openings-rules").select_option("tonkin")
    page.locator("#openings-answer", has_text="offline").wait_for()
    assert page.locator("#openings-rules").input_value() == "mancala-world"
    assert page.locator("#openings-line button").count() == 4
    page.evaluate("import('./page-state.js').then(({ notice }) => notice('above it'))")
    page.locator("#notice:popover-open").wait_for()  # in the top layer, above the dialog
