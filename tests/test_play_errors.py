"""What is wrong is told in Vietnamese as well, whatever it is."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from oanquan_env import board
from oanquan_env.engine import notation, position_checks, rules
from oanquan_env.match import rules as match_rules
from oanquan_env.play import files, game, session
from oanquan_env.play.refusal import SessionError
from oanquan_env.play.session import Session
from oanquan_env.play.vietnamese_errors import MESSAGES, in_both, in_vietnamese
from oanquan_env.records import games as records
from oanquan_env.records import matches as match_records

PLACE = "5,5,5,5,5,0*/5,5,5,5,5,0*"
HEADERS = '[Rules "mancala-world"]\n[Result "*"]\n'
MATCH = '[Rules "mancala-world"]\n[Match ""]\n[Round "1"]\n[Result "*"]\n'
SHAPES = (" must be rows of one length", " must be whole numbers", " must be one number", " must have shape")
"""Of arrays, which no text leads to."""
OTHER = (
    "type load and the name of a file",
    "load ",
    "cannot be an extra header",
    "headers are texts",
    "a comment on move",
    "a result is ",
    "no move has ",
    "rules must be a Rules",
)
"""Of the terminal, and of programs."""
VARYING = ("7 must be 7; got 7", "a move is 7; got 7", "a field is 7; got 7")
"""Of these the part that varies tells which message it is: the next test has them."""


def texts(module: ModuleType) -> Iterator[str]:
    """What the errors that a module raises say, with a number in the place of each part that varies."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(call, ast.Call) and call.args:
            name = ast.unparse(call.func)
            if not name.endswith(("Error", ".error")):
                continue
            said = call.args[1] if name == "SessionError" else call.args[0]
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                yield said.value
            elif isinstance(said, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "7" for part in said.values)
                yield "".join(map(str, parts))


@pytest.mark.parametrize(
    "module", [rules, match_rules, notation, position_checks, records, match_records, board, session, game, files]
)
def test_every_error_of_texts_has_its_vietnamese(module: ModuleType) -> None:
    found = [
        text for text in texts(module) if text not in VARYING and not any(part in text for part in (*SHAPES, *OTHER))
    ]
    assert found or module in (position_checks, game)
    english = [text for text in found if in_vietnamese(text) == text and text.strip("7:; ")]
    assert english == []


def new(rules: str = "mancala-world", position: str | None = None, **asked: Any) -> tuple[str, dict[str, Any]]:
    return "new", {"rules": rules, **({} if position is None else {"position": position}), **asked}


def load(text: str) -> tuple[str, dict[str, Any]]:
    return "load", {"text": text}


WRONG = {
    "luật": [
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
    "thế": [
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
    "biên bản": [
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
    "yêu cầu": [
        ("undo", {}),
        ("redo", {}),
        ("next_round", {}),
        ("back", {"moves": 5}),
        ("move", {"move": "3A", "ply": 7}),
        ("move", {"move": "9A", "ply": 0}),
        new(starter=5),
        new(seats=["human"]),
        new(seats=["human", "nobody"]),
        ("dance", {}),
    ],
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_people_do_wrong_is_told_in_vietnamese(kind: str) -> None:
    english = {text for text in MESSAGES if len(text.split()) > 2}
    for request, asked in WRONG[kind]:
        with pytest.raises(SessionError) as raised:
            Session().request(request, asked)
        told = raised.value.to_json()["detail"]
        assert told["vi"] != told["en"], (request, asked)
        assert "must be" not in told["vi"]
        assert "expected" not in told["vi"]
        assert not any(text in told["vi"] for text in english)


def test_what_varies_is_translated_too_and_the_unknown_stays() -> None:
    assert in_vietnamese("line 2, column 4: ply 3: South cannot play 3A; legal: 1A, 2C") == (
        "dòng 2, cột 4: nước 3: Nam không đi được 3A; đi được: 1A, 2C"
    )
    assert in_both("no idea") == {"en": "no idea", "vi": "no idea"}
