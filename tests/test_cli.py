"""Test the command line: its commands, their errors, and its behaviour in a terminal."""

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from oanquan_env import PRESETS, Board, GameRecord, __version__, divide, render
from oanquan_env.cli import main
from oanquan_env.play.levels import LEVELS, Level
from oanquan_env.text import rules_in_words
from tests.helpers.boards import boards_of
from tests.match.test_match import THREE_ROUNDS

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def ran(*arguments: str) -> str:
        assert main(arguments) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return ran


@pytest.fixture
def record(tmp_path: Path) -> Path:
    headers, comments = {"South": "Lan", "Round": "1"}, {0: "The puzzle.", 1: "loses at once"}
    finished = GameRecord.from_board(boards_of("5A", "3A")[-1], headers, comments)
    path = tmp_path / "games.txt"
    path.write_text(f"{finished}\n{GameRecord.from_board(boards_of('1A', rules='three-player')[-1])}")
    return path


def test_perft_counts_each_depth_or_divides_from_any_position(run: Run) -> None:
    lines = run("perft", "--rules", "mancala-world", "--depth", "5").splitlines()
    assert [line.split()[-1] for line in lines[:5]] == ["10", "80", "654", "4,974", "36,220"]
    assert re.search(r"\(mancala-world, [\d.]+ s\)", lines[5])
    board = boards_of("5A", rules="app")[-1]
    printed = run("perft", "--rules", "app", "--position", board.text(), "--depth", "2", "--divide")
    counts = {str(move): paths for move, paths in divide(board, 2).items()}
    found = dict(line.split() for line in printed.splitlines()[:-1])
    assert {move: int(paths) for move, paths in found.items()} == counts | {"all": sum(counts.values())}


