"""Test where experiments write results, what they refuse to publish, and the pages that show the results."""

import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.config import Size
from experiments import common, methods, players, solve, speed
from oanquan_env import Core, evaluate, provenance
from oanquan_env.benchmark.suites import load_suite
from tests.helpers import Capture, Patch
from tests.helpers.runs import PPO
from tools import write_docs


def at_commit(monkeypatch: Patch, commit: str | None) -> None:
    monkeypatch.setattr(provenance, "commit", lambda: commit)


@dataclass(frozen=True)
class Options(common.Options):
    seeds: Size = 2


def measure(options: Options) -> Iterator[dict[str, Any]]:
    for seeds in range(1, options.seeds + 1):
        yield {"speeds": {"x": seeds}}


def rows(results: dict[str, Any]) -> list[common.Cells]:
    return [{"games": name, "speed": str(speed)} for name, speed in results["speeds"].items()]


CORE = common.Experiment("core", "An experiment.", Options, measure, {"speeds": rows, "others": lambda _: [{"a": "b"}]})


def test_results_are_shown_and_written_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    results, asked = tmp_path / "results", tmp_path / "core.json"
    results.mkdir()
    monkeypatch.setattr(common, "RESULTS", results)
    at_commit(monkeypatch, "0123456789ab-dirty")
    assert CORE.main([]) == 0
    table = "| games | speed |\n| ----- | ----: |\n| x     |     2 |"
    assert capsys.readouterr().out.split("\n\n")[:3] == ["An experiment.", "speeds", table]
    assert CORE.main(["--json", str(asked)]) == 0
    assert capsys.readouterr().out.count(f"written to {asked}") == 2  # after each part, in case the rest is interrupted
    assert not list(results.iterdir())
    at_commit(monkeypatch, "0123456789ab")
    assert CORE.main(["--publish", "--seeds", "1"]) == 0
    for path, commit, seeds in ((asked, "0123456789ab-dirty", 2), (results / "core.json", "0123456789ab", 1)):
        written = json.loads(path.read_text())
        assert (written["speeds"], written["measured_on"]["commit"]) == ({"x": seeds}, commit)
        assert written["command"] == f"python -m experiments.core --seeds {seeds}"
    processor = written["measured_on"]["processor"]
    line = f"Measured by `python -m experiments.core --seeds 1` at commit `0123456789ab` ({processor})."
    assert CORE.parts()["speeds"]() == f"| games | speed |\n| --- | ---: |\n| x | 1 |\n\n{line}"


def test_a_bound_that_is_not_proved_is_a_question_mark() -> None:
    found = {"lower": None, "upper": 3, "solved": False, "line": [], "nodes": 1000, "seconds": 0.2}
    solved = {**found, "lower": 3, "solved": True}
    assert [row["value"] for row in solve.rows({"results": {"a": found, "b": solved}})] == ["? to +3", "+3"]


def test_a_cell_that_a_row_lacks_is_empty() -> None:
    rows = [{"a": "1"}, {"a": "2", "b": "3"}]
    assert common.table_of(rows).splitlines() == ["| a | b |", "| --- | ---: |", "| 1 |  |", "| 2 | 3 |"]


