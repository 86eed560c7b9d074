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
from agents.training.run import TrainingRun
from agents.training.run_folder import StopTrainingError
from agents.training.selfplay import RandomStarts, SelfPlayVecEnv
from oanquan_env import Core, Positions
from oanquan_env.core import relative_points
from oanquan_env.players import RandomPolicy
from oanquan_env.rewards import ply_rewards
from tests.test_selfplay import advantages, buffer_for_two
from tests.test_training import ITERATION, assert_same_run, learn, quiet, small_config

RULES = pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])


def make_env(rules: str = "mancala-world", n_envs: int = 64, gamma: float = 1.0, **settings: object) -> SelfPlayVecEnv:
    core = Core(rules)
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


@RULES
def test_only_the_learner_s_plies_are_steps(rules: str) -> None:
    env = make_env(rules, share=1.0, players=["greedy"])
    opponents = env.opponents
    assert opponents
    for before, _, dones in play(env, 40):
        assert not before.over.any()
        assert dones.dtype == np.bool_
        assert not env.positions.over.any()
        assert (opponents.seating[np.arange(64), env.positions.mover] == NOBODY).all()


@pytest.mark.parametrize(("rules", "players"), [("mancala-world", 2), ("three-player", 3), ("four-player", 4)])
def test_an_opponent_holds_from_one_seat_to_all_but_one_each_equally_often(rules: str, players: int) -> None:
    env = make_env(rules, n_envs=4000, share=1.0, players=["greedy", "random"])
    assert env.opponents
    env.opponents.assign(np.arange(4000))
    seating = env.opponents.seating
    held = seating != NOBODY
    counts = np.bincount(held.sum(axis=1), minlength=players + 1) / 4000
    assert counts == pytest.approx([0.0, *[1 / (players - 1)] * (players - 1), 0.0], abs=0.04)
    assert held.mean(axis=0) == pytest.approx([0.5] * players, abs=0.04)
    assert ((seating == NOBODY) | (seating == seating.max(axis=1, keepdims=True))).all()  # one opponent a game


def test_the_share_of_games_with_an_opponent_is_the_one_asked_for() -> None:
    env = make_env(n_envs=4000, share=0.25, players=["greedy", "random"])
    env.reset()
    assert env.opponents
    opponent = env.opponents.seating.max(axis=1)
    shares = [(opponent == number).mean() for number in (NOBODY, 0, 1)]
    assert shares == pytest.approx([0.75, 0.125, 0.125], abs=0.03)


@RULES
def test_rewards_of_a_game_add_up_to_its_margins(rules: str) -> None:
    """Replies belong to the steps, so that the sum of a seat's rewards is its margin over the whole game."""
    env = make_env(rules, n_envs=200, share=1.0, players=["greedy"])
    players = env.core.rules.players
    total = np.zeros((200, players))
    begun, compared = np.zeros(200, dtype=bool), 0
    env.reset()
    starting = relative_points(env.positions.scores)
    rng, policy = np.random.default_rng(0), RandomPolicy(env.core)
    for _ in range(60):
        mover = env.positions.mover.copy()
        env.step_async(policy.choose(env.positions, rng))
        _, rewards, dones, infos = env.step_wait()
        seats = (mover[:, None] + np.arange(players)) % players
        total[np.arange(200)[:, None], seats] += rewards
        for row in dones.nonzero()[0]:
            if not begun[row]:  # first games: the scores they began with are known
                margins = total[row] * env.core.rules.total + starting[row]
                assert margins.max() == pytest.approx(infos[row]["episode"]["r"], abs=1e-3)
                compared += 1
            begun[row] = True
            total[row] = 0.0
    assert compared > 100


