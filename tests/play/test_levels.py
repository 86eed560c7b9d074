"""Test the levels of computer players, and hints in the terminal."""

from pathlib import Path

import pytest

from oanquan_env import Board, Rules
from oanquan_env.files import FileError
from oanquan_env.play import terminal
from oanquan_env.play.levels import LEVELS, first_playing
from oanquan_env.players.book import with_book
from oanquan_env.players.search_player import Analysis
from oanquan_env.search import value_net
from tests.helpers.players import FirstMove


class Searching(FirstMove):
    """A player whose search values 1A at 5 points and every other move at 0."""

    def analyse(self, board: Board) -> Analysis:
        return Analysis.of(board, {move.action: 5.0 * (str(move) == "1A") for move in board.legal_moves}, [0], 1)


@pytest.mark.parametrize(("preference", "best"), [(5.0, ("2C", "4A")), (4.0, ("1A",))])
def test_a_hint_is_the_proved_move_unless_the_search_sees_a_much_better_one(
    preference: float, best: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "PREFERENCE", preference)
    searching = Searching(Board().core)
    book = with_book(searching, Rules())
    assert str(terminal.best_move(book, searching.analyse(Board()))) in best


def test_levels_take_the_best_that_is_installed() -> None:
    for rules, name in (
        ("tonkin seeds=3", "book:minimax:ms=1000,net=pretrained"),
        ("vietnamese refill=forfeit", "book:maxn:ms=1000"),
        ("three-player", "book:maxn:ms=1000,net=pretrained"),
    ):
        assert first_playing(LEVELS["perfect"].players, Rules.parse(rules))[0] == name


def test_a_damaged_net_is_an_error_and_no_other_player_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "value.npz"
    damaged.write_bytes(b"PK\x03\x04 and nothing more")
    monkeypatch.setattr(value_net, "pretrained_path", lambda rules: damaged)
    with pytest.raises(FileError, match="not a value net"):
        first_playing(LEVELS["hard"].players, Rules())
