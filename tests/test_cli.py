"""The command line: every command, its errors, and its behaviour in a terminal."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oanquan_env import PRESETS, Board, GameRecord, __version__, perft, render
from oanquan_env.cli import main
from tests.boards import boards_of
from tests.terminals import Terminal
from tests.test_match import THREE_ROUNDS

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command, which must succeed and complain of nothing; returns what it prints."""

    def ran(*arguments: str) -> str:
        assert main(arguments) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return ran


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A file of two games."""
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
    counts = dict(line.split() for line in printed.splitlines()[:-1])
    assert set(counts) == {*map(str, board.legal_moves), "all"}
    assert int(counts["all"]) == perft(board, 2) == sum(int(n) for move, n in counts.items() if move != "all")


def test_show_draws_a_position(run: Run, tmp_path: Path) -> None:
    drawing = tmp_path / "board.svg"
    words = ["5,5,5,5,5,10/5,5,5,5,5,10", "0,0", "1", "3"]
    printed = run("show", *words, "--rules", "tonkin", "--svg", str(drawing))
    board = Board.parse(" ".join(words), "tonkin")
    assert str(board) in printed
    assert "moves     1A 2A 3A 4A 5A" in printed
    assert drawing.read_text(encoding="utf-8") == render.svg(board)
    assert Board().text() in run("show")
    assert "moves" not in run("show", "0,0,0,0,0,0/0,0,0,0,0,0 40,30 0 9")


def test_replay_shows_every_game_or_just_checks(run: Run, monkeypatch: pytest.MonkeyPatch, record: Path) -> None:
    printed = run("replay", str(record), "--stories")
    for line in ("Game 1: mancala-world", "  South: Lan", "  The puzzle.", "1. South 5A", "  loses at once"):
        assert f"\n{line}\n" in f"\n{printed}"
    for words in ("Result: 22-46 stones_captured", str(Board().sowing("5A")), "Game 2: three-player"):
        assert words in printed
    only = run("replay", str(record), "--game", "2")
    assert "1. South 1A" in only
    assert not re.search("Game 1|Lift", only)
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
    lines = {"* seeds                     4", "* leftovers                 split", "  quan_non                  0"}
    assert lines <= set(run("rules", "tonkin", "seeds=4").splitlines())


MISTAKES = """\
  =>  required: COMMAND
dance  =>  invalid choice: 'dance'
perft --depth 0  =>  --depth: must be a whole number from 1, not '0'
perft --rules tonki  =>  --rules: unknown preset 'tonki' (did you mean tonkin
perft --position "0,0,0,0,0,0*/5,5,5,5,5,0* 0,25 0 4"  =>  column 32: the row of the mover, player 0, is empty
show 5,5  =>  column 4: a position has 4 words
show --svg /nowhere/at/all.svg  =>  No such file
rules tonki  =>  did you mean tonkin?
replay /nowhere.txt  =>  No such file
replay games.txt --game 3  =>  there is no game 3: the file holds 2
replay broken.txt  =>  line 4, column 10: Result is '22-46'
replay rounds.txt  =>  round 2: Round is '3', but should be '2'
play --opponent grandmother  =>  unknown player 'grandmother'
play --hints grandmother  =>  unknown player 'grandmother'
play --seat West  =>  no seat 'West'; seats are South, North
play --position x  =>  a position has 4 words
play --seed -1  =>  --seed: must be a whole number from 0, not '-1'
"""


def test_mistakes_are_told_on_stderr_with_status_two(
    capsys: pytest.CaptureFixture[str], record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    Path("broken.txt").write_text(record.read_text().replace("3A", "3C"))
    Path("rounds.txt").write_text(THREE_ROUNDS.replace('[Round "2"]', '[Round "3"]'))
    for arguments, complaint in (line.split("  =>  ") for line in MISTAKES.splitlines()):
        try:
            status = main(shlex.split(arguments))
        except SystemExit as ended:  # of the parser
            status = ended.code
        assert status == 2
        told = capsys.readouterr().err
        assert "error: " in told
        assert complaint in told


def test_help_and_the_version_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = {f"{command} --help": "usage: python -m oanquan_env" for command in ("", "play", "perft", "show", "replay")}
    for arguments, start in (told | {"--version": f"oanquan {__version__}\n"}).items():
        with pytest.raises(SystemExit) as ended:
            main(arguments.split())
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith(start)


@pytest.mark.parametrize(("key", "status"), [("\x04", 0), ("\x03", 130)])
def test_control_d_and_control_c_leave_cleanly(key: str, status: int) -> None:
    terminal = Terminal("play")
    terminal.wait_for("South > ")
    for _ in range(30):
        terminal.type(key)  # Python may miss a Ctrl-C between its prompt and its reading; a person presses it again
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            terminal.process.wait(timeout=1)
            break
    assert terminal.close() == status


def shown(*lines: str, columns: int = 80, **variables: str) -> str:
    """The output of a terminal for a game between two persons who type these lines."""
    terminal = Terminal("play", "--opponent", "human", columns=columns, variables=variables)
    for line in (*lines, "quit"):
        terminal.wait_for("> ")
        terminal.type(f"{line}\n")
    assert terminal.close() == 0
    return terminal.seen.replace("\r\n", "\n")


def test_lines_can_be_edited_and_called_back_and_boards_are_coloured() -> None:
    pytest.importorskip("readline")
    seen = shown("1B\x7fA", "\x1b[A", TERM="xterm-256color")  # a backspace; then the arrow up brings the line back
    assert "North to move, ply 1, South played 1A" in seen
    assert "North cannot play 1A; legal: 2A" in seen
    assert "\x1b[1m▶ South 0\x1b[0m" in seen
    assert "\x1b[1m" not in shown(TERM="xterm-256color", NO_COLOR="1")


def test_boards_fit_a_plain_terminal_of_forty_columns() -> None:
    seen = shown("1A", columns=40, TERM="dumb")
    assert "\x1b[" not in seen
    boards = [line for line in seen.split("\n") if set(line) & set("│╭╰")]
    assert len(boards) == 10
    assert max(map(len, boards)) <= 40


def test_a_closed_pipe_and_an_ascii_terminal_are_no_errors(record: Path) -> None:
    program = f"set -o pipefail; {sys.executable} -m oanquan_env"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for command, wanted in ((f"replay {record} --stories | true", b""), ("rules", b"Ng? Qu? S?n")):
        done = subprocess.run(["bash", "-c", f"{program} {command}"], env=environment, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")
        assert wanted in done.stdout
