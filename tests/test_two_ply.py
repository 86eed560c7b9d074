"""The network that looks two plies ahead, its features and its layers."""

import numpy as np
import pytest
import torch

from agents.games import Games, StartsConfig
from agents.networks.features import AfterstateFeatures, TwoPlyFeatures
from agents.networks.nets import FORBIDDEN, POINTS_SCALE, CountTrunk, NetworkConfig, SumOfRows, TwoPlyNet, make_network
from oanquan_env import Core, Positions, Rules
from oanquan_env.players import move_gains
from tests.strategies import PRESET_NAMES

SMALL = Rules.parse("mancala-world fields=2 seeds=2")


def some_positions(core: Core, n: int = 40, seed: int = 1) -> Positions:
    return Games(core, n, StartsConfig(set_up_share=0.1, max_plies=9), seed).positions


def make(core: Core) -> tuple[TwoPlyFeatures, TwoPlyNet]:
    torch.manual_seed(0)
    config = NetworkConfig(name="two_ply", embed=4, width=16, depth=2, leaf_width=8)
    return make_network(core, config)  # type: ignore[return-value]


def tensors(core: Core, features: TwoPlyFeatures, positions: Positions) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(features.encode(positions)), torch.from_numpy(core.legal_mask(positions))


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_features_are_what_the_core_plays(preset: str) -> None:
    core = Core(preset)
    positions = some_positions(core)
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
    positions = some_positions(core)
    features = TwoPlyFeatures(core)
    rows, mask = features.encode(positions), core.legal_mask(positions)
    blocks = rows[:, features.layout["after"]].reshape(len(rows), core.rules.actions, -1)
    assert (rows[:, features.layout["here"]] == features.moves.encode(positions)).all()
    assert (blocks[~mask] == 0).all()
    after, parents, actions = core.expand(positions)
    assert (blocks[parents, actions] == features.moves.encode(after)).all()


def test_features_of_no_positions_and_of_finished_games() -> None:
    core = Core()
    features = TwoPlyFeatures(core)
    assert features.encode(core.start(0)).shape == (0, features.size)
    finished = some_positions(core, 1)
    finished.ended[:] = 1
    assert (features.moves.encode(finished)[:, features.moves.board.stop :] == 0).all()


def margins_won(core: Core, positions: Positions) -> np.ndarray:
    """(N, A, P) what each move wins the mover and the players after it, points; zero for illegal moves."""
    after, rows, actions = core.expand(positions)
    points = core.standings(after) - positions.scores[rows]
    won = (points * core.rules.players - points.sum(axis=1, keepdims=True)) / (core.rules.players - 1)
    margins = np.zeros((len(positions), core.rules.actions, core.rules.players))
    for row, action, of_seats in zip(rows, actions, won, strict=True):
        margins[row, action] = np.roll(of_seats, -positions.mover[row])
    return margins


def best_for_the_mover(core: Core, positions: Positions) -> np.ndarray:
    """(N, P) what the moves that win the mover most win each player, on average over equals, the mover first."""
    won, legal = margins_won(core, positions), core.legal_mask(positions)
    own = np.where(legal, won[..., 0], -np.inf)
    best = np.isclose(own, own.max(axis=1, keepdims=True))
    shared: np.ndarray = (won * best[..., None]).sum(axis=1) / best.sum(axis=1, keepdims=True)
    return shared


