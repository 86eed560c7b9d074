"""Runs that are damaged, killed, told to stop, made longer, or begun twice at once."""

import io
import json
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import evaluate
import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.ppo import PPORun
from agents.run import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME, StopTrainingError, load_config
from agents.support.folder_lock import lock_folder
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY, FileError
from tests.runs import ITERATION, PPO, begin, learn, resume, stopped


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


def test_a_changed_byte_of_a_checkpoint_s_numbers_is_noticed(checkpoint: Path) -> None:
    whole, places = checkpoint.read_bytes(), random.Random(0)
    with zipfile.ZipFile(checkpoint) as archive:
        members = [one for one in archive.infolist() if one.file_size > 100]
    for member in members:
        content = bytearray(whole)
        start = member.header_offset + 30 + len(member.filename)
        start += int.from_bytes(whole[member.header_offset + 28 : member.header_offset + 30], "little")  # extra field
        content[start + places.randrange(member.file_size)] ^= 1 << places.randrange(8)
        checkpoint.write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: .*{member.filename} is damaged"):
            resume(checkpoint.parent)


class Exploit:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("exploded"),)


def test_a_file_that_is_no_checkpoint_of_the_run_is_refused_and_runs_no_code(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, stranger = checkpoint.read_bytes(), io.BytesIO()
    torch.save({"plies": Exploit()}, stranger)
    other = begin(tmp_path / "wider", network={"embed": 2, "width": 16, "depth": 1})
    other.close()
    for folder, content, message in (
        (checkpoint.parent, whole[:1000], "not a zip file"),
        (checkpoint.parent, (checkpoint.parent / WEIGHTS_NAME).read_bytes(), "not a zip file"),
        (checkpoint.parent, stranger.getvalue(), "Weights only load failed"),
        (other.folder, whole, "size mismatch"),
    ):
        (folder / CHECKPOINT_NAME).write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: no checkpoint of this run: .*{message}"):
            resume(folder)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("part", "name", "change", "message"),
    [
        ("games", "mover", lambda mover: mover + 2, "mover must be 0 to 1"),
        ("games", "mover", lambda mover: mover.int(), "of another number or of other rules"),
        ("games", "scores", lambda scores: scores + 1, "make .* points, not the 70"),
        ("games", "squares", lambda squares: squares[:5], "of another number or of other rules"),
        ("games", "ended", lambda ended: ended + 1, "games that are over"),
        ("games", "first_ply", lambda ply: ply[:3], "cannot reshape"),
        ("random", "torch", lambda state: state[:9], "RNG state size to be 9"),
        ("network", "value.weight", lambda weight: weight * float("nan"), "value.weight is not finite"),
    ],
)
def test_what_cannot_be_resumed_is_named(
    checkpoint: Path, part: str, name: str, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    state = torch.load(checkpoint, weights_only=True)
    state[part][name] = change(state[part][name])
    torch.save(state, checkpoint)
    with pytest.raises(UsageError, match=message):
        resume(checkpoint.parent)


@pytest.mark.parametrize("line", ['{"plies": 3', "[]", "3", "[" * 100_000, '{"plies": "1", "results": {}}'])
def test_a_damaged_line_of_evaluations_is_named(tmp_path: Path, line: str) -> None:
    begin(tmp_path / "run").close()
    (tmp_path / "run" / EVALUATIONS_NAME).write_text('{"plies": 0, "results": {}}\n' + line + "\n")
    with pytest.raises(UsageError, match=r"evaluations\.jsonl: line 2 is damaged: .*delete it"):
        resume(tmp_path / "run")


HOLD = """
import sys, time, pathlib
from agents.support.folder_lock import lock_folder
lock = lock_folder(pathlib.Path(sys.argv[1]))
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
    with pytest.raises(FileError, match=rf"{folder} is in use by another program"):
        resume(folder)
    assert train.main(["--resume", str(folder)]) == 2
    assert evaluate.main(["greedy", "random", "--pairs", "1", "--output", str(folder)]) == 2
    holder.kill()
    holder.wait()
    assert resume(folder).plies == 2 * ITERATION


def test_of_two_runs_begun_at_once_one_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = begin(folder)
    (folder / CONFIG_NAME).rename(folder / "hidden")  # as the second sees it before the first has written it
    with pytest.raises(FileError, match="in use by another program"):
        begin(folder)
    (folder / "hidden").rename(folder / CONFIG_NAME)
    learn(first)
    lock_folder(folder).lock.release()


def test_what_a_kill_left_half_written_goes_at_the_next_start(folder: Path) -> None:
    left = folder / f".{CHECKPOINT_NAME}.abc{TEMPORARY}"
    left.write_bytes(b"half")
    resume(folder)
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
    assert f"rounded up to whole iterations: {2 * ITERATION} plies" in capsys.readouterr().out
    assert resume(tmp_path / "run").plies == 2 * ITERATION


def test_tensorboard_does_not_step_back_after_a_kill(tmp_path: Path) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION, checkpoint_seconds=3600.0)
    kept = (folder / CHECKPOINT_NAME).read_bytes()
    with pytest.raises(StopTrainingError):
        learn(resume(folder), 5 * ITERATION)
    (folder / CHECKPOINT_NAME).write_bytes(kept)  # as if killed instead of stopped
    time.sleep(1.1)  # TensorBoard orders files by the second in their names
    learn(resume(folder))
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
