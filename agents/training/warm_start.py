"""What a run begins with besides its configuration: an agent's weights, the training targets of another run's teacher.

Both are kept in the run's own folder, so a run that was killed before its first checkpoint begins alike, whatever has
become of the folders that they came from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from agents.networks.agent_files import WEIGHTS_NAME, load_weights, read_card, save_weights
from agents.networks.config import NetworkConfig
from agents.networks.growing import SIZES, grow, is_grown
from agents.networks.networks import make_network
from agents.support.strict_yaml import ConfigError, read_yaml
from agents.training.checkpoint import CheckpointError, read_targets, save_targets
from agents.training.config import TrainConfig, load_config
from agents.training.policy import network_of
from agents.training.run_folder import CHECKPOINT_NAME, CONFIG_NAME, RUN_NAME
from agents.training.teacher import TaughtPPO
from oanquan_env import Core, Rules

INITIAL_WEIGHTS = "initial_weights.safetensors"
INITIAL_TARGETS = "initial_targets.safetensors"


def take_beginnings(config: TrainConfig, core: Core, model: TaughtPPO) -> dict[str, Any]:
    """Give a fresh model what `config` says that it begins with.

    Returns:
        Where that comes from, for the run's history: `init_from` an agent of which rules and training, and its
        teacher with the `targets` of which run; nothing for what it begins without.

    Raises:
        ConfigError: if there are no such targets as `teacher.targets`, or if targets or agent do not fit.
        AgentFileError: if `init_from` holds no agent, or a damaged one.
    """
    history: dict[str, Any] = {}
    if config.init_from:
        history["init_from"] = _take_weights(Path(config.init_from), config, core, model)
    if config.teacher.targets:
        try:
            history["targets"] = _take_targets(Path(config.teacher.targets), core, model)
        except (ConfigError, CheckpointError) as error:
            raise ConfigError(f"teacher.targets: {error}") from None
    return history


def keep_beginnings(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Write what a model began with into its run's folder."""
    if config.init_from:
        save_weights(folder / INITIAL_WEIGHTS, network_of(model))
    if model.teacher and config.teacher.targets:
        save_targets(folder / INITIAL_TARGETS, model.teacher)


def restore_beginnings(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Give a fresh model what `keep_beginnings` wrote; raises `AgentFileError` and `CheckpointError`."""
    if config.init_from:
        load_weights(network_of(model), folder / INITIAL_WEIGHTS)
    if model.teacher and config.teacher.targets:
        model.teacher.restore(*read_targets(folder / INITIAL_TARGETS), 0)


def _take_weights(folder: Path, config: TrainConfig, core: Core, model: TaughtPPO) -> dict[str, Any]:
    card = read_card(folder)
    if not is_grown(card.network, config.network):
        theirs, ours = _differences(card.network, config.network)
        raise ConfigError(
            f"init_from: the agent in {folder} has another network: {theirs}, not {ours}; "
            f"only {', '.join(SIZES)} may be larger, and policy_gradient inverse_temperature"
        )
    fields = Rules.parse(card.rules).fields
    for name, its, wanted in (("reward", card.reward, config.reward), ("fields", fields, core.rules.fields)):
        if its != wanted:
            raise ConfigError(f"init_from: the agent in {folder} has another {name}: {its}, not {wanted}")
    with torch.random.fork_rng(devices=[]):  # a run that is begun again draws what the first one drew
        _, small = make_network(core, card.network)
    load_weights(small, folder / WEIGHTS_NAME)
    grow(small, network_of(model), card.network)
    return card.model_dump(include={"rules", "training"})


def _differences(theirs: NetworkConfig, ours: NetworkConfig) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in which two networks differ."""
    theirs_all, ours_all = theirs.model_dump(), ours.model_dump()
    names = [name for name in ours_all if theirs_all[name] != ours_all[name]]
    return {name: theirs_all[name] for name in names}, {name: ours_all[name] for name in names}


def _take_targets(folder: Path, core: Core, model: TaughtPPO) -> dict[str, Any]:
    theirs = load_config(folder / CONFIG_NAME)
    if Rules.parse(theirs.rules) != core.rules:
        raise ConfigError(f"the run in {folder} has other rules: '{theirs.rules}', not '{core.rules}'")
    assert model.teacher  # see TeacherConfig
    model.teacher.init_from(*read_targets(folder / CHECKPOINT_NAME))
    made = read_yaml(folder / RUN_NAME)
    run = {name: made.get(name) for name in ("command", "commit")}
    return {"positions": len(model.teacher.values), "depths": theirs.teacher.depths, **run}
