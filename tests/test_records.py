"""Game records: written, read back, and refused where they do not replay."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Board, GameRecord, Move, NotationError, Rules, parse_records, read_records
from oanquan_env.records.games import format_records
from tests.boards import boards, mutated, played_board
from tests.strategies import PRESET_NAMES

SHORT = """\
[Rules "mancala-world"]
[South "Lan"]
[North "Minh"]
[Date "2025-02-01"]
[Result "22-46"]
[Termination "stones_captured"]

{The puzzle of Mancala World.}
1. 5A {loses at once} 3A
22-46
"""
OPEN = """\
[Rules "three-player"]
[Result "*"]

1. 1A 2A 1A
2. 1C
*
"""
CROWDED = """\
[Rules "mancala-world"]
[Position "0,0,0,0,1,127*/0,0,0,0,0,127* -205,0 0 0"]
[Result "*"]

1. 5C
*
"""
"""North is to refill its row while 255 seeds are in play."""


def test_a_record_is_read_as_it_is_written() -> None:
    (record,) = parse_records(SHORT)
    assert record == GameRecord(
        rules=Rules(),
        moves=(Move.parse("5A"), Move.parse("3A")),
        result="22-46",
        termination="stones_captured",
        headers={"South": "Lan", "North": "Minh", "Date": "2025-02-01"},
        comments={0: "The puzzle of Mancala World.", 1: "loses at once"},
    )
    assert str(record) == SHORT
    board = record.board()
    assert board.outcome
    assert board.outcome.result == "22-46"
    assert GameRecord.from_board(board, record.headers, record.comments) == record


def test_many_records_are_read_from_one_file(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_bytes(b"\xef\xbb\xbf" + f"{SHORT}{OPEN}\n\n{SHORT}".replace("\n", "\r\n").encode())
    records = read_records(path)
    assert [str(record) for record in records] == [SHORT, OPEN, SHORT]
    assert parse_records(format_records(records)) == records
    assert parse_records(" \n") == []
    path.write_bytes(b'[Rules "\xff"]')
    with pytest.raises(NotationError, match="byte 9 cannot be read"):
        read_records(path)


def test_comments_on_one_move_are_joined() -> None:
    (record,) = parse_records('[Rules "mancala-world"]\n[Result "*"]\n{a}{a} 1. 1A {b} {c\\}} 2C *')
    assert record.comments == {0: "a a", 1: "b c}"}


def test_a_game_from_a_set_up_position_keeps_it() -> None:
    text = "0,0,0,0,1,0*/0,0,0,0,1,0 58,0 0 30"
    board = Board.parse(text)
    board.push("5A")
    record = GameRecord.from_board(board)
    assert record.position == text
    assert f'[Position "{text}"]\n' in str(record)
    assert parse_records(str(record)) == [record]
    assert record.board() == board
    assert record.start() == Board.parse(text)


def test_match_rounds_keep_their_headers_and_their_own_result() -> None:
    # North has bought South's field 1: what is left on it goes to North, which the rules of one game do not know.
    owned = SHORT.replace("22-46", "21-47").replace('[Date "2025-02-01"]', '[Round "2"]\n[Sold "S1"]')
    (record,) = parse_records(owned)
    assert (record.result, record.headers["Round"], record.headers["Sold"]) == ("21-47", "2", "S1")
    assert str(record) == owned
    with pytest.raises(NotationError, match=r"line 6, .*Result is '\*', but the moves lead to 22-46"):
        parse_records(owned.replace("21-47", "*"))


def swap(old: str, new: str, text: str = SHORT) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        (swap("3A\n", "3C\n"), 5, 10, r"Result is '22-46', but the moves lead to \*"),
        (swap("3A\n", "6A\n"), 9, 23, "ply 2: North cannot play 6A; legal: 1A, 1C, 2A"),
        (swap("3A\n", "3B\n"), 9, 24, "ply 2: a move is a field's number"),
        (swap("3A\n", "3A\n2. 1A\n"), 10, 4, r"ply 3: South cannot play 1A; the game is over \(stones_captured\)"),
        (swap("1. 5A", "5A"), 9, 1, "expected the number 1. here"),
        (swap("3A\n", "2. 3A\n"), 9, 24, "ply 2: a move is"),
        (swap("46\n", "45\n"), 10, 1, "another result than the header's '22-46'"),
        (SHORT[:-6], 10, 1, "ends without its result"),
        (swap("once}", "once"), 9, 7, "ends without its result"),
        (swap("loses", "lo\\ses"), 9, 10, r"unknown escape '\\\\s'"),
        (swap("Lan", "L\\an"), 2, 10, r"unknown escape '\\\\a'"),
        (swap("}\n1.", "}\n]1."), 9, 1, "expected the number 1. here"),
        (swap("} 3A", "} ]3A"), 9, 23, "expected a move here"),
        (swap("[South", "[Sou th"), 2, 1, "a header is"),
        (swap("[North", "[South"), 3, 1, "the header South comes twice"),
        (swap('[Rules "mancala-world"]\n', ""), 1, 1, r"must have the header \[Rules"),
        (swap('[Result "22-46"]\n', ""), 1, 1, r"must have the header \[Result"),
        (swap("mancala-world", "mancala-wrld"), 1, 9, "did you mean mancala-world"),
        (swap('[Termination "stones_captured"]\n', ""), 5, 10, "lead to the termination stones_captured"),
        (swap("stones_captured", "forfeit"), 6, 15, "lead to the termination stones_captured"),
        (swap("[Date", '[Position "5,5,5,5,5,0*/5,5,5,5,6,0* 0,0 0 0"]\n[Date'), 4, 12, "make 71 points"),
        (swap("[Date", '[Position "5,5,5,5,5,0*/5,5,5,5,z,0* 0,0 0 0"]\n[Date'), 4, 33, "field 5 of North"),
        ("hello", 1, 1, r"must have the header \[Rules"),
        (CROWDED, 5, 4, "ply 1: refills on credit"),
    ],
)
def test_a_record_that_does_not_replay_is_refused_at_its_place(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(NotationError, match=reason) as refusal:
        parse_records(text)
    assert (refusal.value.line, refusal.value.column) == (line, column)
    assert str(refusal.value).startswith(f"line {line}, column {column}: ")


def test_a_record_that_could_not_be_read_back_cannot_be_made() -> None:
    (record,) = parse_records(SHORT)
    headers = [{"headers": {name: ""}} for name in ("Result", "A b", "")]
    comments = [{"comments": {number: ""}} for number in (3, -1)]  # there are two moves
    for changes in (*headers, *comments, {"result": "South wins"}):
        with pytest.raises(ValueError, match=r"cannot be an extra header|a comment on move|a result is"):
            dataclasses.replace(record, **changes)


names = st.from_regex(r"[A-Z][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"Rules", "Position", "Result", "Termination"}
)


@given(boards(), st.dictionaries(names, st.text(), max_size=3), st.dictionaries(st.integers(0, 9), st.text()))
def test_every_record_is_read_back_the_same(board: Board, headers: dict[str, str], comments: dict[int, str]) -> None:
    comments = {number: words for number, words in comments.items() if number <= board.ply}
    record = GameRecord.from_board(board, headers, comments)
    assert parse_records(f"{record}{record}") == [record, record]
    assert record.board() == board
    assert record.board().history == board.history


@pytest.mark.parametrize("count", [2000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_mutated_records_are_read_right_or_refused_with_their_place(count: int) -> None:
    """Records with accidents are read as records that read back the same, or refused with a place in the text."""
    rng = np.random.default_rng(30)
    texts = [str(GameRecord.from_board(played_board(name, seed, 5 * seed))) for name in PRESET_NAMES for seed in (1, 2)]
    refused = 0
    for number in range(count):
        text = mutated(texts[number % len(texts)], rng)
        try:
            records = parse_records(text)
        except NotationError as refusal:
            lines, line = text.split("\n"), refusal.line or 0
            places = range(1, len(lines[line - 1]) + 2)
            good = 1 <= line <= len(lines) and refusal.column in places
            refused += good
        else:
            good = parse_records(format_records(records)) == records
        assert good, f"add it to FAULTS of test_strangers.py: {text!r}"
    assert count / 2 < refused < count
