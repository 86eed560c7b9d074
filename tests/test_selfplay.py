"""Self-play's parts: the zero-sum buffer, the games as a VecEnv, start positions, features, networks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from gymnasium import spaces

from agents.networks.config import NetworkConfig
from agents.networks.features import AfterstateFeatures, PlainFeatures
from agents.networks.layers import FORBIDDEN
from agents.networks.networks import AfterstateNet, make_network
from agents.training.rollout_buffer import Trail, ZeroSumRolloutBuffer
from agents.training.selfplay import BLOCK, RandomStarts, SelfPlayVecEnv
from oanquan_env import Core, Positions
from oanquan_env.players import RandomPolicy, move_gains
from oanquan_env.rewards import REWARDS
from tests.boards import fair_reward
from tests.strategies import TWO_PLAYER_PRESETS


def make_env(rules: str = "mancala-world", n_envs: int = 64, **settings: object) -> SelfPlayVecEnv:
    core = Core(rules)
    defaults: dict[str, object] = {"reward": "margin"}
    starts = RandomStarts(core, set_up_share=0.2, max_plies=6, seed=0)
    return SelfPlayVecEnv(PlainFeatures(core), starts, n_envs=n_envs, **{**defaults, **settings})  # type: ignore[arg-type]


def filled_buffer(
    rewards: list[float], values: list[float], starts: list[bool], *, gamma: float, lam: float
) -> ZeroSumRolloutBuffer:
    """One game a column; one column."""
    trail = Trail(len(rewards))
    space, actions = spaces.Box(-1, 1, (1,)), spaces.Discrete(2)
    buffer = ZeroSumRolloutBuffer(len(rewards), space, actions, gamma=gamma, gae_lambda=lam, n_envs=1, trail=trail)
    for reward, value, start in zip(rewards, values, starts, strict=True):
        buffer.add(
            np.zeros((1, 1)),
            np.zeros(1),
            np.array([reward]),
            np.array([start]),
            torch.tensor([value]),
            torch.zeros(1),
            action_masks=np.ones((1, 2)),
        )
        trail.answered.append(np.array([False]))
    return buffer


def advantages(buffer: ZeroSumRolloutBuffer, last_value: float, done: bool) -> npt.NDArray[np.float32]:
    buffer.compute_returns_and_advantage(torch.tensor([last_value]), np.array([done]))
    return buffer.advantages[:, 0]


def test_advantages_against_a_hand_computation() -> None:
    # A game of two plies ends, another begins and is cut off after one ply.
    buffer = filled_buffer([1.0, 2.0, 0.5], [0.25, -0.5, 0.75], [True, False, True], gamma=0.9, lam=0.5)
    third = 0.5 - 0.9 * 0.4 - 0.75
    second = 2.0 + 0.5  # nothing follows the end of the game
    first = (1.0 - 0.9 * -0.5 - 0.25) - 0.9 * 0.5 * second
    assert advantages(buffer, 0.4, False) == pytest.approx([first, second, third])
    assert buffer.returns[:, 0] == pytest.approx([first + 0.25, second - 0.5, third + 0.75])


def test_with_lambda_one_the_return_is_the_alternating_sum_of_rewards() -> None:
    rewards = [3.0, 5.0, 7.0, 11.0]
    buffer = filled_buffer(rewards, [0.3, -0.2, 0.9, 0.1], [True, False, False, False], gamma=1.0, lam=1.0)
    advantages(buffer, 99.0, True)
    assert buffer.returns[:, 0] == pytest.approx([3 - 5 + 7 - 11, 5 - 7 + 11, 7 - 11, 11])


def test_a_move_that_loses_to_the_reply_gets_a_negative_advantage() -> None:
    """5A wins 11 points, and 3A then wins the game (docs/RULES.md, section 4)."""
    core = Core()
    env = SelfPlayVecEnv(
        PlainFeatures(core), RandomStarts(core, set_up_share=1.0, max_plies=1, seed=0), n_envs=1, reward="margin"
    )
    env.reset()
    rewards = []
    for action in (8, 4):
        _, reward, dones, infos = env.step(np.array([action]))
        rewards.append(float(reward[0]))
    assert dones[0]
    assert infos[0]["termination"] == "stones_captured"
    assert infos[0]["episode"] == {"r": 24, "l": 2, "t": 0.0}
    assert rewards[0] == pytest.approx(11 / 70)
    assert rewards[0] - rewards[1] == pytest.approx((22 - 46) / 70)  # from the first mover's side
    buffer = filled_buffer(rewards, [0.0, 0.0], [True, False], gamma=1.0, lam=1.0)
    first, second = advantages(buffer, 0.0, True)
    assert first == pytest.approx(-24 / 70)
    assert second > 0


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_are_the_movers_and_the_two_seats_add_up(reward: str) -> None:
    env = make_env(n_envs=1, reward=reward)
    env.starts.set_up_share = 1.0
    env.reset()
    rng = np.random.default_rng(0)
    total, sign, done = 0.0, 1.0, False
    while not done:
        action = RandomPolicy(env.core).choose(env.positions, rng)
        before = env.positions.copy()
        _, rewards, dones, _ = env.step(action)
        total, sign, done = total + sign * float(rewards[0]), -sign, bool(dones[0])
    env.core.play(before, action)
    assert total == pytest.approx(fair_reward(reward, env.core.standings(before)[0], env.core.rules.total)[0])


def test_masks_travel_as_one_array() -> None:
    env = make_env(n_envs=8)
    env.reset()
    masks = env.env_method("action_masks")
    assert len(masks) == 1
    assert (masks[0] == env.core.legal_mask(env.positions)).all()
    assert env.has_attr("action_masks")
    assert env.get_attr("render_mode") == [None] * 8


def test_finished_games_restart_at_once_and_report_their_last_position() -> None:
    env = make_env(n_envs=256)
    seen = env.reset()
    rng = np.random.default_rng(0)
    finished = 0
    for _ in range(20):
        actions = RandomPolicy(env.core).choose(env.positions, rng)
        before = env.positions.copy()
        seen, _, dones, infos = env.step(actions)
        env.core.play(before, actions)
        assert (dones == before.over).all()
        assert not env.positions.over.any()
        assert (seen == env.features.encode(env.positions)).all()
        for row in dones.nonzero()[0]:
            last = env.features.encode(before[row : row + 1])[0]
            assert (infos[row]["terminal_observation"] == last).all()
            assert infos[row]["TimeLimit.truncated"] is False
        assert all(not info for info, done in zip(infos, dones, strict=True) if not done)
        finished += int(dones.sum())
    assert finished > 50


def test_start_positions_are_mixed_and_running() -> None:
    core = Core()
    drawn = RandomStarts(core, set_up_share=0.25, max_plies=4, seed=0).draw(4000)
    assert not drawn.over.any()
    shares = np.bincount(drawn.ply, minlength=5) / 4000
    assert shares == pytest.approx([0.25, *[0.75 / 4] * 4], abs=0.03)


def test_games_too_short_for_their_random_plies_begin_at_the_set_up_no_more_often() -> None:
    drawn = RandomStarts(Core(), set_up_share=0.1, max_plies=24, seed=0).draw(4000)
    assert not drawn.over.any()
    assert (drawn.ply == 0).mean() == pytest.approx(0.1, abs=0.02)
    assert (drawn.ply > 12).sum() > 300
    hopeless = RandomStarts(Core("mancala-world max_plies=1"), set_up_share=0.0, max_plies=3, seed=0).draw(5)
    assert (hopeless.ply == 0).all()


def test_the_row_of_start_positions_is_the_same_however_it_is_drawn() -> None:
    def starts(seed: int) -> RandomStarts:
        return RandomStarts(Core(), set_up_share=0.25, max_plies=4, seed=seed)

    whole = starts(0).draw(BLOCK + 50)
    piecemeal = starts(0)
    parts = [piecemeal.draw(n) for n in (1, BLOCK - 11, 60)]
    assert Positions.concatenate(parts).same(whole).all()
    later = starts(0)
    later.drawn = piecemeal.drawn = BLOCK - 3
    assert later.draw(6).same(whole[BLOCK - 3 : BLOCK + 3]).all()
    assert piecemeal.draw(6).same(whole[BLOCK - 3 : BLOCK + 3]).all()
    assert not starts(1).draw(BLOCK).same(whole[:BLOCK]).all()


def test_training_for_three_players_is_refused() -> None:
    core = Core("three-player")
    with pytest.raises(ValueError, match="for two players; these rules have 3"):
        SelfPlayVecEnv(
            PlainFeatures(core), RandomStarts(core, set_up_share=1, max_plies=1, seed=0), n_envs=2, reward="margin"
        )
    with pytest.raises(ValueError, match="made for two players, not 3"):
        AfterstateFeatures(core)


@pytest.mark.parametrize("preset", TWO_PLAYER_PRESETS)
def test_afterstate_features_are_what_the_core_plays(preset: str) -> None:
    core = Core(preset)
    positions = RandomStarts(core, set_up_share=0.1, max_plies=9, seed=1).draw(40)
    features = AfterstateFeatures(core)
    rows = features.encode(positions)
    gains = rows[:, features.layout["gains"]]
    assert (gains == move_gains(core, positions)).all()
    for row, action in zip(*core.legal_mask(positions).nonzero(), strict=True):
        child = positions[row : row + 1]
        core.play(child, [action])
        boards = features.layout["after"].start + action * features.board.stop
        board = rows[row, boards : boards + features.board.stop]
        assert (board == features.encoder.encode(child)[0, features.board]).all()
        assert (rows[row, features.layout["status"]][action] == AfterstateFeatures.OVER) == child.over[0]
        replies = rows[row, features.layout["replies"]].reshape(core.rules.actions, -1)[action]
        assert (replies == move_gains(core, child)[0]).all()


def test_a_fresh_afterstate_network_already_weighs_points_won() -> None:
    """Q(move) = points won - V(afterstate): with V and correction silenced, the best move is the greedy one."""
    core = Core()
    features, network = make_network(core, NetworkConfig(name="afterstates", embed=4, width=16, depth=1))
    assert isinstance(network, AfterstateNet)
    for head in (network.value, network.correction):
        torch.nn.init.zeros_(head.weight)
    positions = RandomStarts(core, set_up_share=0.1, max_plies=9, seed=1).draw(200)
    mask = core.legal_mask(positions)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(features.encode(positions)), torch.from_numpy(mask))
    gains = np.where(mask, move_gains(core, positions), -np.inf)
    assert (gains[np.arange(200), logits.argmax(1).numpy()] == gains.max(axis=1)).all()
    assert (values == 0).all()
    assert (logits.numpy()[~mask] == np.float32(FORBIDDEN)).all()


@pytest.mark.parametrize("name", ["plain", "afterstates", "lookahead"])
def test_state_value_is_the_forward_pass_s_value_and_rows_are_independent(name: str) -> None:
    torch.manual_seed(0)
    core = Core()
    features, network = make_network(
        core, NetworkConfig.model_validate({"name": name, "embed": 4, "width": 16, "depth": 2})
    )
    positions = RandomStarts(core, set_up_share=0.1, max_plies=9, seed=1).draw(30)
    rows = torch.from_numpy(features.encode(positions))
    mask = torch.from_numpy(core.legal_mask(positions))
    with torch.no_grad():
        logits, values = network(rows, mask)
        assert torch.allclose(network.state_value(rows), values, atol=1e-5)
        assert torch.allclose(network(rows[7:8], mask[7:8])[0], logits[7:8], atol=1e-5)


def test_bfloat16_products_change_values_by_less_than_a_point() -> None:
    torch.manual_seed(0)
    core = Core()
    features, network = make_network(core, NetworkConfig(name="afterstates", embed=4, width=32, depth=2))
    positions = RandomStarts(core, set_up_share=0.1, max_plies=9, seed=1).draw(200)
    rows, mask = torch.from_numpy(features.encode(positions)), torch.from_numpy(core.legal_mask(positions))
    with torch.no_grad():
        _, exact = network(rows, mask)
        network.trunk.use_bfloat16 = True
        rough_logits, rough = network(rows, mask)
    assert rough.dtype == rough_logits.dtype == torch.float32
    assert (rough != exact).any()
    assert ((rough - exact).abs() * core.rules.total).max() < 1
