"""Test that hashes of custom code cover what the code consists of, and that resumed work notices a change of it."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluate
from agents.checkpoint import RUN_NAME
from agents.data import game_data, position_data
from agents.evaluation.code_hashes import code_hashes, custom_code
from agents.evaluation.evaluation_run import hash_of_files
from agents.reports.tournaments import read_report
from agents.run import run_type
from oanquan_env import Rules
from oanquan_env.benchmark.tournament import Tournament
from oanquan_env.files import FileError
from oanquan_env.players import Kind
from oanquan_env.players.making import KINDS
from oanquan_env.proofs.certificates import certificate_path
from tests.helpers import Capture, Patch
from tests.helpers.nets import random_net
from tests.helpers.runs import ITERATION, PLAIN, stopped

FILES = {
    "own_things/players.py": """
from pathlib import Path
from oanquan_env.players import GreedyPolicy
from . import parts

def make(core):
    import own_helper
    return Path(__file__).with_name("weights.pt"), open("table.txt")

class Mine(GreedyPolicy):
    pass
""",
    **dict.fromkeys(("own_things/parts.py", "own_things/unused.py", "own_deeper.py", "own_other.py"), ""),
    "own_helper.py": "import numpy, json, own_deeper",
    "own_reward.py": "def reward(core, before, positions):\n    return 0 * before",
    **dict.fromkeys(("own_things/weights.pt", "table.txt", "other.txt"), "numbers"),
}
NAME = "own_things.players:Mine"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Write `FILES` into a new current folder, and return the folder."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in sys.modules if name.startswith("own_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def change(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


@pytest.mark.parametrize("name", FILES)
def test_a_hash_covers_the_package_what_it_imports_and_files_that_it_names(own: Path, name: str) -> None:
    before, code = hash_of_files(NAME, Rules()), code_hashes([NAME])
    assert list(code) == ["own_deeper", "own_helper", "own_things"]  # neither the project nor installed packages
    change(own / name)
    others = {"own_other.py", "own_reward.py", "other.txt"}
    assert (hash_of_files(NAME, Rules()) == before) == (name in others)
    assert (code_hashes([NAME]) == code) == (name in others or not name.endswith(".py"))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *(("greedy", []), ("book:greedy", []), ("ppo:pretrained", []), ("ppo:pretrained,network=plain", [])),
        (NAME, [NAME]),
        ("ppo:runs/x,network=own_things.net:Net", ["own_things.net:Net"]),
        ("book:ppo:runs/x,network=own_things.net:Net", ["own_things.net:Net"]),
        ("book:theirs", ["theirs.players:theirs"]),
        ("theirs:level=own_things.levels:HARD", ["own_things.levels:HARD", "theirs.players:theirs"]),
    ],
)
def test_code_outside_the_project_is_known_by_a_player_s_name(name: str, code: list[str], monkeypatch: Patch) -> None:
    def make(parsed: object, rules: Rules) -> Any: ...

    make.__module__ = "theirs.players"
    monkeypatch.setitem(KINDS, "theirs", Kind({}, make, {"level": str}))
    assert custom_code(name) == code


def test_a_book_s_hash_covers_its_certificate(tmp_path: Path, monkeypatch: Patch) -> None:
    tonkin, other = Rules.parse("tonkin"), tmp_path / "other.npz"
    other.write_bytes(certificate_path(tonkin).read_bytes() + b"0")
    before = hash_of_files("book:greedy", tonkin)
    monkeypatch.setattr("agents.evaluation.evaluation_run.certificate_path", lambda _: other)
    assert "" != hash_of_files("book:greedy", tonkin) != before


def test_parts_of_a_player_of_one_s_own_are_reused_only_if_asked_and_unchanged(
    own: Path, monkeypatch: Patch, capsys: Capture, interrupt: Any
) -> None:
    calls = interrupt(Tournament, "play_one")

    def run(*options: str) -> tuple[list[str], set[str], str]:
        """Return the opponents of the games that were played, the parts that were reused, and the output."""
        calls.clear()
        assert evaluate.main(["own=" + NAME, "random", "greedy", "--pairs", "1", "--output", "out", *options]) == 0
        played = [one.entrants[opponent].label for one, _, opponent, *_ in calls]
        reused = read_report(own / "out" / "report.json").reused
        return played, set(reused), " ".join(capsys.readouterr().out.split())

    theirs, mine = {"games random – greedy"}, {"games own – random", "games own – greedy"}
    assert run()[:2] == (["random", "greedy", "greedy"], set())
    played, reused, out = run()
    assert (played, reused) == (["random", "greedy"], theirs)
    assert "measuring again: own; add --reuse to keep what was measured with the same code" in out
    assert "Reused from earlier sessions, measured at 2" in out
    played, reused, out = run("--reuse")
    assert (played, reused) == ([], theirs | mine)
    assert "measuring again" not in out
    change(own / "own_helper.py")
    assert run("--reuse")[:2] == (["random", "greedy"], theirs)
    monkeypatch.setattr("agents.evaluation.finished_parts.project_code", lambda: {"agents": "changed, not committed"})
    assert run("--reuse")[0] == ["random", "greedy", "greedy"]


@pytest.mark.usefixtures("own")
def test_the_message_of_an_interrupted_evaluation_names_reuse(capsys: Capture, interrupt: Any) -> None:
    interrupt(Tournament, "play_one", at=1)
    assert evaluate.main([NAME, "greedy", "--pairs", "1", "--output", "out"]) == 130
    again = f", and measures again: {NAME}; add --reuse to keep what was measured with the same code\n"
    assert capsys.readouterr().err == f"evaluate.py: interrupted; the same command continues in out{again}"


def test_a_resumed_run_says_which_code_has_changed(own: Path, monkeypatch: Patch) -> None:
    def changed() -> list[str]:
        """Resume the run, and return the names in its message about changed code."""
        lines = list[str]()
        run_type("ppo").resume(folder, lines.append).close()
        note = re.compile("changed since the run began, or not recorded then: (.*); results may differ")
        return [found[1] for line in lines if (found := note.search(line))]

    settings = {"reward": "own_reward:reward", "network": PLAIN, "total_plies": 2 * ITERATION}
    folder = stopped(own / "run", ITERATION, **settings)
    assert changed() == []
    change(own / "own_other.py")
    assert changed() == []
    change(own / "own_reward.py")
    assert changed() == ["own_reward"]
    monkeypatch.setattr("agents.checkpoint.project_code", lambda: {"agents": "other", "oanquan_env": "other"})
    assert changed() == ["agents, oanquan_env, own_reward"]
    origin = yaml.safe_load((folder / RUN_NAME).read_text())
    assert set(origin["code"]) == {"agents", "oanquan_env", "own_reward"}
    codes = [entry["code"]["own_reward"] for entry in (origin, *origin["resumed"])]
    assert codes[0] == codes[1] == codes[2] != codes[3] == codes[4]
    assert [entry["plies"] for entry in origin["resumed"]] == [ITERATION] * 4
    assert origin["resumed"][0].keys() == {"plies", *origin} - {"resumed"}
    assert origin.keys() >= {"command", "commit", "processor", "versions", "started"}
    origin["versions"]["torch"] = "1.0"
    del origin["code"]  # as if it had not been recorded
    (folder / RUN_NAME).write_text(yaml.safe_dump(origin))
    assert changed() == ["agents, oanquan_env, own_reward, torch"]
    (folder / RUN_NAME).write_text("code: 3")
    with pytest.raises(FileError, match=r"run\.yaml: not the origin of a run: "):
        changed()


@pytest.mark.parametrize(
    ("main", "options"),
    [
        (position_data.main, ["--positions", "1", "--depth", "1", "--net", "net.npz"]),
        (game_data.main, ["--games", "1", "--player", "maxn:depth=1,net=net.npz"]),
    ],
)
def test_data_of_a_retrained_net_are_not_mixed_with_the_old(
    own: Path, main: Any, options: list[str], capsys: Capture
) -> None:
    for seed, status in ((0, 0), (0, 0), (1, 2)):
        (own / "net.npz").write_bytes(random_net("mancala-world", seed=seed).to_bytes())
        assert main(["--output", "out", *options]) == status
    assert "choose another folder" in capsys.readouterr().err