@pytest.mark.parametrize("preset", ["mancala-world", "three-player", "four-player"])
def test_with_silent_heads_every_player_takes_what_is_best_for_itself(preset: str) -> None:
    """V is what the best move wins all players; a move, what it wins plus what the best reply then wins its mover."""
    core = Core(preset)
    features, network = make(core)  # its leaves worth nothing, no corrections, a cold softmax
    for head in (network.leaf_value, network.value, network.correction[-1]):
        torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(network.leaf_value.bias)
    torch.nn.init.constant_(network.log_temperature, -5.0)
    positions = some_positions(core, 100)
    with torch.no_grad():
        logits, values = network(*tensors(core, features, positions))
    assert values.numpy() * core.rules.total == pytest.approx(best_for_the_mover(core, positions)[:, :-1], abs=1e-3)
    after, rows, actions = core.expand(positions)
    replies = np.zeros((len(after), core.rules.players))
    replies[~after.over] = best_for_the_mover(core, after[~after.over])
    moves = margins_won(core, positions)[rows, actions, 0] + replies[:, -1]  # the mover is the last after its move
    inverse_temperature = np.exp(3.0)  # that it begins with
    wanted = moves / core.rules.total * inverse_temperature
    assert logits.numpy()[rows, actions] == pytest.approx(wanted, abs=1e-3)
    assert (logits.numpy()[~core.legal_mask(positions)] == np.float32(FORBIDDEN)).all()


def test_a_move_is_worth_what_it_wins_less_the_leaf_s_value() -> None:
    """V without its correction, move by move: their mean by a softmax; a leaf of a finished game counts nothing."""
    core = Core()
    features, network = make(core)
    torch.nn.init.zeros_(network.value.weight)
    torch.nn.init.normal_(network.leaf_value.weight)
    positions = some_positions(core, 100)
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


def test_the_policy_s_gradient_stays_in_the_heads() -> None:
    core = Core()
    features, network = make(core)
    rows, mask = tensors(core, features, some_positions(core))
    logits, _ = network(rows, mask)
    logits[mask].square().sum().backward()  # type: ignore[no-untyped-call]
    reached = {name.partition(".")[0] for name, one in network.named_parameters() if one.grad is not None}
    assert reached == {"log_inverse_temperature", "correction"}


def test_sums_of_rows_and_their_gradients_are_those_of_a_product_with_ones() -> None:
    torch.manual_seed(0)
    table = torch.randn(12, 5, dtype=torch.float64, requires_grad=True)
    numbers = torch.tensor([[0, 4, 11], [3, 7, 8], [1, 4, 9]])
    weights = torch.randn(3, 5, dtype=torch.float64)
    ones = torch.nn.functional.one_hot(numbers, 12).sum(dim=1).double()
    summed = SumOfRows.apply(numbers, table)  # type: ignore[no-untyped-call]
    (found,) = torch.autograd.grad((summed * weights).sum(), table)
    (expected,) = torch.autograd.grad((ones @ table * weights).sum(), table)
    assert torch.allclose(summed, ones @ table)
    assert torch.allclose(found, expected)


def test_counts_are_told_apart_up_to_the_most_of_their_column() -> None:
    torch.manual_seed(0)
    trunk = CountTrunk(SMALL, 0, embed=4, width=16, depth=1)
    counts = torch.tensor([[17, 3, 31, 3, 3, 3, 1, 0]] * 6)
    counts[1, [0, 2, 6]] = torch.tensor([18, 200, 2])
    counts[2, 1], counts[3, 0], counts[4, 2], counts[5, 0] = 2, 0, 30, -1
    hidden = trunk(counts, torch.zeros(6, 0))
    assert (hidden[0] == hidden[1]).all()
    assert (hidden[3] == hidden[5]).all()
    assert all((hidden[0] != hidden[other]).any() for other in (2, 3, 4))


def test_values_do_not_hang_on_how_counts_are_folded() -> None:
    torch.manual_seed(0)
    trunk = CountTrunk(SMALL, 2, embed=4, width=16, depth=1)
    counts, extra = torch.tensor([[5, 3, 20, 0, 1, 2, 1, 0], [0, 3, 0, 1, 2, 9, 0, 1]]), torch.randn(2, 2)
    plain = torch.cat([trunk.table(counts).flatten(1), extra], dim=1)
    assert torch.allclose(trunk(counts, extra), torch.relu(trunk.first(plain)), atol=1e-6)
