"""What is wrong is told in Vietnamese as well, whatever it is."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from oanquan_env.engine.rules import FIELD_NAMES
from oanquan_env.errors import Text, said
from oanquan_env.play.session import Session
from oanquan_env.play.vietnamese_texts import MESSAGES, in_vietnamese
from tests.sessions import refused

TRANSLATED = ("Text", "RulesError", "reader.error", "self.error")
TRANSLATED_WITH_PARTS = ("UnavailableError", "UnknownAgentError", "UsageError")
PLACE = "5,5,5,5,5,0*/5,5,5,5,5,0*"
HEADERS = '[Rules "mancala-world"]\n[Result "*"]\n'
MATCH = '[Rules "mancala-world"]\n[Match ""]\n[Round "1"]\n[Result "*"]\n'


def templates() -> Iterator[str]:
    """The templates of all texts that the package makes."""
    root = Path(__file__).parents[1]
    for file in [*(root / "oanquan_env").rglob("*.py"), *(root / "agents").rglob("*.py")]:
        if file.parent.name == "envs":  # its errors are for programmers
            continue
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
        constants = [
            (node.targets[0].id, node.value.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and call.args:
                made, template = ast.unparse(call.func), call.args[0]
                if made not in TRANSLATED and not (made in TRANSLATED_WITH_PARTS and call.keywords):
                    continue
                if isinstance(template, ast.Constant):
                    yield template.value
                elif isinstance(template, ast.Name):
                    yield from (text for name, text in constants if name == template.id and text)


def parts(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_every_text_has_its_vietnamese() -> None:
    found = set(templates())
    assert len(found) > 60
    assert found - set(MESSAGES) == set()
    assert [template for template, words in MESSAGES.items() if not parts(words) <= parts(template)] == []


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
def test_what_people_do_wrong_changes_nothing_and_is_told_in_vietnamese(code: str) -> None:
    english = {text for text in MESSAGES if len(text.split()) > 2 and "{" not in text}
    for request, asked in WRONG[code]:
        error = refused(Session(), request, **asked)
        assert error.code == code
        told = error.to_json()["detail"]
        assert told["vi"] != told["en"], (request, asked)
        field = error.to_json()["field"]
        assert field not in FIELD_NAMES or told["vi"].startswith(field)  # the page puts its own word there
        assert "must be" not in told["vi"]
        assert "expected" not in told["vi"]
        assert not any(text in told["vi"] for text in english)


def test_parts_are_translated_too_and_the_unknown_stays() -> None:
    text = said(refused(Session(), "load", text=f"{HEADERS}1. 3A 9A *"))
    assert text == "line 3, column 7: ply 2: North cannot play 9A; legal: 1A, 1C, 2A, 2C, 4A, 4C, 5A, 5C"
    assert str(in_vietnamese(text)).startswith("dòng 3, cột 7: nước 2: Bắc không đi được 9A; đi được: 1A")
    assert in_vietnamese("no idea") == "no idea"
    assert pickle.loads(pickle.dumps(Text("{field} and {count:,}", field="{x}", count=1000))) == "{x} and 1,000"
