"""The page's texts in JavaScript: rules, moves, positions, records, matches and links are read and written as in Python."""

import dataclasses
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Board, Core, GameRecord, Match, Move, NotationError, Rules, RulesError, parse_records
from oanquan_env.engine.notation import square_name
from oanquan_env.engine.rules import FIELD_NAMES, PRESETS
from oanquan_env.match.match import play_matches
from oanquan_env.match.rules import MatchRules
from oanquan_env.play.catalogue import catalogue
from oanquan_env.players import RandomPolicy
from oanquan_env.records.games import RESERVED, format_records
from oanquan_env.records.match_records import match_records, resume_match, round_headers
from tests import strategies
from tests.boards import boards, mutated

RUNNER = Path(__file__).parent / "page" / "texts.mjs"
Answer = tuple[Any, Any]


class Ask(Protocol):
    """Ask the page's modules: the value and None, or None and the refusal."""

    def __call__(self, name: str, *arguments: object) -> Answer: ...


@pytest.fixture(scope="module")
def page() -> Iterator[Ask]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    command = [node, str(RUNNER), json.dumps(catalogue())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
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
    """An error's words up to the first text that it quotes, as quoting differs; the page names no synonym."""
    return re.split("['\"]", message)[0].replace("anticlockwise, ", "")


# ---- rules -----------------------------------------------------------------------------------------------------------


@given(strategies.rules())
def test_rules_have_the_same_texts(page: Ask, rules: Rules) -> None:
    fields = dataclasses.asdict(rules)
    whole = " ".join(f"{name}={value}" for name, value in fields.items())
    for text in (str(rules), whole):
        assert page("rules", text) == ([str(rules), rules.slug, fields], None)


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
            rules = Rules.parse(changed)
        except RulesError as error:
            assert refused, error
            assert (refused["code"], refused["field"] in str(error)) == ("rules", True)
            assert refused["detail"]["vi"]
        else:
            assert (value and value[0], refused) == (str(rules), None), changed


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
        assert value == str(match)
    except ValueError:
        assert refused["code"] == "rules"


# ---- moves and positions ---------------------------------------------------------------------------------------------


def refused_alike(answer: Answer, error: NotationError, code: str) -> None:
    """The same error at the same place, in both languages."""
    refused = answer[1]
    assert refused, error
    assert (refused["code"], refused["column"], refused["line"]) == (code, error.column, error.line)
    assert beginning(str(error) if error.line else error.reason) == beginning(refused["detail"]["en"])
    assert refused["detail"]["vi"]


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
    """Rules and the text of a position whose points make the total: finished, forfeited, not ready, or to play."""
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
said = st.text(max_size=20)


def check_records(page: Ask, text: str) -> None:
    answer = page("records", text)
    try:
        assert answer == (format_records(parse_records(text)), None)
    except NotationError as error:
        column = error.column
        assert answer[1], f"column {column}: {error}"
        refused_alike(answer, error, "record")


@given(
    boards(),
    st.dictionaries(names, said, max_size=3),
    st.dictionaries(st.integers(0, 9), said),
    st.data(),
    strategies.seeds,
)
def test_records_are_read_and_written_alike(
    page: Ask, board: Board, headers: dict[str, str], comments: dict[int, str], data: st.DataObject, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    later = Board.parse(board.text(), board.rules)  # a game that begins here
    if later.legal_moves:
        later.push(data.draw(st.sampled_from(later.legal_moves)))
    games = []
    for game in (board, later):
        commented = {number: words for number, words in comments.items() if number <= len(game.history)}
        games.append(GameRecord.from_board(game, headers, commented))
    text = format_records(games)
    assert page("records", text) == (text, None)
    for damaged in (mutated(text, rng) for _ in range(10)):
        check_records(page, damaged)


# ---- matches ---------------------------------------------------------------------------------------------------------


def told(match: Match, board: Board, resigned: bool) -> dict[str, Any]:
    """What `texts.mjs` tells of a match that goes on."""
    return {
        "moves": list(map(str, board.history)),
        "resigned": resigned,
        "start": board.start().text(),
        "headers": round_headers(match),
        "finished": format_records(match_records(match, {"South": "Lan"})),
    }


@pytest.mark.parametrize("rules", ["mancala-world", "tonkin fields=3", "vietnamese"])
def test_matches_go_on_from_records_and_from_links(page: Ask, rules: str) -> None:
    players = [RandomPolicy(Core(rules))] * 2
    for match in play_matches(players, 4, np.random.default_rng(3), rules=rules, match_rules="max_rounds=5"):
        records = match_records(match, {"South": "Lan"})
        for count in range(1, len(records) + 1):
            held = records[:count]
            before, board = resume_match(held)
            value, refused = page("resumed", format_records(held))
            assert refused is None
            assert told(before, board, resigned=False).items() <= value.items()
