"""What a run begins with: an agent's weights, grown if need be, and the training targets of another run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save

import train
from agents.networks.config import NetworkConfig
from agents.networks.growing import grow, is_grown
from agents.networks.lookahead import LookaheadNet
from agents.networks.networks import make_network
from agents.players.network_player import PPOPlayer
from agents.search.keys import canonical_keys
from agents.support.strict_yaml import ConfigError
from agents.training.checkpoint import CheckpointError, read_targets
from agents.training.run import StopTrainingError, TrainingRun
from agents.training.run_folder import CHECKPOINT_NAME, RUN_NAME
from agents.training.warm_start import INITIAL_TARGETS, INITIAL_WEIGHTS
from oanquan_env import Core, Positions, mirror
from tests.test_lookahead import some_positions
from tests.test_teacher import ITERATION as TAUGHT_ITERATION
from tests.test_teacher import TAUGHT_NETWORK, taught_config, teach
from tests.test_training import ITERATION, PLAIN, assert_same_run, learn, quiet, small_config, weights


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "agent"
    learn(TrainingRun.create(folder, small_config(total_plies=2 * ITERATION), "test", quiet))
    return folder


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "taught"
    learn(TrainingRun.create(folder, taught_config(total_plies=2 * TAUGHT_ITERATION), "test", quiet))
    return folder


def stop_at_once(run: TrainingRun) -> TrainingRun:
    with pytest.raises(StopTrainingError):
        learn(run, 0)
    return run


def test_a_run_can_begin_with_the_weights_of_an_agent_of_other_rules(agent: Path, tmp_path: Path) -> None:
    lent = tmp_path / "agent"
    shutil.copytree(agent, lent)
    settings = small_config(rules="vietnamese", init_from=str(lent))
    stop_at_once(TrainingRun.create(tmp_path / "run", settings, "test", quiet))
    assert all((weights(tmp_path / "run")[name] == array).all() for name, array in weights(agent).items())
    history = yaml.safe_load((tmp_path / "run" / "agent.yaml").read_text())["training"]
    assert history["init_from"]["rules"] == "mancala-world"
    assert history["init_from"]["training"]["plies"] == 2 * ITERATION
    (tmp_path / "run" / CHECKPOINT_NAME).unlink()  # as if killed before the first checkpoint
    shutil.rmtree(lent)
    stop_at_once(TrainingRun.resume(tmp_path / "run", quiet))
    assert all((weights(tmp_path / "run")[name] == array).all() for name, array in weights(agent).items())


GROWN = [
    ("lookahead", {}),
    ("lookahead", {"width": 12}),
    ("lookahead", {"leaf_width": 7}),
    ("lookahead", {"depth": 4}),
    ("lookahead", {"leaf_depth": 4}),
    ("lookahead", {"width": 12, "depth": 3, "leaf_width": 7, "leaf_depth": 3}),
    ("afterstates", {"width": 11, "depth": 4}),
    ("plain", {"width": 11, "depth": 4}),
]


@pytest.mark.parametrize(("name", "larger"), GROWN)
def test_a_larger_network_begins_as_the_smaller_one_and_learns_with_all_of_it(
    name: str, larger: dict[str, int]
) -> None:
    core = Core()
    torch.manual_seed(5)
    settings = NetworkConfig.model_validate({**TAUGHT_NETWORK, "name": name})
    features, small = make_network(core, settings)
    _, large = make_network(core, settings.model_copy(update=larger))
    grow(small, large, settings)
    positions = some_positions(core)
    seen, mask = torch.from_numpy(features.encode(positions)), torch.from_numpy(core.legal_mask(positions))
    for mine, theirs in zip(large(seen, mask), small(seen, mask), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)
    before = {name: parameter.detach().clone() for name, parameter in large.named_parameters()}
    optimizer = torch.optim.Adam(large.parameters())
    for _ in range(6):  # gradients reach what hears the new units first, then the new units
        optimizer.zero_grad()
        logits, values = large(seen, mask)
        (logits.square().mean() * 1e-3 + (values - 1).square().mean()).backward()
        optimizer.step()
    known = dict(small.named_parameters())
    for parameter_name, parameter in large.named_parameters():
        changed, old = parameter != before[parameter_name], torch.zeros_like(parameter, dtype=torch.bool)
        units = settings.leaf_width if parameter_name.startswith("leaf.") else settings.width
        shape = known[parameter_name].shape if parameter_name in known else (units,)
        old[tuple(slice(size) for size in shape)] = True
        for part in (changed[old], changed[~old]):
            assert part.any() or not part.numel(), parameter_name


def test_a_network_without_a_correction_begins_with_the_values_of_one_that_has_it() -> None:
    core = Core()
    settings = NetworkConfig.model_validate(TAUGHT_NETWORK)
    features, small = make_network(core, settings)
    larger = settings.model_copy(update={"policy_gradient": "inverse_temperature", "width": 12})
    assert is_grown(settings, larger)
    assert not is_grown(larger, settings.model_copy(update={"width": 12}))
    _, large = make_network(core, larger)
    with torch.no_grad():
        small.log_inverse_temperature.fill_(2.0)
    grow(small, large, settings)
    positions = some_positions(core)
    seen, mask = torch.from_numpy(features.encode(positions)), torch.from_numpy(core.legal_mask(positions))
    assert torch.allclose(large(seen, mask)[1], small(seen, mask)[1], atol=1e-4)
    assert large.log_inverse_temperature.item() == 2.0


def test_layers_are_as_many_and_as_wide_as_asked_for() -> None:
    sizes = {"width": 12, "depth": 4, "leaf_width": 7, "leaf_depth": 3}
    settings = NetworkConfig.model_validate({**TAUGHT_NETWORK, **sizes})
    _, network = make_network(Core(), settings)
    assert isinstance(network, LookaheadNet)
    for trunk, width, depth in ((network.trunk, 12, 4), (network.leaf, 7, 3)):
        layers = [layer for layer in trunk.modules() if isinstance(layer, torch.nn.Linear)]
        assert [layer.out_features for layer in layers] == [width] * depth


def test_a_run_with_a_larger_network_begins_alike_however_often_it_is_begun(taught: Path, tmp_path: Path) -> None:
    larger = {**TAUGHT_NETWORK, "width": 10, "leaf_depth": 3}
    config = taught_config(network=larger, init_from=str(taught), total_plies=2 * TAUGHT_ITERATION)
    learn(TrainingRun.create(tmp_path / "whole", config, "test", quiet))
    stop_at_once(TrainingRun.create(tmp_path / "parts", config, "test", quiet))
    positions = some_positions(Core())
    logits, _ = PPOPlayer(tmp_path / "parts").evaluate(positions)
    assert np.allclose(logits, PPOPlayer(taught).evaluate(positions)[0], atol=1e-4)
    (tmp_path / "parts" / CHECKPOINT_NAME).unlink()  # as if killed before the first checkpoint
    learn(TrainingRun.resume(tmp_path / "parts", quiet))
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"network": {"embed": 2, "width": 4, "depth": 1}},
            "network: {'width': 8}, not {'width': 4}; only .* may be larger",
        ),
        ({"network": {"embed": 3, "width": 8, "depth": 1}}, "network: {'embed': 2}, not {'embed': 3}"),
        ({"network": PLAIN}, "network: {'name': 'afterstates'.*}, not {'name': 'plain'.*}"),
        ({"rules": "mancala-world fields=4"}, "fields: 5, not 4"),
    ],
)
def test_a_run_begins_with_an_agent_that_fits_or_not_at_all(
    agent: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    other = small_config(init_from=str(agent), **changes)
    with pytest.raises(ConfigError, match=f"init_from: the agent in .* has another {message}"):
        TrainingRun.create(tmp_path / "run", other, "test", quiet)
    assert not (tmp_path / "run").exists()


def test_a_run_begins_with_an_agent_of_its_reward(tmp_path: Path) -> None:
    learn(TrainingRun.create(tmp_path / "agent", small_config(total_plies=ITERATION, network=PLAIN), "test", quiet))
    other = small_config(init_from=str(tmp_path / "agent"), network=PLAIN, reward="outcome")
    with pytest.raises(ConfigError, match=r"init_from: the agent in .* has another reward: margin, not outcome"):
        TrainingRun.create(tmp_path / "run", other, "test", quiet)
    assert not (tmp_path / "run").exists()


def test_an_agent_to_begin_with_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(small_config(init_from=str(tmp_path)).to_yaml())
    assert train.main(["--config", str(config), "--output", str(tmp_path / "run")]) == 2
    assert "no agent.yaml there" in capsys.readouterr().err


def with_targets(folder: Path, **changes: object) -> dict[str, object]:
    """Changes of a taught configuration that begins with the targets in `folder`."""
    settings = taught_config().teacher.model_dump()
    return {"teacher": {**settings, "targets": str(folder), **changes}}


def test_a_teacher_begins_with_the_targets_of_another(taught: Path, tmp_path: Path) -> None:
    lent = tmp_path / "lent"
    shutil.copytree(taught, lent)
    positions, values = read_targets(taught / CHECKPOINT_NAME, Core())
    config = taught_config(**with_targets(lent))
    learn(TrainingRun.create(tmp_path / "whole", config, "test", quiet))
    run = stop_at_once(TrainingRun.create(tmp_path / "parts", config, "test", quiet))
    assert run.model.teacher is not None
    pairs = zip(run.model.teacher.positions.arrays(), positions.arrays(), strict=True)
    assert all((mine == theirs).all() for mine, theirs in pairs)
    assert (run.model.teacher.values == values).all()
    (tmp_path / "parts" / CHECKPOINT_NAME).unlink()  # as if killed before the first checkpoint
    shutil.rmtree(lent)
    learn(TrainingRun.resume(tmp_path / "parts", quiet))
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


def test_no_more_targets_are_taken_than_are_remembered(taught: Path, tmp_path: Path) -> None:
    _, values = read_targets(taught / CHECKPOINT_NAME, Core())
    assert len(values) > 50
    run = TrainingRun.create(tmp_path / "run", taught_config(**with_targets(taught, replay=50)), "test", quiet)
    assert run.model.teacher is not None
    assert (run.model.teacher.values == values[-50:]).all()


def test_targets_that_were_taken_are_not_valued_again(taught: Path, tmp_path: Path) -> None:
    run = TrainingRun.create(tmp_path / "run", taught_config(**with_targets(taught)), "test", quiet)
    teacher = run.model.teacher
    assert teacher is not None
    again = mirror(teacher.positions, run.core.rules)
    assert len(again) > 50
    assert len(teacher._teachable(again)) == 0


def test_positions_that_agents_are_judged_by_are_not_taken_from_other_teachers(
    taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = Core()
    keys = canonical_keys(core, read_targets(taught / CHECKPOINT_NAME, Core())[0])
    monkeypatch.setattr("agents.training.teacher.suite_keys", lambda core: keys[:40])
    run = TrainingRun.create(tmp_path / "run", taught_config(**with_targets(taught)), "test", quiet)
    assert run.model.teacher is not None
    assert (canonical_keys(core, run.model.teacher.positions) == keys[40:]).all()


def test_a_position_is_taken_once() -> None:
    teacher, _ = teach(0)
    some = teacher._teachable(some_positions(teacher.core, 64))
    assert len(some) > 30
    values = np.arange(len(some), dtype=np.int16)
    twice = Positions.concatenate([some, mirror(some, teacher.core.rules)])
    teacher.init_from(twice, np.concatenate([values, -values]))
    assert (teacher.values == values).all()


def test_the_history_says_where_targets_come_from(taught: Path, tmp_path: Path) -> None:
    TrainingRun.create(tmp_path / "run", taught_config(**with_targets(taught)), "test", quiet)
    _, values = read_targets(taught / CHECKPOINT_NAME, Core())
    made, theirs = (yaml.safe_load((folder / RUN_NAME).read_text()) for folder in (tmp_path / "run", taught))
    origin = {"positions": len(values), "depths": [2, 3], "command": "test", "commit": theirs["commit"]}
    assert made["targets"] == origin


def test_targets_of_the_format_before_are_read_and_of_others_refused(taught: Path, tmp_path: Path) -> None:
    tensors, path = load_file(taught / CHECKPOINT_NAME), tmp_path / CHECKPOINT_NAME
    path.write_bytes(save(tensors, {"format": "2"}))
    assert (read_targets(path, Core())[1] == read_targets(taught / CHECKPOINT_NAME, Core())[1]).all()
    path.write_bytes(save(tensors, {"format": "1"}))
    with pytest.raises(CheckpointError, match="format '1', this version reads '2' and '3' and '4' and '5'"):
        read_targets(path, Core())


def test_targets_that_are_not_there_or_do_not_fit_are_refused(agent: Path, taught: Path, tmp_path: Path) -> None:
    def begin(folder: Path, **changes: object) -> None:
        TrainingRun.create(tmp_path / "run", taught_config(**with_targets(folder), **changes), "test", quiet)

    with pytest.raises(ConfigError, match=r"^teacher\.targets: .*config\.yaml: no such file"):
        begin(tmp_path)
    with pytest.raises(ConfigError, match=r"^teacher\.targets: .*checkpoint\.safetensors: of a run without a teacher"):
        begin(agent)
    with pytest.raises(ConfigError, match=r"^teacher\.targets: the run in .*: 'mancala-world', not 'app'"):
        begin(taught, rules="app")
    with pytest.raises(ConfigError, match=r"teacher: targets=there needs depths"):
        taught_config(teacher={"targets": "there"})
    damaged = tmp_path / "damaged"
    shutil.copytree(taught, damaged)
    (damaged / CHECKPOINT_NAME).write_bytes(b"damaged")
    with pytest.raises(ConfigError, match=r"^teacher\.targets: .*checkpoint\.safetensors: damaged"):
        begin(damaged)
    (damaged / CHECKPOINT_NAME).unlink()
    with pytest.raises(ConfigError, match=r"^teacher\.targets: .*checkpoint\.safetensors: no such file"):
        begin(damaged)
    assert not (tmp_path / "run").exists()


def test_only_what_a_run_begins_with_is_kept_in_its_folder(taught: Path, tmp_path: Path) -> None:
    names = (INITIAL_WEIGHTS, INITIAL_TARGETS)
    for config, there in (
        (taught_config(), (False, False)),
        (taught_config(init_from=str(taught)), (True, False)),
        (taught_config(**with_targets(taught)), (False, True)),
    ):
        folder = tmp_path / f"run-{there}"
        TrainingRun.create(folder, config, "test", quiet)
        assert tuple((folder / name).exists() for name in names) == there
