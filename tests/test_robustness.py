"""What a training run does when the machine fails it: full disks, folders that cannot be written, other processors;
and what it refuses before it begins."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.training.kinds import parse_config
from agents.training.ppo.policy import network_of
from agents.training.ppo.run import PPORun
from agents.training.run_folder import CHECKPOINT_NAME, CONFIG_NAME, StopTrainingError
from oanquan_env.errors import UsageError
from tests.test_training import ITERATION, learn, quiet, small_config, weights


def test_a_full_disk_stops_the_run_and_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(StopTrainingError):
        learn(PPORun.create(folder, small_config(), "test", quiet), 2 * ITERATION)
    before = {name: (folder / name).read_bytes() for name in (CHECKPOINT_NAME, WEIGHTS_NAME)}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("oanquan_env.files.os.fsync", full)
        assert train.main(["--resume", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not list(folder.glob(".*"))  # nothing half-written stays
    run = PPORun.resume(folder, quiet)
    assert run.plies == 2 * ITERATION
    learn(run)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert train.main(["--config", "configs/quick.yaml", "--output", str(tmp_path / "file" / "run")]) == 2
    assert str(tmp_path / "file") in capsys.readouterr().err


def test_a_run_goes_on_with_another_number_of_threads(tmp_path: Path) -> None:
    folder, threads = tmp_path / "run", torch.get_num_threads()
    with pytest.raises(StopTrainingError):
        learn(PPORun.create(folder, small_config(), "test", quiet), 2 * ITERATION)
    try:
        run = PPORun.resume(folder, quiet, {"threads": 2})
        assert torch.get_num_threads() == 2
        learn(run)
    finally:
        torch.set_num_threads(threads)
    assert run.plies == 6 * ITERATION
    assert yaml.safe_load((folder / CONFIG_NAME).read_text())["threads"] == 1


def test_resuming_takes_what_the_machine_needs_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    learn(PPORun.create(folder, small_config(), "test", quiet))
    assert train.main(["--resume", str(folder), "--threads", "1"]) == 0
    assert train.main(["--resume", str(folder), "--seed", "3"]) == 2
    assert "only --threads, --device, --total-plies go with it" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"command line: threads: must be 1 or more \(got 0\)"):
        PPORun.resume(folder, quiet, {"threads": 0})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluation": {"opponents": ["greddy"]}}, r"evaluation\.opponents: .*greddy"),
        ({"device": "nonsense"}, "device: must be one that torch knows, such as cpu or cuda; got 'nonsense'"),
    ],
)
def test_what_a_run_would_stumble_over_later_is_refused_at_once(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        PPORun.create(tmp_path / "run", small_config(**changes), "test", quiet)
    assert not (tmp_path / "run").exists()


def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match=r"device: torch .* finds no GPU for 'cuda'; use cpu"):
        PPORun.create(tmp_path / "run", small_config(device="cuda"), "test", quiet)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": "mancala-world max_plies=4"}, "no game is running after 4 plies: the rules have max_plies=4"),
        ({"evaluation": {"opening_plies": 120}}, "none of .* random games .* was running after 120 plies"),
    ],
)
def test_openings_that_no_game_lasts_for_are_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], message: str
) -> None:
    monkeypatch.setattr("oanquan_env.playing.MAX_FAILED_GAMES", 200)
    with pytest.raises(UsageError, match=f"evaluation.opening_plies: {message}"):
        PPORun.create(tmp_path / "run", small_config(**changes), "test", quiet)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ppo": {"n_envs": 13, "n_steps": 5, "batch_size": 64}}, "ppo: a rollout of 65 plies .* of a single ply"),
        ({"ppo": {"batch_size": 1}}, "ppo: a rollout of 16384 plies in minibatches of batch_size=1 has one of"),
    ],
)
def test_what_cannot_be_trained_is_refused_as_a_configuration(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_config(changes, "test")


def test_a_run_that_diverges_at_its_very_end_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = PPORun.create(tmp_path / "run", small_config(total_plies=ITERATION), "test", quiet)
    train_once = run.model.train

    def diverge() -> None:
        train_once()
        network_of(run.model).value.weight.data[0, 0] = float("nan")

    monkeypatch.setattr(run.model, "train", diverge)
    with pytest.raises(UsageError, match=f"not finite after {ITERATION} plies"):
        learn(run)
    assert all(np.isfinite(array).all() for array in weights(tmp_path / "run").values())
