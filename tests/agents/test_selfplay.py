"""Test the parts of self-play: advantages, the games as a VecEnv, start positions, features and networks."""

from typing import Any

import numpy as np
import pytest
import torch

from agents.networks.embedding_sums import SumOfRows
from agents.networks.features import AfterstateFeatures, PlainFeatures, TwoPlyFeatures
from agents.networks.layers import FORBIDDEN, POINTS_SCALE, CountTrunk
from agents.networks.nets import NetworkConfig, make_network
from agents.ppo import SelfPlayVecEnv, advantages
from agents.self_play import SelfPlayGames, StartsConfig
from oanquan_env import Core, Positions, Rules, rotate_seats
from oanquan_env.players import RandomPolicy, move_gains
from oanquan_env.rewards import REWARDS, RewardName
from tests.helpers.boards import fair_reward


def games(core: Core, n: int, set_up_share: float = 0.1, max_plies: int = 9, seed: int = 1) -> SelfPlayGames:
    return SelfPlayGames(core, n, StartsConfig(set_up_share=set_up_share, max_plies=max_plies), seed)


def make_env(n_envs: int, rules: str = "mancala-world", reward: RewardName = "margin", share: float = 0.2) -> Any:
    core = Core(rules)
    return SelfPlayVecEnv(PlainFeatures(core), games(core, n_envs, share, 6, 0), reward)


def network_of(core: Core, name: str, **sizes: int) -> tuple[Any, Any]:
    """Return the features and the network of a small configuration, with random weights."""
    torch.manual_seed(0)
    sizes = {"embed": 4, "width": 16, "depth": 2} | ({"leaf_width": 8} if name == "two_ply" else {}) | sizes
    return make_network(core, NetworkConfig.model_validate({"name": name, **sizes}))


def outputs(core: Core, features: Any, network: Any, positions: Positions) -> tuple[np.ndarray, np.ndarray]:
    """Return a network's logits and values of positions."""
    with torch.no_grad():
        logits, values = network(*map(torch.from_numpy, (features.encode(positions), core.legal_mask(positions))))
    return logits.numpy(), values.numpy()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_advantages_are_those_of_each_seat_on_its_own(players: int) -> None:
    """Each seat has its own generalised advantage estimation; seat 0 moves first, and then the seats take turns."""
    rng = np.random.default_rng(players)
    steps, n, gamma, lam = 20, 50, 0.97, 0.8
    rewards, values = rng.normal(size=(2, steps + 1, n, players)).astype(np.float32)
    for one in (rewards, values):
        one -= one.mean(axis=2, keepdims=True)  # as in a zero-sum game
    dones = rng.random((steps, n)) < 0.2
    paid, mover_first = (
        np.stack([np.roll(row, -step, axis=1) for step, row in enumerate(one)]) for one in (rewards, values)
    )
    known = mover_first[..., :-1]
    found, returns = advantages(paid[:steps], known, dones, gamma, lam)
    advantage = np.zeros((n, players))
    for step in reversed(range(steps)):
        goes_on = ~dones[step][:, None]
        error = rewards[step] + gamma * goes_on * values[step + 1] - values[step]
        advantage = error + gamma * lam * goes_on * advantage
        assert found[step] == pytest.approx(advantage[:, step % players], abs=1e-5)
        assert returns[step] == pytest.approx(np.roll(advantage + values[step], -step, axis=1)[:, :-1], abs=1e-5)


@pytest.mark.parametrize("rules", ["mancala-world", "three-player", "four-player"])
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_are_given_mover_first_and_add_up_to_those_of_the_game(reward: RewardName, rules: str) -> None:
    env, rng = make_env(1, rules, reward, share=1.0), np.random.default_rng(0)
    env.reset()
    total, done = np.zeros(env.core.rules.players), False
    while not done:
        action, before = RandomPolicy(env.core).choose(env.games.positions, rng), env.games.positions.copy()
        _, rewards, dones, _ = env.step(action)
        total, done = total + np.roll(rewards[0], before.mover[0]), bool(dones[0])
    env.core.play(before, action)
    wanted = fair_reward(reward, env.core.standings(before)[0], env.core.rules.total)
    assert total == pytest.approx(wanted, abs=1e-6)


