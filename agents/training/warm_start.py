"""What a run starts from besides its configuration: an agent's weights, and the value net of its network.

Both are kept in the run's own folder, so a run goes on alike whatever has become of where they came from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.networks.agent_files import WEIGHTS_NAME, AgentCard, load_weights, read_card, weights_of
from agents.support.strict_yaml import ConfigError
from agents.training.config import TrainConfig
from agents.training.policy import network_of
from agents.training.teacher import TaughtPPO
from oanquan_env import Rules
from oanquan_env.files import write_atomically
from oanquan_env.players.value_net import VALUE_NET_NAME, read_value_net

INITIAL_WEIGHTS = "initial_weights.safetensors"


def warm_start(config: TrainConfig, model: TaughtPPO) -> dict[str, Any]:
    """Give a fresh model the weights that `config` says it starts from; returns where they come from, for its history.

    That is `init_from`, the rules and training of an agent, and `value_net`, the command and the commit that made the
    net, each if it is configured. Raises `ConfigError` if the agent does not fit, and `AgentFileError` if `init_from`
    holds none, or a damaged one.
    """
    history: dict[str, Any] = {}
    if config.init_from:
        history["init_from"] = _take_weights(Path(config.init_from), config, model)
    if config.network.net:
        origin = read_value_net(config.network.net, config.rules).origin
        history["value_net"] = {name: origin.get(name) for name in ("command", "commit")}
    return history


def keep_warm_start(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Write what a model starts from into its run's folder."""
    if config.init_from:
        write_atomically(folder / INITIAL_WEIGHTS, weights_of(network_of(model)))
    if config.network.net:
        write_atomically(folder / VALUE_NET_NAME, read_value_net(config.network.net, config.rules).to_bytes())


def restore_warm_start(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Give a fresh model the weights that `keep_warm_start` wrote; raises `AgentFileError`."""
    if config.init_from:
        load_weights(network_of(model), folder / INITIAL_WEIGHTS)


def _take_weights(folder: Path, config: TrainConfig, model: TaughtPPO) -> dict[str, Any]:
    card = read_card(folder)
    theirs, ours = _to_share(card), _to_share(config)
    if theirs != ours:
        its, wanted = ({name: one[name] for name in ours if theirs[name] != ours[name]} for one in (theirs, ours))
        raise ConfigError(f"init_from: the agent in {folder} has {its}, not {wanted}")
    load_weights(network_of(model), folder / WEIGHTS_NAME)
    return card.model_dump(include={"rules", "training"})


def _to_share(one: AgentCard | TrainConfig) -> dict[str, Any]:
    """What two agents must have in common for one to begin with the other's weights: not which value net they have."""
    rules, network = Rules.parse(one.rules), {**one.network.model_dump(), "net": one.network.net is not None}
    return {**network, "reward": one.reward, "players": rules.players, "fields": rules.fields}
