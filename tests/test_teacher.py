"""Search as the critic's teacher: its targets, its steps, and runs that have one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.networks.agent_files import read_card
from agents.networks.value_net import ValueModule
from agents.search.deepening import Limits, Search
from agents.support.strict_yaml import ConfigError
from agents.training.config import TeacherConfig, TrainConfig, parse_config
from agents.training.run import TrainingRun
from agents.training.run_folder import StopTrainingError
from agents.training.selfplay import RandomStarts
from agents.training.teacher import Teacher
from oanquan_env import Core, Positions
from oanquan_env.benchmark.suites import load_suite
from oanquan_env.keys import are_among, canonical_keys, first_of_each
from oanquan_env.players.value_net import VALUE_NET_NAME, ValueNet
from tests.test_lookahead import make, some_positions
from tests.test_training import assert_same_run, learn, quiet

ITERATION = 16 * 4


def some_net() -> ValueNet:
    torch.manual_seed(3)
    return ValueModule(Core().rules).export({})


def teach(times: int, **changes: object) -> tuple[Teacher, list[float]]:
    core = Core()
    settings = {"depths": [4], "positions": 512, "replay": 1024, "minibatches": 20, "batch_size": 256, **changes}
    features, network = make(core, width=32, leaf_width=16, net=settings.pop("net", None))
    teacher = Teacher(TeacherConfig.model_validate(settings), network, features.moves, seed=0, threads=1)
    return teacher, [teacher.teach(some_positions(core, 64, seed), 0.0)["rmse"] for seed in range(times)]


def test_values_are_right_and_the_newest_are_kept() -> None:
    teacher, _ = teach(3)
    assert len(teacher.positions) == len(teacher.values) == 1024
    assert len(first_of_each(canonical_keys(teacher.core, teacher.positions[slice(-512, None)]))) == 512
    assert not teacher.positions.over.any()
    rows = np.arange(0, 1024, 64)
    searched = Search(teacher.core, threads=1).values(teacher.positions[rows], 4)
    assert (np.nan_to_num(searched, nan=-np.inf).max(axis=1) == teacher.values[rows]).all()


def test_values_can_be_those_of_a_search_with_a_net(tmp_path: Path) -> None:
    net = some_net()
    (tmp_path / VALUE_NET_NAME).write_bytes(net.to_bytes())
    teacher, _ = teach(1, net=str(tmp_path), depths=[2], minibatches=1)
    searched = Search(teacher.core, threads=1, net=net).best_moves(teacher.positions, Limits(depth=2))
    assert [found.value for found in searched] == teacher.values.tolist()
    plain = Search(teacher.core, threads=1).best_moves(teacher.positions, Limits(depth=2))
    assert [found.value for found in plain] != teacher.values.tolist()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_positions_come_from_mixed_games_in_the_share_asked_for(share: float) -> None:
    core = Core()
    teacher, _ = teach(0, mixed_share=share, random_plies=0, depths=[1], minibatches=1)
    visited = RandomStarts(core, set_up_share=0, max_plies=24, seed=1).draw(2000)
    teacher.teach(visited, 0.0)
    keys = canonical_keys(core, teacher.positions)
    assert 300 < len(keys) == len(np.unique(keys)) <= 512
    # a mixed game may meet one of these positions too, now and then
    assert 1 - share - 0.05 <= np.isin(keys, canonical_keys(core, visited)).mean() < 1 - share + 0.15


def test_what_is_remembered_is_not_valued_again() -> None:
    teacher, _ = teach(0, random_plies=0, depths=[1], minibatches=1)
    visited = some_positions(teacher.core, 300)
    teacher.teach(visited, 0.0)
    known = len(teacher.positions)
    assert known > 100
    teacher.teach(Positions.concatenate([visited, some_positions(teacher.core, 100, seed=9)]), 0.0)
    keys = canonical_keys(teacher.core, teacher.positions)
    assert known < len(keys) == len(np.unique(keys))


FEW_HASHES = st.lists(st.sampled_from([0, 1, 2, 2**63, 2**64 - 2, 2**64 - 1])).map(lambda it: np.array(it, np.uint64))


@given(FEW_HASHES, FEW_HASHES)
def test_hashes_are_found_among_others(hashes: npt.NDArray[np.uint64], others: npt.NDArray[np.uint64]) -> None:
    assert (are_among(hashes, np.sort(others)) == np.isin(hashes, others)).all()


def test_the_error_on_fresh_positions_is_that_before_they_are_taught() -> None:
    core = Core()
    teacher, _ = teach(0, depths=[1], positions=256)
    before = {name: tensor.clone() for name, tensor in teacher.network.state_dict().items()}
    figures = teacher.teach(some_positions(core, 300), 0.0)
    teacher.network.load_state_dict(before)
    with torch.no_grad():
        found, _ = teacher.network.values(torch.from_numpy(teacher.features.encode(teacher.positions)))
    errors = found[:, 0].numpy() / teacher.network.reward_scale - teacher.values
    assert figures["fresh_rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-4)
    assert figures["rmse"] < figures["fresh_rmse"]


def test_what_is_withheld_is_not_taught_from_mixed_games_either(monkeypatch: pytest.MonkeyPatch) -> None:
    core, visited = Core(), some_positions(Core(), 64)
    free, _ = teach(0, mixed_share=1.0, depths=[1], minibatches=1)
    free.teach(visited, 0.0)
    met = canonical_keys(core, free.positions)
    monkeypatch.setattr("agents.training.teacher.suite_keys", lambda core: met[:100])
    strict, _ = teach(0, mixed_share=1.0, depths=[1], minibatches=1)
    strict.teach(visited, 0.0)
    again = canonical_keys(core, strict.positions)
    assert np.isin(met[100:], again).any()  # the same games were played
    assert not np.isin(met[:100], again).any()


def test_positions_of_the_regret_suite_are_never_taught() -> None:
    core = Core()
    suite = load_suite(core.rules).positions
    after = core.expand(suite)[0]
    others = some_positions(core, 300)
    teacher, _ = teach(0, random_plies=0, depths=[1], minibatches=1)
    teacher.teach(Positions.concatenate([suite[:100], after[~after.over][:100], others]), 0.0)
    withheld = canonical_keys(core, Positions.concatenate([suite, after]))
    assert 100 < len(teacher.positions) <= 300
    assert not np.isin(canonical_keys(core, teacher.positions), withheld).any()


@pytest.mark.slow
@pytest.mark.parametrize("muon", [0.0, 0.02])
def test_a_taught_value_comes_nearer_to_the_search(muon: float) -> None:
    _, errors = teach(12, muon=muon)
    assert errors[-1] < 0.8 * errors[0]


def test_muon_moves_the_hidden_layers_and_adam_the_rest() -> None:
    teacher, _ = teach(0, muon=0.02)
    adam, muon = ({id(tensor) for group in it.param_groups for tensor in group["params"]} for it in teacher.optimizers)
    network = teacher.network
    assert muon == {id(layer.weight) for layer in (network.leaf.first, network.leaf.rest[0], network.trunk.first)} | {
        id(network.trunk.rest[0].weight)
    }
    assert adam == {id(parameter) for parameter in network.parameters()} - muon


def test_steps_of_all_optimizers_shrink_together() -> None:
    teacher, _ = teach(0, muon=0.02, learning_rate=1e-3, learning_rate_end=1e-4, minibatches=1)
    teacher.teach(some_positions(teacher.core, 64), 1.0)
    assert [it.param_groups[0]["lr"] for it in teacher.optimizers] == pytest.approx([1e-4, 2e-3])


def test_depths_follow_the_share_of_the_run_that_is_done() -> None:
    teacher, _ = teach(0, depths=[2, 3, 4], minibatches=1)
    visited = some_positions(teacher.core, 64)
    assert [teacher.teach(visited, done)["depth"] for done in (0.0, 0.3, 0.34, 0.7, 1.0)] == [2, 2, 3, 4, 4]


TAUGHT_NETWORK = {"name": "lookahead", "embed": 2, "width": 8, "leaf_width": 4, "policy_gradient": "heads"}


OF_TEACHER = ("muon", "mixed_share")


def taught_config(**changes: object) -> TrainConfig:
    shares = {name: changes.pop(name) for name in OF_TEACHER if name in changes}
    values: dict[str, object] = {
        "total_plies": 4 * ITERATION,
        "checkpoint_seconds": 1e-9,
        "network": TAUGHT_NETWORK,
        "ppo": {"n_envs": 16, "n_steps": 4, "batch_size": 64, "n_epochs": 1, "vf_coef": 0.0},
        "teacher": {"depths": [2, 3], "positions": 96, "replay": 256, "minibatches": 2, "batch_size": 32, **shares},
        "evaluation": {"every_plies": 2 * ITERATION, "pairs": 2, "opponents": ["random"]},
    }
    return parse_config({**values, **changes}, "test")


@pytest.mark.parametrize(
    ("stop_at", "changes"),
    [
        (ITERATION, {"precision": "bfloat16"}),
        (3 * ITERATION, {"muon": 0.02, "mixed_share": 0.5}),
    ],
)
def test_a_taught_run_resumes_to_the_same_numbers(tmp_path: Path, stop_at: int, changes: dict[str, Any]) -> None:
    config = taught_config(**changes)
    learn(TrainingRun.create(tmp_path / "whole", config, "test", quiet))
    with pytest.raises(StopTrainingError):
        learn(TrainingRun.create(tmp_path / "parts", config, "test", quiet), stop_at)
    learn(TrainingRun.resume(tmp_path / "parts", quiet))
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


def test_a_network_s_value_net_is_kept_in_the_run_s_folder(tmp_path: Path) -> None:
    net, config = some_net(), taught_config(network={**TAUGHT_NETWORK, "net": str(tmp_path / "net.npz")})
    (tmp_path / "net.npz").write_bytes(net.with_origin({"command": "made", "commit": "abc"}).to_bytes())
    learn(TrainingRun.create(tmp_path / "whole", config, "test", quiet))
    with pytest.raises(StopTrainingError):
        learn(TrainingRun.create(tmp_path / "parts", config, "test", quiet), ITERATION)
    (tmp_path / "net.npz").unlink()
    run = TrainingRun.resume(tmp_path / "parts", quiet)
    assert run.model.teacher
    assert run.model.teacher.features.net
    assert (run.model.teacher.features.net.embedding == net.embedding).all()
    learn(run)
    assert_same_run(tmp_path / "whole", tmp_path / "parts")
    assert read_card(tmp_path / "parts").training["value_net"] == {"command": "made", "commit": "abc"}
    with pytest.raises(ConfigError, match=r"network\.net: .*net\.npz: no such file"):
        TrainingRun.create(tmp_path / "again", config, "test", quiet)


def test_a_teacher_knows_no_discount() -> None:
    with pytest.raises(
        ConfigError, match=r"teacher\.depths must be empty with ppo\.gamma=0\.9: search discounts nothing"
    ):
        taught_config(ppo={"gamma": 0.9})


def test_an_older_torch_has_no_muon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.optim, "Muon")
    TrainingRun.create(tmp_path / "adam", taught_config(), "test", quiet)
    with pytest.raises(ConfigError, match=r"teacher\.muon must be 0 with torch .*: Muon came with torch 2\.9"):
        TrainingRun.create(tmp_path / "muon", taught_config(muon=0.02), "test", quiet)


def test_a_teacher_searches_no_deeper_than_search_can(tmp_path: Path) -> None:
    config = taught_config(teacher={"depths": [2, 200]})
    with pytest.raises(ConfigError, match=r"teacher\.depths: depth must be 127 or less; got 200"):
        TrainingRun.create(tmp_path / "run", config, "test", quiet)
    assert not (tmp_path / "run").exists()


def test_only_lookahead_can_be_taught(tmp_path: Path) -> None:
    config = taught_config(network={"name": "plain", "width": 8})
    with pytest.raises(ConfigError, match=r"teacher\.depths: only network\.name=lookahead can be taught"):
        TrainingRun.create(tmp_path / "run", config, "test", quiet)