def test_finished_games_restart_at_once() -> None:
    env, rng, finished = make_env(256), np.random.default_rng(0), 0
    env.reset()
    for _ in range(20):
        actions, before = RandomPolicy(env.core).choose(env.games.positions, rng), env.games.positions.copy()
        seen, _, dones, _ = env.step(actions)
        env.core.play(before, actions)
        assert (dones == before.over).all()
        assert not env.games.positions.over.any()
        assert (seen == env.features.encode(env.games.positions)).all()
        finished += int(dones.sum())
    assert finished > 50


def test_start_positions_are_mixed_and_running() -> None:
    drawn = games(Core(), 4000, 0.25, 4, 0).positions
    assert not drawn.over.any()
    assert np.bincount(drawn.ply, minlength=5) / 4000 == pytest.approx([0.25, *[0.75 / 4] * 4], abs=0.03)
    drawn = games(Core(), 4000, 0.1, 24, 0).positions  # games too short for their random plies are drawn again
    assert not drawn.over.any()
    assert (drawn.ply == 0).mean() == pytest.approx(0.1, abs=0.02)
    assert (drawn.ply > 12).sum() > 300
    assert (games(Core("mancala-world max_plies=1"), 5, 0.0, 3, 0).positions.ply == 0).all()


def test_a_share_of_the_games_begins_in_the_beams_each_equally_often() -> None:
    core = Core()
    beams, starts = core.start(3), SelfPlayGames(core, 1, StartsConfig(max_plies=4, beam_share=0.6), 0)
    beams.ply[:] = [10, 11, 12]
    starts.use(beams)
    assert np.bincount(starts.draw(6000).ply)[10:] / 6000 == pytest.approx([0.2] * 3, abs=0.02)


@pytest.mark.parametrize("name", ["plain", "afterstates", "two_ply"])
@pytest.mark.parametrize("preset", ["mancala-world", "four-player"])
def test_a_network_sees_the_same_when_seats_are_turned_and_rows_are_independent(preset: str, name: str) -> None:
    core = Core(preset)
    features, network = network_of(core, name)
    positions = games(core, 60).positions
    encoded, mask = features.encode(positions), torch.from_numpy(core.legal_mask(positions))
    for seats in range(1, core.rules.players):
        assert np.array_equal(features.encode(rotate_seats(positions, seats)), encoded)
    rows = torch.from_numpy(encoded)
    with torch.no_grad():
        logits, values = network(rows, mask)
        assert values.shape == (60, core.rules.players - 1)
        assert torch.allclose(network(rows, torch.zeros_like(mask))[1], values, atol=1e-5)  # values need no mask
        assert torch.allclose(network(rows[7:8], mask[7:8])[0], logits[7:8], atol=1e-5)


def test_a_fresh_afterstate_network_already_weighs_points_won() -> None:
    """Q(move) = points won - V(afterstate): if V and the correction are zero, the best move is the greedy one."""
    core = Core("three-player")
    features, network = network_of(core, "afterstates", depth=1)
    for head in (network.value, network.correction):
        torch.nn.init.zeros_(head.weight)
    positions = games(core, 200).positions
    mask = core.legal_mask(positions)
    logits, values = outputs(core, features, network, positions)
    gains = np.where(mask, move_gains(core, positions), -np.inf)
    assert (gains[np.arange(200), logits.argmax(axis=1)] == gains.max(axis=1)).all()
    assert (values == 0).all()
    assert (logits[~mask] == np.float32(FORBIDDEN)).all()


SMALL = Rules.parse("mancala-world fields=2 seeds=2")


@pytest.mark.parametrize("preset", ["tonkin", "three-player"])
def test_features_are_what_the_core_plays(preset: str) -> None:
    core = Core(preset)
    positions = games(core, 40).positions
    features = AfterstateFeatures(core)
    rows, mask = features.encode(positions), core.legal_mask(positions)
    status = rows[:, features.layout["status"]]
    assert ((status != AfterstateFeatures.NO_MOVE) == mask).all()
    gains = rows[:, features.layout["gains"]].reshape(len(rows), core.rules.players - 1, core.rules.actions)
    assert gains[:, 0] == pytest.approx(move_gains(core, positions) * features.per_point)
    assert gains.transpose(0, 2, 1) == pytest.approx(margins_won(core, positions)[..., :-1] * features.per_point)
    boards = rows[:, features.layout["after"]].reshape(len(rows), core.rules.actions, -1)
    assert (boards[~mask] == 0).all()
    replies = rows[:, features.layout["replies"]].reshape(len(rows), core.rules.actions, -1)
    for row, action in zip(*mask.nonzero(), strict=True):
        child = positions[row : row + 1]
        core.play(child, [action])
        assert (boards[row, action] == features.encoder.encode(child)[0, features.board]).all()
        assert (status[row, action] == AfterstateFeatures.OVER) == child.over[0]
        assert replies[row, action] == pytest.approx(move_gains(core, child)[0] * features.per_point)


