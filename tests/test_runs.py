"""Runs that are damaged, killed, told to stop, made longer, or begun twice at once."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import yaml
from rich.console import Console
from rich.progress import Progress
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import evaluate
import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.support.folder_lock import LOCK_NAME, FolderLock
from agents.support.tensor_files import pack, unpack
from agents.training.kinds import load_config
from agents.training.ppo.run import PPORun
from agents.training.run_folder import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME, StopTrainingError
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY, FileError
from tests.runs import ITERATION, PPO, begin, learn, quiet, stopped

Change = Callable[[dict[str, torch.Tensor], dict[str, str]], object]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run that was stopped after two iterations."""
    return stopped(tmp_path_factory.mktemp("stopped") / "run", 2 * ITERATION)


@pytest.fixture
def checkpoint(folder: Path) -> Iterator[Path]:
    """Its checkpoint, put back afterwards."""
    path = folder / CHECKPOINT_NAME
    content = path.read_bytes()
    yield path
    path.write_bytes(content)


def test_every_changed_byte_of_a_checkpoint_is_noticed(checkpoint: Path) -> None:
    whole, places = checkpoint.read_bytes(), random.Random(0)
    header = int.from_bytes(whole[:8], "little")
    parts = [(8, header)] * 25 + [(header, len(whole))] * 8
    for place in (places.randrange(*part) for part in parts):
        content = bytearray(whole)
        content[place] ^= 1 << places.randrange(8)
        checkpoint.write_bytes(content)
        with pytest.raises(FileError, match=r"checkpoint\.safetensors: "):
            PPORun.resume(checkpoint.parent, quiet)


def test_a_file_that_is_no_checkpoint_of_the_run_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    whole = checkpoint.read_bytes()
    other = begin(tmp_path / "wider", network={"embed": 2, "width": 16, "depth": 1})
    other.close()
    for folder, content, message in (
        (checkpoint.parent, whole[:1000], "damaged"),
        (checkpoint.parent, (checkpoint.parent / WEIGHTS_NAME).read_bytes(), "format None"),
        (other.folder, whole, "does not fit the run's configuration"),
    ):
        (folder / CHECKPOINT_NAME).write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.safetensors: {message}"):
            PPORun.resume(folder, quiet)


def _tensor(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    return lambda tensors, _: tensors.update({name: change(tensors[name])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, notes: notes.update(starts="-7"), "starts is '-7'"),
        (lambda _, notes: notes.update(plies="9" * 40), "plies is "),
        (lambda _, notes: notes.update(plies="+5"), "plies is "),
        (lambda _, notes: notes.update(seconds="nan"), "seconds is nan"),
        (lambda _, notes: notes.pop("updates"), "'updates' is missing"),
        (lambda _, notes: notes.update({"random.numpy": "[" * 100_000}), "nested too deep"),
        (lambda _, notes: notes.update({"random.numpy": "[1, 2, 3, 4, 5]"}), "does not fit"),
        (lambda _, notes: notes.update({"random.python": "[3, [1], null]"}), "does not fit"),
        (lambda _, notes: notes.update({"random.python": "7"}), "does not fit"),
        (lambda tensors, _: tensors.pop("games.mover"), "'games.mover' is missing"),
        (_tensor("games.mover", lambda mover: mover + 2), "mover must be 0 to 1"),
        (_tensor("games.mover", lambda mover: mover.int()), "mover is int32 of shape"),
        (_tensor("games.scores", lambda scores: scores + 1), "make .* points, not the 70"),
        (_tensor("games.squares", lambda squares: squares[:5]), "squares is uint8 of shape"),
        (_tensor("games.ended", lambda ended: ended + 1), "games that are over"),
        (_tensor("games.first_ply", lambda ply: ply - 900), "first ply"),
        (_tensor("last_episode_starts", lambda starts: starts[:3]), "last_episode_starts is bool of shape"),
        (_tensor("random.torch", lambda state: state[:9]), "does not fit"),
        (_tensor("network.value.weight", lambda weight: weight * float("nan")), "value.weight is not finite"),
        (_tensor("optimizer.1.exp_avg", lambda moment: moment[:1]), "1.exp_avg has the shape"),
        (lambda tensors, _: tensors.update({"optimizer.999.step": torch.tensor(1.0)}), "does not fit"),
    ],
)
def test_a_checkpoint_that_says_what_cannot_be_is_refused(checkpoint: Path, change: Change, message: str) -> None:
    tensors, notes = unpack(checkpoint)
    change(tensors, notes)
    checkpoint.write_bytes(pack(tensors, notes))
    with pytest.raises(FileError, match=rf"checkpoint\.safetensors: .*{message}") as refused:
        PPORun.resume(checkpoint.parent, quiet)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "3",
        "[" * 100_000,
        '{"plies": ' + "9" * 5000 + "}",
        '{"plies": 1, "results": 7}',
        '{"plies": "1", "results": {}}',
    ],
)
def test_a_damaged_line_of_evaluations_is_named(tmp_path: Path, line: str) -> None:
    begin(tmp_path / "run").close()
    (tmp_path / "run" / EVALUATIONS_NAME).write_text('{"plies": 0, "results": {}}\n' + line + "\n")
    with pytest.raises(UsageError, match=r"evaluations\.jsonl: line 2 is damaged: .*delete it"):
        PPORun.resume(tmp_path / "run", quiet)


