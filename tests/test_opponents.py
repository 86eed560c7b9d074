"""Opponents besides the latest self: who sits where, what the learner is paid, resuming."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.networks.config import NetworkConfig
from agents.networks.features import PlainFeatures
from agents.networks.networks import make_network
from agents.training.config import OpponentsConfig, TrainConfig
from agents.training.opponents import NOBODY, Opponents
from agents.training.run import StopTrainingError, TrainingRun
from agents.training.selfplay import RandomStarts, SelfPlayVecEnv
from oanquan_env import Core, Positions
from oanquan_env.players import RandomPolicy
from tests.test_selfplay import advantages, filled_buffer
from tests.test_training import ITERATION, assert_same_run, learn, quiet, small_config


def make_env(n_envs: int = 64, gamma: float = 1.0, **settings: object) -> SelfPlayVecEnv:
    core = Core()
    features = PlainFeatures(core)
    opponents = Opponents(OpponentsConfig.model_validate(settings), features, n_envs=n_envs, seed=0)
    starts = RandomStarts(core, set_up_share=0.2, max_plies=6, seed=0)
    return SelfPlayVecEnv(
        features, starts, n_envs=n_envs, reward="margin", gamma=gamma, trail_steps=50, opponents=opponents
    )


def play(env: SelfPlayVecEnv, steps: int) -> Iterator[tuple[Positions, np.ndarray, np.ndarray]]:
    """After each step the positions before it, rewards and finished flags."""
    env.reset()
    rng, policy = np.random.default_rng(0), RandomPolicy(env.core)
    for _ in range(steps):
        before = env.positions.copy()
        env.step_async(policy.choose(before, rng))
        _, rewards, dones, _ = env.step_wait()
        yield before, rewards, dones


def test_only_the_learner_s_plies_are_steps() -> None:
    env = make_env(share=1.0, players=["greedy"])
    opponents = env.opponents
    assert opponents
    for before, _, dones in play(env, 40):
        assert not before.over.any()
        assert dones.dtype == np.bool_
        assert not env.positions.over.any()
        assert (env.positions.mover != opponents.seat).all()
    assert (opponents.number == 0).all()
    assert 0.3 < np.mean(opponents.seat) < 0.7


def test_the_share_of_games_with_an_opponent_is_the_one_asked_for() -> None:
    env = make_env(n_envs=4000, share=0.25, players=["greedy", "random"])
    env.reset()
    assert env.opponents
    shares = [(env.opponents.number == number).mean() for number in (NOBODY, 0, 1)]
    assert shares == pytest.approx([0.75, 0.125, 0.125], abs=0.03)


def test_rewards_of_a_game_add_up_to_its_margin() -> None:
    """Replies are taken from the learner's rewards, so that their sum is its margin over the whole game."""
    env = make_env(n_envs=200, share=1.0, players=["greedy"])
    total = np.zeros(200)
    begun, compared = np.zeros(200, dtype=bool), 0
    env.reset()
    starting = env.positions.scores.copy()
    rng, policy = np.random.default_rng(0), RandomPolicy(env.core)
    for _ in range(60):
        seats = 1 - env.opponents.seat.copy()  # type: ignore[union-attr]
        env.step_async(policy.choose(env.positions, rng))
        _, rewards, dones, infos = env.step_wait()
        total += rewards
        for row in dones.nonzero()[0]:
            if not begun[row]:  # first games: the scores they began with are known
                difference = starting[row, seats[row]] - starting[row, 1 - seats[row]]
                margin = abs(total[row] * env.core.rules.total + difference)
                assert margin == pytest.approx(infos[row]["episode"]["r"], abs=1e-3)
                compared += 1
            begun[row] = True
            total[row] = 0.0
    assert compared > 100


def test_advantages_after_an_answer_against_a_hand_computation() -> None:
    buffer = filled_buffer([1.0, 2.0], [0.25, -0.5], [True, False], gamma=0.9, lam=0.5)
    buffer.trail.answered[0][:] = True
    second = 2.0 - 0.9 * 0.4 + 0.5
    first = 1.0 + 0.81 * -0.5 - 0.25 + 0.81 * 0.5 * second
    assert advantages(buffer, 0.4, False) == pytest.approx([first, second])


def test_the_newest_past_selves_are_kept() -> None:
    core = Core()
    features, network = make_network(core, NetworkConfig(name="plain", embed=2, width=8, depth=1))
    opponents = Opponents(OpponentsConfig(past_selves=2, share=1.0), features, n_envs=8, seed=0)
    opponents.assign(np.arange(8))
    assert (opponents.number == NOBODY).all()  # nobody to meet yet
    for number in range(3):
        torch.nn.init.constant_(network.value.bias, float(number))  # type: ignore[union-attr]
        opponents.keep(network)
    biases = [player.network.value.bias.item() for player in opponents.past]  # type: ignore[union-attr]
    assert biases == [2.0, 1.0]
    opponents.assign(np.arange(8))
    assert set(opponents.number.tolist()) == {0, 1}
    again = Opponents(OpponentsConfig(past_selves=2, share=1.0), features, n_envs=8, seed=0)
    again.restore(opponents.state(), network)
    assert (again.number == opponents.number).all()
    assert [player.network.value.bias.item() for player in again.past] == biases  # type: ignore[union-attr]


def pool_config() -> TrainConfig:
    return small_config(opponents={"share": 0.5, "players": ["greedy"], "past_selves": 2, "every_plies": 2 * ITERATION})


def test_a_run_with_a_pool_resumes_to_the_same_numbers(tmp_path: Path) -> None:
    learn(TrainingRun.create(tmp_path / "whole", pool_config(), "test", quiet))
    with pytest.raises(StopTrainingError):
        learn(TrainingRun.create(tmp_path / "parts", pool_config(), "test", quiet), 3 * ITERATION)
    run = TrainingRun.resume(tmp_path / "parts", quiet)
    assert run.env.opponents
    assert len(run.env.opponents.past) == 1
    learn(run)
    assert len(run.env.opponents.past) == 2
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


def test_unknown_opponents_are_refused() -> None:
    with pytest.raises(ValueError, match=r"did you mean greedy\?"):
        make_env(players=["gredy"])
