"""What is said where a package is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents.support.extras import needing_extras

ROOT = Path(__file__).parent.parent
HIDE = """
import importlib.abc, sys
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
"""


def run_without(package: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Python in the clone, in which `package` is not installed."""
    (folder / "sitecustomize.py").write_text(HIDE.format(name=package))
    paths = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "", "HOME": str(folder)}
    command = sys.executable, *command
    return subprocess.run(command, cwd=ROOT, env=paths, stdin=subprocess.DEVNULL, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("tyro", "train", ["train.py", "--help"]),
        ("torch", "train", ["train.py", "--help"]),
        ("rich", "train", ["evaluate.py", "greedy", "random"]),
        ("numba", "train", ["-m", "agents.solve", "--help"]),
        ("tyro", "train", ["-m", "benchmarks.core", "--help"]),
        ("nbclient", "notebooks", ["notebooks/run.py", "nothing"]),
        ("numba", "train", ["-m", "oanquan_env", "play", "--opponent", "minimax:depth=2"]),
        ("torch", "train", ["-m", "oanquan_env", "play", "--opponent", "ppo:pretrained"]),
    ],
)
def test_a_command_says_what_to_install(tmp_path: Path, package: str, extra: str, command: list[str]) -> None:
    ended = run_without(package, tmp_path, *command)
    assert ended.returncode != 0
    assert f'this needs {package}: pip install -e ".[{extra}]"' in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_benchmark_leaves_out_the_games_that_need_pygame(tmp_path: Path) -> None:
    ended = run_without("pygame", tmp_path, "-m", "benchmarks.aec", "--seconds", "0.001")
    assert ended.returncode == 0, ended.stderr
    assert "PettingZoo's games are left out: this needs pygame: pip install -e" in ended.stdout
    assert "oanquan raw_env" in ended.stdout


def test_players_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.players.search_player", None)
    with pytest.raises(ModuleNotFoundError, match=r"agents\.players\.search_player"):  # no package of any extra
        agents.make("minimax:depth=2")


def test_an_interrupt_ends_a_command_that_is_being_imported_without_a_traceback() -> None:
    with pytest.raises(SystemExit) as ended, needing_extras("train.py"):
        raise KeyboardInterrupt
    assert ended.value.code == 130
    with pytest.raises(KeyboardInterrupt), needing_extras():
        raise KeyboardInterrupt
