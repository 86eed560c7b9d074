"""Untrained agents for tests."""

import hashlib
from pathlib import Path

import torch

from agents.config import dump_yaml
from agents.networks.nets import NetworkConfig, make_network
from agents.players.agent_files import CARD_NAME, WEIGHTS_NAME, AgentCard, read_card, save_agent
from oanquan_env import Core

NETWORK = NetworkConfig(embed=2, width=8, depth=1)


def save_untrained(folder: Path, rules: str = "mancala-world", *, reward: str = "margin", seed: int = 0) -> Path:
    """Save an agent with random weights and return its folder. Its network is plain unless `reward` is "margin"."""
    torch.manual_seed(seed)
    config = NETWORK if reward == "margin" else NETWORK.model_copy(update={"name": "plain"})
    _, network = make_network(Core(rules), config)
    folder.mkdir()
    save_agent(folder, network, AgentCard(rules=rules, reward=reward, network=config))
    return folder


def renew_checksum(folder: Path) -> None:
    """Update the checksum in an agent's card after its weights were changed, so that they can be read."""
    checksum = hashlib.sha256((folder / WEIGHTS_NAME).read_bytes()).hexdigest()
    (folder / CARD_NAME).write_bytes(dump_yaml(read_card(folder).model_copy(update={"weights": checksum})))
