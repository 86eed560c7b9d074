"""A game typed into a terminal: hints, commands, files, and what the terminal can show."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oanquan_env import Board, GameRecord, Positions, read_records
from oanquan_env.arrays import Ints
from oanquan_env.cli import main
from oanquan_env.play import levels, screen
from oanquan_env.play.files import load_game
from oanquan_env.play.terminal import TerminalGame
from oanquan_env.records.games import format_records
from oanquan_env.search import value_net
from tests.boards import boards_of
from tests.players import FirstMove

Play = Callable[..., str]
BOTH = ("--opponent", "human")
OVER = "The game is over (undo, story, new, save FILE, quit) > "


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Types lines, into a game between two persons unless arguments are given; returns what is printed."""
    monkeypatch.setenv("LC_ALL", "C")

    def typed(lines: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        assert main(["play", *(arguments or BOTH)]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return typed


def test_a_hint_comes_from_the_strongest_player_and_says_what_each_move_is_worth(play: Play) -> None:
    pytest.importorskip("numba")
    printed = play("hint\n")
    assert re.search(
        r"book:minimax:ms=1000,net=pretrained: try (2C|4A)\.\nFinal margin of South .*\(seen \d+ moves deep\):\n",
        printed,
    )
    worth = dict(re.findall(r"(\d[AC]) ([+-]\d+)", printed))
    assert sorted(worth) == [f"{field}{letter}" for field in range(1, 6) for letter in "AC"]
    assert int(worth["5A"]) == int(worth["1C"]) == min(map(int, worth.values())) == -24  # they lose the game


def test_a_damaged_value_net_is_told_and_the_game_goes_on(
    play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("numba")
    damaged = tmp_path / "value.npz"
    damaged.write_bytes(b"nothing")
    monkeypatch.setattr(value_net, "pretrained_path", lambda rules: damaged)
    printed = play("hint\n3A\n")
    assert f"There is no hint: {damaged}: not a value net" in printed
    assert "South played 3A" in printed


def test_a_player_that_does_not_search_says_what_moves_win_at_once(play: Play) -> None:
    printed = play("hint\n", "--hints", "greedy")
    assert re.search(r"greedy: try (5A|1C)\.\nPoints that each move wins at once, answers not counted:\n", printed)
    assert re.search(r"\n(1C|5A) \+11  (1C|5A) \+11  ", printed)


def test_a_game_of_two_persons(play: Play) -> None:
    printed = play("help\n5A\n3a\nundo\n3A\nstory\nhint\nmoves\n\nquit\n1A\n")
    assert "undo       take back" in printed
    assert printed.count("South > ") == printed.count("North > ") == 2
    assert "North wins" in printed
    assert "North gets 25 points for seeds left on the board.\nLeft to nobody: 2 seeds.\n" in printed
    assert printed.count("Final points: South 22, North 46.") == 3  # at each end, and in the story
    assert "North plays 3A.\nLift" in printed
    assert "(undo, story, new, save FILE, quit) > The game is over.\n" in printed
    assert "You can play none." in printed


def test_a_person_plays_from_another_seat_and_position(play: Play) -> None:
    at_north = play("undo\nquit\n", "--seat", "north", "--opponent", "random", "--seed", "4")
    assert re.search(r"South \(random\) plays \d[AC]\.", at_north)
    assert "thinking" not in at_north  # it took no time
    assert "North > There is no move of yours to take back." in at_north
    again = play("undo\nquit\n", "--seat", "2", "--opponent", "random", "--seed", "4")
    assert again == at_north
    lesson = play("moves\n", "--position", "0,0,0,0,1,0*/0,0,0,0,1,0 58,0 0 30")
    assert "You can play 5A, 5C.\n" in lesson


def test_redo_plays_again_what_undo_took_back(play: Play) -> None:
    board = Board()
    for move in ("1A", "2A"):
        board.push(move)
    printed = play("redo\n1A\n2A\nundo\nundo\nredo\nredo\nredo\n")
    assert printed.count("There is no move to play again.") == 2
    assert printed.count(f"\n{board}\n") == 2
    printed = play("1A\nundo\n3A\nredo\n")  # another move: what was taken back is gone
    assert "There is no move to play again." in printed


def test_a_player_can_resign_and_think_better_of_it(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "game"
    printed = play(f"1A\nresign\nresign\n2A\nhint\nsave {path}\nundo\n2A\n")
    assert f"North > North resigns: South wins.\n{OVER}The game is over.\n" in printed
    assert f"{OVER}The game is over; undo takes the resignation back.\n{OVER}The game is over.\n" in printed
    assert "South to move, ply 2, North played 2A" in printed
    (record,) = read_records(path)
    assert (record.result, dict(record.comments)) == ("*", {1: "North resigns"})
    assert "South resigns.\n" in play("resign\n", "--rules", "three-player", "--opponent", "random")


def test_a_new_game_begins_where_this_one_did_and_asks_before_it_drops_one(play: Play) -> None:
    lesson = "0,0,0,0,1,0*/0,0,0,0,1,0 58,0 0 30"
    printed = play("5A\nnew\nmoves\nnew\nnew\nnew\n5C\n", *BOTH, "--position", lesson)
    warning = "This game is not saved: save FILE keeps it. new once more drops it.\n"
    assert printed.count(warning) == 2  # another line between them, and it is asked again
    assert printed.count("South: human, North: human. Rules: mancala-world.\n") == 3
    assert printed.count(str(Board.parse(lesson))) == 3
    over = play("5A\n3A\nnew\n")
    assert "not saved" not in over
    assert over.count("South to move, ply 0") == 2


def test_nonsense_and_bad_files_are_answered(play: Play, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    printed = play(
        f"hello\n9C\nsave\nsave {taken}\nsave {tmp_path}/no/where\nsave {tmp_path}/new\n5A\nsave {tmp_path}/new\n"
    )
    for answer in (
        "I do not know 'hello'",
        "South cannot play 9C; legal: 1A, 1C",
        "Save it where?",
        "taken is there already: choose another name.",
        "It cannot be saved: ",
    ):
        assert answer in printed
    assert printed.count(f"Saved to {tmp_path}/new.") == 2
    assert taken.read_text() == "mine"
    (saved,) = read_records(tmp_path / "new")
    assert (list(map(str, saved.moves)), saved.headers) == (["5A"], {"South": "human", "North": "human"})


def test_a_saved_game_is_loaded_and_played_on(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "my game"
    printed = play(f"1A\nsave {path}\nnew\n3A\nsave {path}\nload {path}\nload {path}\n2A\nsave {path}\nstory\n")
    assert "load" in printed
    assert f"not saved: save FILE keeps it. load {path} once more drops it." in printed
    assert "Rules: mancala-world.\n" in printed
    assert "North plays 2A." in printed
    assert printed.count(f"{path} is there already: choose another name.") == 2  # another game wrote it
    assert [str(move) for move in read_records(path)[0].moves] == ["1A"]


def test_one_of_several_games_is_loaded_by_its_number(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "games"
    boards = [Board(), Board("three-player"), Board()]
    boards[2].push("4C")
    path.write_text(format_records(GameRecord.from_board(board) for board in boards))
    printed = play(f"load {path}\nload {path} 2\nload {path} 4\nload {path} 3\n")
    assert f"It cannot be loaded: {path} holds 3 games: load {path} 1 takes the first." in printed
    assert "It cannot be loaded: it has 3 players, this one 2." in printed
    assert f"It cannot be loaded: there is no game 4: {path} holds 3." in printed
    assert "North to move, ply 1, South played 4C" in printed


def test_what_cannot_be_loaded_changes_nothing(play: Play, tmp_path: Path) -> None:
    broken, match = tmp_path / "broken", tmp_path / "match"
    broken.write_text("[Rules")
    match.write_text('[Rules "mancala-world"]\n[Sold "N1"]\n[Result "*"]\n\n*\n')
    printed = play(f"load\nload {tmp_path}/none\nload {broken}\nload {match}\n1A\n")
    for reason in ("type load and the name of a file", "No such file", "line 1, column 1", "a round of a match"):
        assert re.search(f"It cannot be loaded: .*{reason}", printed), reason
    assert "North to move, ply 1, South played 1A" in printed
    with pytest.raises(ValueError, match="round of a match"):
        load_game(str(match))


def press(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let `input` return the lines, where `^C` is an interrupt."""
    left = iter(lines)

    def typed(prompt: str) -> str:
        print(prompt, end="")
        line = next(left)
        if line == "^C":
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr("builtins.input", typed)


def test_control_c_never_drops_a_game_unasked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    warning = "This game is not saved: save FILE keeps it. Ctrl-C once more drops it."
    press(monkeypatch, "1A", "^C", "2A", "^C", "^C")
    assert main(["play", *BOTH]) == 130
    printed = capsys.readouterr().out
    assert printed.count(warning) == 2
    assert "South to move, ply 2, North played 2A" in printed
    press(monkeypatch, "1A", "^C", f"save {tmp_path}/game", "^C")
    assert main(["play", *BOTH]) == 130
    assert capsys.readouterr().out.count(warning) == 1
    press(monkeypatch, "^C")  # nothing would be lost
    assert main(["play", *BOTH]) == 130
    assert warning not in capsys.readouterr().out


class Interrupted(FirstMove):
    """Is interrupted when it is asked for the first time."""

    asked = 0

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        self.asked += 1
        if self.asked == 1:
            raise KeyboardInterrupt
        return super().choose(positions, rng)


def game_against(player: FirstMove, monkeypatch: pytest.MonkeyPatch) -> TerminalGame:
    """A game of a person against `player`."""
    monkeypatch.setattr(levels, "make_policy", lambda name, rules: player)
    return TerminalGame(Board(), ["human", "slow"], None, np.random.default_rng(0))


def test_an_interrupted_player_waits_and_then_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_against(Interrupted(Board().core), monkeypatch)
    press(monkeypatch, "3A", "4A", "quit")
    game.run()
    printed = capsys.readouterr().out
    assert "North waits; Enter lets it go on > It is North's turn.\nNorth (slow) plays 1A." in printed
    assert list(map(str, game.board.history)) == ["3A", "1A"]


def test_the_terminal_speaks_vietnamese(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = "3A\nstory\n9Z\n1A\nhint\nmoves\nload nowhere\nload nowhere\nresign\nlegend\nhelp\n"
    printed = play(typed, *BOTH, "--language", "vi")
    for words in ("▶ Bắc 0", "đến lượt Bắc, 1 nước, Nam vừa đi 3A", "Nam đi 3A.\nBốc 5 dân ở ô 3", "Không hiểu '9Z'"):
        assert words in printed
    assert not re.search(r"South|North|seed|turn|move\b(?!s)|game|the ", printed)
    monkeypatch.setenv("LC_ALL", "vi_VN.UTF-8")
    assert "▶ Nam 0" in play("", *BOTH)


def test_a_terminal_of_ascii_gets_signs_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, "ascii"))
    picture = screen.drawn(boards_of("5A")[-1])
    monkeypatch.undo()
    assert picture.isascii()
    assert all(sign in picture for sign in ("> North 0", "@", "o 0", "x 0", "+-------+"))
