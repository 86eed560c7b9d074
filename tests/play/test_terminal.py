"""A game typed into a terminal: hints, commands, files, and what the terminal can show."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from oanquan_env import Board, GameRecord, Rules, read_records
from oanquan_env.cli import main
from oanquan_env.engine.positions import Positions
from oanquan_env.play import levels, screen
from oanquan_env.play.terminal import TerminalGame
from oanquan_env.play.vietnamese import HELP, MESSAGES
from oanquan_env.players import make
from oanquan_env.players.search_player import SearchPlayer
from oanquan_env.records.games import format_records
from oanquan_env.search import value_net
from oanquan_env.search.limits import Limits
from tests.boards import boards_of

Play = Callable[..., str]
BOTH = ("--opponent", "human")
THREE = "0,0,2,0,0,1*/1,0,3,0,0,0/0,1,0,0,0,0 25,30,32 0 30"
LESSON = "0,0,0,0,1,0*/0,0,0,0,1,0 58,0 0 30"
OVER = "The game is over (undo, story, new, save FILE, quit) > "


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Types lines, into a game between two persons unless arguments are given; returns what is printed."""
    monkeypatch.setenv("LC_ALL", "C")

    def typed(lines: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        assert main(["play", *(arguments or BOTH)]) == 0
        printed = capsys.readouterr()
        assert printed.err in ("", "oanquan: compiling the engine, once; this takes some seconds\n")
        return printed.out

    return typed


def test_a_hint_says_what_each_move_is_worth(play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    printed = play("hint\n", "--hints", "greedy")  # it does not search
    assert re.search(r"greedy: try (5A|1C)\.\nPoints that each move wins at once, answers not counted:\n", printed)
    assert re.search(r"\n(1C|5A) \+11  (1C|5A) \+11  ", printed)
    printed = play("hint\n", "--rules", "three-player", "--position", THREE)
    assert re.search(r"perfect: try 3[AC]\.\nFinal margin of South .*\n3[AC] [+-]\d+  3[AC] [+-]\d+\n", printed)
    assert not re.search(r"\d\.\d", printed)  # whole points
    printed = play("hint\n")
    hint = r"perfect: try (2C|4A)\.\nFinal margin of South if .*\(seen \d+ moves deep\):\n"
    assert re.search(hint, printed)
    worth = dict(re.findall(r"(\d[AC]) ([+-]\d+)", printed))
    assert sorted(worth) == [f"{field}{letter}" for field in range(1, 6) for letter in "AC"]
    assert int(worth["5A"]) == int(worth["1C"]) == min(map(int, worth.values())) == -24  # they lose the game
    damaged = tmp_path / "value.npz"
    damaged.write_bytes(b"nothing")
    monkeypatch.setattr(value_net, "pretrained_path", lambda rules: damaged)
    printed = play("hint\n3A\n")
    assert f"There is no hint: {damaged}: not a value net" in printed
    assert "South played 3A" in printed  # the game goes on


def test_a_game_of_two_persons(play: Play) -> None:
    printed = play("redo\n1A\n2A\nundo\nundo\nredo\nredo\nredo\nundo\n3A\nredo\n")
    assert printed.count("There is no move to play again.") == 3  # at last because another move was played
    assert printed.count(f"\n{boards_of('1A', '2A')[-1]}\n") == 2
    printed = play("help\n5A\n3a\nundo\n3A\nstory\nhint\nmoves\n\nquit\n1A\n")
    assert printed.count("South > ") == printed.count("North > ") == 2
    assert printed.count("Final points: South 22, North 46.") == 3  # at each end, and in the story
    words = ("undo       take back", "North wins", "North plays 3A.\nLift", f"{OVER}The game is over.\n")
    words += ("North gets 25 points for seeds left on the board.\nLeft to nobody: 2 seeds.\n", "You can play none.")
    assert [word for word in words if word not in printed] == []


def test_a_person_plays_from_another_seat_and_position(play: Play) -> None:
    at_north = play("undo\nquit\n", "--seat", "north", "--opponent", "random", "--seed", "4")
    assert re.search(r"South \(random\) plays \d[AC]\.", at_north)
    assert "thinking" not in at_north  # it took no time
    assert "North > There is no move of yours to take back." in at_north
    assert play("undo\nquit\n", "--seat", "2", "--opponent", "random", "--seed", "4") == at_north
    assert "You can play 5A, 5C.\n" in play("moves\n", "--position", LESSON)


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
    printed = play("5A\nnew\nmoves\nnew\nnew\nnew\n5C\n", *BOTH, "--position", LESSON)
    warning = "This game is not saved (save FILE). new once more drops it.\n"
    assert printed.count(warning) == 2  # another line between them, and it is asked again
    assert printed.count("South: human, North: human. Rules: mancala-world.\n") == 3
    assert printed.count(str(Board.parse(LESSON))) == 3
    over = play("5A\n3A\nnew\n")
    assert "not saved" not in over
    assert over.count("South to move, ply 0") == 2


def test_nonsense_is_answered_and_files_are_saved_loaded_and_never_overwritten(play: Play, tmp_path: Path) -> None:
    taken, game, broken = tmp_path / "taken", tmp_path / "my game", tmp_path / "broken"
    taken.write_text("mine")
    broken.write_text("[Rules")
    lines = ["hello", "9C", "save", f"save {taken}", f"save {tmp_path}/no/where", f"load {tmp_path}/none", "load"]
    lines += [f"load {broken}", f"save {game}", "1A", f"save {game}", "new", "3A", f"save {game}"]
    printed = play("\n".join([*lines, f"load {game}", f"load {game}", "2A", f"save {game}", "story"]))
    answers = ("I do not know 'hello'", "South cannot play 9C; legal: 1A, 1C", "Save it where?", "It cannot be saved: ")
    answers += ("taken is there already: choose another name.", "No such file", "line 1, column 1", "North plays 2A.")
    answers += ("It cannot be loaded: type load and the name of a file", "Rules: mancala-world.\n")
    answers += (f"not saved (save FILE). load {game} once more drops it.",)
    assert [answer for answer in answers if answer not in printed] == []
    assert printed.count(f"Saved to {game}.") == 2
    assert printed.count(f"{game} is there already: choose another name.") == 2  # another game wrote it
    assert taken.read_text() == "mine"
    (saved,) = read_records(game)
    assert (list(map(str, saved.moves)), saved.headers) == (["1A"], {"South": "human", "North": "human"})


def test_the_time_of_a_search_begins_when_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    player, asked = make("minimax:ms=20", Rules()), list[Limits]()
    assert isinstance(player, SearchPlayer)
    search: Any = player.search.best_moves

    def heard(positions: Positions, limits: Limits, **options: bool) -> Any:
        asked.append(limits)
        return search(positions, limits, **options)

    monkeypatch.setattr(player.search, "best_moves", heard)
    for _ in range(2):
        player.analyse(Board())
    player.choose(Board().positions, np.random.default_rng(0))
    assert asked == [Limits(depth=1), *[Limits(milliseconds=20)] * 3]


def test_a_loaded_game_keeps_its_comments_and_its_players(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "game"
    path.write_text('[Rules "mancala-world"]\n[South "Lan"]\n[Result "*"]\n\n{begin} 1. 3A {good} 1A {bad}\n*\n')
    typed = "load {0}\nsave {1}\nundo\nsave {2}\n2A\nsave {3}\n2A\nresign\nsave {4}\nnew\nnew\nsave {5}\n"
    play(typed.format(path, *(tmp_path / str(number) for number in range(1, 6))))
    saved = [read_records(tmp_path / str(number))[0] for number in range(1, 6)]
    names, resigned = {"South": "Lan", "North": "human"}, {3: "North resigns", 0: "begin", 1: "good"}
    assert saved[0] == read_records(path)[0]
    assert [dict(record.headers) for record in saved[1:]] == [
        {"South": "Lan"},
        names,
        names,
        dict.fromkeys(names, "human"),
    ]
    assert [dict(record.comments) for record in saved[1:4]] == [{0: "begin", 1: "good"}] * 2 + [resigned]
    assert (saved[3].termination, dict(saved[4].comments)) == ("resigned", {})


def test_one_of_several_games_is_loaded_by_its_number(play: Play, tmp_path: Path) -> None:
    path, match = tmp_path / "games", tmp_path / "match"
    boards = [Board(), Board("three-player"), *boards_of("4C")[1:]]
    path.write_text(format_records(GameRecord.from_board(board) for board in boards))
    match.write_text('[Rules "mancala-world"]\n[Sold "N1"]\n[Result "*"]\n\n*\n')
    printed = play(f"load {match}\nload {path}\nload {path} 2\nload {path} 4\nload {path} 3\n")
    reasons = [
        "it is a round of a match, in which fields are sold",
        f"{path} holds 3 games: load {path} 1 takes the first",
    ]
    reasons += ["it has 3 players, this one 2", f"there is no game 4: {path} holds 3"]
    assert re.findall(r"It cannot be loaded: (.*)\.\n", printed) == reasons
    assert "North to move, ply 1, South played 4C" in printed


def press(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let `input` return the lines, where `^C` is an interrupt."""
    typed = Mock(side_effect=[KeyboardInterrupt if line == "^C" else line for line in lines])
    monkeypatch.setattr("builtins.input", lambda prompt: (print(prompt, end=""), typed())[1])


def test_control_c_never_drops_a_game_unasked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    warning = "This game is not saved (save FILE). Ctrl-C once more drops it."
    saved = ("1A", "^C", f"save {tmp_path}/game", "^C")
    for lines, warnings in ((("1A", "^C", "2A", "^C", "^C"), 2), (saved, 1), (("^C",), 0)):  # at last, nothing is lost
        press(monkeypatch, *lines)
        assert main(["play", *BOTH]) == 130
        printed = capsys.readouterr().out
        assert printed.count(warning) == warnings
        assert ("South to move, ply 2, North played 2A" in printed) == ("2A" in lines)


def test_an_interrupted_player_waits_and_then_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Mock()
    slow.choose.side_effect = [KeyboardInterrupt, np.array([0])]
    monkeypatch.setattr(levels, "as_policy", lambda name, rules: slow)
    game = TerminalGame(Board(), ["human", "slow"], None, np.random.default_rng(0), "en")
    press(monkeypatch, "3A", "4A", "quit")
    game.run()
    printed = capsys.readouterr().out
    assert "North waits; Enter lets it go on > It is North's turn.\nNorth (slow) plays 1A." in printed
    assert list(map(str, game.board.history)) == ["3A", "1A"]


def test_the_terminal_speaks_vietnamese_alone(play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    match, games, other = (tmp_path / name for name in ("1", "2", "3"))
    match.write_text('[Rules "mancala-world"]\n[Sold "N1"]\n[Result "*"]\n\n*\n')
    games.write_text(format_records(GameRecord.from_board(Board()) for _ in range(2)))
    other.write_text("[Rules")
    loads = [f"load {name}" for name in (match, games, f"{games} 3", other, tmp_path / "none", tmp_path, "")]
    typed = ["help", "legend", *loads, "3A", "story", "9Z", "9C", "1A", "hint", "moves", "undo", "new", "new", "redo"]
    typed += ["save", f"save {match}", f"save {tmp_path}/no/where", "resign", "resign", "hint", "3A", "undo", "undo"]
    printed = play("\n".join(typed), *BOTH, "--language", "vi")
    printed += play("5A\nhint", "--opponent", "easy", "--language", "vi", "--position", LESSON)
    for words in ("▶ Bắc 0", "đến lượt Bắc, 1 nước, Nam vừa đi 3A", "Nam đi 3A.\nBốc 5 dân ở ô 3", "Không hiểu '9Z'"):
        assert words in printed
    reasons = ["đó là một ván trong trận có bán ruộng", f"{games} có 2 ván: load {games} 1 mở ván đầu"]
    reasons += [f"không có ván 3: {games} có 2 ván", "biên bản sai ở dòng 1, cột 1", "không có tệp ấy"]
    reasons += ["không dùng được tệp hoặc máy này", "hãy gõ load và tên tệp"]
    assert re.findall(r"Không mở được: (.*)\.\n", printed) == reasons
    helped = list(zip(*HELP.values(), strict=True))
    texts = [*MESSAGES, *helped[0]], [*MESSAGES.values(), *helped[1], *HELP]
    english, vietnamese = (set(re.findall(r"\w+", " ".join(spoken))) for spoken in texts)
    spoken = set(re.findall(r"\w+", printed.replace(str(tmp_path), "")))
    assert spoken & (english - vietnamese) == set()
    assert not re.search(r"\d\.\d", printed)
    monkeypatch.setenv("LC_ALL", "vi_VN.UTF-8")
    assert "▶ Nam 0" in play("", *BOTH)


def test_a_terminal_of_ascii_gets_signs_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, "ascii"))
    picture = screen.drawn(boards_of("5A")[-1])
    monkeypatch.undo()
    assert picture.isascii()
    assert all(sign in picture for sign in ("> North 0", "@", "o 0", "x 0", "+-------+"))
