"""Test that the page reads and writes rules, positions, records, matches and links in the same way as Python."""

import dataclasses
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any, Protocol, get_args
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oanquan_env import Board, GameRecord, Match, Move, NotationError, Rules, RulesError, parse_records
from oanquan_env.engine.notation import Language, square_name
from oanquan_env.engine.rules import FIELD_NAMES, PRESETS
from oanquan_env.errors import UsageError
from oanquan_env.match.rules import MatchRules
from oanquan_env.records.games import RESERVED, format_records
from oanquan_env.records.lines import MAX_NESTING
from oanquan_env.records.match_records import is_resigned, match_records, resume_match, round_headers
from oanquan_env.text import rules_in_words
from tests.helpers import strategies
from tests.helpers.boards import boards, mutated, variations
from tests.helpers.node import CALLS, node
from tests.records.test_records import CREDIT, FAULTY, HEAD, OPEN, SHORT, VARIED, nested

Answer = tuple[Any, Any]


class Ask(Protocol):
    """A function that calls a page function by name and returns (value, None), or (None, refusal) if it refuses."""

    def __call__(self, name: str, *arguments: object) -> Answer: ...


@pytest.fixture(scope="module")
def page() -> Iterator[Ask]:
    with subprocess.Popen(
        [node(), CALLS / "texts.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(name: str, *arguments: object) -> Answer:
            stdin.write(json.dumps([name, *arguments]) + "\n")
            stdin.flush()
            answer = json.loads(stdout.readline())
            assert "failed" not in answer, answer["failed"]
            return answer.get("value"), answer.get("refused")

        yield ask
        stdin.close()


def beginning(message: str) -> str:
    """Return a message up to its first quotation mark, because Python and JavaScript quote differently."""
    return re.split("['\"]", message)[0]


def refused_alike(answer: Answer, error: UsageError, code: str) -> None:
    """Check that `answer` is a refusal with `code`, the words, line and column of `error`, and a Vietnamese text."""
    value, refused = answer
    assert value is None, f"not refused: {error}"
    column, line = getattr(error, "column", None), getattr(error, "line", None)
    assert (refused["code"], refused["column"], refused["line"]) == (code, column, line)
    reason = str(error) if line or column is None else str(error).partition(": ")[2]
    assert beginning(reason) == beginning(refused["detail"]["en"])
    assert refused["field"] in reason
    assert refused["detail"]["vi"]


# ---- rules -----------------------------------------------------------------------------------------------------------


@given(strategies.rules())
def test_rules_have_the_same_texts(page: Ask, rules: Rules) -> None:
    fields = dataclasses.asdict(rules)
    whole = " ".join(f"{name}={value}" for name, value in fields.items())
    for text in (str(rules), whole):
        assert page("rules", text) == ([str(rules), fields], None)


@given(strategies.rules() | st.sampled_from([*PRESETS, "four-player fields=2", "stone_value=1 max_plies=1000000"]))
@settings(max_examples=300)
def test_rules_have_the_same_words(page: Ask, rules: Rules | str) -> None:
    for language in get_args(Language):
        sections, _ = page("inWords", str(rules), language)
        assert "\n\n".join(map("\n".join, sections)) == rules_in_words(rules, language)


VALUES = ["True", "False", "0", "1", "2", "3", "5", "10", "255", "256", "1001", "-1", "+3", "1_0", "５", "", "007", "x"]
CHOICES = [str(value) for preset in PRESETS.values() for value in dataclasses.asdict(preset.rules).values()]
word = st.builds("{}={}".format, st.sampled_from(FIELD_NAMES), st.sampled_from([*VALUES, *CHOICES, "anticlockwise"]))
preset = st.sampled_from([*PRESETS, "tonkn", "constructor", "seeds", ""])


@given(preset, st.lists(word, max_size=3), st.sampled_from([" ", "\x85", "\u2028 \t", "\ufeff"]), strategies.seeds)
def test_rules_are_refused_alike(page: Ask, name: str, words: list[str], blank: str, seed: int) -> None:
    rng, text = np.random.default_rng(seed), blank.join([name, *words])
    for changed in (text, *words, *(mutated(text, rng) for _ in range(10)), text * 99):
        value, refused = page("rules", changed)
        try:
            expected = str(Rules.parse(changed))
        except RulesError as error:
            refused_alike((value, refused), error, "rules")
        else:
            assert (value and value[0], refused) == (expected, None), changed


@given(st.data())
def test_match_rules_are_read_alike(page: Ask, data: st.DataObject) -> None:
    names = ["fields_to_lose", "max_rounds", "match_measure", "rounds"]
    values = ["lack", "margin", "0", "1", "3", "5", "6", "1000000", "1000001", "x"]
    words = st.builds("{}={}".format, st.sampled_from(names), st.sampled_from(values))
    text = " ".join(data.draw(st.lists(words, max_size=3)))
    rules = data.draw(strategies.rules())
    value, refused = page("match", str(rules), text)
    try:
        match = MatchRules.parse(text)
        match.check(rules)
    except RulesError as error:
        refused_alike((value, refused), error, "rules")
    else:
        assert (value, refused) == (str(match), None)


# ---- moves and positions ---------------------------------------------------------------------------------------------


@given(st.one_of(st.text(max_size=3), st.from_regex(r"[0-9][A-Ca-c].?", fullmatch=True)))
def test_moves_are_read_alike(page: Ask, text: str) -> None:
    answer = page("move", text)
    try:
        move = Move.parse(text)
        assert answer[0] == [move.action, str(move)]
    except NotationError as error:
        refused_alike(answer, error, "move")


@st.composite
def set_up(draw: st.DrawFn) -> tuple[Rules, str]:
    """Draw rules and the text of a position with as many points as the set-up; it may be over or need a refill."""
    rules, few = draw(strategies.rules()), st.sampled_from([0, 0, 0, 1, 4])
    seeds = draw(st.lists(few, min_size=rules.squares, max_size=rules.squares))
    stones = draw(st.lists(st.booleans(), min_size=rules.players, max_size=rules.players))
    scores = draw(st.lists(st.integers(-3, 9), min_size=rules.players, max_size=rules.players))
    in_play = sum(seeds) + rules.stone_value * sum(stones) + sum(scores)
    scores[draw(st.integers(0, rules.players - 1))] += rules.total - in_play
    rows = [seeds[side * (rules.fields + 1) :][: rules.fields + 1] for side in range(rules.players)]
    sides = [",".join(map(str, row)) + "*" * stone for row, stone in zip(rows, stones, strict=True)]
    mover, ply = draw(st.integers(0, rules.players - 1)), draw(st.sampled_from([0, 1, rules.max_plies]))
    return rules, f"{'/'.join(sides)} {','.join(map(str, scores))} {mover} {ply}"


def check_position(page: Ask, rules: Rules, text: str) -> None:
    answer = page("position", str(rules), text)
    try:
        board = Board.parse(text, rules)
        assert answer == ([board.text(), int(board.positions.ended[0])], None)
    except NotationError as error:
        refused_alike(answer, error, "position")


@given(boards(), set_up(), strategies.seeds)
def test_positions_are_read_alike(page: Ask, board: Board, built: tuple[Rules, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for rules, text in ((board.rules, board.text()), built):
        for changed in (text, f"\u3000{text.replace(' ', '  ')}\n", *(mutated(text, rng) for _ in range(15))):
            check_position(page, rules, changed)


def test_squares_have_the_same_names(page: Ask) -> None:
    for name in ("mancala-world fields=3", "three-player", "four-player"):
        rules = Rules.parse(name)
        assert page("squares", name)[0] == [square_name(rules, index) for index in range(rules.squares)]


# ---- records ---------------------------------------------------------------------------------------------------------

names = st.from_regex(r"[A-Z][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(lambda name: name not in RESERVED)
texts = st.text(max_size=20)


def check_records(page: Ask, text: str) -> None:
    answer = page("records", text)
    try:
        assert answer == (format_records(parse_records(text)), None)
    except NotationError as error:
        refused_alike(answer, error, "record")


@given(
    boards(),
    st.dictionaries(names, texts, max_size=3),
    st.dictionaries(st.integers(0, 9), texts),
    st.data(),
    strategies.seeds,
)
def test_records_are_read_and_written_alike(
    page: Ask, board: Board, headers: dict[str, str], comments: dict[int, str], data: st.DataObject, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    later = Board.parse(board.text(), board.rules)  # a game that starts from this position
    if later.legal_moves:
        later.push(data.draw(st.sampled_from(later.legal_moves)))
    games = []
    for game in (board, later):
        commented = {number: words for number, words in comments.items() if number <= len(game.history)}
        others = variations(game.start(), game.history, rng, 3)
        games.append(GameRecord.from_board(game, headers, commented, others))
    text = format_records(games)
    assert page("records", text) == (text, None)
    for damaged in (mutated(text, rng) for _ in range(10)):
        check_records(page, damaged)
        check_records(page, damaged.replace("\n", "\r\n"))
        check_records(page, damaged.replace("\n", "\r"))


def test_the_records_of_other_tests_are_read_and_refused_alike(page: Ask) -> None:
    texts = [SHORT, OPEN, CREDIT, *(text for text, *_ in FAULTY), nested(MAX_NESTING), nested(MAX_NESTING + 1)]
    commented = ["1. {a} 3A {b} 2A {c}", "{a}\ufeff{b} 1. {c} 3A", "1. 3A 2A\n2. {d}", "1."]
    texts += [f"\ufeff{HEAD}{moves}\n*\n" for moves in commented]
    for text in (*texts, *(HEAD + moves for moves in VARIED)):
        check_records(page, text)


# ---- matches and links -----------------------------------------------------------------------------------------------

NAMES = {"South": "Lan"}
ROUND_HEADERS = ("Match", "Round", "Sold", "Pawned")


def random_match(rules: str, rng: np.random.Generator) -> list[GameRecord]:
    """Return the records of a random match in which some rounds are resigned and the last may be unfinished."""
    match, moves = Match(rules, "max_rounds=4 fields_to_lose=2"), list[int]()
    for _ in range(rng.integers(150)):
        if match.outcome is not None:
            break
        moves.append(int(rng.choice(match.legal_mask().nonzero()[0])))
        if (match.resign() if rng.random() < 0.03 else match.step(moves[-1])) is not None:
            moves.clear()
    records = match_records(match, NAMES)
    if match.outcome is None:
        start = match.core.start()
        start.mover[:] = match.starter
        board = Board.from_positions(match.core, start)
        for action in moves:
            board.push(Move.from_action(action))
        record = GameRecord.from_board(board, NAMES | round_headers(match))
        records.append(dataclasses.replace(record, termination=("", "resigned")[rng.integers(2)]))
    return records


def damaged(records: list[GameRecord], rng: np.random.Generator) -> str:
    """Return the text of `records` after a random change: a record deleted or moved, or headers or text changed."""
    at, kind = rng.integers(len(records)), rng.integers(5)
    changed, record = records.copy(), records[at]
    if kind == 0 and at:
        del changed[at]
    elif kind == 1:
        changed.insert(rng.integers(len(records)), changed.pop(at))
    elif kind == 2:
        values = ["", "2", "S1", "N1 N2", "max_rounds=1", "max_rounds=4 fields_to_lose=6", str(MatchRules())]
        changed[at] = dataclasses.replace(
            record, headers={**record.headers, ROUND_HEADERS[rng.integers(4)]: values[rng.integers(7)]}
        )
    elif kind == 3:
        other = {"termination": "resigned", "result": "*"} if rng.random() < 0.5 else {"result": "35-35"}
        changed[at] = dataclasses.replace(record, **other)  # type: ignore[arg-type]
    text = format_records(changed)
    return mutated(text, rng) if kind == 4 else text


def others(record: GameRecord) -> dict[str, str]:
    """Return the headers of a round's record without those that describe the match."""
    return {name: text for name, text in record.headers.items() if name not in ROUND_HEADERS}


def check_match(page: Ask, text: str) -> None:
    """Check that the page resumes or refuses a match as Python does, and that its link resumes the same match."""
    value, refused = page("resumed", text)
    try:
        records = parse_records(text)
        match, board = resume_match(records)
    except UsageError as error:
        refused_alike((value, refused), error, "record")
        return
    wanted = {
        "moves": list(map(str, board.history)),
        "resigned": is_resigned(records[-1]),
        "start": board.start().text(),
        "headers": round_headers(match),
    }
    finished = [
        dataclasses.replace(done, headers={**others(record), **done.headers}, comments=record.comments)
        for done, record in zip(match_records(match), records, strict=False)
    ]
    assert refused is None, refused
    assert wanted.items() <= value.items()
    assert value["finished"] == format_records(finished)
    held, link = value["held"], value["link"]
    assert held | {"rules": str(match.rules), "match": str(match.match_rules), "seats": ["human", "easy"]} == held
    again, refused = page("rounds", held["rules"], held["match"], held["moves"])
    assert refused is None, refused
    assert {**wanted, "link": link}.items() <= again.items()


@given(st.sampled_from(["mancala-world", "tonkin fields=3", "vietnamese stone_value=5"]), strategies.seeds)
def test_matches_go_on_from_records_and_from_links(page: Ask, rules: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    records = random_match(rules, rng)
    for text in (format_records(records), *(damaged(records, rng) for _ in range(3))):
        check_match(page, text)


def test_a_link_holds_a_game(page: Ask) -> None:
    start = "5,0,0,0,0,0/0,0,0,0,5,0* 30,20 1 7"
    for game, link in (
        (
            {"rules": "mancala-world", "moves": ["5A", "3A"], "seats": ["human", "human"]},
            "rules=mancala-world&moves=5A3A",
        ),
        (
            {
                "rules": "vietnamese quan_non=5",
                "position": start,
                "moves": [],
                "seats": ["hard", "minimax:depth=4,net=a&b"],
            },
            "rules=vietnamese+quan_non=5&from=5,0,0,0,0,0/0,0,0,0,5,0%2A+30,20+1+7&moves="
            "&south=hard&north=minimax:depth=4,net=a%26b",
        ),
        (
            {"rules": "three-player", "moves": ["1A"], "seats": ["human", "human", "Ông Tư"]},
            "rules=three-player&moves=1A&west=%C3%94ng+T%C6%B0",
        ),
    ):
        held = {"position": None, "match": None, "id": None, **game, "moves": "".join(game["moves"])}
        assert page("linked", game) == (link, None)
        assert page("fragment", link) == (held, None)
        assert page("found", f"#{link}") == page("found", quote(f"#{link}", safe="")) == (link, None)
    assert page("fragment", "moves=5A")[0]["rules"] == "mancala-world"


def test_a_link_is_found_in_any_text_and_as_messengers_write_it(page: Ask) -> None:
    link = "rules=mancala-world&from=5,5/5%2A,5+0,0+0+0&moves=5A3A"
    once = quote(link, safe="")
    here, twice = "https://example.org/play/", quote(once, safe="")
    for text in (
        f"#{link}", f"#{once}", f"#{twice}", f"{here}#{link}", f"{here}#{once}", quote(f"{here}#{link}", safe=""),
        f"Your move: {here}#{link}.", f"({here}#{link})\nsee you", f"<{here}#{link}>, https://example.org/#x=1",
        f"“{here}#{link}”", f"**{here}#{link}**", f"#{link}".replace("&", "&amp;"), f"#{link}".replace("&", "%26"),
    ):  # fmt: skip
        (found, refused) = page("found", text)
        assert (found and found.replace("/5*,", "/5%2A,"), refused) == (link, None), text
    for text in ("", "#learn", f"{here}#learn", here, "1. 5A 3A", "moves=5A"):
        assert page("found", text) == (None, None)
    refused = page("found", "#rules%3Dtonkin%26moves%3D5%E0%A4")[1]
    assert "the link is damaged" in refused["detail"]["en"]
    assert refused["detail"]["vi"]
    game = {"rules": "tonkin", "position": None, "moves": [], "seats": ["human", "a."]}
    link = page("linked", game)[0]
    assert link.endswith("north=a%2E")  # messengers leave a last dot out of a link, which may end a round
    assert page("found", f"See {here}#{link}.")[0] == link


@pytest.mark.parametrize(
    ("fragment", "reason"),
    [
        ("rules=mancala-world&script=x", "unknown part 'script'; known: rules, from, match, moves, south"),
        ("moves=5A&__proto__=x", "unknown part '__proto__'"),
        ("moves=5A&moves=3A", "the link has moves twice"),
        (f"south={'x' * 101}", "south in a link has at most 100 characters"),
        (f"moves={'5A' * 60_000}", "a link has at most 100000 characters"),
        ("rules=three-player&north=hard", "nobody sits north"),
        ("match=&from=5,5,5,5,5,0*/5,5,5,5,5,0*+0,0+0+0", "a match begins at the set-up"),
        ("rules=tonkn", "unknown preset 'tonkn'"),
        ("rules=%ff%00", "unknown preset"),
    ],
)
def test_a_hostile_link_is_refused_with_the_reason(page: Ask, fragment: str, reason: str) -> None:
    value, refused = page("fragment", fragment)
    assert value is None
    assert reason in refused["detail"]["en"]
    assert refused["detail"]["vi"]
