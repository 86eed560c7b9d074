"""Test the rules in words, prompts, and the reading and grading of answers."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from oanquan_env import Board, Move, Rules, RulesError
from oanquan_env.benchmark.regret import judge
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.engine.rules import CHOICES, FIELD_NAMES, RANGES
from oanquan_env.text import Answer, grade, prompt, read_answer, rules_in_words
from oanquan_env.text.words import TEXTS
from tests import golden
from tests.helpers import strategies

TABLE = Path(__file__).with_name("sentences.txt")


def rows() -> list[list[str]]:
    """Return the rows of the table, which its first lines describe."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


def said(sentence: str, rules: Rules) -> bool:
    """Return whether all parts of a sentence of the table occur."""
    return all(part in rules_in_words(rules) for part in sentence.split("…"))


def others(rules: Rules, field: str) -> list[Rules]:
    """Return the rules with each other value of a choice, or with other numbers, if they are possible."""
    value = getattr(rules, field)
    numbers = [value + 1, value - 1] if field in RANGES else [not value]
    found = []
    for other in set(CHOICES.get(field, numbers)) - {value, "anticlockwise"}:
        try:
            found.append(rules.replace(**{field: other}))
        except RulesError:
            continue
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_sentences_say_what_the_engine_does(row: list[str]) -> None:
    changes, sentence, before, move, after = row
    rules, field = Rules.parse(f"fields=3 {changes}".replace("fields=3 fields=3", "fields=3")), changes.split("=")[0]
    assert said(sentence, rules), rules_in_words(rules)
    assert not any(said(sentence, other) for other in others(rules, field))
    board = Board.parse(before, rules, checked=False)
    if after == "illegal":
        assert Move.parse(move) not in board.legal_moves
        return
    board.push(move)
    final = f" = {','.join(map(str, board.outcome.scores))}" if board.outcome else ""
    assert board.text() + final == after


def test_every_value_has_a_sentence() -> None:
    values = [row[0].split()[0] for row in rows()]
    choices = {f"{name}={value}" for name, choices in CHOICES.items() for value in choices} - {"sowing=anticlockwise"}
    unusual = {"stones=True", "stones=False", "first_move_captures_mandarin=False", "mandarin_seeds_capturable=False"}
    assert choices | unusual <= set(values)
    assert {value.split("=")[0] for value in values} == set(FIELD_NAMES)


@given(strategies.rules())
def test_rules_that_differ_have_other_words(rules: Rules) -> None:
    """Fields without an effect are excepted: those of stones without stones, and seeds that no finished game leaves."""
    words = rules_in_words(rules)
    assert not re.search(r"[{}]|  | \n", words + rules_in_words(rules, "vi"))
    silent = {"stone_value", "quan_non"} if not rules.stones else set()
    if rules.end == "squares_empty" and rules.refill == "borrow":
        silent.add("mandarin_leftovers")
    for field in FIELD_NAMES:
        for other in others(rules, field):
            assert (rules_in_words(other) == words) == (rules_in_words(other, "vi") == rules_in_words(rules, "vi"))
            assert (rules_in_words(other) == words) == (field in silent), (str(rules), str(other))


def test_both_languages_fill_in_the_same_values() -> None:
    for sentence in TEXTS["sentences"]:
        assert set(re.findall(r"{\w+}", sentence["en"])) == set(re.findall(r"{\w+}", sentence["vi"]))
    for part in ("parts", "prompt"):
        assert TEXTS[part]["en"].keys() == TEXTS[part]["vi"].keys()


@pytest.mark.parametrize("language", ["en", "vi"])
def test_prompts_stay_the_same(language: Any) -> None:
    now = golden.prompts(language).splitlines()
    assert now == golden.path(f"prompts-{language}").read_text(encoding="utf-8").splitlines(), "python -m tests.golden"


def test_two_squares_are_a_pair() -> None:
    """The row of a player occurs twice in the ring and twice in the position."""
    for fields, language, row, numbers in (
        (2, "en", "squares 1 and 2", "numbered 1 and 2 from"),
        (3, "en", "squares 1 to 3", "numbered 1 to 3 from"),
        (2, "vi", "ô 1 và ô 2", "đánh số 1 và 2,"),
        (3, "vi", "các ô từ 1 đến 3", "đánh số từ 1 đến 3,"),
    ):
        text = prompt(Board(f"fields={fields}"), language=language)
        assert (text.lower().count(row), text.count(numbers)) == (4, 1)


def test_the_documentation_shows_the_default_prompt() -> None:
    page = (golden.FOLDER.parents[1] / "docs" / "language-models.md").read_text(encoding="utf-8")
    assert f"```text\n{prompt(Board())}\n```" in page


def test_prompts_for_impossible_requests_are_refused() -> None:
    over, options = Board.parse("0,0,0,0,0,0/0,0,0,0,0,0 35,35 0 9"), {"answer": "xml", "language": "fr"}
    for board, name, message in (
        (over, "", "the game is over"),
        (Board(), "answer", "answer must be one of plain, json"),
        (Board(), "language", "language must be one of en, vi"),
    ):
        with pytest.raises(ValueError, match=message):
            prompt(board, **{name: options[name]} if name else {})


@pytest.mark.parametrize(
    ("text", "outcome", "named"),
    [
        ("5A", "legal", "5A"),
        ("So:\n 5a \n", "legal", "5A"),
        ("**3A**", "legal", "3A"),
        ("Thinking of 1A and 2C …\nI play 3A.", "legal", "3A"),
        ("5A!\nGood luck!", "legal", "5A"),
        ("5A, yes, 5A", "legal", "5A"),
        ("\\boxed{3A}", "legal", "3A"),
        ("9A", "illegal", "9A"),
        ('{"why": "1A loses", "move": "3a"}', "legal", "3A"),
        ('```json\n{"move": "3A",\n"why": "not 1A"}\n```', "legal", "3A"),
        ('{"move": "7C"}', "illegal", "7C"),
        ('{"move": "3A or 4A", "second": "5A"}', "unparsable", None),
        ('{"best": "3A"}', "unparsable", None),
        ('{"move": 3}', "unparsable", None),
        ('"3A"', "legal", "3A"),
        ("", "unparsable", None),
        ("[" * 100_000, "unparsable", None),
        ("3A, because 4C loses", "unparsable", None),
        ("15A or x3A or 3Ab", "unparsable", None),
    ],
)
def test_answers_are_read_strictly(text: str, outcome: Any, named: str | None) -> None:
    move = named and Move.parse(named)
    assert read_answer(text, Board(), "stop") == Answer(outcome, move if outcome == "legal" else None, move)
    assert read_answer(text, Board(), "length") == Answer("truncated")


def test_grades_equal_the_judgement_of_the_suite() -> None:
    suite = load_suite("vietnamese").take(np.arange(12))
    for row in range(len(suite)):
        position = suite.valued_board(row)
        board = position.board
        for move in board.legal_moves:
            judged = judge(suite.take(np.array([row])), np.array([move.action]))
            found = grade(position, read_answer(str(move), board))
            wanted = [float(array[0]) for array in (judged.regret, judged.least, judged.most)]
            assert [found.regret, found.least, found.most] == wanted
            assert (found.outcome, found.best) == ("legal", judged.optimal[0] == 1)
        assert grade(position, read_answer("9A", board)).regret is None
        assert grade(position, Answer("truncated")).outcome == "truncated"
        with pytest.raises(ValueError, match="9A is illegal"):
            grade(position, Answer("legal", Move.parse("9A")))
