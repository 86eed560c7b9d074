"""Test that PPO and TD runs resume after interruptions and failures, and refuse damaged files and wrong settings."""

import errno
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import evaluate
import train
from agents.checkpoint import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME, RUN_NAME
from agents.players.agent_files import WEIGHTS_NAME
from agents.ppo import PPORun
from agents.run import StopTrainingError, load_config
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY, FileError
from tests import ROOT
from tests.helpers.runs import (
    ANY,
    ITERATION,
    PPO,
    TD,
    assert_same_run,
    begin,
    checkpoint,
    evaluations,
    learn,
    resume,
    same,
    stopped,
)

Patch, Capture = pytest.MonkeyPatch, pytest.CaptureFixture[str]


def start_training(*arguments: object, **streams: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "train.py", *map(str, arguments)], cwd=ROOT, text=True, **streams)


@pytest.fixture(scope="module", params=[PPO, TD, ANY], ids=["ppo", "td", "any"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def whole(settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run without interruption and return its folder."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    learn(begin(folder, settings))
    return folder


@pytest.mark.parametrize(("kind", "at"), [("stop", [1, 5]), ("kill", [0]), ("kill", [3])])
def test_interrupted_runs_resume_exactly(kind: str, at: list[int], settings: Any, whole: Path, tmp_path: Path) -> None:
    def kill(plies: int) -> None:
        if plies == at[0] * ITERATION:
            raise InterruptedError

    run = begin(tmp_path / "run", settings)
    for number in at:
        with pytest.raises((InterruptedError, StopTrainingError)):
            run.learn(kill, lambda: False) if kind == "kill" else learn(run, number * ITERATION)
        random.seed(99)  # other code may use the generator before the run resumes
        with (tmp_path / "run" / EVALUATIONS_NAME).open("a") as file:
            file.write('{"plies": 99999, "results": {}}\n')  # later than the checkpoint, so it is measured again
        run = resume(tmp_path / "run")
        assert run.plies == number * ITERATION or kind == "kill"
    learn(run)
    assert_same_run(whole, tmp_path / "run")


def test_tensorboard_shows_each_step_of_a_killed_run_once(settings: dict[str, Any], tmp_path: Path) -> None:
    def shown() -> dict[str, list[int]]:
        events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
        return {tag: [event.step for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}

    def kill(plies: int) -> None:
        if plies == 5 * ITERATION:
            (train,) = {tuple(steps) for tag, steps in shown().items() if tag.startswith("train/")}
            assert train == tuple(range(ITERATION, 6 * ITERATION, ITERATION))  # a kill -9 would lose nothing
            raise InterruptedError

    stopped(tmp_path / "run", 2 * ITERATION, settings=settings, checkpoint_seconds=1e9)
    with pytest.raises(InterruptedError):
        resume(tmp_path / "run").learn(kill, lambda: False)  # after three iterations and one evaluation
    learn(resume(tmp_path / "run"))
    evaluated = {*range(0, 6 * ITERATION, settings["evaluation"]["every_plies"]), 6 * ITERATION}
    for tag, steps in shown().items():
        trained = range(ITERATION, 7 * ITERATION, ITERATION)
        assert steps == sorted(evaluated if tag.startswith("evaluation/") else trained), tag


def test_a_run_that_learns_from_lines_against_itself_resumes_exactly(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.run.BEAM_WIDTH", 2)
    monkeypatch.setattr("agents.run.BEAMS", 3)
    own: dict[str, Any] = {"starts": {"max_plies": 4, "beam_share": 0.5}, "rules": "mancala-world fields=2 max_plies=9"}
    for name in ("whole", "run"):
        run = begin(tmp_path / name, settings, **own)
        if name == "run":
            with pytest.raises(StopTrainingError):
                learn(run, 3 * ITERATION)  # between two searches for lines
            run = resume(tmp_path / "run")
        learn(run)
        assert 0 < len(run.parts["games"].beams) < 2 * 2 * 9
    assert_same_run(tmp_path / "whole", tmp_path / "run")
    with pytest.raises(UsageError, match=r"starts\.beam_share: .* rules for two players"):
        begin(tmp_path / "three", PPO, **{**own, "rules": "three-player"})


def test_a_finished_run_is_resumed_to_nothing_new_and_not_overwritten(settings: dict[str, Any], whole: Path) -> None:
    before = (whole / EVALUATIONS_NAME).read_text()
    run = resume(whole)
    learn(run)
    assert (run.plies, (whole / EVALUATIONS_NAME).read_text()) == (6 * ITERATION, before)
    with pytest.raises(UsageError, match="already holds a run: continue it with --resume"):
        begin(whole, settings)
    made = yaml.safe_load((whole / RUN_NAME).read_text())
    assert made["command"] == "python train.py"
    assert set(made["versions"]) >= {"torch", "numpy", "sb3-contrib"}
    config = load_config(whole / CONFIG_NAME)
    assert (config.kind, config.total_plies) == (settings.get("kind", "ppo"), 6 * ITERATION)


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
@pytest.mark.parametrize(("kind", "kills", "least"), [(PPO, 10, 4), (TD, 3, 2)], ids=["ppo", "td"])
def test_a_run_killed_again_and_again_loses_nothing(kind: Any, kills: int, least: int, tmp_path: Path) -> None:
    """A run that is killed `kills` times, at `least` or more different ply counts, equals an uninterrupted run."""
    evaluation = {**kind["evaluation"], "every_plies": 50 * ITERATION}
    longer = {**kind, "total_plies": 300 * ITERATION, "evaluation": evaluation}
    whole, folder, config = tmp_path / "whole", tmp_path / "killed", tmp_path / "config.yaml"
    learn(begin(whole, longer))
    config.write_text(yaml.safe_dump(longer))
    moments, survived = random.Random(0), []
    for kill in range(kills):
        started = (folder / CONFIG_NAME).exists()
        arguments = ("--resume", folder) if started else ("--config", config, "--output", folder)
        process = start_training(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 3:  # in the middle of training; other kills come at any time, mostly at startup
            deadline, seen = time.monotonic() + 300, set[int]()
            while time.monotonic() < deadline and len(seen) < 4:  # the old one, one at resumption, two more
                time.sleep(0.002)
                seen |= {path.stat().st_mtime_ns for path in folder.glob(CHECKPOINT_NAME)}
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.wait()
        if (folder / CHECKPOINT_NAME).exists():
            run = resume(folder)
            survived.append(run.plies)
            run.close()
    assert survived == sorted(survived)
    assert len({plies for plies in survived if 0 < plies < longer["total_plies"]}) >= least
    assert start_training("--resume", folder, stdout=subprocess.DEVNULL).wait() == 0
    assert_same_run(whole, folder)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "sweep"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_signal_saves_and_stops(tmp_path: Path, number: int, sweep: bool) -> None:
    output, config = tmp_path / "run", tmp_path / "config.yaml"
    folder = output / "seed-0" if sweep else output
    config.write_text(yaml.safe_dump({**PPO, "total_plies": 10**9, "checkpoint_seconds": 3600.0}))
    arguments = ("--config", config, "--output", output, *(["--sweep", "0"] if sweep else []))
    process = start_training(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 300
    while not (folder / EVALUATIONS_NAME).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    shown, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert ("stopped; the same command resumes the sweep" if sweep else f"--resume {folder}") in shown.replace("\n", "")
    assert "Traceback" not in errors
    assert (folder / CHECKPOINT_NAME).exists()


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    folder = stopped(tmp_path / "run", 2 * ITERATION)
    before = {name: (folder / name).read_bytes() for name in (CHECKPOINT_NAME, WEIGHTS_NAME)}
    with monkeypatch.context() as patch:
        patch.setattr("oanquan_env.files.os.fsync", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        assert train.main(["--resume", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not list(folder.glob(f".*{TEMPORARY}"))  # no partly written files remain
    threads = torch.get_num_threads()
    try:
        run = resume(folder, threads=2)  # overrides the configuration until the run stops
        assert (torch.get_num_threads(), run.plies) == (2, 2 * ITERATION)
        learn(run)
    finally:
        torch.set_num_threads(threads)
    assert yaml.safe_load((folder / CONFIG_NAME).read_text())["threads"] == 1
    with pytest.raises(UsageError, match=r"command line: threads: must be greater than or equal to 0 \(got -1\)"):
        resume(folder, threads=-1)
    run = resume(folder, threads="auto")
    assert run.config.threads in (1, 2, 4)
    run.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluation": {"opponents": ["greddy"]}}, r"evaluation\.opponents: .*greddy"),
        ({"device": "nonsense"}, "device: use cpu; torch cannot use 'nonsense': Expected one of cpu, cuda"),
        ({"rules": "mancala-world max_plies=4"}, "evaluation.opening_plies: 4 plies are too many"),
    ],
)
def test_what_would_fail_later_is_refused_at_once(
    tmp_path: Path, monkeypatch: Patch, changes: Any, message: str
) -> None:
    monkeypatch.setattr("oanquan_env.rollouts.MAX_FAILED_GAMES", 200)
    with pytest.raises(UsageError, match=message):
        begin(tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that was stopped after two iterations."""
    return stopped(tmp_path_factory.mktemp("stopped") / "run", 2 * ITERATION)


@pytest.fixture
def kept(folder: Path) -> Iterator[Path]:
    """Yield the path of the stopped run's checkpoint, and restore its content afterwards."""
    path = folder / CHECKPOINT_NAME
    content = path.read_bytes()
    yield path
    path.write_bytes(content)


def test_a_changed_byte_of_a_checkpoint_s_numbers_is_noticed(kept: Path) -> None:
    whole, places = kept.read_bytes(), random.Random(0)
    with zipfile.ZipFile(kept) as archive:
        members = [one for one in archive.infolist() if one.file_size > 100]
    for member in members:
        content = bytearray(whole)
        start = member.header_offset + 30 + len(member.filename)
        start += int.from_bytes(whole[member.header_offset + 28 : member.header_offset + 30], "little")  # extra field
        content[start + places.randrange(member.file_size)] ^= 1 << places.randrange(8)
        kept.write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: .*{member.filename} is damaged"):
            resume(kept.parent)


class Exploit:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("exploded"),)


def test_what_is_no_checkpoint_is_refused_and_runs_no_code(kept: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    whole, stranger = kept.read_bytes(), io.BytesIO()
    torch.save({"plies": Exploit()}, stranger)
    other = begin(tmp_path / "wider", network={"embed": 2, "width": 16, "depth": 1})
    other.close()
    for folder, content, message in (
        (kept.parent, whole[:1000], "not a zip file"),
        (kept.parent, (kept.parent / WEIGHTS_NAME).read_bytes(), "not a zip file"),
        (kept.parent, stranger.getvalue(), "Weights only load failed"),
        (other.folder, whole, "size mismatch"),
    ):
        (folder / CHECKPOINT_NAME).write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: no checkpoint of this run: .*{message}"):
            resume(folder)
    assert not (tmp_path / "exploded").exists()


def test_what_cannot_be_resumed_is_named(kept: Path) -> None:
    whole = kept.read_bytes()
    changes: list[tuple[str, str, Callable[[torch.Tensor], torch.Tensor], str]] = [
        ("games", "mover", lambda mover: mover + 2, "mover must be 0 to 1"),
        ("games", "scores", lambda scores: scores + 1, "make .* points, not the 70"),
        ("games", "squares", lambda squares: squares[:5], "its number of games or its rules differ"),
        ("games", "ended", lambda ended: ended + 1, "finished games or impossible"),
        ("random", "torch", lambda state: state[:9], "RNG state size to be 9"),
        ("network", "value.weight", lambda weight: weight * float("nan"), "value.weight is not finite"),
    ]
    for part, name, change, message in changes:
        state = torch.load(io.BytesIO(whole), weights_only=True)
        state[part][name] = change(state[part][name])
        torch.save(state, kept)
        with pytest.raises(UsageError, match=message):
            resume(kept.parent)


def test_a_damaged_line_of_evaluations_is_named(tmp_path: Path) -> None:
    begin(tmp_path / "run").close()
    for line in ('{"plies": 3', "[" * 100_000, '{"plies": "1", "results": {}}'):
        (tmp_path / "run" / EVALUATIONS_NAME).write_text('{"plies": 0, "results": {}}\n' + line + "\n")
        with pytest.raises(UsageError, match=r"evaluations\.jsonl: line 2 is damaged: .*delete it"):
            resume(tmp_path / "run")


def test_a_run_is_one_process_s_and_a_kill_sets_it_free(folder: Path) -> None:
    hold = "import sys, time, pathlib, agents.folders as locks\n"
    hold += "lock = locks.lock_folder(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    command = [sys.executable, "-c", hold, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(FileError, match=rf"{folder} is in use by another program"):
                resume(folder)
            assert train.main(["--resume", str(folder)]) == 2
            assert evaluate.main(["greedy", "random", "--pairs", "1", "--output", str(folder)]) == 2
        finally:
            holder.kill()
    left = folder / f".{CHECKPOINT_NAME}.abc{TEMPORARY}"
    left.write_bytes(b"half written")
    assert resume(folder).plies == 2 * ITERATION
    assert not left.exists()


def test_a_finished_run_can_be_made_longer(tmp_path: Path, capsys: Capture) -> None:
    folder, config = tmp_path / "run", tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({**PPO, "total_plies": ITERATION + 1}))
    assert train.main(["--config", str(config), "--output", str(folder)]) == 0
    assert f"rounded up to whole iterations: {2 * ITERATION} plies" in capsys.readouterr().out
    assert train.main(["--resume", str(folder)]) == 0
    out = "".join(capsys.readouterr().out.split())  # independent of line breaks
    assert f"totrainlonger:pythontrain.py--resume{folder}--total-plies{4 * ITERATION}" in out
    assert train.main(["--resume", str(folder), "--total-plies", str(3 * ITERATION)]) == 0
    assert load_config(folder / CONFIG_NAME).total_plies == 3 * ITERATION
    assert json.loads((folder / EVALUATIONS_NAME).read_text().splitlines()[-1])["plies"] == 3 * ITERATION
    assert train.main(["--resume", str(folder), "--total-plies", "5"]) == 2
    assert f"has already played {3 * ITERATION} plies; --total-plies must not be less" in capsys.readouterr().err


def test_a_second_interrupt_ends_without_a_traceback(folder: Path, monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(PPORun, "learn", Mock(side_effect=KeyboardInterrupt))
    assert train.main(["--resume", str(folder)]) == 130
    assert "stopped at once; " in capsys.readouterr().out
