"""Test learning curves of runs, and the agents that come with the project."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image
from safetensors.torch import load_file

import agents
from agents.players import agent_files
from agents.players.agent_files import pretrained_folders
from agents.players.network_player import PPOPlayer
from agents.reports import cards, curves
from agents.run import Run
from oanquan_env import Core, Rules
from oanquan_env.benchmark.curves import LearningCurve, draw_curves, learning_curve
from oanquan_env.benchmark.regret import regret
from oanquan_env.benchmark.statistics import Estimate
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.errors import UsageError
from oanquan_env.players import make
from oanquan_env.players.adapters import as_policy
from oanquan_env.search.value_net import read_value_net
from tests.helpers.players import rng
from tests.helpers.runs import ITERATION, TD, begin, learn

ENDS = ("mean", "low", "high")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    parent = tmp_path_factory.mktemp("runs")
    evaluation = {"every_plies": ITERATION, "pairs": 4, "opponents": ["greedy"]}
    folders = [parent / f"tiny-{seed}" for seed in (0, 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "seconds", property(lambda run: float(run.plies)))  # an iteration may take less than 0.1 s
        for seed, folder in enumerate(folders):
            learn(begin(folder, seed=seed, total_plies=2 * ITERATION, evaluation=evaluation))
    return folders


def test_curves_read_what_runs_measured(runs: list[Path], tmp_path: Path) -> None:
    run = curves.read_run(runs[1])
    assert (run.name, run.group, run.seed, run.command) == ("tiny-1", "tiny", 1, "python train.py")
    regrets = run.regrets()
    assert list(regrets) == [0, ITERATION, 2 * ITERATION]
    assert regrets[2 * ITERATION][0] > regrets[ITERATION][0] > 0
    last = json.loads((runs[1] / "evaluations.jsonl").read_text().splitlines()[-1])
    assert regrets[2 * ITERATION] == (last["seconds"] / 60, Estimate(*(last["regret"][end] for end in ENDS)))
    assert curves.of_group([run], "plies").regret[-1] == regrets[2 * ITERATION][1]
    swept = curves.read_run(shutil.copytree(runs[1], tmp_path / "quick-sweep" / "seed-1"))
    assert (swept.name, swept.group) == ("quick-1", "quick")


def test_a_run_without_readable_evaluations_has_no_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin(tmp_path / "run").close()
    path = tmp_path / "run" / "evaluations.jsonl"
    for message in ("there are no evaluations", "line 1 is damaged: not readable as JSON"):
        assert curves.main([str(tmp_path / "run")]) == 2
        assert f"{path}: {message}" in capsys.readouterr().err
        path.write_text("{")


def test_a_curve_of_checkpoints_is_measured_and_drawn() -> None:
    """A checkpoint may be any player; five runs have an interval, and two have none."""
    suite = load_suite(Rules()).part("test")
    runs = [["random", make("maxn:depth=1")], ["greedy", lambda _, masks: masks.argmax(axis=1)]]
    curve = learning_curve([0, 1e6], runs, part="test", seed=3)
    found = [[regret(as_policy(one), suite, rng(3), by_phase=False).mean for one in run] for run in runs]
    assert [estimate.mean for estimate in curve.regret] == pytest.approx(np.mean(found, axis=0).tolist())
    assert np.isnan(curve.regret[0].low)
    five = LearningCurve.of([1], [[1.0], [2.0], [3.0], [4.0], [5.0]]).regret[0]
    assert five.low < five.mean == 3 < five.high
    doubled = LearningCurve.of([1, 8, 64], [[30, 24, 18], [28, 22, 16]])
    figure = draw_curves({"plies": {"mine": curve}, "minutes": {"other": doubled}}, {"greedy": 10.8})
    first, second = figure.axes
    assert first.lines[0].get_ydata().tolist() == [one.mean for one in curve.regret]
    assert [(panel.get_xlabel(), panel.get_xscale()) for panel in (first, second)] == [
        ("plies", "linear"),
        ("minutes", "log"),
    ]
    least = min(one.mean for one in curve.regret)
    assert least / 1.5 <= first.get_yticks()[0] <= first.get_yticks()[-1] <= 40
    assert [[text.get_text() for text in panel.texts] for panel in (first, second)] == [["mine"], ["greedy", "other"]]
    own = Figure().subplots()
    assert draw_curves({"plies": {"mine": curve}}, axes=[own]) is own.figure


def test_curves_that_do_not_fit_are_refused(runs: list[Path]) -> None:
    measured = [
        dataclasses.replace(curves.read_run(run), suite=suite) for run, suite in zip(runs, (None, "x"), strict=True)
    ]
    for call, message in (
        (lambda: LearningCurve.of([1, 2], [[1, 2, 3]]), r"regrets must have shape \(runs, 2\), .*; got \(1, 3\)"),
        (lambda: learning_curve([1, 2], [["greedy", "random"], ["greedy"]]), "each run must have 2 checkpoints"),
        (lambda: learning_curve([1], [["greedy"]], "fields=3"), "no regret suite for 'mancala-world fields=3'"),
        (lambda: curves.check_comparable(measured), "different suites .* tiny-1 learned 'mancala-world' and used x"),
    ):
        with pytest.raises(UsageError, match=message):
            call()


@pytest.mark.slow
def test_table_picture_and_numbers_are_written_for_runs_of_the_same_rules(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert curves.main([*map(str, runs), "--output", str(tmp_path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| tiny-0", "| tiny-1"]
    content = json.loads((tmp_path / "learning.json").read_text())
    assert [(run["seed"], run["rules"]) for run in content["runs"]] == [(0, "mancala-world"), (1, "mancala-world")]
    suite, found = load_suite(Rules()).part("development"), content["references"]
    assert found["minimax:depth=4"] < found["greedy"] == regret(agents.make("greedy"), suite, rng()).mean
    with Image.open(tmp_path / "learning.png") as picture:
        assert picture.size[0] > 1000
    other, folder = tmp_path / "other", tmp_path / "a" / "b"
    learn(begin(other, rules="tonkin seeds=3", total_plies=ITERATION))
    assert curves.main([*map(str, runs), str(other), "--output", str(folder)]) == 2
    assert "compared: tiny-0 learned 'mancala-world', other learned 'tonkin" in capsys.readouterr().err
    assert not folder.exists()
    assert curves.main([str(other), "--output", str(folder)]) == 0  # rules without a suite have no picture
    assert [path.name for path in folder.iterdir()] == ["learning.json"]
    assert json.loads((folder / "learning.json").read_text())["references"] == {}


def test_a_run_s_agent_is_taken_in_with_its_card(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cards, "PRETRAINED_FOLDER", tmp_path)
    monkeypatch.setattr(agent_files, "PRETRAINED_FOLDER", tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(cards, "LARGEST", 100)
        assert cards.main([str(runs[0])]) == 2
    assert "at most 100 go into the repository" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert cards.main([str(runs[0])]) == 0
    folder = tmp_path / "mancala-world"
    assert {path.name for path in folder.iterdir()} == {"agent.safetensors", "agent.yaml", "config.yaml"}
    assert PPOPlayer(folder).card.training["plies"] == 2 * ITERATION
    kept, whole = load_file(folder / "agent.safetensors"), load_file(runs[0] / "agent.safetensors")
    assert all(torch.equal(kept[name], whole[name].half()) for name in whole)
    text = cards.cards()[folder / "README.md"]
    for part in (f"| plies | {2 * ITERATION:,} |", "python evaluate.py ppo:pretrained minimax:depth=4", "MIT"):
        assert part in text


def test_a_run_s_value_net_is_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(tmp_path / "run", TD, rules="tonkin fields=2")
    run.export()
    run.close()
    monkeypatch.setattr(cards, "pretrained_path", lambda rules: tmp_path / f"{rules.fields}.npz")
    assert cards.main([str(tmp_path / "run")]) == 0
    assert read_value_net(tmp_path / "2.npz", "tonkin fields=2").origin["command"] == "python train.py"


@pytest.mark.parametrize("rules", pretrained_folders())
def test_the_project_s_agents_play_their_rules(rules: Rules) -> None:
    path = pretrained_folders()[rules]
    positions = Core(rules).start(1)
    player = PPOPlayer(path, rules)
    assert player.evaluate(positions)[0].shape == (1, rules.actions)
    assert player.card.weights  # the checksum
    assert (path / "config.yaml").is_file()
    assert sum(file.stat().st_size for file in path.iterdir()) < 5_000_000


def test_the_project_s_agent_is_nearer_to_perfect_play_than_a_search_of_four_plies() -> None:
    suite = load_suite(Rules()).part("development").take(np.arange(0, 1100, 2))
    mine, search = (regret(agents.make(name), suite, rng()) for name in ("ppo:pretrained", "minimax:depth=4"))
    assert mine.mean < search.mean
    assert mine.optimal.mean > search.optimal.mean
    assert mine.blunders.mean < search.blunders.mean
