"""Test that PPO and TD runs resume after interruptions and failures, and refuse damaged files and wrong settings."""

import errno
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer.event_file_writer import AtomicCounter

import evaluate
import train
from agents.checkpoint import CHECKPOINT_NAME, CONFIG_NAME, EVALUATIONS_NAME
from agents.players.agent_files import WEIGHTS_NAME
from agents.ppo import PPORun
from agents.run import StopTrainingError, load_config
from oanquan_env.errors import UsageError
from oanquan_env.files import TEMPORARY, FileError
from tests import ROOT
from tests.helpers import Capture, Patch, runs
from tests.helpers.runs import ANY, ITERATION, PPO, TD, begin, learn, resume

KINDS = {"ppo": PPO, "td": TD, "any": ANY}
SLOW = {"any": pytest.mark.slow}
BEAMS: dict[str, Any] = {"starts": {"max_plies": 4, "beam_share": 0.5}, "rules": "mancala-world fields=2 max_plies=9"}


@pytest.fixture(
    scope="module", params=[pytest.param(one, id=name, marks=SLOW.get(name, ())) for name, one in KINDS.items()]
)
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
    runs.assert_same_run(whole, tmp_path / "run")


def test_tensorboard_shows_each_step_of_a_killed_run_once(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: Patch
) -> None:
    # TensorBoard reads files in the order of their names, which begin with the second and end with a count of the
    # process's files: within one second, it reads file 10 before file 9.
    monkeypatch.setattr("tensorboard.summary.writer.event_file_writer._global_uid", AtomicCounter(10))

    def shown() -> dict[str, list[int]]:
        events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
        return {tag: [event.step for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}

    def kill(plies: int) -> None:
        if plies == 5 * ITERATION:
            (train,) = {tuple(steps) for tag, steps in shown().items() if tag.startswith("train/")}
            assert train == tuple(range(ITERATION, 6 * ITERATION, ITERATION))  # a kill -9 would lose nothing
            raise InterruptedError

    runs.stopped(tmp_path / "run", 2 * ITERATION, settings=settings, checkpoint_seconds=1e9)
    with pytest.raises(InterruptedError):
        resume(tmp_path / "run").learn(kill, lambda: False)  # after three iterations and one evaluation
    learn(resume(tmp_path / "run"))
    evaluated = {*range(0, 6 * ITERATION, settings["evaluation"]["every_plies"]), 6 * ITERATION}
    for tag, steps in shown().items():
        trained = range(ITERATION, 7 * ITERATION, ITERATION)
        assert steps == sorted(evaluated if tag.startswith("evaluation/") else trained), tag


def test_a_run_that_learns_from_lines_against_itself_resumes_exactly(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("agents.run.BEAM_WIDTH", 2)
    monkeypatch.setattr("agents.run.BEAMS", 3)
    for name in ("whole", "run"):
        run = begin(tmp_path / name, settings, **BEAMS)
        if name == "run":
            with pytest.raises(StopTrainingError):
                learn(run, 3 * ITERATION)  # between two searches for lines
            run = resume(tmp_path / "run")
        learn(run)
        assert 0 < len(run.parts["games"].beams) < 2 * 2 * 9
    runs.assert_same_run(tmp_path / "whole", tmp_path / "run")


def test_a_finished_run_is_resumed_to_nothing_new_and_not_overwritten(settings: dict[str, Any], whole: Path) -> None:
    before = (whole / EVALUATIONS_NAME).read_text()
    run = resume(whole)
    learn(run)
    assert (run.plies, (whole / EVALUATIONS_NAME).read_text()) == (6 * ITERATION, before)
    with pytest.raises(UsageError, match="already holds a run: continue it with --resume"):
        begin(whole, settings)


def test_the_seed_decides_and_evaluations_change_nothing(settings: dict[str, Any], whole: Path, tmp_path: Path) -> None:
    learn(begin(tmp_path / "other", settings, seed=1))
    learn(begin(tmp_path / "seldom", settings, evaluation={**settings["evaluation"], "every_plies": 10**9}))
    assert len(runs.evaluations(tmp_path / "seldom")) < len(runs.evaluations(whole))
    assert runs.same(runs.checkpoint(tmp_path / "seldom"), runs.checkpoint(whole))
    assert not runs.same(runs.checkpoint(tmp_path / "other"), runs.checkpoint(whole))


def test_a_diverged_run_stops_with_advice(settings: dict[str, Any], tmp_path: Path) -> None:
    run = begin(tmp_path / "run", settings)
    next(run.network.parameters()).data.fill_(np.nan)
    with pytest.raises(UsageError, match=r"\S+ is not finite after 0 plies.*smaller learning rate"):
        learn(run)
    assert not (tmp_path / "run" / CHECKPOINT_NAME).exists()


@pytest.mark.parametrize(
    ("kind", "kills", "least"),
    [
        pytest.param(PPO, 10, 4, marks=pytest.mark.daily, id="ppo"),
        pytest.param(TD, 3, 2, marks=pytest.mark.slow, id="td"),
    ],
)
def test_a_run_killed_again_and_again_loses_nothing(kind: Any, kills: int, least: int, tmp_path: Path) -> None:
    """A run that is killed `kills` times, at `least` or more different ply counts, equals an uninterrupted run."""
    evaluation = {**kind["evaluation"], "every_plies": 50 * ITERATION}
    longer = {**kind, "total_plies": 300 * ITERATION, "evaluation": evaluation}
    whole, folder, moments, survived = tmp_path / "whole", tmp_path / "killed", random.Random(0), list[int]()
    learn(begin(whole, longer))
    for kill in range(kills):
        process = runs.start(folder, longer)
        if kill % 3:  # in the middle of training; other kills come at any time, mostly at startup
            runs.wait_for(folder, 3)
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.communicate()
        if (folder / CHECKPOINT_NAME).exists():
            run = resume(folder)
            survived.append(run.plies)
            run.close()
    assert survived == sorted(survived)
    assert len({plies for plies in survived if 0 < plies < longer["total_plies"]}) >= least
    runs.finish(runs.start(folder, longer))
    runs.assert_same_run(whole, folder)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "sweep"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_signal_saves_and_stops(tmp_path: Path, number: int, sweep: bool) -> None:
    folder = tmp_path / "run" / "seed-0" if sweep else tmp_path / "run"
    endless = {**PPO, "total_plies": 10**9, "checkpoint_seconds": 3600.0}
    process = runs.start(tmp_path / "run", endless, *(["--sweep", "0"] if sweep else []))
    runs.wait_until((folder / EVALUATIONS_NAME).exists)
    process.send_signal(number)
    shown, _ = runs.finish(process, 130)
    assert ("stopped; the same command resumes the sweep" if sweep else f"--resume {folder}") in shown
    assert (folder / CHECKPOINT_NAME).exists()


@pytest.mark.parametrize(
    ("settings", "changes", "message"),
    [
        (PPO, {"evaluation": {"opponents": ["greddy"]}}, r"evaluation\.opponents: .*greddy"),
        (PPO, {"device": "nonsense"}, "device: use cpu; torch cannot use 'nonsense': Expected one of cpu, cuda"),
        (PPO, {"rules": "mancala-world max_plies=4"}, "evaluation.opening_plies: 4 plies are too many"),
        (PPO, {**BEAMS, "rules": "three-player"}, r"starts\.beam_share: .* rules for two players"),
        (ANY, {"starts": {"beam_share": 0.5}}, "beam_share: lines that beat the network need one set of rules"),
        (ANY, {"workers": 7}, "games must be at least td.rule_sets for each worker"),
        (ANY, {"rules": "vietnamese refill=forfeit"}, "value nets need refill=borrow"),
        (ANY, {"rules": "anything"}, "unknown preset 'anything'"),
    ],
)
def test_what_would_fail_later_is_refused_at_once(
    tmp_path: Path, monkeypatch: Patch, settings: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr("oanquan_env.rollouts.MAX_FAILED_GAMES", 200)
    with pytest.raises(UsageError, match=message):
        begin(tmp_path / "run", settings, **changes)
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of a run of each kind that was stopped after two iterations."""
    parent = tmp_path_factory.mktemp("stopped")
    return {name: runs.stopped(parent / name, 2 * ITERATION, settings=one) for name, one in KINDS.items()}


@pytest.fixture
def folder(halves: dict[str, Path], tmp_path: Path) -> Path:
    """Return the folder of a stopped run, which is this test's own copy."""
    return shutil.copytree(halves["ppo"], tmp_path / "stopped")


def test_a_changed_byte_of_a_checkpoint_s_numbers_is_noticed(folder: Path) -> None:
    path, places = folder / CHECKPOINT_NAME, random.Random(0)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if one.file_size > 100]
    for member in members:
        content = bytearray(whole)
        start = member.header_offset + 30 + len(member.filename)
        start += int.from_bytes(whole[member.header_offset + 28 : member.header_offset + 30], "little")  # extra field
        content[start + places.randrange(member.file_size)] ^= 1 << places.randrange(8)
        path.write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: .*{member.filename} is damaged"):
            resume(folder)


class Exploit:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("exploded"),)


def test_what_is_no_checkpoint_is_refused_and_runs_no_code(folder: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    whole, stranger = (folder / CHECKPOINT_NAME).read_bytes(), io.BytesIO()
    torch.save({"plies": Exploit()}, stranger)
    other = begin(tmp_path / "wider", network={"embed": 2, "width": 16, "depth": 1})
    other.close()
    for place, content, message in (
        (folder, whole[:1000], "not a zip file"),
        (folder, (folder / WEIGHTS_NAME).read_bytes(), "not a zip file"),
        (folder, stranger.getvalue(), "Weights only load failed"),
        (other.folder, whole, "size mismatch"),
    ):
        (place / CHECKPOINT_NAME).write_bytes(content)
        with pytest.raises(FileError, match=rf"checkpoint\.pt: no checkpoint of this run: .*{message}"):
            resume(place)
    assert not (tmp_path / "exploded").exists()


IMPOSSIBLE = "holds impossible positions or targets"


@pytest.mark.parametrize(
    ("kind", "entry", "change", "message"),
    [
        ("ppo", ("games", "mover"), lambda mover: mover + 2, "mover must be 0 to 1"),
        ("ppo", ("games", "scores"), lambda scores: scores + 1, "make .* points, not the 70"),
        ("ppo", ("games", "squares"), lambda squares: squares[:5], "its number of games or its rules differ"),
        ("ppo", ("games", "ended"), lambda ended: ended + 1, "finished games or impossible"),
        ("ppo", ("random", "torch"), lambda state: state[:9], "RNG state size to be 9"),
        ("ppo", ("network", "value.weight"), lambda weight: weight * float("nan"), "value.weight is not finite"),
        ("td", ("learner", "replay", 1), lambda columns: (columns[0] - 1000, columns[1]), IMPOSSIBLE),
        ("td", ("learner", "replay", 1), lambda columns: (columns[0], columns[1] / 0), IMPOSSIBLE),
        ("any", ("learner", "replay", 1), lambda columns: (columns[0] + 1, *columns[1:]), IMPOSSIBLE),
        ("any", ("learner", "replay", 1), lambda columns: (columns[0], columns[1] + 12, columns[2]), IMPOSSIBLE),
        ("any", ("learner", "replay", 1), lambda columns: (*columns[:2], columns[2] / 0), IMPOSSIBLE),
    ],
)
def test_what_cannot_be_resumed_is_named(
    halves: dict[str, Path], tmp_path: Path, kind: str, entry: Any, change: Callable[[Any], Any], message: str
) -> None:
    folder = shutil.copytree(halves[kind], tmp_path / "run")
    state = part = torch.load(folder / CHECKPOINT_NAME, weights_only=True)
    for name in entry[:-1]:
        part = part[name]
    part[entry[-1]] = change(part[entry[-1]])
    torch.save(state, folder / CHECKPOINT_NAME)
    with pytest.raises(UsageError, match=message):
        resume(folder)


@pytest.mark.parametrize("line", ['{"plies": 3', "[" * 100_000, '{"plies": "1", "results": {}}'], ids=range(3))
def test_a_damaged_line_of_evaluations_is_named(line: str, tmp_path: Path) -> None:
    begin(tmp_path / "run").close()
    (tmp_path / "run" / EVALUATIONS_NAME).write_text('{"plies": 0, "results": {}}\n' + line + "\n")
    with pytest.raises(UsageError, match=r"evaluations\.jsonl: line 2 is damaged: .*delete it"):
        resume(tmp_path / "run")


def test_a_run_is_one_process_s_and_a_kill_sets_it_free(folder: Path) -> None:
    hold = "import sys, time, pathlib, agents.folders as locks\n"
    hold += "lock = locks.lock_folder(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    command = [sys.executable, "-c", hold, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        try:
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


def test_a_full_disk_leaves_the_last_checkpoint(folder: Path, monkeypatch: Patch, capsys: Capture) -> None:
    before = {name: (folder / name).read_bytes() for name in (CHECKPOINT_NAME, WEIGHTS_NAME)}
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("oanquan_env.files.os.fsync", Mock(side_effect=full))
    assert train.main(["--resume", str(folder)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not list(folder.glob(f".*{TEMPORARY}"))  # no partly written files remain


def test_threads_are_for_one_session(folder: Path) -> None:
    threads = torch.get_num_threads()
    try:
        run = resume(folder, threads=2)
        assert (torch.get_num_threads(), run.plies) == (2, 2 * ITERATION)
        learn(run)
    finally:
        torch.set_num_threads(threads)
    assert load_config(folder / CONFIG_NAME).threads == 1
    with pytest.raises(UsageError, match=r"command line: threads: must be greater than or equal to 0 \(got -1\)"):
        resume(folder, threads=-1)
    run = resume(folder, threads="auto")
    assert run.config.threads in (1, 2, 4)
    run.close()
