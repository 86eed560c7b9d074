"""What is installed: the wheel's contents, exported names, light imports."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import oanquan_env

ROOT = Path(__file__).parent.parent

EXPORTED = """
Board Core Estate GameRecord IllegalActionError IllegalMoveError Match MatchRules Move NotationError Outcome PRESETS
PositionError Positions Rules RulesError RunawayGameError Story Termination divide env mirror mirror_actions
parse_records perft play_matches raw_env read_records rotate_seats
"""

PLAY = """
import sys
import gymnasium
import oanquan_env
game = oanquan_env.env()
game.reset()
while game.agents:
    observation, _, terminated, truncated, _ = game.last()
    game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
single = gymnasium.make("OAnQuan-v0")
_, info = single.reset(seed=0)
over = False
while not over:
    _, _, terminated, truncated, info = single.step(int(info["action_mask"].argmax()))
    over = terminated or truncated
gymnasium.make_vec("OAnQuan-v0", num_envs=2).reset(seed=0)
print(oanquan_env.__file__)
print(sorted({"torch", "numba", "pygame", "PIL", "agents", "matplotlib"} & set(sys.modules)))
"""


def test_exported_names_are_pinned() -> None:
    assert sorted(oanquan_env.__all__) == sorted(EXPORTED.split())
    assert all(hasattr(oanquan_env, name) for name in EXPORTED.split())


def test_every_public_module_imports_without_heavy_libraries() -> None:
    """The agents' package lists its players without torch or numba, too."""
    script = "import sys, oanquan_env.match_records, oanquan_env.cli, oanquan_env.render, agents; agents.usage()\n"
    script += 'print(sorted({"torch", "numba", "pygame", "PIL", "matplotlib"} & set(sys.modules)))'
    printed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    assert printed.stdout == "[]\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_environment_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "oanquan_env",
        f"oanquan-{oanquan_env.__version__}.dist-info",
    }
    assert "oanquan_env/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]


def test_a_game_is_played_from_the_wheel_in_another_directory(wheel: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(wheel), "PATH": ""}
    printed = subprocess.run(
        [sys.executable, "-P", "-c", PLAY], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert printed[0].startswith(str(wheel))
    assert printed[1] == "[]"
