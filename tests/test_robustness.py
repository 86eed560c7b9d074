"""What a training run does when the machine fails it: full disks, folders that cannot be written, other processors;
and what it refuses before it begins."""

import errno
import os
from pathlib import Path

import pytest
import torch
import yaml

import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.players.network_player import PPOPlayer
from agents.training.ppo.run import PPORun
from agents.training.run_folder import CHECKPOINT_NAME, CONFIG_NAME
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY
from tests.runs import ITERATION, begin, learn, quiet, stopped


def test_a_full_disk_stops_the_run_and_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION)
    before = {name: (folder / name).read_bytes() for name in (CHECKPOINT_NAME, WEIGHTS_NAME)}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("oanquan_env.files.os.fsync", full)
        assert train.main(["--resume", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not list(folder.glob(f".*{TEMPORARY}"))  # nothing half-written stays
    run = PPORun.resume(folder, quiet)
    assert run.plies == 2 * ITERATION
    learn(run)


def test_a_run_goes_on_with_another_number_of_threads(tmp_path: Path) -> None:
    folder, threads = stopped(tmp_path / "run", 2 * ITERATION), torch.get_num_threads()
    try:
        run = PPORun.resume(folder, quiet, {"threads": 2})
        assert torch.get_num_threads() == 2
        learn(run)
    finally:
        torch.set_num_threads(threads)
    assert run.plies == 6 * ITERATION
    assert yaml.safe_load((folder / CONFIG_NAME).read_text())["threads"] == 1
    with pytest.raises(UsageError, match=r"command line: threads: must be 1 or more \(got 0\)"):
        PPORun.resume(folder, quiet, {"threads": 0})


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


def test_a_run_that_diverges_at_its_very_end_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(tmp_path / "run", total_plies=ITERATION)
    train_once = run.model.train

    def diverge() -> None:
        train_once()
        run.network.value.weight.data[0, 0] = float("nan")

    monkeypatch.setattr(run.model, "train", diverge)
    with pytest.raises(UsageError, match=f"not finite after {ITERATION} plies"):
        learn(run)
    assert all(parameter.isfinite().all() for parameter in PPOPlayer(tmp_path / "run").network.parameters())
