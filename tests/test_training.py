"""PPO runs: learning, rewards and networks, schedules, the command line."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import train
from agents.networks.agent_files import WEIGHTS_NAME
from agents.players.network_player import PPOPlayer
from agents.training.kinds import load_config
from agents.training.ppo.config import TrainConfig
from agents.training.train_command import parse
from oanquan_env import Core
from oanquan_env.benchmark.pairs import play_pairs
from oanquan_env.errors import UsageError
from oanquan_env.players import GreedyPolicy
from oanquan_env.playing import random_openings
from oanquan_env.rewards import REWARDS
from tests.runs import ITERATION, PLAIN, PPO, begin, learn


def test_learning_beats_greedy_within_seconds(tmp_path: Path) -> None:
    """A threshold that neither random weights (about 25 %) nor greedy itself (50 %) reaches."""
    settings = {
        "total_plies": 60_000,
        "ppo": {"n_envs": 256, "n_steps": 16, "batch_size": 1024},
        "network": {"embed": 4, "width": 32, "depth": 2},
        "evaluation": {"every_plies": 10**9, "pairs": 2, "opponents": ["random"]},
    }
    learn(begin(tmp_path / "run", settings))
    core, rng = Core(), np.random.default_rng(0)
    openings = random_openings(core, 400, 4, rng)
    score = play_pairs(core, PPOPlayer(tmp_path / "run"), GreedyPolicy(core), openings, rng).score
    assert score.mean() > 0.58


@pytest.mark.parametrize("reward", REWARDS)
def test_other_rewards_and_networks_train(tmp_path: Path, reward: str) -> None:
    run = begin(tmp_path / "run", network=PLAIN, reward=reward, total_plies=ITERATION)
    before = [parameter.detach().clone() for parameter in run.network.parameters()]
    learn(run)
    player = PPOPlayer(tmp_path / "run")
    assert any((old != new).any() for old, new in zip(before, player.network.parameters(), strict=True))
    assert (player.card.reward, player.card.network) == (reward, run.config.network)


def test_a_run_shorter_than_an_iteration_ends_its_schedules_at_their_ends(tmp_path: Path) -> None:
    ppo = {**PPO["ppo"], "learning_rate": 0.002, "learning_rate_end": 0.0005}
    run = begin(tmp_path / "run", total_plies=ITERATION // 3, ppo=ppo)
    learn(run)
    assert run.model.policy.optimizer.param_groups[0]["lr"] == 0.0005
    assert run.model.ent_coef == run.config.ppo.ent_coef_end


@pytest.mark.parametrize(("network", "end"), [("plain", ""), ("two_ply", "the network looks two plies ahead)")])
def test_the_first_line_says_why_an_untrained_network_plays_well(network: str, end: str, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", network={**PLAIN, "name": network})
    run.export()
    said = run.measure()[1]
    assert said.endswith(end)
    assert ("not trained yet" in said) == bool(end)


def test_a_policy_run_wild_stops_with_advice(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", network=PLAIN)
    for parameter in run.network.parameters():
        parameter.data *= 1e6
    with pytest.raises(UsageError, match=r"diverged: .*smaller ppo\.learning_rate"):
        learn(run)


def test_the_command_line_changes_single_fields() -> None:
    command = parse(["--config", "configs/quick.yaml", "--ppo.n-steps", "32", "--rules", "tonkin"])
    assert command.config == Path("configs/quick.yaml")
    assert (command.settings.ppo.n_steps, command.settings.rules) == (32, "tonkin")
    same = {"rules", "ppo"} ^ set(TrainConfig.model_fields)
    quick = load_config(command.config)
    assert command.settings.model_dump(include=same) == quick.model_dump(include=same)


@pytest.mark.slow
def test_a_run_s_folder_is_named_after_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(yaml.safe_dump({**PPO, "total_plies": ITERATION}))
    assert train.main(["--config", "mine.yaml"]) == 0
    assert train.main(["--config", "mine.yaml", "--sweep", "4", "--jobs", "1"]) == 0
    assert (tmp_path / "runs" / "mine" / WEIGHTS_NAME).is_file()
    assert (tmp_path / "runs" / "mine-sweep" / "seed-4" / WEIGHTS_NAME).is_file()