def test_two_ply_features_are_the_position_s_and_its_afterstates() -> None:
    core = Core()
    positions, features = games(core, 40).positions, TwoPlyFeatures(core)
    rows, mask = features.encode(positions), core.legal_mask(positions)
    blocks = rows[:, features.layout["after"]].reshape(len(rows), core.rules.actions, -1)
    assert (rows[:, features.layout["here"]] == features.moves.encode(positions)).all()
    assert (blocks[~mask] == 0).all()
    after, parents, actions = core.expand(positions)
    assert (blocks[parents, actions] == features.moves.encode(after)).all()
    assert features.encode(core.start(0)).shape == (0, features.size)
    positions.ended[:] = 1
    assert (features.moves.encode(positions)[:, features.moves.board.stop :] == 0).all()


def margins_won(core: Core, positions: Positions) -> np.ndarray:
    """Return the (N, A, P) points that each move adds to each player's margin, the mover's first; 0 if illegal."""
    after, rows, actions = core.expand(positions)
    points = core.standings(after) - positions.scores[rows]
    won = (points * core.rules.players - points.sum(axis=1, keepdims=True)) / (core.rules.players - 1)
    margins = np.zeros((len(positions), core.rules.actions, core.rules.players))
    for row, action, of_seats in zip(rows, actions, won, strict=True):
        margins[row, action] = np.roll(of_seats, -positions.mover[row])
    return margins


def best_for_the_mover(core: Core, positions: Positions) -> np.ndarray:
    """Return the mean of `margins_won` over the mover's best moves: each player's margin in points, (N, P)."""
    won, legal = margins_won(core, positions), core.legal_mask(positions)
    own = np.where(legal, won[..., 0], -np.inf)
    best = np.isclose(own, own.max(axis=1, keepdims=True))
    shared: np.ndarray = (won * best[..., None]).sum(axis=1) / best.sum(axis=1, keepdims=True)
    return shared


@pytest.mark.parametrize("preset", ["mancala-world", "three-player", "four-player"])
def test_with_silent_heads_every_player_takes_what_is_best_for_itself(preset: str) -> None:
    """V holds the margins that the best move wins; logits are proportional to the mover's after the best reply."""
    core = Core(preset)
    features, network = network_of(core, "two_ply")
    # leaf values and corrections are zero, and the softmax is cold
    for head in (network.leaf_value, network.value, network.correction[-1]):
        torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(network.leaf_value.bias)
    torch.nn.init.constant_(network.log_temperature, -5.0)
    positions = games(core, 100).positions
    logits, values = outputs(core, features, network, positions)
    assert values * core.rules.total == pytest.approx(best_for_the_mover(core, positions)[:, :-1], abs=1e-3)
    after, rows, actions = core.expand(positions)
    replies = np.zeros((len(after), core.rules.players))
    replies[~after.over] = best_for_the_mover(core, after[~after.over])
    moves = margins_won(core, positions)[rows, actions, 0] + replies[:, -1]  # after its move the mover comes last
    wanted = moves / core.rules.total * np.exp(3.0)  # the initial inverse temperature
    assert logits[rows, actions] == pytest.approx(wanted, abs=1e-3)
    assert (logits[~core.legal_mask(positions)] == np.float32(FORBIDDEN)).all()


