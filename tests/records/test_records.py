"""Test game records: formatting, parsing, and errors of records that cannot be replayed."""

import copy
import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oanquan_env import Board, GameRecord, Move, NotationError, Rules, Variation, parse_records, read_records
from oanquan_env.files import text_bytes
from oanquan_env.records.games import RESERVED, format_records
from oanquan_env.records.lines import MAX_NESTING
from tests.helpers import strategies
from tests.helpers.boards import boards, mutated, played_board, variations
from tests.helpers.strategies import PRESET_NAMES

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
CREDIT = """\
[Rules "mancala-world"]
[Position "0,0,0,0,1,127*/0,0,0,0,0,127* -205,0 0 0"]
[Result "-204-0"]
[Termination "too_many_seeds"]

1. 5C
-204-0
"""
"""A game in which North must refill its row on credit, which would bring more than 255 seeds into play."""
OPEN = '[Rules "three-player"]\n[Result "*"]\n\n1. 1A 2A 1A\n2. 1C\n*\n'
HEAD = '[Rules "mancala-world"]\n[Result "*"]\n\n'
VARIED = {
    "1. 1A (1. 2A {a} (1. 3A 2A)) {b} 3A {c} ({d} 3C {(} 2. 3A (2. 5C)) (2A) {e} 2. 1A *": "",
    "(1. 3A) *": "column 1: a variation must follow the move that it replaces",
    "1. (1. 3A) 1A *": "column 4: expected a move here",
    "1. 1A () *": "column 8: expected the number 1. here$",
    "1. 1A 3A () *": "column 11: expected a move here",
    "1. 1A (1. 2A 2. 3A) *": "column 15: ply 2: a move is a square's number",
    "1. 1A (2A) *": "column 8: expected the number 1. here$",
    "1. 1A 3A (2A 3A) *": r"column 14: expected the number 2. here, or \)$",
    "1. 1A) *": "column 6: expected a move here",
    "1. 1A 3A) *": "column 9: expected the number 2. here, or the result",
    "1. 1A (1. 2A *": "column 14: ply 2: a move is a square's number",
    "1. 1A (1. 2A": r"column 13: the record ends without the \) of a variation",
    "1. 1A 3A (1A) *": "column 11: ply 2: North cannot play 1A; legal: 2A",
    "1. 1A (1. 1a) *": "column 11: ply 1: a variation must begin with a new move; 1A is already here",
    "1. 1A (1. 2A (1. 3A)) (1. 3A) *": "column 27: ply 1: a variation must begin with a new move; 3A is already",
    "1. 1A (1. 2A (1. 1A)) *": "column 18: ply 1: a variation must begin with a new move; 1A is already here",
}
"""Moves with variations under `HEAD`, and patterns of the errors for those that are refused."""


def test_a_record_is_read_as_it_is_written() -> None:
    (record,) = parse_records(SHORT)
    headers = {"South": "Lan", "North": "Minh", "Date": "2025-02-01"}
    comments = {0: "The puzzle of Mancala World.", 1: "loses at once"}
    moves = Move.parse("5A"), Move.parse("3A")
    assert record == GameRecord(Rules(), moves, None, "22-46", "stones_captured", headers, comments)
    assert str(record) == SHORT
    changes = [{"headers": {name: ""}} for name in ("Result", "A b", "")]
    for change in (*changes, {"comments": {3: ""}}, {"comments": {-1: ""}}, {"result": "South wins"}):
        with pytest.raises(ValueError, match=r"cannot be an extra header|a comment on move|a result must be"):
            dataclasses.replace(record, **change)


@pytest.mark.parametrize("name", ["games.txt", "games.txt.gz"])
def test_many_records_are_read_from_one_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(text_bytes(path, f"\ufeff{SHORT}{OPEN}\n\n{CREDIT}".replace("\n", "\r\n")))
    assert [str(record) for record in read_records(path)] == [SHORT, OPEN, CREDIT]
    (tmp_path / "a.txt").write_bytes(b'[Rules "\xff"]')
    with pytest.raises(NotationError, match="byte 9 cannot be read"):
        read_records(tmp_path / "a.txt")


