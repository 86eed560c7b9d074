"""Making value nets: positions, their values, the fit, runs that are killed, and the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import train
from agents.networks.value_net import ValueModule
from agents.search.deepening import Limits, Search
from agents.search.in_parts import search_part
from agents.support.folder_lock import FolderInUseError, FolderLock
from agents.support.npz import DamagedFileError
from agents.training.run_folder import RunError, StopTrainingError
from agents.training.value_net import labels
from agents.training.value_net.config import FitConfig, ValueConfig
from agents.training.value_net.fit import fit, net_inputs
from agents.training.value_net.labels import draw_positions, value_positions, valuer
from agents.training.value_net.run import ValueRun
from oanquan_env import Core, Positions, mirror
from oanquan_env.keys import canonical_keys, first_of_each
from oanquan_env.players.value_net import VALUE_NET_NAME, read_value_net
from tests.boards import random_positions

SMALL: dict[str, Any] = {
    "kind": "value",
    "rules": "mancala-world fields=3 seeds=3",
    "depths": [2, 1],
    "positions": [300, 300],
    "threads": 1,
    "fit": {"samples": 600, "batch_size": 64},
}


def run_in(folder: Path, said: list[str] | None = None) -> ValueRun:
    report = said.append if said is not None else lambda _: None
    return ValueRun.create(folder, ValueConfig.model_validate(SMALL), "python train.py", report)


def ignore(stage: str, done: float) -> None:
    pass


# ---- positions and values --------------------------------------------------------------------------------------------


def test_positions_are_different_running_and_none_of_those_that_agents_are_judged_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = Core("mancala-world fields=3 seeds=3")
    free = draw_positions(core, 300, 3, None, np.random.default_rng(0), threads=1)
    assert len(free) == 300
    assert not free.over.any()
    keys = canonical_keys(core, free)
    assert len(first_of_each(keys)) == 300
    monkeypatch.setattr(labels, "suite_keys", lambda core: keys[:100])
    kept = draw_positions(core, 300, 3, None, np.random.default_rng(0), threads=1)
    assert not np.isin(canonical_keys(core, kept), keys[:100]).any()
    assert np.isin(keys[100:], canonical_keys(core, kept)).any()


def test_a_game_of_few_positions_gives_those_there_are() -> None:
    core = Core("mancala-world fields=2 seeds=1 max_plies=3")
    positions = draw_positions(core, 5000, 0, None, np.random.default_rng(0), threads=1)
    assert 1 < len(positions) < 200


def test_values_are_those_of_the_search_here_and_at_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "CHUNK", 16)
    core = Core()
    net = ValueModule(core.rules).export({})
    positions = random_positions(core, 40, seed=1)
    for one in (None, net):
        found = Search(core, net=one).best_moves(positions, Limits(depth=3))
        values = list(value_positions(core, positions, 3, one, 1, None))
        assert [len(part) for part in values] == [16, 16, len(positions) - 32]
        assert np.concatenate(values).tolist() == [result.value for result in found]
        at_a_worker = search_part(valuer, str(core.rules), one.to_bytes() if one else None, 3, positions)
        assert at_a_worker.tolist() == [result.value for result in found]


# ---- the fit ---------------------------------------------------------------------------------------------------------


def test_a_fit_learns_what_depends_on_the_board_and_repeats_itself() -> None:
    core = Core()
    positions = random_positions(core, 3000, seed=2)
    inputs = net_inputs(core.rules, positions)
    assert (inputs[1] == net_inputs(core.rules, mirror(positions, core.rules))[0]).all()
    each = np.arange(len(positions))
    sides = positions.squares.reshape(-1, 2, 8)[:, :, :5].sum(axis=2, dtype=np.int16)
    values = (sides[each, positions.mover] - sides[each, 1 - positions.mover]).astype(np.int16)
    nets, errors = [], []
    for _ in range(2):
        torch.manual_seed(0)
        module = ValueModule(core.rules)
        config = FitConfig(samples=40 * len(positions), batch_size=128)
        errors.append(fit(module, inputs, values, config, np.random.default_rng(0), print))
        nets.append(module.export({}))
    assert errors[0] == errors[1] < 0.4 * values.std()
    assert nets[0].to_bytes() == nets[1].to_bytes()
    fresh = random_positions(core, 500, seed=9)
    own, other = (
        fresh.squares.reshape(-1, 2, 8)[np.arange(len(fresh)), seat, :5].sum(axis=1, dtype=float)
        for seat in (fresh.mover, 1 - fresh.mover)
    )
    assert np.abs(nets[0].values(fresh) - (own - other)).mean() < 0.4 * values.std()


def test_rules_that_no_mirror_keeps_are_not_mirrored() -> None:
    core = Core("tonkin")
    assert len(net_inputs(core.rules, core.start(3))) == 1


# ---- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    said: list[str] = []
    run_in(folder, said).learn(ignore, lambda: False)
    assert [line.partition(":")[0] for line in said] == ["generation 1", "generation 2"]
    return folder


def net_of(folder: Path) -> list[bytes]:
    net = read_value_net(folder, SMALL["rules"])
    return [net.embedding.tobytes(), net.hidden_weight.tobytes(), net.output_bias.tobytes()]


def test_a_run_makes_a_net_that_tells_how_it_was_made(whole_run: Path) -> None:
    net = read_value_net(whole_run, SMALL["rules"])
    assert net.origin["config"]["depths"] == [2, 1]
    assert net.origin["command"] == "python train.py"
    assert [row["generation"] for row in net.origin["generations"]] == [1, 2]
    assert net.origin["generations"][1]["positions"] == 300


def test_the_second_generation_is_valued_with_the_net_of_the_first(whole_run: Path) -> None:
    core = Core(SMALL["rules"])
    with np.load(whole_run / "generation-1" / "positions.npz") as data:
        positions = Positions(*(data[name] for name in data.files))
    net = read_value_net(whole_run / "generation-0", core.rules)
    found = Search(core, net=net).best_moves(positions, Limits(depth=1))
    assert np.load(whole_run / "generation-1" / "values.npy").tolist() == [result.value for result in found]


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("after", [1, 3, 4, 9, 12])
def test_a_run_killed_anywhere_comes_to_the_same_net(
    after: int, whole_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "CHUNK", 100)
    monkeypatch.setattr("agents.training.value_net.run.SAVE_SECONDS", 0.0)
    heard = 0

    def kill(stage: str, done: float) -> None:
        nonlocal heard
        heard += 1
        if heard == after:
            raise KilledError

    run = run_in(tmp_path / "run")
    with pytest.raises(KilledError):
        run.learn(kill, lambda: False)
    ValueRun(tmp_path / "run", run.config, lambda _: None).learn(ignore, lambda: False)
    assert net_of(tmp_path / "run") == net_of(whole_run)


@pytest.mark.parametrize("line", ["", "{}", "3", '{"generation": 7}', "[" * 100_000])
def test_a_damaged_line_of_evaluations_is_named(whole_run: Path, tmp_path: Path, line: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run, folder)
    path = folder / "evaluations.jsonl"
    first = path.read_text().splitlines()[0]
    path.write_text(f"{first}\n{line}\n")
    run = ValueRun(folder, ValueConfig.model_validate(SMALL), lambda _: None)
    with pytest.raises(RunError, match=r"evaluations\.jsonl: line 2 is damaged .*delete it to go on") as refused:
        run.learn(ignore, lambda: False)
    assert len(str(refused.value)) < 1000
    path.write_text(f"{first}\n")  # as told
    run.learn(ignore, lambda: False)
    assert [row["generation"] for row in run.evaluations()] == [1, 2]


@pytest.mark.parametrize("name", ["positions.npz", "values.npy"])
@pytest.mark.parametrize("damage", [lambda content: b"garbage", lambda content: content[:40], lambda content: b""])
def test_a_damaged_file_of_a_generation_is_named_and_can_be_made_again(
    whole_run: Path, tmp_path: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run, folder)
    (folder / "generation-1" / VALUE_NET_NAME).unlink()
    path = folder / "generation-1" / name
    path.write_bytes(damage(path.read_bytes()))
    run = ValueRun(folder, ValueConfig.model_validate(SMALL), lambda _: None)
    with pytest.raises(DamagedFileError, match=rf"{path}: not a file of .*; delete it to make it anew"):
        run.learn(ignore, lambda: False)
    path.unlink()  # as told
    run.learn(ignore, lambda: False)
    assert net_of(folder) == net_of(whole_run)


def test_a_run_that_is_asked_to_stop_stops_and_keeps_its_values(tmp_path: Path, whole_run: Path) -> None:
    run = run_in(tmp_path / "run")
    with pytest.raises(StopTrainingError):
        run.learn(ignore, lambda: True)
    assert len(np.load(tmp_path / "run" / "generation-0" / "values.npy")) == 300
    run.learn(ignore, lambda: False)
    assert net_of(tmp_path / "run") == net_of(whole_run)


def test_a_folder_with_a_run_is_not_begun_again(whole_run: Path) -> None:
    with pytest.raises(RunError, match=f"--resume {whole_run}"):
        run_in(whole_run)


def test_two_programs_do_not_work_in_one_folder(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    lock = FolderLock(tmp_path / "run")
    with pytest.raises(FolderInUseError, match="is in use by process"):
        run.learn(ignore, lambda: False)
    lock.release()


# ---- the command line ------------------------------------------------------------------------------------------------


def test_train_py_makes_a_value_net_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "value.yaml"
    config.write_text(yaml.safe_dump(SMALL))
    folder = tmp_path / "run"
    command = ["--config", str(config), "--output", str(folder), "--rules", "tonkin fields=3"]
    command += ["--positions", "200", "200"]
    assert train.main(command) == 0
    assert "net=" in capsys.readouterr().out
    assert read_value_net(folder, "tonkin fields=3").origin["config"]["positions"] == [200, 200]
    (folder / VALUE_NET_NAME).unlink()
    assert train.main(["--resume", str(folder), "--threads", "2"]) == 0
    assert read_value_net(folder, "tonkin fields=3").origin["config"]["positions"] == [200, 200]
    assert train.main(["--resume", str(folder), "--positions", "100", "100"]) == 2
    assert "only --threads and --ray go with it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "vietnamese refill=forfeit"}, "rules: value nets of two players are for refill=borrow"),
        ({"depths": []}, "depths"),
        ({"depths": [128]}, "depths.0"),
        ({"fit": {"learning_rate": 0}}, "fit.learning_rate"),
        ({"games": 3}, "games: unknown field"),
    ],
)
def test_impossible_configurations_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "value.yaml"
    config.write_text(yaml.safe_dump({**SMALL, **change}))
    assert train.main(["--config", str(config), "--output", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert str(config) in said
    assert message in said
    assert not (tmp_path / "run").exists()


def test_the_projects_configuration_is_the_default() -> None:
    values = yaml.safe_load((Path(__file__).parents[1] / "configs" / "value.yaml").read_text())
    assert ValueConfig.model_validate(values) == ValueConfig()


def test_help_all_shows_the_settings_of_a_value_net(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        train.main(["--config", "configs/value.yaml", "--help-all"])
    assert not ended.value.code
    assert "--fit.samples" in capsys.readouterr().out
