"""Test the single-file AlphaZero: its targets, an untrained network, self-play, and that training is reproducible."""

from argparse import Namespace

import numpy as np
import pytest
import torch

from examples import alphazero
from oanquan_env import Core
from oanquan_env.engine.core import relative_points
from oanquan_env.players import move_gains
from oanquan_env.players.search_player import MCTSPlayer
from tests.helpers import Capture, Patch
from tests.helpers.boards import random_positions


def test_a_target_changes_sign_from_ply_to_ply_and_stops_at_the_end_of_a_game() -> None:
    rewards, values, dones = np.array([[3.0], [5.0]]), np.array([[9.0], [4.0], [2.0]]), np.zeros((2, 1))
    second = 5 - 2
    assert alphazero.lambda_returns(rewards, dones, values, 0.5)[:, 0].tolist() == [3 - (2 + second / 2), second]
    dones[1] = 1
    assert alphazero.lambda_returns(rewards, dones, values, 0.5)[:, 0].tolist() == [3 - (2 + 2.5), 5]


def test_an_untrained_network_expects_what_moves_win_at_once() -> None:
    core, rng = Core(), np.random.default_rng(0)
    network, positions = alphazero.Network(core, 16), random_positions(core, 30, seed=2)
    mask, gains = core.legal_mask(positions), move_gains(core, positions)
    _, margins = network(positions)
    assert margins.detach().numpy()[mask] * core.rules.total == pytest.approx(gains[mask], abs=1e-4)
    values, priors = network.evaluate_with_priors(positions, rng)
    assert (priors[~mask] == 0).all()
    assert priors.sum(axis=1) == pytest.approx(np.ones(len(positions)))
    mine = values[np.arange(len(positions)), positions.mover] * core.rules.total
    lead = relative_points(positions.scores)[np.arange(len(positions)), positions.mover]
    assert mine == pytest.approx(lead + (priors * np.where(mask, gains, 0)).sum(axis=1), abs=1e-4)
    assert values.sum(axis=1) == pytest.approx(np.zeros(len(positions)), abs=1e-9)


def test_self_play_goes_on_where_it_stopped_and_restarts_games() -> None:
    core, rng = Core("mancala-world max_plies=5"), np.random.default_rng(0)
    torch.manual_seed(0)
    player = MCTSPlayer(alphazero.Network(core, 16), 4)
    options = Namespace(plies=8, opening_plies=2, simulations=4, lam=0.7)
    positions = core.start(6)
    played, shares, actions, targets = alphazero.self_play(player, positions, options, rng)
    assert (len(played), shares.shape, actions.shape, targets.shape) == (48, (48, 10), (48,), (48,))
    assert not played.over.any()
    assert not positions.over.any()
    rows = np.arange(48)
    assert core.legal_mask(played)[rows, actions.numpy()].all()
    core.play(played, actions.numpy())
    assert (played[42:].over | played[42:].same(positions)).all()
    assert shares.sum(dim=1).tolist() == pytest.approx([1.0] * 48)


def test_it_trains_and_prints_a_table_and_the_same_seed_repeats_it(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(alphazero, "MEASURED", (2,))
    tables = []
    for _ in range(2):
        alphazero.main(["--iterations", "2", "--games", "16", "--plies", "4", "--width", "16", "--simulations", "4"])
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert [line.split("|")[1].strip() for line in tables[0].splitlines()[2:]] == ["2"]
