"""Test runs on several workers: equal results, resuming, killed workers and Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import pytest
import torch
import yaml

import train
from agents import workers
from agents.checkpoint import CHECKPOINT_NAME, CONFIG_NAME
from agents.run import load_config, run_type
from oanquan_env.errors import UsageError
from tests import ROOT
from tests.helpers import Patch, runs
from tests.helpers.runs import ANY, ITERATION, PPO, TD, checkpoint, learn, resume, same

KINDS = pytest.mark.parametrize("settings", [PPO, TD], ids=["ppo", "td"])


def two(settings: dict[str, Any], **changes: object) -> dict[str, Any]:
    """Return the settings of a longer run of two workers, which is seldom evaluated."""
    rare = {**settings["evaluation"], "every_plies": 10**9}
    longer = {"total_plies": 60 * ITERATION, "checkpoint_seconds": 0.2}
    return {**settings, **longer, "evaluation": rare, "workers": 2, **changes}


def children(process: subprocess.Popen[str]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(PPO, marks=pytest.mark.slow, id="ppo"),
        pytest.param(TD, marks=pytest.mark.daily, id="td"),
        pytest.param(ANY, marks=pytest.mark.daily, id="any"),
    ],
)
def test_two_workers_come_to_the_same_run_when_interrupted(settings: dict[str, Any], tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    runs.finish(runs.start(whole, two(settings)))
    state = checkpoint(whole)
    (other,) = state["workers"]
    assert not same(other["games"], state["games"])
    run = runs.start(parts, two(settings))
    runs.wait_for(parts, 2)
    killed = children(run)[1]
    os.kill(killed, signal.SIGKILL)
    runs.wait_for(parts, 2)
    run.send_signal(signal.SIGINT)
    assert f"--resume {parts}" in runs.finish(run, 130)[0]
    assert f"failed (exitcode: -9) local_rank: 1 (pid: {killed})" in (parts / workers.LOG_NAME).read_text()
    assert checkpoint(parts)["plies"] < state["plies"]
    runs.finish(runs.start(parts, two(settings)))
    runs.assert_same_run(whole, parts)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.daily),
        pytest.param(signal.SIGTERM, marks=pytest.mark.daily),
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_no_worker_outlives_its_launcher(tmp_path: Path, number: int) -> None:
    run = runs.start(tmp_path / "run", two(PPO, total_plies=10**9))
    runs.wait_for(tmp_path / "run", 1)
    pids = children(run)
    assert len([pid for pid in pids if running(pid)]) >= 2
    run.send_signal(number)
    run.communicate(timeout=300)
    runs.wait_until(lambda: not any(map(running, pids)))
    assert not any(map(running, pids))


@pytest.mark.slow
def test_an_error_is_not_tried_again(tmp_path: Path) -> None:
    run = runs.start(tmp_path / "run", two(PPO, ppo={**PPO["ppo"], "learning_rate": 1e30}))
    assert "training diverged: " in runs.finish(run, 2)[1]


@pytest.mark.slow
def test_torchrun_begins_a_run_and_the_same_command_resumes_it(tmp_path: Path) -> None:
    folder, config = tmp_path / "run", tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(PPO))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py"]
    command += ["--config", str(config), "--output", str(folder), "--total-plies"]
    for plies in (2 * ITERATION, 4 * ITERATION):
        run = subprocess.run([*command, str(plies)], cwd=ROOT, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert (checkpoint(folder)["plies"], load_config(folder / CONFIG_NAME).workers) == (plies, 2)


@KINDS
def test_a_run_goes_on_with_another_number_of_workers(settings: dict[str, Any], tmp_path: Path) -> None:
    folder, reports = runs.stopped(tmp_path / "run", 2 * ITERATION, settings=settings), list[str]()
    state = torch.load(folder / CHECKPOINT_NAME, weights_only=True)
    own = {name: state[name] for name in ("games", "random", "learner") if name in state}
    torch.save({**state, "workers": [own]}, folder / CHECKPOINT_NAME)  # as in a run with two workers
    run = run_type(settings.get("kind", "ppo")).resume(folder, reports.append)
    assert reports == ["workers: 1 instead of 2; the run starts new games"]
    assert same(run.parts["optimizer"].state_dict(), state["optimizer"])
    assert run.parts["games"].drawn < state["games"]["drawn"]
    learn(run)
    assert "workers" not in checkpoint(folder)
    resume(folder, workers=3).close()
    assert load_config(folder / CONFIG_NAME).workers == 3
    with pytest.raises(UsageError, match=r"workers: 33: (games|n_envs): must be greater than or equal to 1"):
        resume(folder, workers=33)


@KINDS
def test_a_new_worker_has_the_same_network_and_games_of_its_own(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: Patch
) -> None:
    folder = runs.stopped(tmp_path / "run", 2 * ITERATION, settings=settings)
    first = resume(folder)
    first.close()
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    second = type(first).join(folder, first.config.model_copy(update={"workers": 2}))
    assert second.plies == first.plies
    for name in ("network", "optimizer"):
        assert same(first.parts[name].state_dict(), second.parts[name].state_dict())
    assert not same(first.parts["games"].state_dict(), second.parts["games"].state_dict())
    assert len(second.parts["games"].positions) == 16
    assert second.parts["games"].seed == workers.own_seed(first.config.seed) != first.config.seed


def test_averages_are_of_weights_and_moments(monkeypatch: Patch) -> None:
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.ones(3)).sum().backward()
    optimizer.step()
    before = [network.weight.clone(), optimizer.state[network.bias]["exp_avg"].clone()]
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda flat: flat.mul_(4))
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    workers.average(network, optimizer)
    assert torch.equal(network.weight, 2 * before[0])
    assert torch.equal(optimizer.state[network.bias]["exp_avg"], 2 * before[1])


def test_an_error_names_what_restarts_by_torchrun_need(monkeypatch: Patch) -> None:
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "1")
    monkeypatch.delenv(workers.NEW_STORE, raising=False)
    with pytest.raises(UsageError, match=f"set {workers.NEW_STORE}=1"):
        workers.connect()


def test_the_number_of_workers_is_read_once(tmp_path: Path) -> None:
    assert train.parse(["--workers", "auto"]).settings.workers == joblib.cpu_count()
    (tmp_path / "config.yaml").write_text("workers: auto\n")
    assert train.parse(["--config", str(tmp_path / "config.yaml")]).settings.workers == joblib.cpu_count()
    with pytest.raises(UsageError, match=r"workers: must be greater than or equal to 1 \(got 0\)"):
        train.parse(["--workers", "0"])
    with pytest.raises(UsageError, match="--sweep trains each run in one process and cannot be used with --workers"):
        train.parse(["--workers", "2", "--sweep", "0,1"])