def test_a_page_names_the_command_that_was_run_and_not_the_program_s_present_name(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    origin = {"measured_on": {"commit": "abc", "processor": "abacus"}, "command": "python -m old.core"}
    (tmp_path / "core.json").write_text(json.dumps({**origin, "speeds": {"x": 1}}))
    assert CORE.parts()["speeds"]().endswith("Measured by `python -m old.core` at commit `abc` (abacus).")


@pytest.mark.parametrize("path", sorted(common.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_committed_results_name_their_command(path: Path) -> None:
    results = json.loads(path.read_text())
    assert "measured_on" not in results or results["command"].startswith("python -m ")


@pytest.mark.parametrize(
    ("commit", "option", "message"),
    [
        ("0123456789ab-dirty", "--publish", "--publish: files differ from commit 0123456789ab,"),
        (None, "--publish", "--publish needs a clone"),
        (None, "--json=nowhere/x.json", "--json: the folder nowhere does not exist"),
    ],
)
def test_what_cannot_be_published_or_written_is_refused_before_the_run(
    monkeypatch: Patch, capsys: Capture, commit: str | None, option: str, message: str
) -> None:
    at_commit(monkeypatch, commit)
    assert CORE.main([option]) == 2
    assert f"python -m experiments.core: {message}" in capsys.readouterr().err


def test_new_results_leave_a_commit_clean_and_new_code_does_not(tmp_path: Path, monkeypatch: Patch) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=N", "-c", "user.email=E", "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    find_commit = provenance.commit.__wrapped__
    found, code = tmp_path / "experiments" / "results" / "core.json", tmp_path / "code.py"
    found.parent.mkdir(parents=True)
    for path in (found, code):
        path.write_text("old")
    monkeypatch.setattr(provenance, "FOLDER", tmp_path)
    assert find_commit() is None  # outside a clone
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "All")
    commit = git("rev-parse", "--short=12", "HEAD")
    assert find_commit() == commit
    found.write_text("new")
    assert find_commit() == commit
    code.write_text("new")
    assert find_commit() == f"{commit}-dirty"
    common.check_commit(commit)
    with pytest.raises(ValueError, match="commit first"):
        common.check_commit(find_commit())


def test_a_speed_is_plies_by_seconds_and_each_contestant_has_its_median() -> None:
    assert speed.per_second(itertools.cycle([0.25, 0.75]), 8, 2.0) == 16.0
    speeds = {"a": iter([1.0, 9.0, 2.0]), "b": iter([5.0, 5.0, 6.0])}
    contestants = {name: (lambda seconds, drawn=drawn: seconds * next(drawn)) for name, drawn in speeds.items()}
    assert speed.median_speeds(contestants, 3, 2.0) == {"a": 4.0, "b": 10.0}


@pytest.mark.slow
def test_all_contestants_play(monkeypatch: Patch) -> None:
    monkeypatch.setattr(speed, "WARM_UP_STEPS", 1)
    found = speed.side_by_side(2)
    assert len(found) == 2 * len(speed.RULES) + len(speed.ENVIRONMENTS) + 1
    found |= speed.one_game(all_needed=False)
    assert {name for _, name, _ in found} >= {*speed.SINGLE, "one CartPole", "AEC, oanquan raw_env"}
    assert all(contestant(1e-9) > 0 for contestant in found.values())


def test_drawn_actions_are_legal() -> None:
    mask = np.eye(4, 10, 3, dtype=np.int8)
    assert speed.draw(mask, np.random.default_rng(0)).tolist() == [3, 4, 5, 6]


def test_a_page_that_is_out_of_date_is_named_and_renewed(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- core:begin -->\n<!-- core:end -->\n<!-- vector:begin -->\n<!-- vector:end -->\n")
    monkeypatch.setattr(write_docs, "PAGES", {page: speed.EXPERIMENT.parts()})
    monkeypatch.setattr(write_docs, "cards", dict)
    assert write_docs.main(["--check"]) == 1
    assert f"{page} is out of date; renew it with: python -m tools.write_docs" in capsys.readouterr().err
    assert "mancala-world" not in page.read_text()
    assert (write_docs.main([]), write_docs.main(["--check"])) == (0, 0)
    assert "| mancala-world, compiled | " in page.read_text()


@pytest.mark.slow
def test_a_row_is_measured_written_and_shown_and_a_damaged_one_is_named(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    folder, options = tmp_path / "players", ["--uses", "observation", "--learned-from", "nothing", "--pairs", "4"]
    monkeypatch.setattr(players, "FOLDER", folder)
    assert players.main(["greedy", *options, "--label", "one run"]) == 0
    assert players.main(["random", "greedy", "random", *options, "--label", "three", "--budget", "no plies"]) == 0
    assert "points that a move loses" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"one-run.json", "three.json"}
    row = json.loads((folder / "three.json").read_text())
    assert [one["seed"] for one in row["evaluations"]] == [0, 1, 2]
    shown, found = players.rows(), evaluate("greedy", pairs=4).regret
    number = f"{found.mean:.2f} ({found.low:.2f} to {found.high:.2f})"
    assert f"| `one run` | observation | nothing | 1 | {number} |" in shown
    assert "| `three` (no plies) | observation | nothing | 3 | " in shown
    assert shown.index("one run") < shown.index("three")  # the least regret first
    (folder / "bad.json").write_text('{"label": "x"}')
    with pytest.raises(ValueError, match="uses"):
        players.rows()


@pytest.mark.slow
def test_learning_methods_train_for_their_budget_and_finished_runs_are_kept(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    ppo = {**PPO["ppo"], "learning_rate": 1e-2, "learning_rate_end": 1e-3}
    changes = {"network": {**PPO["network"], "name": "two_ply"}, "ppo": ppo, "evaluation": PPO["evaluation"]}
    begun: list[methods.AgentsRun] = []

    def begin(*arguments: Any) -> methods.AgentsRun:
        begun.append(methods.AgentsRun("quick.yaml", changes, *arguments))
        return begun[-1]

    monkeypatch.setattr(methods, "METHODS", {"PPO": methods.Method("replies", begin)})
    monkeypatch.setattr(methods, "load_suite", lambda rules: load_suite(rules).take(np.arange(100)))
    monkeypatch.setattr(methods, "RESULTS", tmp_path)
    command = f"--minutes 0.01 0.02 --rules tonkin --methods PPO --output {tmp_path} --seeds".split()
    for seeds in "12":
        assert methods.main([*command, seeds]) == 0
    lines = [line.partition(", seed")[0] for line in capsys.readouterr().out.splitlines() if " of " in line]
    places = "1 of 2", "2 of 2", "3 of 4", "4 of 4"
    assert lines == [f"{at}: PPO, tonkin, 0.0{1 + n % 2} min" for n, at in enumerate(places)]
    results = methods.Results(tmp_path / "methods.json")
    speed = results.runs[0]["plies"] / results.runs[0]["seconds"]
    for run in results.runs:
        assert run["seconds"] == pytest.approx(60 * run["minutes"], abs=begun[0].run.iteration / speed + 0.05)
        assert run["plies"] == pytest.approx(speed * run["seconds"], abs=speed / 5)  # seconds have one decimal
        assert (len(run["curve"]), run["curve"][-1]["plies"]) == (len(methods.SHARES), run["plies"])
    for training in begun[1::2]:  # the runs after warm-ups, near their ends
        assert training.run.model.policy.optimizer.param_groups[0]["lr"] < 4e-3  # type: ignore[attr-defined]
    text = methods.tables()
    assert "| method | sees | 0.01 min | 0.02 min | million plies, 0.01 min |" in text
    assert re.search(r"\| PPO \| replies \| [0-9.]+; 2 runs \|", text)
    assert (tmp_path / "methods.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_run_of_pqn_learns_for_its_budget(tmp_path: Path) -> None:
    run, before = methods.PQN(tmp_path, "ludii", 0), methods.PQN(tmp_path, "ludii", 0)
    run.iterate(1.0)
    assert run.plies == run.options.num_envs * run.options.num_steps
    assert run.optimizer.param_groups[0]["lr"] == pytest.approx(run.options.learning_rate / 20)
    assert any((a != b).any() for a, b in zip(run.net.parameters(), before.net.parameters(), strict=True))
    assert isinstance(run.players()[""].choose(Core("ludii").start(), np.random.default_rng(0))[0], np.integer)
