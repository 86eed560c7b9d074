"""Players of the page's games: slow ones, those that fail, hints, and levels."""

import re
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Board, Move, Positions, Rules
from oanquan_env.analysis import Analysis
from oanquan_env.arrays import Ints
from oanquan_env.files import FileError
from oanquan_env.play import hints, levels, warming
from oanquan_env.play.levels import LEVELS, first_playing
from oanquan_env.play.session import Session
from oanquan_env.play.warming import Warming
from oanquan_env.players.book import with_book
from oanquan_env.search import value_net
from tests.players import FirstMove
from tests.sessions import play

pytestmark = pytest.mark.usefixtures("own_players")


def test_a_player_that_fails_is_told_and_undo_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(FirstMove):
        def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
            raise ZeroDivisionError("no idea")

    monkeypatch.setattr(levels, "make_policy", lambda name, rules: Broken(Board().core))
    played = Session(names=("human", "broken"))
    play(played, "1A")
    assert played.answer()
    assert played.state()["trouble"] == "ZeroDivisionError: no idea"
    assert not played.answer()  # it is not asked again
    played.request("undo", {})
    assert (played.state()["trouble"], played.state()["turn"]) == ("", "person")


class Searching(FirstMove):
    """Its search values 1A at 5 points and every other move at nothing."""

    def analyse(self, board: Board) -> Analysis:
        return Analysis.of(board, {move.action: 5.0 * (str(move) == "1A") for move in board.legal_moves}, [0], 1)


@pytest.mark.parametrize(("preference", "best"), [(5.0, ("2C", "4A")), (4.0, ("1A",))])
def test_a_hint_is_the_proved_move_unless_the_search_sees_a_much_better_one(
    preference: float, best: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "PREFERENCE", preference)
    book = with_book(Searching(Board().core), Rules())
    told = hints.hint("book:searching", book, Board(), np.random.default_rng(0))
    assert str(told.best) in best
    assert told.values[Move.parse("1A")] == 5


def test_levels_fall_back_to_what_is_installed(without_numba: None) -> None:
    names = ["greedy", "greedy", "maxn:depth=3", "maxn:depth=5", "book:maxn:depth=4,net=pretrained"]
    assert [first_playing(level.players, Rules())[0] for level in LEVELS.values()] == names
    assert first_playing(LEVELS["perfect"].players, Rules.parse("tonkin seeds=3"))[0] == "book:maxn:depth=7"
    assert warming.shared_adviser(Rules())[0].ready.wait(60)
    hint = Session().hint()
    assert hint["player"] == names[-1]
    assert warming.shared_reviewer(Rules())[0].ready.wait(60)
    assert Session().hint(0)["player"] == "maxn:depth=4,net=pretrained"
    assert set(hint["values"]) == {str(move) for move in Board().legal_moves}
    assert hint["values"][hint["best"]] == max(hint["values"].values())


def test_levels_take_the_best_that_is_installed() -> None:
    pytest.importorskip("numba")
    played = {"mancala-world": "book:minimax:ms=1000,net=pretrained", "tonkin seeds=3": "book:minimax:ms=1000"}
    played |= {"vietnamese refill=forfeit": "book:maxn:depth=7", "three-player": "book:maxn:ms=1000,net=pretrained"}
    for rules, name in played.items():
        assert first_playing(LEVELS["perfect"].players, Rules.parse(rules))[0] == name


def test_a_damaged_file_is_told_and_no_other_player_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    damaged = tmp_path / "value.npz"
    damaged.write_bytes(b"PK\x03\x04 and nothing more")
    monkeypatch.setattr(value_net, "pretrained_path", lambda rules: damaged)
    with pytest.raises(FileError, match="not a value net"):
        first_playing(LEVELS["hard"].players, Rules())
    played = Session(names=("human", "hard"))
    opponent = played.game.seats[1].policy
    assert isinstance(opponent, Warming)
    assert opponent.ready.wait(60)
    play(played, "1A")
    assert played.answer()
    assert re.fullmatch(r"FileError: .*value\.npz: not a value net.*", played.state()["trouble"])
    adviser, _ = warming.shared_adviser(Rules())
    assert adviser.ready.wait(60)
    with pytest.raises(FileError, match="not a value net"):
        Session().hint()
