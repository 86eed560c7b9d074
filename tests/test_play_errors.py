"""Mistakes of persons: each is refused with its code and its reason."""

from string import Formatter
from typing import Any

import pytest

from oanquan_env.play.session import Session
from oanquan_env.play.vietnamese_texts import MESSAGES, in_language
from tests.sessions import refused

PLACE = "5,5,5,5,5,0*/5,5,5,5,5,0*"
HEADERS = '[Rules "mancala-world"]\n[Result "*"]\n'
ROUND = '[Rules "mancala-world"]\n[Match ""]\n[Round "1"]\n[Result "*"]\n'
UNREADABLE: tuple[str, ...] = (
    "",
    "nonsense",
    HEADERS,
    '[Rules "chess"]\n[Result "*"]\n*',
    f"{HEADERS}1. 9Z *",
    f"{HEADERS}1. 3A 9A *",
)
UNREADABLE += (
    '[Rules "mancala-world"]\n[Result "1-2"]\n1. 5A 3A 1-2',
    f'{HEADERS}[Position "5"]\n*',
    f"{ROUND}*\n" * 2,
)
UNREADABLE += (f'{HEADERS}[Sold "S1"]\n*', ROUND.replace('""', '"x=1"') + "*", ROUND.replace('"1"', '"2"') + "*")
WRONG: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "rules": [("new", {"rules": rules}) for rules in ("chess", "tonkin sedes=3", "seeds=x", "stones=False", "x" * 2000)]
    + [("new", {"rules": rules, "match": ""}) for rules in ("three-player", "fields=2")]
    + [("new", {"match": "x=1"})],
    "position": [
        ("new", {"position": text})
        for text in ("5", f"{PLACE} 0,z 0 0", f"{PLACE} 9,0 0 0", f"{PLACE} 0,0 7 0", f"{PLACE} 0,0 0 900")
    ],
    "record": [("load", {"text": text}) for text in UNREADABLE] + [("load", {"text": f"{HEADERS}*", "number": 2})],
    "games": [("load", {"text": f"{HEADERS}*\n" * 2})],
    "request": [
        *((name, {}) for name in ("undo", "redo", "next_round", "dance")),
        *(("back", {"moves": moves}) for moves in (5, "0")),
        *(("new", {"starter": 5}), ("move", {"field": 3}), ("puzzle", {"level": "x"})),
    ],
    "move": [("move", {"move": "3A", "ply": 7}), ("move", {"move": "9A", "ply": 0}), ("new", {"moves": "9A"})],
    # No request makes the program import a module.
    "player": [("new", {"seats": ["human", *other]}) for other in ([], ["nobody"], ["tests.players:FirstMove"])],
}
"""What people do wrong, by the code of the refusal."""


@pytest.mark.parametrize("code", WRONG)
def test_mistakes_of_a_person_change_nothing_and_have_a_code_and_a_short_reason(code: str) -> None:
    for request, asked in WRONG[code]:
        told = refused(Session(), request, **asked).to_json()
        assert told["code"] == code, asked
        assert 0 < len(told["detail"]["en"]) < 1000


def test_the_page_learns_the_place_and_the_field() -> None:
    error = refused(Session(), "load", text=f"{HEADERS}1. 3A 9A *")
    assert str(error) == "line 3, column 7: ply 2: North cannot play 9A; legal: 1A, 1C, 2A, 2C, 4A, 4C, 5A, 5C"
    assert refused(Session(), "new", rules="seeds=0").to_json()["field"] == "seeds"
    assert refused(Session(), "new", position="5,5,5,5,x,0*/5,5,5,5,5,0* 0,0 0 0").column == 9


def test_every_sentence_in_vietnamese_takes_the_parts_of_the_english_one() -> None:
    def parts(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert [text for text, words in MESSAGES.items() if parts(words) - parts(text)] == []
    assert in_language("{seat} resigns.", "vi", seat="Nam") == "Nam xin thua."
    assert in_language("no idea", "vi") == "no idea"
