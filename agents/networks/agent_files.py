"""Trained agents as files: the weights, `agent.safetensors`, and beside them the card, `agent.yaml`.

The card says what is needed to use the weights, and how they came to be. Neither runs code when it is loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import torch
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from agents.networks.config import NetworkConfig
from agents.support.files import write_atomically
from agents.support.renamed import refuse_old_names
from agents.support.strict_yaml import ConfigError, explain, read_yaml
from oanquan_env import Rules
from oanquan_env.rewards import RewardName
from oanquan_env.rules import as_rules

WEIGHTS_NAME = "agent.safetensors"
CARD_NAME = "agent.yaml"
PRETRAINED = "pretrained"
"""In a player's name: the project's own agent for the rules."""
PRETRAINED_FOLDER = Path(__file__).parents[1] / PRETRAINED
"""Where those agents are, a folder for each of the rules."""


class AgentFileError(ValueError):
    """An agent's files are missing, damaged or do not fit together; names the file."""


class AgentCard(BaseModel):
    """What an agent is. `training` is its history, which is not needed to use it."""

    model_config = ConfigDict(extra="forbid")

    format: Literal[1] = 1
    rules: str = Field(description="rules that it was trained for")
    reward: RewardName = Field(description="the reward whose values its network predicts")
    network: NetworkConfig
    training: dict[str, Any] = Field(default_factory=dict)

    @field_validator("rules")
    @classmethod
    def _of_known_rules(cls, text: str) -> str:
        Rules.parse(text)
        return text

    @field_validator("training")
    @classmethod
    def _of_present_names(cls, history: dict[str, Any]) -> dict[str, Any]:
        refuse_old_names(history)
        return history


def save_agent(folder: Path, network: torch.nn.Module, card: AgentCard) -> None:
    """Write both files into `folder`, each atomically, the weights first."""
    save_weights(folder / WEIGHTS_NAME, network)
    write_atomically(folder / CARD_NAME, yaml.safe_dump(card.model_dump(), sort_keys=False).encode())


def read_card(folder: Path) -> AgentCard:
    """The card in `folder`; raises `AgentFileError`."""
    path = folder / CARD_NAME
    if not path.is_file():
        raise AgentFileError(
            f"{folder}: no {CARD_NAME} there; a trained agent is a folder with {CARD_NAME} and {WEIGHTS_NAME}"
        )
    try:
        return AgentCard.model_validate(read_yaml(path))
    except ValidationError as error:
        raise AgentFileError(f"{path}: {explain(error)}") from None
    except ConfigError as error:  # names the file already
        raise AgentFileError(str(error)) from None


def agent_folder(name: str, rules: Rules | str) -> Path:
    """The folder that a player's name means: a path, or `pretrained` for the project's own agent for the rules.

    Raises:
        AgentFileError: if no agent for the rules comes with the project; says for which there are.
    """
    if name != PRETRAINED:
        return Path(name)
    wanted, folders = as_rules(rules), pretrained_folders()
    if wanted not in folders:
        exist = ", ".join(f"'{known}'" for known in folders) or "none"
        raise AgentFileError(f"no agent for the rules '{wanted}' comes with the project; those that do play: {exist}")
    return folders[wanted]


def pretrained_folders() -> dict[Rules, Path]:
    """The folders of the agents that come with the project, by the rules that they play."""
    cards = sorted(PRETRAINED_FOLDER.glob(f"*/{CARD_NAME}"))
    return {Rules.parse(read_card(path.parent).rules): path.parent for path in cards}


def save_weights(path: Path, network: torch.nn.Module) -> None:
    """Write a network's weights in one atomic step."""
    write_atomically(path, weights_of(network))


def weights_of(network: torch.nn.Module) -> bytes:
    """A network's weights as a safetensors file."""
    return save({name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Load `agent.safetensors` at `path` into a network of its card; raises `AgentFileError`."""
    try:
        tensors = load_file(path)
        refuse_old_names(tensors)
        network.load_state_dict(tensors)
    except FileNotFoundError:
        raise AgentFileError(f"{path}: no such file") from None
    except (SafetensorError, RuntimeError, ValueError) as error:
        raise AgentFileError(f"{path}: not the weights of the network on the card: {error}") from None
