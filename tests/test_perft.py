"""Move paths counted, against the published numbers of docs/RULES.md 8 and the referee."""

import pytest

from oanquan_env import Move, Rules, divide, perft
from oanquan_env import perft as perft_function
from tests.boards import boards_of
from tests.referee import perft as referee_perft

PUBLISHED = {
    "mancala-world": (10, 80, 654, 4974, 36220),
    "mancala-world end=squares_empty": (10, 80, 664, 5132, 38548),
    "vietnamese": (10, 80, 664, 5128, 38500),
    "vietnamese refill=forfeit": (10, 80, 664, 5128, 38500),
    "vietnamese quan_non=5": (10, 80, 668, 5188, 39146),
    "tonkin": (5, 20, 69, 247, 764),
    "ludii": (10, 80, 654, 4974, 36244),
    "app": (10, 80, 654, 5002, 37216),
    "mancala-world mandarin_seeds_capturable=False": (10, None, None, None, 36316),
    "three-player": (10, 80, 654, 5295, 42672),
    "four-player": (10, 80, 648, 5340, 43682),
}


@pytest.mark.parametrize(
    ("rules", "depth", "paths"),
    [(rules, depth, paths) for rules, row in PUBLISHED.items() for depth, paths in enumerate(row, 1) if paths],
)
def test_published_counts(rules: str, depth: int, paths: int) -> None:
    assert perft(rules, depth) == paths


def test_depth_six_is_what_the_levels_below_add_up_to() -> None:
    by_move = divide("mancala-world", 6)
    assert len(by_move) == 10
    assert sum(by_move.values()) == perft(Rules(), 6)
    for move, paths in list(by_move.items())[:2]:
        assert perft(boards_of(str(move))[-1], 5) == paths


@pytest.mark.slow
def test_depth_six_agrees_with_the_referee() -> None:
    assert perft("mancala-world", 6) == referee_perft(Rules(), 6)


def test_chunks_do_not_change_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(perft_function.__globals__, "CHUNK", 7)
    assert perft("app", 4) == 5002


def test_a_finished_game_counts_once() -> None:
    board = boards_of("5A", "3A")[-1]
    assert board.outcome
    left = board.copy()
    assert [perft(board, depth) for depth in (0, 1, 5)] == [1, 1, 1]
    assert board == left
    assert divide(board, 3) == {}
    board.pop()
    replies = divide(board, 2)
    assert replies[Move.parse("3A")] == 1
    assert sum(replies.values()) == perft(board, 2)


def test_impossible_depths_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 0, got -1"):
        perft("app", -1)
    with pytest.raises(ValueError, match="at least 1"):
        divide("app", 0)
    assert perft("app", 0) == 1