def test_records_of_other_programs_are_read() -> None:
    """Joined files may contain byte order marks, and comments may stand between a number and its move."""
    begun, text = OPEN.replace("2. 1C", "2. {a} 1C {b}"), OPEN.replace("2. 1C", "{a} 2. {b}\ufeff{c\\}} 1C {b}")
    records = parse_records(f"\ufeff{begun}\n\ufeff{text}")
    assert [dict(record.comments) for record in records] == [{3: "a", 4: "b"}, {3: "a b c}", 4: "b"}]
    with pytest.raises(NotationError, match="line 6, column 1: ply 4: a move is"):
        parse_records(OPEN.replace("2. 1C", "2."))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_system_are_read_as_line_feeds(end: str) -> None:
    text = SHORT.replace("loses at once", "loses\nat once\n").replace('"Lan"', '"Lan\nTừ"')
    (record,) = parse_records(text.replace("\n", end))
    assert (record.comments[1], record.headers["South"]) == ("loses\nat once\n", "Lan\nTừ")
    assert parse_records(str(record).replace("\n", end)) == [record]  # also after writing and converting again
    exact = dataclasses.replace(record, comments={1: "a\r\nb\rc"})
    assert parse_records(str(exact)) == [exact]
    with pytest.raises(NotationError, match=r"^line 12, column 3: ply 2: North cannot play 6A"):
        parse_records(text.replace("3A\n", "6A\n").replace("\n", end))


def swap(old: str, new: str) -> str:
    assert old in SHORT
    return SHORT.replace(old, new)


FAULTY = [
    (swap("3A\n", "3C\n"), 5, 10, r"Result is '22-46', but the moves lead to \*"),
    (swap("3A\n", "6A\n"), 9, 23, "ply 2: North cannot play 6A; legal: 1A, 1C, 2A"),
    (swap("3A\n", "3B\n"), 9, 24, "ply 2: a move is a square's number"),
    (swap("3A\n", "3A\n2. 1A\n"), 10, 4, r"ply 3: South cannot play 1A; the game is over \(stones_captured\)"),
    (swap("1. 5A", "5A"), 9, 1, "expected the number 1. here"),
    (swap("46\n", "45\n"), 10, 1, "the result after the moves must be the header's, '22-46'"),
    (swap("once}", "once"), 9, 7, "ends without its result"),
    (swap("loses", "lo\\ses"), 9, 10, r"unknown escape '\\\\s'"),
    (swap("} 3A", "} ]3A"), 9, 23, "expected a move here"),
    (swap("[North", "[South"), 3, 1, "the header South comes twice"),
    (swap('[Rules "mancala-world"]\n', ""), 1, 1, r"must have the header \[Rules"),
    (swap('[Result "22-46"]\n', ""), 1, 1, r"must have the header \[Result"),
    (swap("mancala-world", "mancala-wrld"), 1, 9, "did you mean mancala-world"),
    (swap("stones_captured", "forfeit"), 6, 15, "Termination must be stones_captured"),
    (swap("[Date", '[Position "5,5,5,5,5,0*/5,5,5,5,6,0* 0,0 0 0"]\n[Date'), 4, 12, "make 71 points"),
    (swap("[Date", '[Position "5,5,5,5,5,0*/5,5,5,5,z,0* 0,0 0 0"]\n[Date'), 4, 33, "square 5 of North"),
    (swap('[Result "22-46"]', '[Sold "S1"]\n[Result "*"]')[:-6] + "*", 6, 10, r"'\*', but the moves lead to 22-46"),
]
"""Records that are refused, with the line, the column and the reason."""


def test_a_record_that_does_not_replay_is_refused_at_its_place() -> None:
    for text, line, column, reason in FAULTY:
        with pytest.raises(NotationError, match=f"^line {line}, column {column}: .*{reason}") as refusal:
            parse_records(text)
        assert (refusal.value.line, refusal.value.column) == (line, column)


@pytest.mark.parametrize("moves", VARIED)
def test_variations_are_read_or_refused_at_their_place(moves: str) -> None:
    if VARIED[moves]:
        with pytest.raises(NotationError, match=f"^line 4, {VARIED[moves]}"):
            parse_records(HEAD + moves)
        return
    (record,) = parse_records(HEAD + moves)
    assert str(record) == (
        f"{HEAD}1. 1A {{b}} (1. 2A {{a}}) (1. 3A 2A) 3A {{c e}} (3C {{d (}} 2. 3A (2. 5C)) (2A)\n2. 1A\n*\n"
    )
    move = Move.parse
    assert record.variations == {
        1: (Variation((move("2A"),), {1: "a"}), Variation((move("3A"), move("2A")))),
        2: (
            Variation((move("3C"), move("3A")), {1: "d ("}, {2: (Variation((move("5C"),)),)}),
            Variation((move("2A"),)),
        ),
    }
    assert (record.moves, record.comments) == ((move("1A"), move("3A"), move("1A")), {1: "b", 2: "c e"})


