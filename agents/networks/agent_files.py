"""Trained agents as files: the weights, `agent.safetensors`, and beside them the card, `agent.yaml`.

The card holds everything needed to use the weights, and their origin. Loading them runs no code.
"""

from pathlib import Path
from typing import Any, Final, Literal, Self

import torch
from pydantic import Field, model_validator

from agents.networks.config import NetworkConfig, check_reward
from agents.networks.features import FeatureEncoder
from agents.networks.networks import Net, make_network
from agents.support.strict_yaml import RulesName, Strict, read_yaml, validated
from agents.support.tensor_files import count_numbers, pack, unpack
from oanquan_env import Core, Rules
from oanquan_env.engine.rules import as_rules
from oanquan_env.files import FileError, naming_damage, write_atomically
from oanquan_env.rewards import RewardName

WEIGHTS_NAME = "agent.safetensors"
CARD_NAME = "agent.yaml"
PRETRAINED: Final = "pretrained"
"""In a player's name: the project's own agent for the rules."""
PRETRAINED_FOLDER = Path(__file__).parents[1] / "pretrained"
"""The folder of those agents, with one for each of the rules."""
LARGEST_WEIGHT = 1e4
"""Trained weights are below 100; with larger ones than this a network's numbers overflow."""


class AgentCard(Strict):
    """The description of an agent. `training` is its history, which is not needed to use it."""

    format: Literal[1] = 1
    rules: RulesName = Field(description="rules that it was trained for")
    reward: RewardName = Field(description="the reward whose values its network predicts")
    network: NetworkConfig
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self


def save_agent(folder: Path, network: torch.nn.Module, card: AgentCard) -> None:
    """Write both files into `folder`, each atomically, the weights first."""
    write_atomically(folder / WEIGHTS_NAME, pack(network.state_dict(), {}))
    write_atomically(folder / CARD_NAME, card.to_yaml().encode())


def read_card(folder: Path) -> AgentCard:
    """The card in `folder`; raises `FileError`."""
    path = folder / CARD_NAME
    if not path.is_file():
        raise FileError(
            f"{folder}: no {CARD_NAME} there; a trained agent is a folder with {CARD_NAME} and {WEIGHTS_NAME}"
        )
    return validated(AgentCard, read_yaml(path), str(path))


def agent_folder(name: str, rules: Rules | str) -> Path:
    """The folder that a player's name means: that of a path, or `pretrained`, the project's own agent for the rules.

    If none comes for these rules, an `FileError` says for which there are.
    """
    if name != PRETRAINED:
        return Path(name).parent if Path(name).name == WEIGHTS_NAME else Path(name)
    wanted, folders = as_rules(rules), pretrained_folders()
    if wanted not in folders:
        exist = ", ".join(f"'{known}'" for known in folders) or "none"
        raise FileError(f"no agent for the rules '{wanted}' comes with the project; those that do play: {exist}")
    return folders[wanted]


def pretrained_folders() -> dict[Rules, Path]:
    """The folders of the agents that come with the project, by the rules that they play."""
    cards = sorted(PRETRAINED_FOLDER.glob(f"*/{CARD_NAME}"))
    return {Rules.parse(read_card(path.parent).rules): path.parent for path in cards}


def load_network(core: Core, config: NetworkConfig, path: Path) -> tuple[FeatureEncoder, Net]:
    """The features and the network of a card with the weights at `path`; raises `FileError`.

    A network is made only if there may be weights for it: a stranger's card can ask for one of any size.
    """
    with naming_damage(path, "not the weights of the network on the card"):
        held = count_numbers(path)
        if held < config.fewest_weights:
            raise ValueError(f"that has {config.fewest_weights:,} weights or more, the file {held:,}")
        features, network = make_network(core, config)
        tensors, _ = unpack(path)
        _check_numbers(tensors, network)
        network.load_state_dict(tensors)
    return features, network


def _check_numbers(tensors: dict[str, torch.Tensor], network: torch.nn.Module) -> None:
    """Raises `ValueError` for weights of another type than the network's, and for those that no network has."""
    for name, own in network.state_dict().items():
        tensor = tensors.get(name, own)
        if not tensor.dtype.is_floating_point:
            raise ValueError(f"{name} is {tensor.dtype}, expected {own.dtype}")
        if not (tensor.abs() <= LARGEST_WEIGHT).all():  # nor is NaN
            raise ValueError(f"{name} holds numbers that are not finite, or above {LARGEST_WEIGHT:.0e}")