@RULES
def test_replies_are_counted_and_discounted_by_the_ply(rules: str) -> None:
    """A step's rewards are those of its plies, each ply later worth `gamma` times as much."""
    env = make_env(rules, gamma=0.5, share=1.0, players=["greedy"])
    players, answered = env.core.rules.players, set[int]()
    for before, rewards, dones in play(env, 30):
        plies = env.trail.plies[-1]
        answered |= set(plies.tolist())
        goes_on = ~dones
        assert (env.positions.ply[goes_on] - before.ply[goes_on] == plies[goes_on]).all()
        own = goes_on & (plies == 1)  # no reply: the rewards are the margins that one ply won
        won = relative_points(env.positions.scores - before.scores)[own] / env.core.rules.total
        seats = (before.mover[own, None] + np.arange(players)) % players
        assert rewards[own] == pytest.approx(np.take_along_axis(won, seats, axis=1), abs=1e-6)
        assert np.abs(rewards.sum(axis=1)).max() < 1e-6
    assert answered == set(range(1, players + 1))


def test_the_second_reply_is_discounted_twice() -> None:
    env = make_env("three-player", n_envs=1, gamma=0.5, share=1.0, players=["greedy"])
    core, opponents = env.core, env.opponents
    assert opponents
    env.reset()
    env.positions = core.start(1)
    opponents.seating[:] = [[NOBODY, 0, 0]]
    expected, game = np.zeros(3), core.start(1)
    drawn = opponents.drawn
    _, rewards, dones, _ = env.step(np.array([8]))
    for ply, discount in enumerate((1.0, 0.5, 0.25)):
        before = game.scores.copy()
        rng = np.random.default_rng([0, drawn + ply])
        core.play(game, [8] if ply == 0 else opponents.players[0].choose(game, rng))
        expected += discount * ply_rewards("margin", core, before, game)[0]
    assert not dones[0]
    assert env.positions.same(game).all()
    assert env.trail.plies[-1] == [3]
    assert np.abs(expected).max() > 0
    assert rewards[0] == pytest.approx(expected, abs=1e-6)


def test_advantages_after_an_answer_against_a_hand_computation() -> None:
    buffer = buffer_for_two([1.0, 2.0], [0.25, -0.5], [True, False], gamma=0.9, lam=0.5)
    buffer.trail.plies[0][:] = 2
    second = 2.0 - 0.9 * 0.4 + 0.5
    first = 1.0 + 0.81 * -0.5 - 0.25 + 0.81 * 0.5 * second
    assert advantages(buffer, 0.4, False) == pytest.approx([first, second])


def test_the_newest_past_selves_are_kept() -> None:
    core = Core()
    features, network = make_network(core, NetworkConfig(name="plain", embed=2, width=8, depth=1))
    opponents = Opponents(OpponentsConfig(past_selves=2, share=1.0), features, n_envs=8, seed=0)
    opponents.assign(np.arange(8))
    assert (opponents.seating == NOBODY).all()  # nobody to meet yet
    for number in range(3):
        torch.nn.init.constant_(network.value.bias, float(number))  # type: ignore[union-attr]
        opponents.keep(network)
    biases = [player.network.value.bias.item() for player in opponents.past]  # type: ignore[union-attr]
    assert biases == [2.0, 1.0]
    opponents.assign(np.arange(8))
    assert set(opponents.seating.max(axis=1).tolist()) == {0, 1}
    again = Opponents(OpponentsConfig(past_selves=2, share=1.0), features, n_envs=8, seed=0)
    again.restore(opponents.state(), network)
    assert (again.seating == opponents.seating).all()
    assert [player.network.value.bias.item() for player in again.past] == biases  # type: ignore[union-attr]


def pool_config(rules: str) -> TrainConfig:
    pool = {"share": 0.5, "players": ["greedy"], "past_selves": 2, "every_plies": 2 * ITERATION}
    return small_config(rules=rules, opponents=pool)


@RULES
def test_a_run_with_a_pool_resumes_to_the_same_numbers(tmp_path: Path, rules: str) -> None:
    learn(TrainingRun.create(tmp_path / "whole", pool_config(rules), "test", quiet))
    with pytest.raises(StopTrainingError):
        learn(TrainingRun.create(tmp_path / "parts", pool_config(rules), "test", quiet), 3 * ITERATION)
    run = TrainingRun.resume(tmp_path / "parts", quiet)
    assert run.env.opponents
    assert len(run.env.opponents.past) == 1
    learn(run)
    assert len(run.env.opponents.past) == 2
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


def test_unknown_opponents_are_refused() -> None:
    with pytest.raises(ValueError, match=r"did you mean greedy\?"):
        make_env(players=["gredy"])
