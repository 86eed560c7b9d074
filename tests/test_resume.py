"""Runs of both kinds that are stopped, killed, diverge or lack room, and what they come to; what none begins with."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import yaml

import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.run import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME, StopTrainingError, load_config
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY
from tests.runs import ITERATION, PPO, TD, assert_same_run, begin, checkpoint, evaluations, learn, resume, same, stopped

ROOT = Path(__file__).parent.parent


def train_command(*arguments: object) -> list[str]:
    return [sys.executable, "train.py", *map(str, arguments)]


@pytest.fixture(scope="module", params=[PPO, TD], ids=["ppo", "td"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def whole(settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without interruption."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    learn(begin(folder, settings))
    return folder


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize(("kind", "iterations"), [("stop", [0]), ("stop", [1, 5]), *[("kill", [n]) for n in (0, 3, 6)]])
def test_an_interrupted_run_resumes_to_the_same_numbers(
    kind: str, iterations: list[int], settings: dict[str, Any], whole: Path, tmp_path: Path
) -> None:
    def kill(plies: int) -> None:
        if plies == iterations[0] * ITERATION:
            raise KilledError

    run = begin(tmp_path / "run", settings)
    for number in iterations:
        with pytest.raises((KilledError, StopTrainingError)):
            run.learn(kill, lambda: False) if kind == "kill" else learn(run, number * ITERATION)
        random.seed(99)  # whatever happens between the sittings
        run = resume(tmp_path / "run")
        assert run.plies == number * ITERATION or kind == "kill"
    learn(run)
    assert_same_run(whole, tmp_path / "run")


def test_a_finished_run_is_resumed_to_nothing_new_and_not_overwritten(settings: dict[str, Any], whole: Path) -> None:
    before = (whole / EVALUATIONS_NAME).read_text()
    run = resume(whole)
    learn(run)
    assert (run.plies, (whole / EVALUATIONS_NAME).read_text()) == (6 * ITERATION, before)
    with pytest.raises(UsageError, match="holds a run already: continue it with --resume"):
        begin(whole, settings)
    made = yaml.safe_load((whole / RUN_NAME).read_text())
    assert made["command"] == "python train.py"
    assert set(made["versions"]) >= {"torch", "numpy", "sb3-contrib"}
    config = load_config(whole / CONFIG_NAME)
    assert (config.kind, config.total_plies) == (settings.get("kind", "ppo"), 6 * ITERATION)


def test_evaluations_past_the_checkpoint_are_made_again(settings: dict[str, Any], whole: Path, tmp_path: Path) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION, settings=settings)
    with (folder / EVALUATIONS_NAME).open("a") as file:
        file.write('{"plies": 99999, "results": {}}\n')
    learn(resume(folder))
    assert_same_run(whole, folder)


def test_the_seed_decides_and_evaluations_change_nothing(settings: dict[str, Any], whole: Path, tmp_path: Path) -> None:
    learn(begin(tmp_path / "other", settings, seed=1))
    learn(begin(tmp_path / "seldom", settings, evaluation={**settings["evaluation"], "every_plies": 10**9}))
    assert len(evaluations(tmp_path / "seldom")) < len(evaluations(whole))
    assert same(checkpoint(tmp_path / "seldom"), checkpoint(whole))
    assert not same(checkpoint(tmp_path / "other"), checkpoint(whole))


def test_a_diverged_run_stops_with_advice(settings: dict[str, Any], tmp_path: Path) -> None:
    run = begin(tmp_path / "run", settings)
    next(run.network.parameters()).data.fill_(np.nan)
    with pytest.raises(UsageError, match=r"\S+ is not finite after 0 plies.*smaller learning rate"):
        learn(run)
    assert not (tmp_path / "run" / CHECKPOINT_NAME).exists()


@pytest.mark.slow
def test_a_run_killed_ten_times_loses_nothing(tmp_path: Path) -> None:
    evaluation = {**PPO["evaluation"], "every_plies": 50 * ITERATION}
    longer = {**PPO, "total_plies": 300 * ITERATION, "evaluation": evaluation}
    whole, folder, config = tmp_path / "whole", tmp_path / "killed", tmp_path / "config.yaml"
    learn(begin(whole, longer))
    config.write_text(yaml.safe_dump(longer))
    started, resumed = train_command("--config", config, "--output", folder), train_command("--resume", folder)
    checkpoint, moments, survived = folder / CHECKPOINT_NAME, random.Random(0), []
    for kill in range(10):
        command = resumed if (folder / CONFIG_NAME).exists() else started
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 3:  # in the middle of training; the others fall anywhere, mostly into the start
            deadline, seen = time.monotonic() + 300, set[int]()
            while time.monotonic() < deadline and len(seen) < 4:  # the old one, one of where this goes on, two of more
                time.sleep(0.002)
                seen |= {path.stat().st_mtime_ns for path in folder.glob(CHECKPOINT_NAME)}
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.wait()
        if checkpoint.exists():
            run = resume(folder)
            survived.append(run.plies)
            run.close()
    assert survived == sorted(survived)
    assert len({plies for plies in survived if 0 < plies < longer["total_plies"]}) >= 4
    subprocess.run(resumed, cwd=ROOT, check=True, capture_output=True)
    assert_same_run(whole, folder)


@pytest.mark.parametrize(
    ("number", "sweep"),
    [
        (signal.SIGINT, False),
        *[pytest.param(*case, marks=pytest.mark.slow) for case in ((15, False), (15, True), (signal.SIGINT, True))],
    ],
)
def test_a_signal_saves_and_stops(tmp_path: Path, number: int, sweep: bool) -> None:
    output, config = tmp_path / "run", tmp_path / "config.yaml"
    folder = output / "seed-0" if sweep else output
    config.write_text(yaml.safe_dump({**PPO, "total_plies": 10**9, "checkpoint_seconds": 3600.0}))
    command = train_command("--config", config, "--output", output, *(["--sweep", "0"] if sweep else []))
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not (folder / EVALUATIONS_NAME).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert ("stopped; the same command resumes it" if sweep else f"--resume {folder}") in said.replace("\n", "")
    assert "Traceback" not in errors
    assert (folder / CHECKPOINT_NAME).exists()


def test_a_full_disk_stops_the_run_and_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION)
    before = {name: (folder / name).read_bytes() for name in (CHECKPOINT_NAME, WEIGHTS_NAME)}
    with monkeypatch.context() as patch:
        patch.setattr("oanquan_env.files.os.fsync", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        assert train.main(["--resume", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not list(folder.glob(f".*{TEMPORARY}"))  # nothing half-written stays
    threads = torch.get_num_threads()
    try:
        run = resume(folder, threads=2)  # another number than before, for this sitting
        assert (torch.get_num_threads(), run.plies) == (2, 2 * ITERATION)
        learn(run)
    finally:
        torch.set_num_threads(threads)
    assert yaml.safe_load((folder / CONFIG_NAME).read_text())["threads"] == 1
    with pytest.raises(UsageError, match=r"command line: threads: must be greater than or equal to 1 \(got 0\)"):
        resume(folder, threads=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluation": {"opponents": ["greddy"]}}, r"evaluation\.opponents: .*greddy"),
        ({"device": "nonsense"}, "device: must be one that torch knows, such as cpu or cuda; got 'nonsense'"),
        ({"device": "cuda"}, "device: torch .* finds no GPU for 'cuda'; use cpu"),
        ({"rules": "mancala-world max_plies=4"}, "evaluation.opening_plies: no game is running after 4 plies"),
        ({"evaluation": {"opening_plies": 120}}, "evaluation.opening_plies: none of .* was running after 120 plies"),
    ],
)
def test_what_a_run_would_stumble_over_later_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], message: str
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("oanquan_env.playing.MAX_FAILED_GAMES", 200)
    with pytest.raises(UsageError, match=message):
        begin(tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()
