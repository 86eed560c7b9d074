"""Self-play's parts: the zero-sum buffer, the games as a VecEnv, start positions, features, networks."""

import numpy as np
import pytest
import torch

from agents.games import BLOCK, Games, StartsConfig
from agents.networks.features import PlainFeatures
from agents.networks.nets import FORBIDDEN, AfterstateNet, NetworkConfig, make_network
from agents.ppo import SelfPlayVecEnv, advantages
from oanquan_env import Core, Positions, rotate_seats
from oanquan_env.players import RandomPolicy, move_gains
from oanquan_env.rewards import REWARDS, RewardName
from tests.boards import fair_reward
from tests.strategies import PRESET_NAMES


def games(core: Core, n: int, set_up_share: float = 0.1, max_plies: int = 9, seed: int = 1) -> Games:
    return Games(core, n, StartsConfig(set_up_share=set_up_share, max_plies=max_plies), seed)


def make_env(
    n_envs: int, rules: str = "mancala-world", reward: RewardName = "margin", set_up_share: float = 0.2
) -> SelfPlayVecEnv:
    core = Core(rules)
    return SelfPlayVecEnv(PlainFeatures(core), games(core, n_envs, set_up_share, 6, 0), reward)


def test_advantages_of_the_example() -> None:
    rewards = np.array([[[1.0, -1.0]], [[1.0, -1.0]]], dtype=np.float32)
    values, dones = np.full((2, 1, 1), 0.5, dtype=np.float32), np.array([[False], [True]])
    found, returns = advantages(rewards, values, np.full((1, 1), 9.0, dtype=np.float32), dones, 1.0, 1.0)
    assert found.tolist() == [[-0.5], [0.5]]
    assert returns.tolist() == [[[0.0]], [[1.0]]]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_advantages_are_those_of_each_seat_on_its_own(players: int) -> None:
    """Generalised advantage estimation seat by seat; seat 0 moves at step 0, and the next one at each step."""
    rng = np.random.default_rng(players)
    steps, n, gamma, lam = 20, 50, 0.97, 0.8
    rewards, values = rng.normal(size=(2, steps + 1, n, players)).astype(np.float32)
    for one in (rewards, values):
        one -= one.mean(axis=2, keepdims=True)  # as of a zero-sum game
    dones = rng.random((steps, n)) < 0.2
    paid, mover_first = (
        np.stack([np.roll(row, -step, axis=1) for step, row in enumerate(one)]) for one in (rewards, values)
    )
    found, returns = advantages(
        paid[:steps], mover_first[:steps, :, :-1], mover_first[steps, :, :-1], dones, gamma, lam
    )
    advantage = np.zeros((n, players))
    for step in reversed(range(steps)):
        goes_on = ~dones[step][:, None]
        error = rewards[step] + gamma * goes_on * values[step + 1] - values[step]
        advantage = error + gamma * lam * goes_on * advantage
        assert found[step] == pytest.approx(advantage[:, step % players], abs=1e-5)
        assert returns[step] == pytest.approx(np.roll(advantage + values[step], -step, axis=1)[:, :-1], abs=1e-5)


def test_a_finished_game_tells_its_end_and_length() -> None:
    """5A wins 11 points, and 3A then wins the game (docs/RULES.md, section 4)."""
    env = make_env(1, set_up_share=1.0)
    env.reset()
    rewards = []
    for action in (8, 4):
        _, reward, dones, infos = env.step(np.array([action]))
        rewards.append(float(reward[0, 0]))
    assert dones[0]
    assert infos[0]["termination"] == "stones_captured"
    assert infos[0]["episode"] == {"r": 24, "l": 2, "t": 0.0}
    assert rewards[0] == pytest.approx(11 / 70)
    assert rewards[0] - rewards[1] == pytest.approx((22 - 46) / 70)  # from the first mover's side


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_are_given_mover_first_and_add_up_to_those_of_the_game(reward: RewardName, rules: str) -> None:
    env = make_env(1, rules, reward, set_up_share=1.0)
    env.reset()
    rng = np.random.default_rng(0)
    total, done = np.zeros(env.core.rules.players), False
    while not done:
        action = RandomPolicy(env.core).choose(env.games.positions, rng)
        before = env.games.positions.copy()
        _, rewards, dones, _ = env.step(action)
        total, done = total + np.roll(rewards[0], before.mover[0]), bool(dones[0])
    env.core.play(before, action)
    wanted = fair_reward(reward, env.core.standings(before)[0], env.core.rules.total)
    assert total == pytest.approx(wanted, abs=1e-6)


