"""Training runs: resume after a kill at any moment, clean stops, learning, the command line."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors import safe_open
from safetensors.torch import load_file

import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.players.network_player import PPOPlayer
from agents.training.kinds import load_config, parse_config
from agents.training.ppo.config import TrainConfig
from agents.training.ppo.run import PPORun
from agents.training.run_folder import CHECKPOINT_NAME, EVALUATIONS_NAME, StopTrainingError
from agents.training.train_command import parse
from oanquan_env import Core
from oanquan_env.benchmark.pairs import play_pairs
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from oanquan_env.players import GreedyPolicy
from oanquan_env.playing import random_openings

ROOT = Path(__file__).parent.parent
PLAIN = {"name": "plain", "width": 8}
ITERATION = 32 * 8


def small_config(**changes: object) -> TrainConfig:
    """A configuration whose iterations take some milliseconds."""
    values: dict[str, object] = {
        "total_plies": 6 * ITERATION,
        "checkpoint_seconds": 1e-9,
        "network": {"embed": 2, "width": 8, "depth": 1},
        "starts": {"max_plies": 4},
        "ppo": {"n_envs": 32, "n_steps": 8, "batch_size": 64, "n_epochs": 2},
        "evaluation": {"every_plies": 2 * ITERATION, "pairs": 4, "opponents": ["random"]},
    }
    config = parse_config({**values, **changes}, "test")
    assert isinstance(config, TrainConfig)
    return config


def quiet(_: object) -> None:
    """No progress shown."""


def learn(run: PPORun, stop_at: int | None = None) -> None:
    run.learn(quiet, lambda: stop_at is not None and run.plies >= stop_at)


def weights(folder: Path) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in load_file(folder / WEIGHTS_NAME).items()}


def evaluations(folder: Path) -> list[dict[str, object]]:
    """All that was measured but the clock."""
    rows = [json.loads(line) for line in (folder / EVALUATIONS_NAME).read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def assert_same_run(a: Path, b: Path) -> None:
    assert (a / WEIGHTS_NAME).read_bytes() == (b / WEIGHTS_NAME).read_bytes()
    assert evaluations(a) == evaluations(b)
    mine, theirs = (load_file(folder / CHECKPOINT_NAME) for folder in (a, b))
    assert mine.keys() == theirs.keys()
    assert all((mine[name] == theirs[name]).all() for name in mine)
    assert checkpoint_notes(a) == checkpoint_notes(b)


def checkpoint_notes(folder: Path) -> dict[str, str]:
    """What a checkpoint notes beside its tensors, but the clock."""
    with safe_open(folder / CHECKPOINT_NAME, framework="np") as file:
        return {name: text for name, text in file.metadata().items() if name not in ("seconds", "digest")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    learn(PPORun.create(folder, small_config(), "test", quiet))
    return folder


@pytest.mark.parametrize("stop_at", [0, ITERATION, 2 * ITERATION, 5 * ITERATION])
def test_a_stopped_run_resumes_to_the_same_numbers(uninterrupted: Path, tmp_path: Path, stop_at: int) -> None:
    folder = tmp_path / "run"
    with pytest.raises(StopTrainingError):
        learn(PPORun.create(folder, small_config(), "test", quiet), stop_at)
    random.seed(99)  # whatever happens between the sittings
    run = PPORun.resume(folder, quiet)
    assert run.plies == stop_at
    learn(run)
    assert_same_run(uninterrupted, folder)


def test_a_finished_run_resumes_to_nothing_new(uninterrupted: Path) -> None:
    before = (uninterrupted / EVALUATIONS_NAME).read_text()
    run = PPORun.resume(uninterrupted, quiet)
    learn(run)
    assert run.plies == 6 * ITERATION
    assert (uninterrupted / EVALUATIONS_NAME).read_text() == before


def test_evaluations_past_the_checkpoint_are_made_again(uninterrupted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(StopTrainingError):
        learn(PPORun.create(folder, small_config(), "test", quiet), 2 * ITERATION)
    with (folder / EVALUATIONS_NAME).open("a") as file:
        file.write('{"plies": 99999, "results": {}}\n')
    learn(PPORun.resume(folder, quiet))
    assert_same_run(uninterrupted, folder)


@pytest.mark.slow
def test_a_run_killed_ten_times_loses_nothing(tmp_path: Path) -> None:
    settings = small_config(
        total_plies=300 * ITERATION, evaluation={"every_plies": 50 * ITERATION, "pairs": 4, "opponents": ["random"]}
    )
    whole, folder, config = tmp_path / "whole", tmp_path / "killed", tmp_path / "config.yaml"
    learn(PPORun.create(whole, settings, "test", quiet))
    config.write_text(settings.to_yaml())
    started = [sys.executable, "train.py", "--config", str(config), "--output", str(folder)]
    resumed = [sys.executable, "train.py", "--resume", str(folder)]
    checkpoint, moments, survived = folder / CHECKPOINT_NAME, random.Random(0), []
    for kill in range(10):
        command = resumed if (folder / "config.yaml").exists() else started
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 3:  # in the middle of training; the others fall anywhere, mostly into the start
            deadline, seen = time.monotonic() + 300, set[int]()
            while time.monotonic() < deadline and len(seen) < 4:  # the old one, one of where this goes on, two of more
                time.sleep(0.002)
                if checkpoint.exists():
                    seen.add(checkpoint.stat().st_mtime_ns)
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.wait()
        if checkpoint.exists():
            run = PPORun.resume(folder, quiet)
            survived.append(run.plies)
            run.close()
    assert survived == sorted(survived)
    assert len({plies for plies in survived if 0 < plies < settings.total_plies}) >= 4
    last = subprocess.run(resumed, cwd=ROOT, check=True, capture_output=True, text=True)
    assert "the agent is in" in last.stdout
    assert_same_run(whole, folder)


@pytest.mark.parametrize(
    ("number", "sweep"),
    [
        (signal.SIGINT, False),
        pytest.param(signal.SIGTERM, False, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, True, marks=pytest.mark.slow),
    ],
)
def test_a_signal_saves_and_stops(tmp_path: Path, number: signal.Signals, sweep: bool) -> None:
    output, config = tmp_path / "run", tmp_path / "config.yaml"
    folder = output / "seed-0" if sweep else output
    config.write_text(small_config(total_plies=10**9, checkpoint_seconds=3600.0).to_yaml())
    command = [sys.executable, "train.py", "--config", str(config), "--output", str(output)]
    command += ["--sweep", "0"] if sweep else []
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


def test_learning_beats_greedy_within_seconds(tmp_path: Path) -> None:
    """A threshold that neither random weights (about 25 %) nor greedy itself (50 %) reaches."""
    settings = {
        "total_plies": 60_000,
        "ppo": {"n_envs": 256, "n_steps": 16, "batch_size": 1024},
        "network": {"embed": 4, "width": 32, "depth": 2},
        "evaluation": {"every_plies": 10**9, "pairs": 2, "opponents": ["random"]},
    }
    run = PPORun.create(tmp_path / "run", parse_config(settings, "test"), "test", quiet)
    learn(run)
    core, rng = Core(), np.random.default_rng(0)
    openings = random_openings(core, 400, 4, rng)
    score = play_pairs(core, PPOPlayer(tmp_path / "run"), GreedyPolicy(core), openings, rng).score
    assert score.mean() > 0.58


def test_a_folder_that_holds_a_run_is_not_overwritten(uninterrupted: Path) -> None:
    with pytest.raises(UsageError, match="holds a run already: continue it with --resume"):
        PPORun.create(uninterrupted, small_config(), "test", quiet)


def test_resuming_what_is_no_run_or_damaged_is_refused(uninterrupted: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        PPORun.resume(tmp_path, quiet)
    folder = tmp_path / "run"
    with pytest.raises(StopTrainingError):
        learn(PPORun.create(folder, small_config(), "test", quiet), ITERATION)
    checkpoint = folder / CHECKPOINT_NAME
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(FileError, match=r"checkpoint\.safetensors: damaged"):
        PPORun.resume(folder, quiet)
    checkpoint.write_bytes((uninterrupted / WEIGHTS_NAME).read_bytes())
    with pytest.raises(FileError, match="format None"):
        PPORun.resume(folder, quiet)
    wider = small_config(network={"embed": 2, "width": 16, "depth": 1})
    (folder / "config.yaml").write_text(wider.to_yaml())
    checkpoint.write_bytes((uninterrupted / CHECKPOINT_NAME).read_bytes())
    with pytest.raises(FileError, match="does not fit the run's configuration"):
        PPORun.resume(folder, quiet)


@pytest.mark.parametrize(
    "changes",
    [{"network": PLAIN}, {"network": PLAIN, "reward": "outcome"}, {"network": PLAIN, "reward": "mixed"}],
)
def test_other_rewards_and_networks_train(tmp_path: Path, changes: dict[str, object]) -> None:
    config = small_config(total_plies=ITERATION, **changes)
    run = PPORun.create(tmp_path / "run", config, "test", quiet)
    before = {name: parameter.detach().numpy().copy() for name, parameter in run.network.named_parameters()}
    learn(run)
    assert any((before[name] != array).any() for name, array in weights(tmp_path / "run").items())
    player = PPOPlayer(tmp_path / "run")
    assert (player.card.reward, player.card.network) == (config.reward, config.network)


def test_a_run_shorter_than_an_iteration_ends_its_schedules_at_their_ends(tmp_path: Path) -> None:
    ppo = {"n_envs": 32, "n_steps": 8, "batch_size": 64, "learning_rate": 0.002, "learning_rate_end": 0.0005}
    run = PPORun.create(tmp_path / "run", small_config(total_plies=ITERATION // 3, ppo=ppo), "test", quiet)
    learn(run)
    assert run.model.policy.optimizer.param_groups[0]["lr"] == 0.0005
    assert run.model.ent_coef == run.config.ppo.ent_coef_end


def test_the_seed_decides_and_looking_does_not_change_the_run(uninterrupted: Path, tmp_path: Path) -> None:
    learn(PPORun.create(tmp_path / "other", small_config(seed=1), "test", quiet))
    assert any((weights(tmp_path / "other")[name] != array).any() for name, array in weights(uninterrupted).items())
    seldom = small_config(evaluation={"every_plies": 10**9, "pairs": 2, "opponents": ["random"]})
    learn(PPORun.create(tmp_path / "run", seldom, "test", quiet))
    assert len(evaluations(tmp_path / "run")) < len(evaluations(uninterrupted))
    assert all((weights(tmp_path / "run")[name] == array).all() for name, array in weights(uninterrupted).items())


@pytest.mark.parametrize(("network", "end"), [("plain", ""), ("two_ply", "the network looks two plies ahead)")])
def test_the_first_line_says_why_an_untrained_network_plays_well(network: str, end: str, tmp_path: Path) -> None:
    run = PPORun.create(tmp_path / "run", small_config(network={**PLAIN, "name": network}), "test", quiet)
    run.export()
    said = run.measure()[1]
    assert said.endswith(end)
    assert ("not trained yet" in said) == bool(end)


def test_a_diverged_run_stops_with_advice(tmp_path: Path) -> None:
    run = PPORun.create(tmp_path / "run", small_config(), "test", quiet)
    run.model.policy.network.value.weight.data[0, 0] = float("nan")
    with pytest.raises(UsageError, match=r"value\.weight is not finite after 0 plies.*smaller ppo\.learning_rate"):
        learn(run)
    assert not (tmp_path / "run" / CHECKPOINT_NAME).exists()


def test_a_policy_run_wild_stops_with_advice_too(tmp_path: Path) -> None:
    run = PPORun.create(tmp_path / "run", small_config(network=PLAIN), "test", quiet)
    for parameter in run.network.parameters():
        parameter.data *= 1e6
    with pytest.raises(UsageError, match=r"diverged: .*smaller ppo\.learning_rate"):
        learn(run)


def test_the_run_folder_tells_where_the_run_comes_from(uninterrupted: Path) -> None:
    made = yaml.safe_load((uninterrupted / "run.yaml").read_text())
    assert made["command"] == "test"
    assert set(made["versions"]) >= {"torch", "numpy", "sb3-contrib"}
    assert TrainConfig.model_validate(yaml.safe_load((uninterrupted / "config.yaml").read_text())) == small_config()
    assert list((uninterrupted / "tensorboard").iterdir())


def test_the_command_line_changes_single_fields() -> None:
    command = parse(["--config", "configs/quick.yaml", "--ppo.n-steps", "32", "--rules", "tonkin"])
    assert command.config == Path("configs/quick.yaml")
    assert (command.settings.ppo.n_steps, command.settings.rules) == (32, "tonkin")
    same = {"rules", "ppo"} ^ set(TrainConfig.model_fields)
    quick = load_config(command.config)
    assert command.settings.model_dump(include=same) == quick.model_dump(include=same)


@pytest.mark.slow
def test_a_run_s_folder_is_named_after_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(small_config(total_plies=ITERATION).to_yaml())
    assert train.main(["--config", "mine.yaml"]) == 0
    assert train.main(["--config", "mine.yaml", "--sweep", "4", "--jobs", "1"]) == 0
    assert (tmp_path / "runs" / "mine" / WEIGHTS_NAME).is_file()
    assert (tmp_path / "runs" / "mine-sweep" / "seed-4" / WEIGHTS_NAME).is_file()