def test_show_draws_a_position(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing, board = tmp_path / "board.svg", Board.parse("5,5,5,5,5,10/5,5,5,5,5,10 0,0 1 3", "tonkin")
    printed = run("show", "--position", board.text(), "--rules", "tonkin", "--svg", str(drawing))
    assert str(board) in printed
    assert "moves     1A 2A 3A 4A 5A" in printed
    assert drawing.read_text(encoding="utf-8") == render.svg(board)
    assert Board().text() in run("show")
    monkeypatch.setitem(LEVELS, "perfect", Level(("book:minimax:nodes=99,net=pretrained",)))  # not for a second
    valued = run("show", "--values", "--rules", "mancala-world stone_value=5").rpartition("moves  ")
    assert re.search(r"points for South from here on, searched to depth \d+ with the net for any rules\n", valued[0])
    assert len(re.findall(r"\d[AC] [+-]\d+", valued[2])) == 10
    assert "moves" not in run("show", "--position", "0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9")


def test_replay_shows_every_game_or_just_checks(run: Run, monkeypatch: pytest.MonkeyPatch, record: Path) -> None:
    printed = run("replay", str(record), "--stories")
    for line in (
        "Game 1: mancala-world",
        "  South: Lan",
        "  The puzzle.",
        "1. South 5A",
        "1. North 3A",
        "  loses at once",
    ):
        assert f"\n{line}\n" in f"\n{printed}"
    for words in ("Result: 22-46 stones_captured", str(Board().sowing("5A")), "Game 2: three-player"):
        assert words in printed
    assert not re.search("Game 1|Pick up", run("replay", str(record), "--game", "2"))
    lines = ["game 1: 2 plies, 22-46 stones_captured", "game 2: 1 plies, *"]
    monkeypatch.setattr(sys, "stdin", io.StringIO(record.read_text()))
    for name in (str(record), "-"):
        assert run("replay", name, "--check").splitlines() == lines


def test_replay_of_a_match_shows_and_counts_who_owns_what(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "match.txt"
    path.write_text(THREE_ROUNDS)
    printed = run("replay", str(path), "--stories")
    board = Board.parse("5,5,5,5,5,0*/5,5,5,5,5,0* 0,0 1 0")
    assert render.text(board, owners=[[0] * 5, [2, 0, 0, 0, 0]]) in printed  # N1 is sold
    finals = re.findall(r"Final points: South (-?\d+), North (-?\d+)\.", printed)
    assert finals == [("43", "25"), ("47", "21"), ("5", "65")]


def test_rules_lists_presets_and_spells_one_out(run: Run) -> None:
    listed = run("rules")
    assert [line for line in listed.splitlines() if line and line[0] != " "] == list(PRESETS)
    assert "empty_mandarin=gap end=squares_empty\n" in listed
    assert "Ngô Quý Sơn 1944" in listed
    lines = {"* seeds                        4", "  first_move_captures_mandarin True"}
    assert lines <= set(run("rules", "tonkin", "seeds=4").splitlines())
    assert "each small square holds 4 seeds" in run("rules", "tonkin", "seeds=4", "--in-words")
    assert run("rules", "--in-words", "--language", "vi") == f"{rules_in_words('mancala-world', 'vi')}\n"


MISTAKES = """\
  =>  required: COMMAND
perft --rules tonki  =>  --rules: unknown preset 'tonki' (did you mean tonkin
perft --position "0,0,0,0,0,0*/5,5,5,5,5,0* 0,25 0 4"  =>  column 32: the row of the mover, player 0, is empty
show --position 5,5  =>  column 4: a position has 4 words
rules tonki  =>  did you mean tonkin?
replay /nowhere.txt  =>  No such file
replay games.txt --game 3  =>  there is no game 3: the file holds 2
replay broken.txt  =>  line 4, column 10: Result is '22-46'
replay rounds.txt  =>  round 2: Round is '3', but should be '2'
play --opponent grandmother  =>  unknown player 'grandmother'
play --seat West  =>  no seat 'West'; seats are South, North
play --seed -1  =>  --seed: must be a whole number from 0 with at most 40 digits, not '-1'
"""


def test_mistakes_are_explained_on_stderr_with_status_two(
    capsys: pytest.CaptureFixture[str], record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    Path("broken.txt").write_text(record.read_text().replace("3A", "3C"))
    Path("rounds.txt").write_text(THREE_ROUNDS.replace('[Round "2"]', '[Round "3"]'))
    for arguments, complaint in (line.split("  =>  ") for line in MISTAKES.splitlines()):
        try:
            status = main(shlex.split(arguments))
        except SystemExit as ended:  # by the parser
            status = ended.code
        assert status == 2
        printed = capsys.readouterr().err
        assert "error: " in printed
        assert complaint in printed


def test_every_command_describes_itself_and_not_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("", "play", "evaluate", "exploit", "solve", "verify", "perft", "show", "replay", "rules"):
        with pytest.raises(SystemExit, match=r"^0$"):
            main([*command.split(), "--help"])
        usage, description, *_ = capsys.readouterr().out.split("\n\n")
        assert usage.startswith(f"usage: python -m oanquan_env {command}".strip())
        assert description[0].isupper(), command
        assert f"oanquan {command}" not in description
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"oanquan {__version__}\n"


def terminal(*arguments: str, columns: int = 80, **variables: str) -> pexpect.spawn:
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    started = pexpect.spawn(
        sys.executable,
        ["-m", "oanquan_env", "play", *arguments],
        env={**kept, "TERM": "dumb", "PYTHONIOENCODING": "utf-8", **variables},
        dimensions=(24, columns),
        encoding="utf-8",
    )
    started.logfile_read = io.StringIO()
    return started


@pytest.mark.parametrize(("key", "status"), [("\x04", 0), ("\x03", 130)])
def test_control_d_and_control_c_leave_cleanly(key: str, status: int) -> None:
    game = terminal()
    game.expect("You > ")
    for _ in range(30):
        game.send(key)  # Python may miss a Ctrl-C between its prompt and its reading; a person presses it again
        if game.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=1) == 0:
            break
    game.close()
    assert game.exitstatus == status


def shown(*lines: str, columns: int = 80, **variables: str) -> str:
    """Type lines, then "quit", into a game between two people in a terminal; return the whole output."""
    game = terminal("--opponent", "human", columns=columns, **variables)
    for line in (*lines, "quit"):
        game.expect("> ")
        game.sendline(line)
    game.expect(pexpect.EOF)
    game.close()
    assert game.exitstatus == 0
    return game.logfile_read.getvalue().replace("\r\n", "\n")


def test_lines_can_be_edited_and_boards_have_the_terminal_s_colours_and_width() -> None:
    pytest.importorskip("readline")
    seen = shown("1B\x7fA", "\x1b[A", TERM="xterm-256color")  # a backspace; then the arrow up brings the line back
    for words in ("South played 1A (+6). North to move.", "North cannot play 1A, only 2A", "\x1b[1m▶ South 0\x1b[0m"):
        assert words in seen
    plain = shown("1A", columns=40, NO_COLOR="1")
    boards = [line for line in plain.split("\n") if set(line) & set("│╭╰")]
    assert (len(boards), "\x1b[" in plain) == (10, False)
    assert max(map(len, boards)) <= 40


def test_no_word_is_broken_at_the_terminal_s_width() -> None:
    language = "vi_VN.UTF-8"
    typed = ("help", "2A", "story", "5A", "story", "3A", "story")
    at_80, at_50 = (shown(*typed, columns=columns, LC_ALL=language) for columns in (80, 50))
    words = [[word for word in text.split() if word.isalpha()] for text in (at_80, at_50)]
    assert max(map(len, at_80.split("\n"))) <= 80
    assert max(map(len, at_50.split("\n"))) <= 50
    assert (len(words[0]) > 200, words[0]) == (True, words[1])


def test_a_closed_pipe_and_an_ascii_terminal_are_no_errors(record: Path) -> None:
    program = f"set -o pipefail; {sys.executable} -m oanquan_env"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for command, wanted in ((f"replay {record} --stories | true", b""), ("rules", b"Ng? Qu? S?n")):
        done = subprocess.run(["bash", "-c", f"{program} {command}"], env=environment, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")
        assert wanted in done.stdout