def test_a_damaged_description_of_a_run_is_named(tmp_path: Path) -> None:
    run = begin(tmp_path / "run")
    (tmp_path / "run" / RUN_NAME).write_text("- 3")
    with pytest.raises(UsageError, match=r"run\.yaml: expected"):
        learn(run)


HOLD = """
import sys, time, pathlib
from agents.networks.agent_files import WEIGHTS_NAME
from agents.support.folder_lock import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the run's folder."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, cwd=Path(train.__file__).parent, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_is_one_process_s_and_a_kill_sets_it_free(holder: subprocess.Popen[str], folder: Path) -> None:
    with pytest.raises(FileError, match=rf"{folder} is in use by process {holder.pid} on "):
        PPORun.resume(folder, quiet)
    assert train.main(["--resume", str(folder)]) == 2
    assert evaluate.main(["greedy", "random", "--pairs", "1", "--output", str(folder)]) == 2
    holder.kill()
    holder.wait()
    assert (folder / LOCK_NAME).exists()  # the lock of a killed run does not stop a resume
    assert PPORun.resume(folder, quiet).plies == 2 * ITERATION


def test_of_two_runs_begun_at_once_one_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = begin(folder)
    (folder / CONFIG_NAME).rename(folder / "hidden")  # as the second sees it before the first has written it
    with pytest.raises(FileError, match=f"process {os.getpid()}"):
        begin(folder)
    (folder / "hidden").rename(folder / CONFIG_NAME)
    learn(first)
    FolderLock(folder).release()


def test_what_a_kill_left_half_written_goes_at_the_next_start(folder: Path) -> None:
    left = folder / f".{CHECKPOINT_NAME}.abc{TEMPORARY}"
    left.write_bytes(b"half")
    PPORun.resume(folder, quiet)
    assert not left.exists()


def test_a_finished_run_can_be_made_longer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    learn(begin(folder, total_plies=ITERATION))
    assert train.main(["--resume", str(folder)]) == 0
    out = "".join(capsys.readouterr().out.split())  # whatever the width of the terminal
    assert f"totrainlonger:pythontrain.py--resume{folder}--total-plies{2 * ITERATION}" in out
    assert train.main(["--resume", str(folder), "--total-plies", str(3 * ITERATION)]) == 0
    assert load_config(folder / CONFIG_NAME).total_plies == 3 * ITERATION
    assert json.loads((folder / EVALUATIONS_NAME).read_text().splitlines()[-1])["plies"] == 3 * ITERATION
    assert train.main(["--resume", str(folder), "--total-plies", "5"]) == 2
    assert f"has {3 * ITERATION} plies already; --total-plies must be more" in capsys.readouterr().err


def test_plies_beyond_those_asked_for_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({**PPO, "total_plies": ITERATION + 1}))
    assert train.main(["--config", str(config), "--output", str(tmp_path / "run")]) == 0
    assert f"whole iterations make them {2 * ITERATION} plies" in capsys.readouterr().out
    assert PPORun.resume(tmp_path / "run", quiet).plies == 2 * ITERATION


def test_the_speed_is_that_since_the_start() -> None:
    clock = iter(range(100))
    bar = Progress(console=Console(), get_time=lambda: float(next(clock)))
    bar.add_task("training", total=1000, completed=600, begun=600)
    (task,) = bar.tasks
    assert train.PliesPerSecond().render(task).plain == ""
    bar.update(task.id, completed=1000)
    assert task.finished_time
    assert train.PliesPerSecond().render(task).plain == f"{400 / task.finished_time:,.0f} plies/s"


def test_tensorboard_does_not_step_back_after_a_kill(tmp_path: Path) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION, checkpoint_seconds=3600.0)
    kept = (folder / CHECKPOINT_NAME).read_bytes()
    with pytest.raises(StopTrainingError):
        learn(PPORun.resume(folder, quiet), 5 * ITERATION)
    (folder / CHECKPOINT_NAME).write_bytes(kept)  # as if killed instead of stopped
    time.sleep(1.1)  # TensorBoard orders files by the second in their names
    learn(PPORun.resume(folder, quiet))
    shown = EventAccumulator(str(folder / "tensorboard"))
    shown.Reload()
    steps = [event.step for event in shown.Scalars("train/loss")]
    assert len(steps) > 3
    assert steps == sorted(steps)


def test_a_second_interrupt_ends_without_a_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PPORun, "learn", interrupted)
    assert train.main(["--resume", str(folder)]) == 130
    assert "stopped at once; " in capsys.readouterr().out
