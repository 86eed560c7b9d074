"""Files of trained agents: the weights, `agent.safetensors`, and the card, `agent.yaml`.

The card holds everything needed to use the weights, and their origin. Loading the two files runs no code.
"""

import hashlib
import math
import warnings
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import torch
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from agents.config import RulesName, Strict, dump_yaml, read_yaml, validated, whole_number
from agents.networks.features import FeatureEncoder
from agents.networks.nets import NETWORKS, NetworkConfig, UnknownOptions, make_network
from oanquan_env import Core, Rules
from oanquan_env.engine.rules import as_rules
from oanquan_env.files import FileError, naming_damage, write_atomically
from oanquan_env.rewards import REWARDS

WEIGHTS_NAME = "agent.safetensors"
CARD_NAME = "agent.yaml"
PRETRAINED: Final = "pretrained"
"""Name of the project's own agent for the rules, used in a player's name instead of a folder."""
PRETRAINED_FOLDER = Path(__file__).parents[1] / "pretrained"
"""Folder with one subfolder for each agent; no two agents have the same rules."""
LARGEST_WEIGHT = 1e4
"""Maximum absolute value of a weight, to keep activations from overflowing; trained weights are below 100."""


def check_reward(reward: str, network: NetworkConfig) -> None:
    """Raise `ValueError` unless the reward is built in or has the form MODULE:NAME, and suits the network."""
    if reward not in REWARDS and ":" not in reward:
        raise ValueError(f"reward must be {', '.join(REWARDS)} or MODULE:NAME; got {reward!r}")
    if reward != "margin" and network.name in ("afterstates", "two_ply"):
        raise ValueError(
            f"network.name must be plain with reward={reward}: {network.name} adds the points that a move wins "
            "to its value, and does not see the scores"
        )


class AgentCard(Strict):
    """The description of an agent. `training` records its history, which players do not need."""

    format: Annotated[Literal[1], BeforeValidator(whole_number)] = 1
    rules: RulesName = Field(description="rules that the agent was trained for")
    reward: str = Field(description="the reward that its network predicts")
    network: SerializeAsAny[NetworkConfig]
    weights: str | None = Field(None, pattern="^[0-9a-f]{64}$", description=f"SHA-256 of {WEIGHTS_NAME}, hexadecimal")
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        check_reward(self.reward, self.network)
        return self


class OwnNetworkCard(AgentCard):
    """The card of an agent with a custom network class, whose options are known only to that class."""

    network: SerializeAsAny[UnknownOptions]


def weights_of(network: torch.nn.Module) -> bytes:
    """Return a network's weights as the content of a safetensors file; a shared tensor is stored once for each name."""
    return save({name: tensor.detach().cpu().contiguous().clone() for name, tensor in network.state_dict().items()})


def save_agent(folder: Path, network: torch.nn.Module, card: AgentCard) -> None:
    """Write both files into `folder`, each atomically, weights first; the card records the weights' checksum."""
    weights = weights_of(network)
    write_atomically(folder / WEIGHTS_NAME, weights)
    checked = card.model_copy(update={"weights": hashlib.sha256(weights).hexdigest()})
    write_atomically(folder / CARD_NAME, dump_yaml(checked))


def read_card(folder: Path) -> AgentCard:
    """Read the card in `folder`. Raises `FileError` if it is missing or invalid."""
    path = folder / CARD_NAME
    if not path.is_file():
        raise FileError(f"{folder} has no {CARD_NAME}; a trained agent is a folder with {CARD_NAME} and {WEIGHTS_NAME}")
    values = read_yaml(path)
    network = values.get("network")
    has_own_network = isinstance(network, dict) and ":" in str(network.get("name"))
    return validated(OwnNetworkCard if has_own_network else AgentCard, values, str(path))


def agent_folder(name: str, rules: Rules | str) -> Path:
    """Return the folder of an agent, given as a folder, a weights file, or `pretrained` for the project's own agent.

    Raises `FileError` if the project has no agent for `rules`; the message lists the rules that have one.
    """
    if name != PRETRAINED:
        return Path(name).parent if Path(name).name == WEIGHTS_NAME else Path(name)
    target, folders = as_rules(rules), pretrained_folders()
    if target not in folders:
        exist = ", ".join(f"'{other}'" for other in folders) or "none"
        raise FileError(f"the project has no agent for the rules '{target}'; it has agents for: {exist}")
    return folders[target]


def pretrained_folders() -> dict[Rules, Path]:
    """Return the folders of the project's own agents, keyed by the rules that they play."""
    cards = sorted(PRETRAINED_FOLDER.glob(f"*/{CARD_NAME}"))
    return {Rules.parse(read_card(path.parent).rules): path.parent for path in cards}


def load_network(
    core: Core, card: AgentCard, path: Path, network: str | None = None
) -> tuple[FeatureEncoder, torch.nn.Module]:
    """Return the feature encoder and the network of a card, with the weights at `path`.

    Raises `FileError` if the card or the weights cannot be used, for example if the weights do not match the card's
    checksum. A card without a checksum causes a warning.

    A built-in network is made only if the file has enough weights for it, as an untrusted card could ask for any size.
    A custom network runs code, so the card does not suffice to load it: `network` must name the class as well.
    """
    config = card.network
    if config.name not in NETWORKS and config.name != network:
        raise FileError(f"{path.parent}: its network is custom code; to run it, add network={config.name}")
    with naming_damage(path, "not the weights of the network on the card"):
        _check_weights(path, card.weights)
        tensors = _read_weights(path, config.fewest_weights if config.name in NETWORKS else 0)
        features, module = make_network(core, config)
        for name, own in module.state_dict().items():
            tensor = tensors.get(name, own)
            if not tensor.dtype.is_floating_point:
                raise ValueError(f"{name} has the dtype {tensor.dtype}; expected {own.dtype}")
            if not (tensor.abs() <= LARGEST_WEIGHT).all():  # also rejects NaN
                raise ValueError(f"{name} holds numbers that are not finite or exceed {LARGEST_WEIGHT:.0e}")
        module.load_state_dict(tensors)
    return features, module


def _check_weights(path: Path, checksum: str | None) -> None:
    if checksum is None:
        warnings.warn(f"{path.parent / CARD_NAME} has no checksum, so damaged weights may go unnoticed", stacklevel=4)
    elif hashlib.sha256(path.read_bytes()).hexdigest() != checksum:
        raise ValueError(
            "damaged or from another agent, as their SHA-256 differs from the card's; resume the run to rewrite both"
        )


def _read_weights(path: Path, fewest: int) -> dict[str, torch.Tensor]:
    """Read the tensors of a file. Raises `ValueError` if it holds fewer than `fewest` numbers or is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            count = sum(math.prod(file.get_slice(name).get_shape()) for name in names)
            if count < fewest:
                raise ValueError(f"the card's network has at least {fewest:,} weights, but the file holds {count:,}")
            return {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise ValueError(f"damaged: {error}") from None
