"""Test what is installed: the wheel, exported names and light imports; and the origin that results record."""

import functools
import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numba
import numpy as np
import pytest

import oanquan_env
from oanquan_env import provenance
from tests import ROOT

EXPORTED = """
Board Core GameRecord IllegalActionError IllegalMoveError Match MatchRules Move MoveTrace NotationError Outcome
Ownership PRESETS PositionError Positions Rules RulesError Termination Variation choose_move compare compare_runs divide
env evaluate evaluate_rules mirror mirror_actions parse_records perft play_matches raw_env read_records read_suite
regret rotate_seats sample_actions write_suite
"""

HEAVY = """import sys
print(sorted({"torch", "numba", "pygame", "PIL", "agents", "matplotlib", "anywidget"} & set(sys.modules)))"""
PLAY = f"""
import gymnasium
import oanquan_env
game = oanquan_env.env()
game.reset()
while game.agents:
    observation, _, terminated, truncated, _ = game.last()
    game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
single = gymnasium.make("OAnQuan-v0")
_, info = single.reset(seed=0)
single.step(int(info["action_mask"].argmax()))
gymnasium.make_vec("OAnQuan-v0", num_envs=2, opponent="maxn:depth=2,net=pretrained", seat=1).reset(seed=0)
print(oanquan_env.__file__)
{HEAVY}
for player in ("greedy", lambda observations, masks: masks.argmax(axis=1)):
    found = oanquan_env.evaluate(player, pairs=5)
    print(found.openings, found.suite.name, [games.opponent for games in found.pairings][-1], found.regret.positions)
"""
MEASURED = "openings-mancala-world.txt regret-mancala-world maxn:depth=3,net=pretrained 1230"
SEARCH = """
import gymnasium
import oanquan_env
for name in ("ppo:pretrained", "minimax:nodes=2000,net=pretrained"):
    try:
        print(oanquan_env.evaluate(name, opponents=["greedy"], pairs=5).players[0].name)
    except ValueError as error:
        print(error)
        continue
    game = gymnasium.make("OAnQuan-v0", opponent="minimax:depth=4", seat=1)
    game.reset(seed=0)
    print("ply", game.unwrapped.positions.ply[0])
"""
NEEDS_CLONE = 'ppo needs a clone of the project, installed by: pip install -e ".[train]"'


def run_python(*arguments: str, python: Path | str = sys.executable, folder: Path = ROOT) -> str:
    """Run Python with these arguments in `folder` and return its output; raise CalledProcessError if it fails."""
    return subprocess.run([python, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_exported_names_are_pinned() -> None:
    assert sorted(oanquan_env.__all__) == sorted(EXPORTED.split())
    assert all(hasattr(oanquan_env, name) for name in EXPORTED.split())


def test_gymnasium_imports_the_package_of_an_id_and_every_public_module_imports_without_heavy_libraries() -> None:
    """Gymnasium 1.0 removed plugins, so an id names its package. `agents` lists its players without heavy libraries."""
    modules = "records.match_records", "cli", "render", "play.server", "render.animation"
    script = "import agents; agents.usage()\n"
    script += "".join(f"import oanquan_env.{module}\n" for module in modules)
    made = "import gymnasium; print(gymnasium.make('oanquan_env:OAnQuan-v0').spec.id)"
    assert run_python("-c", f"{script}{HEAVY}\n{made}") == "['agents']\nOAnQuan-v0\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder))
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_environment_alone(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names, info = set(archive.namelist()), f"oanquan-{oanquan_env.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"oanquan_env", info}
    data = "value-mancala-world.npz", "openings-mancala-world.txt.gz", "regret-ludii.json.gz"
    wanted = ("py.typed", *(f"data/{name}" for name in data), "play/web/board/board.js", "play/web/index.html")
    assert {f"oanquan_env/{name}" for name in wanted} <= names
    assert wheel.stat().st_size < 4_800_000
    assert "oanquan = oanquan_env.cli:main" in archive.read(f"{info}/entry_points.txt").decode()
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.slow
def test_the_wheel_plays_and_searches_without_extras(wheel: Path, tmp_path: Path) -> None:
    """The wheel is installed in an empty environment, and the current folder has an unrelated package `agents`."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run = functools.partial(run_python, python=python, folder=tmp_path)

    def install(wanted: str) -> set[str]:
        pip = "-m", "pip", "--disable-pip-version-check"
        run(*pip, "install", "--quiet", wanted, "-c", str(ROOT / "constraints.txt"))
        names = (
            "from importlib.metadata import distributions\nprint(*(found.name.lower() for found in distributions()))"
        )
        return set(run("-c", names).split())

    installed = install(str(wheel))
    assert {"oanquan", "numpy", "numba", "gymnasium", "pettingzoo"} <= installed
    assert not installed & {"torch", "pillow", "pygame-ce", "matplotlib", "stable-baselines3"}
    where, *printed = run("-c", PLAY).splitlines()
    assert Path(where).is_relative_to(tmp_path / "venv")
    assert printed == ["['numba']", MEASURED, MEASURED]
    command = "import subprocess, sys; subprocess.run([sys.argv[1], 'evaluate', 'greedy', 'random', '--pairs', '2'])"
    shown = run("-c", command, str(python.with_name("oanquan")))
    assert "2 openings of `openings-mancala-world.txt`" in shown
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("raise RuntimeError('run')")
    assert run("-c", SEARCH).splitlines() == [NEEDS_CLONE, "minimax:nodes=2000,net=pretrained", "ply 1"]
    assert "proved: the value is +5" in run("-m", "oanquan_env", "solve", "--rules", "tonkin", "--megabytes", "16")


def test_an_origin_names_the_program_the_commit_and_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/bin/python3", "-m", "my program", "5"])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    made = provenance.origin()
    assert made["command"] == "python -m 'my program' 5"
    assert (made["commit"], made["processor"]) == (provenance.commit(), provenance.processor())
    of_oanquan = {"oanquan": oanquan_env.__version__, "numpy": np.__version__, "numba": numba.__version__}
    assert made["versions"] == {"python": sys.version.split()[0], **of_oanquan}
    monkeypatch.setitem(sys.modules, "torch", pytest)
    assert "torch" in provenance.origin("mine")["versions"]
    assert provenance.origin("mine")["command"] == "mine"


def test_an_evaluation_records_its_origin_and_shows_only_its_result() -> None:
    result = oanquan_env.evaluate("greedy", opponents=["random"], pairs=1, part="development", runs=1)
    content = json.loads(result.to_json())
    assert {key: content[key] for key in ("command", "commit", "processor", "versions")} == provenance.origin()
    assert "# Evaluation" not in str(result)
