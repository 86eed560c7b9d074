"""What a run starts from besides its configuration: an agent's weights, the training targets of another run's teacher.

Both are kept in the run's own folder, so a run that was killed before its first checkpoint starts alike, whatever has
become of the folders that they came from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from agents.networks.agent_files import WEIGHTS_NAME, load_network, load_weights, read_card, save_weights
from agents.networks.growing import SIZES, grow, is_grown
from agents.support.strict_yaml import ConfigError, naming_field, read_yaml
from agents.training.checkpoint import read_targets, save_targets
from agents.training.config import TrainConfig, load_config
from agents.training.policy import network_of
from agents.training.run_folder import CHECKPOINT_NAME, CONFIG_NAME, RUN_NAME
from agents.training.teacher import TaughtPPO
from oanquan_env import Core, Rules

INITIAL_WEIGHTS = "initial_weights.safetensors"
INITIAL_TARGETS = "initial_targets.safetensors"


def warm_start(config: TrainConfig, core: Core, model: TaughtPPO) -> dict[str, Any]:
    """Give a fresh model what `config` says that it starts from.

    Returns:
        Where that comes from, for the run's history: `init_from`, the rules and training of an agent; `targets`, the
        run of a teacher. Nothing for what is not configured.

    Raises:
        ConfigError: if there are no such targets as `teacher.targets`, or if targets or agent do not fit.
        AgentFileError: if `init_from` holds no agent, or a damaged one.
    """
    history: dict[str, Any] = {}
    if config.init_from:
        history["init_from"] = _take_weights(Path(config.init_from), config, core, model)
    if config.teacher.targets:
        with naming_field("teacher.targets"):
            history["targets"] = _take_targets(Path(config.teacher.targets), core, model)
    return history


def keep_warm_start(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Write what a model starts from into its run's folder."""
    if config.init_from:
        save_weights(folder / INITIAL_WEIGHTS, network_of(model))
    if model.teacher and config.teacher.targets:
        save_targets(folder / INITIAL_TARGETS, model.teacher)


def restore_warm_start(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Give a fresh model what `keep_warm_start` wrote; raises `AgentFileError` and `CheckpointError`."""
    if config.init_from:
        load_weights(network_of(model), folder / INITIAL_WEIGHTS)
    if model.teacher and config.teacher.targets:
        model.teacher.restore(*read_targets(folder / INITIAL_TARGETS, model.teacher.core), 0)


def _take_weights(folder: Path, config: TrainConfig, core: Core, model: TaughtPPO) -> dict[str, Any]:
    card = read_card(folder)
    refused = f"init_from: the agent in {folder} has another"
    if not is_grown(card.network, config.network):
        theirs, ours = card.network.model_dump(), config.network.model_dump()
        its, wanted = ({name: one[name] for name in ours if theirs[name] != ours[name]} for one in (theirs, ours))
        raise ConfigError(
            f"{refused} network: {its}, not {wanted}; "
            f"only {', '.join(SIZES)} may be larger, and policy_gradient inverse_temperature"
        )
    fields = Rules.parse(card.rules).fields
    for name, found, needed in (("reward", card.reward, config.reward), ("fields", fields, core.rules.fields)):
        if found != needed:
            raise ConfigError(f"{refused} {name}: {found}, not {needed}")
    with torch.random.fork_rng(devices=[]):  # a run that is started again draws what the first one drew
        _, small = load_network(core, card.network, folder / WEIGHTS_NAME)
    grow(small, network_of(model), card.network)
    return card.model_dump(include={"rules", "training"})


def _take_targets(folder: Path, core: Core, model: TaughtPPO) -> dict[str, Any]:
    theirs = load_config(folder / CONFIG_NAME)
    if Rules.parse(theirs.rules) != core.rules:
        raise ConfigError(f"the run in {folder} has other rules: '{theirs.rules}', not '{core.rules}'")
    assert model.teacher  # see TeacherConfig
    model.teacher.init_from(*read_targets(folder / CHECKPOINT_NAME, core))
    made = read_yaml(folder / RUN_NAME)
    run = {name: made.get(name) for name in ("command", "commit")}
    return {"positions": len(model.teacher.values), "depths": theirs.teacher.depths, **run}
