"""What a run begins with: an agent's weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import yaml

import train
from agents.networks.config import NetworkConfig
from agents.networks.lookahead import LookaheadNet
from agents.networks.networks import make_network
from agents.support.strict_yaml import ConfigError
from agents.training.run import TrainingRun
from agents.training.run_folder import CHECKPOINT_NAME, StopTrainingError
from oanquan_env import Core
from oanquan_env.players.value_net import read_value_net
from tests.test_teacher import ITERATION as TAUGHT_ITERATION
from tests.test_teacher import TAUGHT_NETWORK, taught_config
from tests.test_training import ITERATION, PLAIN, learn, quiet, small_config, weights


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "agent"
    learn(TrainingRun.create(folder, small_config(total_plies=2 * ITERATION), "test", quiet))
    return folder


def have_same_weights(one: Path, other: Path) -> bool:
    found, expected = weights(one), weights(other)
    return found.keys() == expected.keys() and all((found[name] == expected[name]).all() for name in expected)


def stop_at_once(run: TrainingRun) -> TrainingRun:
    with pytest.raises(StopTrainingError):
        learn(run, 0)
    return run


def test_a_run_can_begin_with_the_weights_of_an_agent_of_other_rules(agent: Path, tmp_path: Path) -> None:
    lent = tmp_path / "agent"
    shutil.copytree(agent, lent)
    settings = small_config(rules="vietnamese", init_from=str(lent))
    stop_at_once(TrainingRun.create(tmp_path / "run", settings, "test", quiet))
    assert have_same_weights(tmp_path / "run", agent)
    history = yaml.safe_load((tmp_path / "run" / "agent.yaml").read_text())["training"]
    assert history["init_from"]["rules"] == "mancala-world"
    assert history["init_from"]["training"]["plies"] == 2 * ITERATION
    (tmp_path / "run" / CHECKPOINT_NAME).unlink()  # as if killed before the first checkpoint
    shutil.rmtree(lent)
    stop_at_once(TrainingRun.resume(tmp_path / "run", quiet))
    assert have_same_weights(tmp_path / "run", agent)


def test_a_run_begins_with_an_agent_whose_value_net_is_another(tmp_path: Path) -> None:
    settings = {"total_plies": TAUGHT_ITERATION, "rules": "tonkin"}
    first = taught_config(**settings, network={**TAUGHT_NETWORK, "net": "pretrained"})
    learn(TrainingRun.create(tmp_path / "first", first, "test", quiet))
    (tmp_path / "net.npz").write_bytes(read_value_net("pretrained", "tonkin").to_bytes())
    own = {**TAUGHT_NETWORK, "net": str(tmp_path / "net.npz")}
    second = taught_config(**settings, network=own, init_from=str(tmp_path / "first"))
    stop_at_once(TrainingRun.create(tmp_path / "second", second, "test", quiet))
    assert have_same_weights(tmp_path / "second", tmp_path / "first")


def test_layers_are_as_many_and_as_wide_as_asked_for() -> None:
    sizes = {"width": 12, "depth": 4, "leaf_width": 7, "leaf_depth": 3}
    settings = NetworkConfig.model_validate({**TAUGHT_NETWORK, **sizes})
    _, network = make_network(Core(), settings)
    assert isinstance(network, LookaheadNet)
    for trunk, width, depth in ((network.trunk, 12, 4), (network.leaf, 7, 3)):
        layers = [layer for layer in trunk.modules() if isinstance(layer, torch.nn.Linear)]
        assert [layer.out_features for layer in layers] == [width] * depth


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": {"embed": 2, "width": 12, "depth": 1}}, "{'width': 8}, not {'width': 12}"),
        ({"network": PLAIN}, "{'name': 'afterstates'.*}, not {'name': 'plain'.*}"),
        ({"rules": "mancala-world fields=4"}, "{'fields': 5}, not {'fields': 4}"),
        ({"rules": "three-player"}, "{'players': 2}, not {'players': 3}"),
    ],
)
def test_a_run_begins_with_an_agent_that_fits_or_not_at_all(
    agent: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    other = small_config(init_from=str(agent), **changes)
    with pytest.raises(ConfigError, match=f"init_from: the agent in .* has {message}"):
        TrainingRun.create(tmp_path / "run", other, "test", quiet)
    assert not (tmp_path / "run").exists()


def test_a_run_begins_with_an_agent_of_its_reward(tmp_path: Path) -> None:
    learn(TrainingRun.create(tmp_path / "agent", small_config(total_plies=ITERATION, network=PLAIN), "test", quiet))
    other = small_config(init_from=str(tmp_path / "agent"), network=PLAIN, reward="outcome")
    with pytest.raises(ConfigError, match=r"init_from: .* has {'reward': 'margin'}, not {'reward': 'outcome'}"):
        TrainingRun.create(tmp_path / "run", other, "test", quiet)
    assert not (tmp_path / "run").exists()


def test_an_agent_to_begin_with_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(small_config(init_from=str(tmp_path)).to_yaml())
    assert train.main(["--config", str(config), "--output", str(tmp_path / "run")]) == 2
    assert "no agent.yaml there" in capsys.readouterr().err
