"""TD(lambda) on afterstates: what targets look back from, and a net that gets better."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from examples.td_lambda import GAMES, PLIES, Games, lambda_returns, main, measured
from oanquan_env import Core
from oanquan_env.players.full_width import FullWidthSearch
from oanquan_env.players.value_net import read_value_net


def test_a_target_looks_back_from_later_values_which_are_the_other_players() -> None:
    best = np.array([[5.0], [2.0], [1.0]])
    won, running, good = np.array([[4.0], [3.0], [9.0]]), np.zeros((3, 1), np.bool_), np.ones((3, 1), np.bool_)
    second = 0.5 * 2 + 0.5 * (3 - 1)
    found = lambda_returns(best, won, running, good, lam=0.5)
    assert found[:, 0].tolist() == [0.5 * 5 + 0.5 * (4 - second), second, 1.0]
    assert lambda_returns(best, won, running, good, lam=0.0).tolist() == best.tolist()
    assert lambda_returns(best, won, running, good, lam=1.0)[0, 0] == 4 - (3 - 1)


def test_a_target_looks_no_further_than_the_end_of_a_game_or_a_bad_move() -> None:
    best, won = np.full((3, 2), 5.0), np.full((3, 2), 4.0)
    over, followed = np.zeros((3, 2), np.bool_), np.ones((3, 2), np.bool_)
    over[0, 0], followed[0, 1] = True, False
    assert lambda_returns(best, won, over, followed, lam=1.0)[0].tolist() == [4.0, 5.0]


def test_a_rollout_is_of_running_games_and_with_lambda_0_says_what_their_best_moves_are_worth() -> None:
    core, net = Core(), read_value_net("pretrained")
    positions, returns = Games(core, seed=3).play(net, temperature=0.1, lam=0.0)
    assert len(positions) == GAMES * PLIES
    assert not positions.over.any()
    rows = slice(0, len(positions), 50)
    best = FullWidthSearch(core, 1, net=net).movers_values(positions[rows]).max(axis=1)
    assert returns[rows] == pytest.approx(best)
    again, _ = Games(core, seed=3).play(net, temperature=0.1, lam=0.0)
    assert (again.squares == positions.squares).all()


def test_returns_of_good_play_are_close_to_what_the_net_says_of_the_best_moves() -> None:
    """With a sign or a player mixed up they would have little to do with each other."""
    net = read_value_net("pretrained")
    played = [Games(Core(), seed=3).play(net, temperature=0.1, lam=lam)[1] for lam in (0.0, 1.0)]
    assert np.corrcoef(*played)[0, 1] > 0.6


def test_a_net_learns_and_plays_from_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "td.npz"
    main(["--plies", "20000", "--every", "20000", "--save", str(file)])
    told = [
        float(line.rpartition("maxn:depth=1 ")[2].partition(",")[0])
        for line in capsys.readouterr().out.split("\n")[:-1]
    ]
    assert len(told) == 2
    assert told[1] < 0.8 * told[0]
    net = read_value_net(file)
    assert measured(Core(), net)["maxn:depth=1"] == pytest.approx(told[1], abs=0.005)
    assert net.origin["command"].startswith("python -m examples.td_lambda --plies 20000")


def test_a_file_that_cannot_be_written_and_rules_of_three_are_refused_before_any_game(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--rules: this file is for two players; 'three-player' has 3"):
        main(["--rules", "three-player"])
    with pytest.raises(ValueError, match="--save: there is no folder"):
        main(["--save", str(tmp_path / "nowhere" / "td.npz")])