def test_a_move_is_worth_what_it_wins_less_the_leaf_s_value() -> None:
    """Uncorrected V is a softmax-weighted mean, over moves, of gain minus leaf value (0 if the game is over)."""
    core = Core()
    features, network = network_of(core, "two_ply")
    torch.nn.init.zeros_(network.value.weight)
    torch.nn.init.normal_(network.leaf_value.weight)
    positions = games(core, 100).positions
    rows = torch.from_numpy(features.moves.encode(positions))
    after, parents, actions = core.expand(positions)
    boards = torch.from_numpy(features.moves.encode(after))[:, features.moves.board]
    replies = torch.from_numpy(move_gains(core, after) * ~after.over[:, None]) / POINTS_SCALE
    with torch.no_grad():
        values = network.values(rows)[0][:, 0].double().numpy() * core.rules.total
        leaves = network.leaf_value(network.leaf(boards, replies))[:, 0] * POINTS_SCALE
        temperature = network.log_temperature.exp().item()
    moves = np.full((len(positions), core.rules.actions), -np.inf)
    moves[parents, actions] = move_gains(core, positions)[parents, actions] - np.where(after.over, 0, leaves)
    weights = np.exp((moves - moves.max(axis=1, keepdims=True)) / temperature)
    expected = (weights * np.nan_to_num(moves, neginf=0)).sum(axis=1) / weights.sum(axis=1)
    assert after.over.any()
    assert leaves.abs().mean() > 1
    assert values == pytest.approx(expected, abs=1e-3)


def test_kept_afterstates_decide_as_the_whole_network_does() -> None:
    """With the `look_ahead` outputs in half precision, `decide` returns the same values and nearly the same logits."""
    core = Core("three-player")
    features, network = network_of(core, "two_ply")
    env = SelfPlayVecEnv(features, games(core, 100), "margin", network)
    logits, values = outputs(core, features, network, env.games.positions)
    kept, values_again = network.decide(*map(torch.from_numpy, (env.observe(), env.action_masks())))
    assert env.observation_space.dtype == env.observe().dtype == np.float16
    assert np.array_equal(values, values_again.detach())
    assert np.allclose(logits, kept.detach(), atol=0.01)
    assert not np.array_equal(logits, kept.detach())


def test_the_policy_s_gradient_stays_in_the_heads() -> None:
    core = Core()
    features, network = network_of(core, "two_ply")
    positions = games(core, 40).positions
    mask = torch.from_numpy(core.legal_mask(positions))
    logits, _ = network(torch.from_numpy(features.encode(positions)), mask)
    logits[mask].square().sum().backward()  # type: ignore[no-untyped-call]
    reached = {name.partition(".")[0] for name, one in network.named_parameters() if one.grad is not None}
    assert reached == {"log_inverse_temperature", "correction"}


def test_sums_of_rows_and_their_gradients_are_those_of_a_product_with_ones() -> None:
    table = torch.randn(12, 5, dtype=torch.float64, requires_grad=True)
    numbers, weights = torch.tensor([[0, 4, 11], [3, 7, 8], [1, 4, 9]]), torch.randn(3, 5, dtype=torch.float64)
    ones = torch.nn.functional.one_hot(numbers, 12).sum(dim=1).double()
    found, wanted = SumOfRows.apply(numbers, table), ones @ table  # type: ignore[no-untyped-call]
    assert torch.allclose(found, wanted)
    gradients = [torch.autograd.grad((sums * weights).sum(), table)[0] for sums in (found, wanted)]
    assert torch.allclose(*gradients)


def test_counts_are_told_apart_up_to_the_most_of_their_column_and_folding_changes_nothing() -> None:
    torch.manual_seed(0)
    trunk = CountTrunk(SMALL, 0, embed=4, width=16, depth=1)
    counts = torch.tensor([[17, 3, 31, 3, 3, 3, 1, 0]] * 6)
    counts[1, [0, 2, 6]] = torch.tensor([18, 200, 2])
    counts[2, 1], counts[3, 0], counts[4, 2], counts[5, 0] = 2, 0, 30, -1
    hidden = trunk(counts, torch.zeros(6, 0))
    assert (hidden[[0, 3]] == hidden[[1, 5]]).all()
    assert all((hidden[0] != hidden[other]).any() for other in (2, 3, 4))
    trunk, extra = CountTrunk(SMALL, 2, embed=4, width=16, depth=1), torch.randn(2, 2)
    counts = torch.tensor([[5, 3, 20, 0, 1, 2, 1, 0], [0, 3, 0, 1, 2, 9, 0, 1]])
    plain = torch.cat([trunk.table(counts).flatten(1), extra], dim=1)
    assert torch.allclose(trunk(counts, extra), torch.relu(trunk.first(plain)), atol=1e-6)
