"""Mistakes of persons: each is refused with its code and its reason."""

from string import Formatter
from typing import Any

import pytest

from oanquan_env.play.session import Session
from oanquan_env.play.vietnamese_texts import MESSAGES, in_language
from tests.sessions import refused

PLACE = "5,5,5,5,5,0*/5,5,5,5,5,0*"
HEADERS = '[Rules "mancala-world"]\n[Result "*"]\n'
MATCH = '[Rules "mancala-world"]\n[Match ""]\n[Round "1"]\n[Result "*"]\n'


def new(rules: str = "mancala-world", position: str | None = None, **asked: Any) -> tuple[str, dict[str, Any]]:
    return "new", {"rules": rules, **({} if position is None else {"position": position}), **asked}


def load(text: str) -> tuple[str, dict[str, Any]]:
    return "load", {"text": text}


WRONG = {
    "rules": [
        new("chess"),
        new("vietnamse"),
        new("tonkin seeds"),
        new("tonkin sedes=3"),
        new("tonkin zzz=3"),
        new("tonkin seeds=3 seeds=4"),
        new("seeds=0"),
        new("seeds=x"),
        new("stones=maybe"),
        new("end=never"),
        new("players=3 mandarin_ahead=take_one"),
        new("stones=False"),
        new("stones=False end=squares_empty"),
        new("stones=False mandarin_seeds_capturable=False end=squares_empty mandarin_seeds=3"),
        new("mandarin_seeds_capturable=False end=squares_empty"),
        new("seeds=200"),
        new("x" * 2000),
        new("three-player", match=""),
        new("fields=2", match=""),
    ],
    "position": [
        new(position="5"),
        new(position=f"{PLACE} 0,0 0 0 0"),
        new(position="5,5/5,5 0,0 0 0"),
        new(position="5,5,5,5,5,0* 0,0 0 0"),
        new(position="5,5,5,x,5,0*/5,5,5,5,5,0* 0,0 0 0"),
        new(position="5,5,5,5,5,z/5,5,5,5,5,0* 0,0 0 0"),
        new(position=f"{PLACE} 0,z 0 0"),
        new(position=f"{PLACE} 0,0 z 0"),
        new(position=f"{PLACE} 0,0 7 0"),
        new(position=f"{PLACE} 9,0 0 0"),
        new(position=f"{PLACE} 0,0 0 900"),
        new(position="900,5,5,5,5,0*/5,5,5,5,5,0* 0,0 0 0"),
        new(position="200,5,5,5,5,90*/5,5,5,5,5,0* 0,0 0 0"),
        new(position="0,0,0,0,0,25*/5,5,5,5,5,0* 0,0 0 0"),
    ],
    "record": [
        load(""),
        load("nonsense"),
        load("[Rules]"),
        load('[Rules "chess"]\n[Result "*"]\n*'),
        load('[Rules "mancala-world"]\n[Rules "mancala-world"]\n*'),
        load('[Result "*"]\n*'),
        load(HEADERS),
        load(f"{HEADERS}3A *"),
        load(f"{HEADERS}1. 9Z *"),
        load(f"{HEADERS}1. 3A 9A *"),
        load(f"{HEADERS}1. {{\\x}} 3A *"),
        load(f"{HEADERS}1. 5A 3A 42-28"),
        load(f'{HEADERS}[Position "5"]\n*'),
        load('[Rules "mancala-world"]\n[Result "22-46"]\n1. 5A 3A 22-46'),
        load('[Rules "mancala-world"]\n[Result "1-2"]\n1. 5A 3A 1-2'),
        load(f'{HEADERS}[Sold "S1"]\n*'),
        load(f"{MATCH}*\n{MATCH}*"),
        load(MATCH.replace('Match ""', 'Match "x=1"') + "*"),
        load(MATCH.replace('Match ""', 'Match "fields_to_lose=9"') + "*"),
        load(MATCH.replace('Round "1"', 'Round "2"') + "*"),
    ],
    "request": [("undo", {}), ("redo", {}), ("next_round", {}), ("back", {"moves": 5}), new(starter=5), ("dance", {})],
    "move": [("move", {"move": "3A", "ply": 7}), ("move", {"move": "9A", "ply": 0})],
    "player": [new(seats=["human"]), new(seats=["human", "nobody"])],
}
"""What people do wrong, by the code of the refusal."""


@pytest.mark.parametrize("code", WRONG)
def test_mistakes_of_a_person_change_nothing_and_have_a_code_and_a_short_reason(code: str) -> None:
    for request, asked in WRONG[code]:
        error = refused(Session(), request, **asked)
        told = error.to_json()
        assert error.code == told["code"] == code
        assert 0 < len(told["detail"]["en"]) < 1000


def test_the_page_learns_the_place_and_the_field() -> None:
    error = refused(Session(), "load", text=f"{HEADERS}1. 3A 9A *")
    assert str(error) == "line 3, column 7: ply 2: North cannot play 9A; legal: 1A, 1C, 2A, 2C, 4A, 4C, 5A, 5C"
    assert refused(Session(), "new", rules="seeds=0").to_json()["field"] == "seeds"


def test_every_sentence_in_vietnamese_takes_the_parts_of_the_english_one() -> None:
    def parts(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert [text for text, words in MESSAGES.items() if parts(words) - parts(text)] == []
    assert in_language("{seat} resigns.", "vi", seat="Nam") == "Nam xin thua."
    assert in_language("no idea", "vi") == "no idea"
