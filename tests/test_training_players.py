"""Training for three and four players: whole runs, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.players.network_player import PPOPlayer
from agents.training.ppo.run import PPORun
from oanquan_env import Core
from oanquan_env.benchmark.pairs import play_pairs, score_interval
from oanquan_env.playing import random_openings
from tests.runs import ITERATION, PPO, assert_same_run, begin, evaluations, learn, quiet, stopped

KINDS = [
    ("three-player", "margin", {"name": "plain", "embed": 2, "width": 8}),
    ("four-player", "outcome", {"name": "plain", "embed": 2, "width": 8}),
    ("three-player", "margin", {"name": "afterstates", "embed": 2, "width": 8, "depth": 1}),
    ("four-player", "margin", {"name": "two_ply", "embed": 2, "width": 8, "leaf_width": 8, "leaf_depth": 1}),
]


@pytest.mark.parametrize(("rules", "reward", "network"), KINDS)
def test_a_stopped_run_resumes_to_the_same_numbers_and_its_agent_plays(
    tmp_path: Path, rules: str, reward: str, network: dict[str, object]
) -> None:
    settings = {**PPO, "rules": rules, "reward": reward, "network": network, "total_plies": 3 * ITERATION}
    learn(begin(tmp_path / "whole", settings))
    stopped(tmp_path / "parts", ITERATION, settings=settings)
    learn(PPORun.resume(tmp_path / "parts", quiet))
    assert_same_run(tmp_path / "whole", tmp_path / "parts")
    core, rng = Core(rules), np.random.default_rng(0)
    agent = agents.make(f"ppo:{tmp_path / 'whole'}", rules)
    openings = random_openings(core, 5, 4, rng)
    assert core.legal_mask(openings)[np.arange(5), agent.choose(openings, rng)].all()
    results = play_pairs(core, agent, agents.make("random", rules), openings, rng)
    assert results.score.shape == (5, core.rules.players)


def test_values_and_returns_of_all_players_meet_in_the_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """stable-baselines3 compares them flattened: both must be in the same order."""
    run = begin(tmp_path / "run", rules="four-player")
    monkeypatch.setattr(run.model, "train", lambda: None)
    run.model.learn(ITERATION)
    run.close()
    buffer = run.model.rollout_buffer
    errors = (buffer.returns - buffer.values).reshape(-1, 3)
    movers = buffer.advantages.reshape(-1)
    minibatch = next(buffer.get(64))
    with torch.no_grad():
        values, _, _ = run.model.policy.evaluate_actions(
            minibatch.observations, minibatch.actions.long().flatten(), minibatch.action_masks
        )
    assert values.shape == (64, 3)
    assert minibatch.old_values.numpy() == pytest.approx(values.numpy().reshape(-1), abs=1e-5)
    assert minibatch.returns.shape == minibatch.old_values.shape
    assert errors[:, 0] == pytest.approx(movers, abs=1e-6)
    assert (np.abs(errors).max(axis=0) > 0).all()


def test_evaluations_tell_the_share_of_wins_beside_the_fair_one(tmp_path: Path) -> None:
    said: list[str] = []
    run = begin(tmp_path / "run", report=said.append, rules="three-player", total_plies=ITERATION)
    learn(run)
    assert "share of wins (fair: 33.3 %) against random " in said[-1]
    core, rng = Core("three-player"), np.random.default_rng(run.config.seed)
    openings = random_openings(core, 4, run.config.evaluation.opening_plies, rng)
    played = play_pairs(core, PPOPlayer(tmp_path / "run"), agents.make("random", core.rules), openings, rng)
    assert evaluations(tmp_path / "run")[-1]["results"]["random"]["score"] == score_interval(played).mean
