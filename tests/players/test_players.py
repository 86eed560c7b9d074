"""Test random players and the saver, players by name and from the user's modules, and `oanquan evaluate`."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import evaluate as evaluate_script
from agents.evaluation.evaluation_run import hash_of_files
from oanquan_env import Board, Core, Move, Rules, evaluate
from oanquan_env.cli import main
from oanquan_env.engine.notation import parse_position
from oanquan_env.play.choosing import Chooser
from oanquan_env.players import GreedyPolicy, RandomPolicy, UnknownAgentError, as_policy, make
from tests.helpers.boards import played_board

MODULE = '''
import numpy as np
from oanquan_env.players import GreedyPolicy

print("the module runs")

class Careful(GreedyPolicy):
    """A class that takes a core."""

def first(observations, masks):
    return masks.argmax(axis=1)

NOTHING = 7
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a package with a module of players in a temporary folder; make the folder current and return it."""
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "players.py").write_text(MODULE)
    (tmp_path / "ppo.py").write_text("raise RuntimeError('run')")
    monkeypatch.chdir(tmp_path)
    for module in ("some_package", "some_package.players"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path


def test_a_module_of_the_current_folder_gives_players_whose_files_are_hashed(folder: Path) -> None:
    before, printed = list(sys.path), hash_of_files("some_package.players:first", Core().rules)
    player = as_policy("some_package.players:Careful", "tonkin")
    assert isinstance(player, GreedyPolicy)
    assert player.core.rules == Rules.parse("tonkin")
    assert sys.path == before
    assert evaluate("some_package.players:first", opponents=["random"], pairs=2).pairings[0].pairs == 2
    (folder / "some_package" / "players.py").write_text(MODULE + "\n")
    assert hash_of_files("some_package.players:first", Core().rules) != printed


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("random:choice", ValueError, "random has the options epsilon=…; got 'choice'"),
        ("ppo:nowhere", ValueError, r"weights.*nowhere|nowhere.*no agent"),  # the project's names take precedence
        ("nomod:foo", UnknownAgentError, "cannot import nomod: No module named 'nomod'; unknown player 'nomod:foo'"),
        ("some_package.players:Careless", UnknownAgentError, r"players\.py has no Careless"),
        ("some_package.players:NOTHING", ValueError, "a player is a name, an object .*; got int"),
    ],
)
def test_mistaken_names_are_explained(folder: Path, name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_policy(name)


def test_a_page_cannot_have_a_module_imported_that_its_program_did_not_name(folder: Path) -> None:
    name = "some_package.players:Careful"
    question = {"player": name, "rules": "mancala-world", "position": Board().text()}
    assert "unknown player 'some_package" in Chooser().choose(question)["error"]["detail"]
    assert "some_package.players" not in sys.modules
    assert set(Chooser([name]).choose(question)) == {"move"}


def test_the_command_measures_it_and_warns_that_a_module_is_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "some_package.players:first"
    assert main(["evaluate", name, "greedy", "--pairs", "6", "--openings", "random", "--json", "a.json"]) == 0
    shown = capsys.readouterr().out
    assert "6 openings of random play" in shown
    assert f"`{name}`" in shown
    assert json.loads((folder / "a.json").read_text())["pairings"][0]["pairs"] == 6
    for command, arguments in ((main, ["evaluate", "--help"]), (evaluate_script.main, ["--help"])):
        with pytest.raises(SystemExit):
            command(arguments)
        assert "THIS IMPORTS AND RUNS THAT MODULE" in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_random_plays_every_legal_move_equally_often_and_no_other() -> None:
    core = Core()
    position = parse_position(core, "0,3,0,0,2,0*/5,5,5,5,5,0* 20,0 0 4", checked=False)
    positions = position[np.zeros(8000, dtype=np.intp)]
    counts = np.bincount(RandomPolicy(core).choose(positions, np.random.default_rng(0)), minlength=10)
    assert counts.nonzero()[0].tolist() == [2, 3, 8, 9]
    assert abs(counts[[2, 3, 8, 9]] - 2000).max() < 200  # five standard deviations


def lead(board: Board, seat: int) -> float:
    """Return a player's points (final points if the game is over) minus the mean of the other players' points."""
    points = board.outcome.scores if board.outcome else board.scores
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


def gains(board: Board) -> dict[Move, tuple[float, Board]]:
    """Return what the player to move gains by each legal move, and the board after it."""
    found = {}
    for move in board.legal_moves:
        child = board.copy()
        child.push(move)
        found[move] = lead(child, board.mover) - lead(board, board.mover), child
    return found


def saving_moves(board: Board) -> set[int]:
    """Return the actions after which the next player can gain least and, among these, those that gain most."""
    found = {}
    for move, (gain, child) in gains(board).items():
        replies = [reply for reply, _ in gains(child).values()]
        found[move.action] = (-max(replies) if replies else min(0, gain), gain)
    return {action for action, worth in found.items() if worth == max(found.values())}


@pytest.mark.parametrize("rules", ["vietnamese", "tonkin", "app refill=forfeit", "three-player", "four-player"])
def test_the_saver_leaves_the_next_player_the_fewest_points(rules: str) -> None:
    saver, rng = make("saver", rules), np.random.default_rng(0)
    for number in range(12):
        board = played_board(rules, number, 5 * number)
        chosen = saver.choose(board.positions[np.zeros(100, dtype=np.intp)], rng).tolist()
        assert set(chosen) == (saving_moves(board) or {0}), board.text()  # 0: the game is over