def test_a_line_refuses_variations_that_cannot_be_written() -> None:
    (record,) = parse_records(OPEN)
    first, second = Variation(record.moves[:2]), Variation(record.moves[1:2])
    for number, group in ((0, [second]), (5, [second]), (1, [first]), (1, [second, second])):
        with pytest.raises(
            ValueError, match=r"must replace one of the moves 1 to 4; got|must begin with different moves"
        ):
            dataclasses.replace(record, variations={number: tuple(group)})
    for change in ({"moves": ()}, {"variations": {1: (second,)}}, {"comments": {0: "a"}}):
        with pytest.raises(ValueError, match=r"at least one move|one of the moves 2 to 2; got 1|a comment on move 0"):
            dataclasses.replace(first, **change)
    assert dataclasses.replace(record, comments={1: ""}, variations={2: ()}) == record


def nested(depth: int) -> str:
    """Return a record with variations nested `depth` times: each goes on with a move that the next one replaces."""
    board, words = Board("four-player"), list[str]()
    for _ in range(depth):
        number = f"{board.ply // 4 + 1}. " * (board.ply % 4 == 0)
        quiet, other, *_ = sorted(board.legal_moves, key=lambda move: board.sowing(move).captured)
        words.append(f"{number}{other} ({number}{quiet}")
        board.push(quiet)
    return f'[Rules "four-player"]\n[Result "*"]\n\n{" ".join(words)}{")" * depth}\n*\n'


def test_deep_variations_are_refused_and_others_can_be_compared_and_copied() -> None:
    records = parse_records(nested(MAX_NESTING))
    assert parse_records(format_records(records)) == copy.deepcopy(records) == pickle.loads(pickle.dumps(records))
    assert repr(records).count("Variation(") == MAX_NESTING
    for depth in (MAX_NESTING + 1, MAX_NESTING + 10):
        with pytest.raises(NotationError, match=f"variations can be nested at most {MAX_NESTING} times"):
            parse_records(nested(depth))
    (record,), moves = records, records[0].moves
    with pytest.raises(ValueError, match="nested at most"):
        dataclasses.replace(record, variations={1: (Variation((Move(0, 0), *moves), {}, {2: record.variations[1]}),)})


names = st.from_regex(r"[A-Z][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(lambda name: name not in RESERVED)


@given(
    boards(),
    st.dictionaries(names, st.text(), max_size=3),
    st.dictionaries(st.integers(0, 9), st.text()),
    st.data(),
    strategies.seeds,
)
def test_every_record_is_read_back_the_same(
    board: Board, headers: dict[str, str], comments: dict[int, str], data: st.DataObject, seed: int
) -> None:
    later = Board.parse(board.text(), board.rules)  # a game that begins here
    if later.legal_moves:
        later.push(data.draw(st.sampled_from(later.legal_moves)))
    for game in (board, later):
        commented = {number: words for number, words in comments.items() if number <= len(game.history)}
        others = variations(game.start(), game.history, np.random.default_rng(seed), 3)
        record = GameRecord.from_board(game, headers, commented, others)
        assert parse_records(format_records([record, record])) == [record, record]
        assert (record.board(), record.board().history, record.start()) == (game, game.history, game.start())


@pytest.mark.parametrize("count", [2000, pytest.param(50_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["positions", "records"])
def test_mutated_texts_are_read_right_or_refused_with_their_place(kind: str, count: int) -> None:
    rng = np.random.default_rng(20)
    games = [played_board(name, seed, 4 * seed) for name in PRESET_NAMES for seed in range(5)]
    texts = [game.text() for game in games]
    if kind == "records":
        others = [variations(game.start(), game.history, rng, 2) for game in games]
        texts = [str(GameRecord.from_board(game, variations=lines)) for game, lines in zip(games, others, strict=True)]
    refused = 0
    for number in range(count):
        text = mutated(texts[number % 35], rng)
        try:
            if kind == "positions":
                good = Board.parse(text, games[number % 35].rules).text() == " ".join(text.split())
            else:
                good = parse_records(format_records(records := parse_records(text))) == records
        except NotationError as error:
            lines, line = re.split("\r\n?|\n", text) if error.line else [text], error.line or 1
            good = 1 <= line <= len(lines) and error.column in range(1, len(lines[line - 1]) + 2)
            refused += good
        assert good, f"add it to FAULTS of test_untrusted_input.py: {text!r}"
    assert count / 2 < refused < count