def test_finished_games_restart_at_once_and_report_their_last_position() -> None:
    env = make_env(256)
    seen = env.reset()
    rng = np.random.default_rng(0)
    finished = 0
    for _ in range(20):
        actions = RandomPolicy(env.core).choose(env.games.positions, rng)
        before = env.games.positions.copy()
        seen, _, dones, infos = env.step(actions)
        env.core.play(before, actions)
        assert (dones == before.over).all()
        assert not env.games.positions.over.any()
        assert (seen == env.features.encode(env.games.positions)).all()
        for row in dones.nonzero()[0]:
            last = env.features.encode(before[row : row + 1])[0]
            assert (infos[row]["terminal_observation"] == last).all()
            assert infos[row]["TimeLimit.truncated"] is False
        assert all(not info for info, done in zip(infos, dones, strict=True) if not done)
        finished += int(dones.sum())
    assert finished > 50


def test_start_positions_are_mixed_and_running() -> None:
    drawn = games(Core(), 4000, 0.25, 4, 0).positions
    assert not drawn.over.any()
    assert np.bincount(drawn.ply, minlength=5) / 4000 == pytest.approx([0.25, *[0.75 / 4] * 4], abs=0.03)


def test_games_too_short_for_their_random_plies_begin_at_the_set_up_no_more_often() -> None:
    drawn = games(Core(), 4000, 0.1, 24, 0).positions
    assert not drawn.over.any()
    assert (drawn.ply == 0).mean() == pytest.approx(0.1, abs=0.02)
    assert (drawn.ply > 12).sum() > 300
    assert (games(Core("mancala-world max_plies=1"), 5, 0.0, 3, 0).positions.ply == 0).all()


def test_start_positions_are_the_same_however_they_are_drawn() -> None:
    whole = games(Core(), BLOCK + 50).positions
    piecemeal = games(Core(), 1)
    parts = [piecemeal.positions, *(piecemeal.draw(n) for n in (BLOCK - 11, 60))]
    assert Positions.concatenate(parts).same(whole).all()
    later = games(Core(), 0)
    later.drawn = piecemeal.drawn = BLOCK - 3
    assert later.draw(6).same(whole[BLOCK - 3 : BLOCK + 3]).all()
    assert piecemeal.draw(6).same(whole[BLOCK - 3 : BLOCK + 3]).all()
    assert not games(Core(), BLOCK, seed=2).positions.same(whole[:BLOCK]).all()


@pytest.mark.parametrize("name", ["plain", "afterstates", "two_ply"])
@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_network_sees_the_same_when_all_seats_are_turned(preset: str, name: str) -> None:
    core = Core(preset)
    features, _ = make_network(core, NetworkConfig.model_validate({"name": name, "embed": 1, "width": 1}))
    positions = games(core, 60).positions
    rows = features.encode(positions)
    for seats in range(1, core.rules.players):
        assert np.array_equal(features.encode(rotate_seats(positions, seats)), rows)


@pytest.mark.parametrize("preset", ["mancala-world", "three-player"])
def test_a_fresh_afterstate_network_already_weighs_points_won(preset: str) -> None:
    """Q(move) = points won - V(afterstate): with V and correction silenced, the best move is the greedy one."""
    core = Core(preset)
    features, network = make_network(core, NetworkConfig(name="afterstates", embed=4, width=16, depth=1))
    assert isinstance(network, AfterstateNet)
    for head in (network.value, network.correction):
        torch.nn.init.zeros_(head.weight)
    positions = games(core, 200).positions
    mask = core.legal_mask(positions)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(features.encode(positions)), torch.from_numpy(mask))
    gains = np.where(mask, move_gains(core, positions), -np.inf)
    assert (gains[np.arange(200), logits.argmax(1).numpy()] == gains.max(axis=1)).all()
    assert (values == 0).all()
    assert (logits.numpy()[~mask] == np.float32(FORBIDDEN)).all()


@pytest.mark.parametrize("preset", ["mancala-world", "four-player"])
@pytest.mark.parametrize("name", ["plain", "afterstates", "two_ply"])
def test_values_need_no_mask_and_rows_are_independent(name: str, preset: str) -> None:
    torch.manual_seed(0)
    core = Core(preset)
    features, network = make_network(
        core, NetworkConfig.model_validate({"name": name, "embed": 4, "width": 16, "depth": 2})
    )
    positions = games(core, 30).positions
    rows = torch.from_numpy(features.encode(positions))
    mask = torch.from_numpy(core.legal_mask(positions))
    with torch.no_grad():
        logits, values = network(rows, mask)
        assert values.shape == (30, core.rules.players - 1)
        assert torch.allclose(network(rows, torch.zeros_like(mask))[1], values, atol=1e-5)
        assert torch.allclose(network(rows[7:8], mask[7:8])[0], logits[7:8], atol=1e-5)
