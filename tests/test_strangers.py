"""Files from strangers: whatever is in them, an error names the file, is short, and takes neither memory nor time."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from agents.evaluation.finished_parts import FinishedParts
from agents.networks import networks
from agents.networks.agent_files import CARD_NAME, WEIGHTS_NAME, AgentCard
from agents.players.network_player import PPOPlayer
from agents.support.strict_yaml import dump_yaml, read_yaml
from agents.training.kinds import load_config
from oanquan_env import Core
from oanquan_env.errors import UsageError
from oanquan_env.files import FileError
from tests.untrained import save_untrained

SHORT = 1000
"""Most characters of an error."""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return save_untrained(tmp_path / "agent")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"width": 30_000}, "that has .* weights or more, the file"),
        ({"width": 1_000, "name": "plain"}, "that has .* weights or more, the file"),
        ({"leaf_width": 30_000, "name": "two_ply"}, "that has .* weights or more, the file"),
        ({"embed": 60_000}, "that has .* weights or more, the file"),
        ({"width": 1_000_000_000}, r"network\.width"),
        ({"depth": 1_000_000_000}, r"network\.depth"),
        ({"embed": 1_000_000_000}, r"network\.embed"),
        ({"leaf_depth": 65}, r"network\.leaf_depth"),
    ],
)
def test_a_card_cannot_ask_for_a_network_that_its_weights_do_not_fill(
    agent: Path, monkeypatch: pytest.MonkeyPatch, network: dict[str, object], message: str
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("a network was made")

    for name in ("PlainNet", "AfterstateNet", "TwoPlyNet"):
        monkeypatch.setattr(networks, name, no_network)
    card = yaml.safe_load((agent / CARD_NAME).read_text())
    (agent / CARD_NAME).write_text(yaml.safe_dump({**card, "network": {**card["network"], **network}}))
    with pytest.raises(FileError, match=message):
        PPOPlayer(agent)


def test_fewest_weights_are_no_more_than_the_smallest_network_has() -> None:
    core = Core("fields=2 seeds=2")
    for name in ("plain", "afterstates", "two_ply"):
        config = networks.NetworkConfig(name=name, embed=3, width=40, depth=3, leaf_width=20, leaf_depth=2)
        _, network = networks.make_network(core, config)
        held = sum(parameter.numel() for parameter in network.parameters())
        assert held / 3 < config.fewest_weights <= held


def test_references_and_keys_given_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    path.write_text(bomb)
    for read in (read_yaml, load_config):
        with pytest.raises(UsageError, match=r"x\.yaml: not readable as YAML: references such as \*a0") as refused:
            read(path)
        assert len(str(refused.value)) < SHORT
    for text in ("seed: 1\nseed: 2\n", "ppo:\n  gamma: 1\n  gamma: 0.5\n"):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"(seed|gamma) is there twice"):
            load_config(path)


def test_no_references_are_written(tmp_path: Path) -> None:
    shared = [1, 2]
    (tmp_path / "x.yaml").write_text(dump_yaml({"a": shared, "b": shared}))
    assert read_yaml(tmp_path / "x.yaml") == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weight: weight * float("nan"), "value.weight holds numbers that are not finite"),
        (lambda weight: weight.index_fill(1, torch.tensor(0), float("inf")), "value.weight holds numbers that are not"),
        (lambda weight: weight * 1e30, r"value.weight holds numbers that are not finite, or above 1e\+04"),
        (lambda weight: weight.to(torch.int8), r"value.weight is torch.int8, expected torch.float32"),
        (lambda weight: weight[:, :3], "size mismatch for value.weight"),
    ],
)
def test_weights_that_no_network_has_are_refused(
    agent: Path, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    tensors = load_file(agent / WEIGHTS_NAME)
    tensors["value.weight"] = change(tensors["value.weight"])
    save_file(tensors, agent / WEIGHTS_NAME)
    with pytest.raises(FileError, match=rf"agent\.safetensors: not the weights of the network.*{message}"):
        PPOPlayer(agent)


def test_a_network_whose_numbers_overflow_says_so(agent: Path) -> None:
    player = PPOPlayer(agent)
    player.network.log_inverse_temperature.data.fill_(5000.0)
    with pytest.raises(FileError, match="what it says of a position is not finite"):
        player.choose(Core().start(), np.random.default_rng(0))


def test_a_changed_byte_of_the_weights_is_noticed(agent: Path) -> None:
    content = bytearray((agent / WEIGHTS_NAME).read_bytes())
    content[-3] ^= 1
    (agent / WEIGHTS_NAME).write_bytes(content)
    with pytest.raises(FileError, match=r"agent\.safetensors: .*damaged: the content is not that of its digest"):
        PPOPlayer(agent)


@pytest.mark.parametrize("name", [CARD_NAME, WEIGHTS_NAME])
def test_what_is_no_file_is_not_read(agent: Path, name: str) -> None:
    (agent / name).unlink()
    (agent / name).mkdir()
    with pytest.raises(FileError, match=r"a folder, not a file|no agent\.yaml there"):
        PPOPlayer(agent)
    (agent / name).rmdir()
    os.mkfifo(agent / name)
    with pytest.raises(FileError, match=r"neither a file nor a folder|no agent\.yaml there"):
        PPOPlayer(agent)
    with pytest.raises(FileError, match="neither a file nor a folder"):
        load_config(agent / name)


def test_a_card_s_reward_is_one_that_its_network_can_have() -> None:
    with pytest.raises(ValueError, match=r"network\.name must be plain with reward=outcome"):
        AgentCard(rules="mancala-world", reward="outcome", network=networks.NetworkConfig(name="afterstates"))


def test_a_damaged_part_is_named_and_one_of_other_settings_is_not_found(tmp_path: Path) -> None:
    parts = FinishedParts(tmp_path)
    parts.store(["a/b", "c"], {"seed": 1}, {"score": 0.5})
    assert parts.find(["a/b", "c"], {"seed": 1}) == {"score": 0.5}
    assert parts.find(["a-b", "c"], {"seed": 1}) is parts.find(["a/b", "c"], {"seed": 2}) is None
    (path,) = tmp_path.iterdir()
    for text in ("[]", "{}", "3", "{", '{"key": []}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(FileError, match="not a finished part of an evaluation"):
            parts.find(["a/b", "c"], {"seed": 1})
