"""Test TD(lambda) self-play: targets, gradient steps, evaluations, damaged checkpoints and the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import agents
import train
from agents.networks.value_nets import ValueModule
from agents.run import load_config
from agents.self_play import SelfPlayGames, StartsConfig
from agents.td import Learner, TDConfig, TDSettings, lambda_returns, rollout
from oanquan_env import Core
from oanquan_env.engine.core import relative_points
from oanquan_env.search.deepening import Search
from oanquan_env.search.move_values import MoveValues
from oanquan_env.search.value_net import VALUE_NET_NAME, read_value_net
from tests import ROOT
from tests.helpers import Capture
from tests.helpers.boards import random_positions
from tests.helpers.plain_search import plain_maxn
from tests.helpers.runs import ITERATION, TD, begin, evaluations, learn


def test_targets_look_ahead_until_a_mistake_and_until_the_game_ends() -> None:
    best, won = (np.array(one)[:, None, None] * [1, -1] for one in ([4.0, 1.0, 6.0], [2.0, 0.0, 9.0]))
    no, yes, first = np.zeros((3, 1), dtype=bool), np.ones((3, 1), dtype=bool), np.array([[True], [False], [False]])
    found = lambda_returns(best, won, no, yes, 0.5)
    assert found[:, 0, 0].tolist() == [0.5 * 4 + 0.5 * (2 + 3.5), 0.5 * 1 + 0.5 * 6, 6.0]
    assert (found[..., 1] == -found[..., 0]).all()
    assert lambda_returns(best, won, no, ~first, 0.5)[0, 0, 0] == 4.0
    assert lambda_returns(best, won, first, yes, 0.5)[0, 0, 0] == 0.5 * 4 + 0.5 * 2
    assert (lambda_returns(best, won, no, yes, 0.0) == best).all()


@pytest.mark.parametrize(("rules", "depth"), [("mancala-world", 3), ("tonkin", 2), ("three-player", 2)])
def test_move_values_are_those_of_the_search_for_all_players(rules: str, depth: int) -> None:
    core = Core(rules)
    torch.manual_seed(0)
    first, second = (ValueModule(core.rules) for _ in range(2))
    torch.nn.init.normal_(second.output.weight)
    search, net = MoveValues(core, depth, first.export({})), second.export({})
    search.use(net)
    positions = random_positions(core, 40, seed=3)
    found, rows, legal = search.values(positions), np.arange(len(positions)), core.legal_mask(positions)
    assert (np.isfinite(found).all(axis=2) == legal).all()
    assert found[legal].sum(axis=1) == pytest.approx(0, abs=0.1)
    if core.rules.players == 2:
        own = found[rows, :, positions.mover]
        wanted = Search(core, threads=1, net=net).values(positions, depth)
        assert (own[legal] == wanted[legal]).all()
    else:
        wanted = plain_maxn(core, positions, depth, net)
        close = np.abs(found[legal] - wanted[legal]) <= 2 / 64  # both round the net's values, so near ties may differ
        assert close.mean() > 0.98


@pytest.mark.parametrize("rules", ["mancala-world", "four-player"])
def test_a_rollout_without_lambda_has_the_values_of_the_best_moves(rules: str) -> None:
    core, settings = Core(rules), TDSettings(games=8, steps=3, lam=0.0)
    games = SelfPlayGames(core, 8, StartsConfig(max_plies=6), 0)
    search = MoveValues(core, 1, ValueModule(core.rules).export({}))
    positions, returns = rollout(games, search, settings, 1.0, np.random.default_rng(0))
    assert returns.shape == (24, core.rules.players)
    assert not positions.over.any()
    assert not games.positions.over.any()
    values, rows = search.values(positions), np.arange(24)
    assert (returns == values[rows, values[rows, :, positions.mover].argmax(axis=1)]).all()


@pytest.mark.parametrize("rules", ["tonkin", "three-player"])
def test_a_net_learns_what_depends_on_the_board(rules: str) -> None:
    core, rng = Core(rules), np.random.default_rng(0)
    torch.manual_seed(0)
    module = ValueModule(core.rules)
    learner = Learner(module, TDSettings(batch_size=256, uses=40))

    def seeds_on_rows(seed: int) -> tuple[Any, Any]:
        positions = random_positions(core, 2000, seed=seed)
        seeds = positions.squares.reshape(len(positions), -1, 8)[:, :, :5].sum(axis=2, dtype=np.int64)
        return positions, relative_points(seeds)

    errors = [learner.learn(module.examples(*seeds_on_rows(1)), done, rng) for done in (0.0, 0.5)]
    positions, wanted = seeds_on_rows(9)
    assert errors[1] < errors[0]
    assert np.abs(module.export({}).margins(positions) - wanted).mean() < 0.4 * wanted.std()


def test_evaluations_measure_regret_on_the_development_part(tmp_path: Path) -> None:
    reports: list[str] = []
    learn(begin(tmp_path / "run", TD, reports.append, rules="three-player", total_plies=ITERATION))
    row = evaluations(tmp_path / "run")[-1]
    assert row["regrets"]["maxn:nodes=50"] == row["regret"]
    assert f"regret {row['regret']['mean']:.2f} at 50 nodes" in reports[-1]


def test_train_py_trains_a_value_net_that_plays_and_resumes(tmp_path: Path, capsys: Capture) -> None:
    config, folder, core = tmp_path / "value.yaml", tmp_path / "run", Core("tonkin fields=3")
    config.write_text(yaml.safe_dump(TD))
    command = ["--config", str(config), "--output", str(folder), "--rules", "tonkin fields=3", "--td.lam", "0.7"]
    assert train.main(command) == 0
    assert f"net={folder}" in capsys.readouterr().out
    origin = read_value_net(folder, core.rules).origin
    assert (origin["plies"], origin["config"]["td"]["lam"]) == (6 * ITERATION, 0.7)
    assert origin["command"].startswith(f"python train.py --config {config}")
    positions = random_positions(core, 20, seed=1)
    for name in (f"minimax:nodes=100,net={folder}", f"maxn:depth=2,net={folder}"):
        chosen = agents.make(name, core.rules).choose(positions, np.random.default_rng(0))
        assert core.legal_mask(positions)[np.arange(len(positions)), chosen].all()
    (folder / VALUE_NET_NAME).unlink()
    assert train.main(["--resume", str(folder), "--threads", "2"]) == 0
    assert read_value_net(folder, core.rules).origin["plies"] == 6 * ITERATION
    sweep = [*command[:2], "--total-plies", str(ITERATION), "--sweep", "0,1", "--jobs", "1"]
    assert train.main([*sweep, "--rules", "mancala-world", "--output", str(tmp_path / "s")]) == 0
    assert "regret minimax:nodes=50, points" in capsys.readouterr().out
    assert (tmp_path / "s" / "seed-1" / VALUE_NET_NAME).is_file()


def test_the_projects_configuration_is_the_default() -> None:
    assert load_config(ROOT / "configs" / "value.yaml") == TDConfig()
