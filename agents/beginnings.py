"""What a run begins with besides its configuration: an agent's weights, the lessons of another run's teacher.

Both are kept in the run's own folder, so a run that was killed before its first checkpoint begins alike, whatever has
become of the folders that they came from.
"""

from __future__ import annotations

from pathlib import Path

import torch

from agents.checkpoint import CHECKPOINT_NAME, read_lessons, save_lessons
from agents.config import CONFIG_NAME, ConfigError, TrainConfig, load_config
from agents.growing import SIZES, grow, is_grown
from agents.networks import make_network
from agents.policy import network_of
from agents.ppo import WEIGHTS_NAME, AgentCard, load_weights, read_card, save_weights
from agents.teacher import TaughtPPO
from oanquan_env import Core, Rules

WEIGHTS_BEGUN_WITH = "begun_with.safetensors"
LESSONS_BEGUN_WITH = "begun_with_lessons.safetensors"


def take_beginnings(config: TrainConfig, core: Core, model: TaughtPPO) -> AgentCard | None:
    """Give a fresh model what `config` says that it begins with.

    Returns:
        The card of the agent whose weights it begins with, if there is one.

    Raises:
        ConfigError: if the agent or the lessons do not fit the configuration.
        AgentFileError: if there is no such agent as `begin_with`.
        CheckpointError: if there are no such lessons as `teacher.lessons`.
    """
    if config.teacher.lessons:
        _take_lessons(Path(config.teacher.lessons), config, core, model)
    return _take_weights(Path(config.begin_with), config, core, model) if config.begin_with else None


def keep_beginnings(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Write what a model began with into its run's folder."""
    if config.begin_with:
        save_weights(folder / WEIGHTS_BEGUN_WITH, network_of(model))
    if model.teacher and config.teacher.lessons:
        save_lessons(folder / LESSONS_BEGUN_WITH, model.teacher)


def restore_beginnings(folder: Path, config: TrainConfig, model: TaughtPPO) -> None:
    """Give a fresh model what `keep_beginnings` wrote; raises `AgentFileError` and `CheckpointError`."""
    if config.begin_with:
        load_weights(network_of(model), folder / WEIGHTS_BEGUN_WITH)
    if model.teacher and config.teacher.lessons:
        model.teacher.restore(*read_lessons(folder / LESSONS_BEGUN_WITH), 0)


def _take_weights(folder: Path, config: TrainConfig, core: Core, model: TaughtPPO) -> AgentCard:
    card = read_card(folder)
    if not is_grown(card.network, config.network):
        raise ConfigError(
            f"begin_with: the agent in {folder} has another network: {card.network}, not {config.network}; "
            f"only {', '.join(SIZES)} may be larger"
        )
    theirs = {"reward": card.reward, "fields": Rules.parse(card.rules).fields}
    ours = {"reward": config.reward, "fields": core.rules.fields}
    for name, value in ours.items():
        if theirs[name] != value:
            raise ConfigError(f"begin_with: the agent in {folder} has another {name}: {theirs[name]}, not {value}")
    with torch.random.fork_rng(devices=[]):  # a run that is begun again draws what the first one drew
        _, small = make_network(core=core, **card.network.model_dump())
    load_weights(small, folder / WEIGHTS_NAME)
    grow(small, network_of(model), card.network)
    return card


def _take_lessons(folder: Path, config: TrainConfig, core: Core, model: TaughtPPO) -> None:
    rules = Rules.parse(load_config(folder / CONFIG_NAME).rules)
    if rules != core.rules:
        raise ConfigError(f"teacher.lessons: the run in {folder} has other rules: '{rules}', not '{core.rules}'")
    assert model.teacher  # see TeacherConfig
    positions, values = read_lessons(folder / CHECKPOINT_NAME)
    newest = slice(-config.teacher.replay, None)
    model.teacher.restore(positions[newest], values[newest], 0)
