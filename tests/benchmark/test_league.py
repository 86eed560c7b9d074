"""Test payoff matrices, their cache, equilibria and weights, and that the example of a league continues."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oanquan_env import Core
from oanquan_env.benchmark.game_pairs import play_pairs, rng_for, score_interval
from oanquan_env.benchmark.league import nash, payoffs, prioritised
from oanquan_env.benchmark.openings import load_openings
from oanquan_env.errors import UsageError
from oanquan_env.players import as_policy
from tests.helpers.players import FirstMove


class Refusing:
    def choose(self, *_: object) -> Any:
        raise AssertionError("a pairing in the cache was played again")


def test_payoffs_are_the_scores_of_game_pairs_and_cached_pairings_are_not_played_again(tmp_path: Path) -> None:
    core, path = Core(), tmp_path / "payoffs.json"
    players: dict[str, object] = {"first": FirstMove(core), "random": "random"}
    found = payoffs(players, pairs=10, seed=3, cache=path)
    openings = load_openings(core, "balanced", 10, 0, np.random.default_rng(3)).positions
    score = score_interval(play_pairs(core, FirstMove(core), as_policy("random"), openings, rng_for(3)))
    assert found.mean == pytest.approx(np.array([[0.5, score.mean], [1 - score.mean, 0.5]]))
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((score.low, score.high))
    assert (found.low[1, 0], found.high[1, 0]) == pytest.approx((1 - score.high, 1 - score.low))
    assert str(found).endswith(f"\n\n{found.note}")
    assert found.note.startswith(
        "10 openings of `openings-mancala-world.txt`, each in every seating, under `mancala-world`"
    )
    assert f"{100 * score.mean:.0f} ({100 * score.low:.0f} to {100 * score.high:.0f})" in str(found)
    assert (payoffs({"first": Refusing(), "random": Refusing()}, pairs=10, seed=3, cache=path).mean == found.mean).all()
    assert json.loads(path.read_text())["rules"] == "mancala-world"
    with pytest.raises(ValueError, match=r"payoffs\.json was made with other rules, openings or another seed"):
        payoffs(players, pairs=11, seed=3, cache=path)


def test_with_three_seats_a_player_meets_two_copies_of_the_other() -> None:
    found = payoffs({"random": "random", "greedy": "greedy"}, "three-player", pairs=20)
    assert found.mean.diagonal() == pytest.approx(1 / 3)
    assert found.mean[1, 0] > 1 / 3 > found.mean[0, 1]
    assert found.mean[1, 0] + found.mean[0, 1] != pytest.approx(1)


def test_an_equilibrium_is_found_and_cannot_be_beaten() -> None:
    cycle = np.array([[0.5, 1.0, 0.25], [0.0, 0.5, 1.0], [0.75, 0.0, 0.5]])  # gains 2 : 2 : 1 around the cycle
    assert nash(cycle) == pytest.approx(np.array([0.4, 0.2, 0.4]), abs=1e-3)
    assert nash([[0.5, 0.6], [0.4, 0.5]]) == pytest.approx([1.0, 0.0], abs=1e-3)
    upper = np.triu(np.random.default_rng(0).random((9, 9)), 1)
    shares = upper + np.tril(1 - upper.T, -1) + np.eye(9) / 2
    assert (shares @ nash(shares)).max() < 0.501
    with pytest.raises(ValueError, match="square matrix whose opposite entries sum to 1"):
        nash([[0.5, 0.6], [0.6, 0.5]])


def test_opponents_that_are_beaten_less_often_weigh_more() -> None:
    assert prioritised([1.0, 0.5, 0.0]).tolist() == [0.0, 0.2, 0.8]
    assert prioritised([1.0, 0.5, 0.0], power=1).tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    assert prioritised([1.0, 1.0]).tolist() == [0.5, 0.5]
    for wrong in ([1.2, 0.5], [float("nan"), 0.5]):
        with pytest.raises(UsageError, match="shares of games from 0 to 1"):
            prioritised(wrong)


@pytest.mark.slow
def test_the_example_continues_a_league(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from examples.league import main

    small = [str(tmp_path), "--plies", "64", "--envs", "2", "--pairs", "2"]
    first = main([*small, "--generations", "1"])
    before = (tmp_path / "self-1.zip").read_bytes()
    found = main([*small, "--generations", "2", "--weights", "nash"])
    assert found.names == ["random", "greedy", "self-1", "self-2"]
    assert (found.mean[:3, :3] == first.mean).all()
    assert (tmp_path / "self-1.zip").read_bytes() == before
    assert (tmp_path / "payoffs.png").read_bytes().startswith(b"\x89PNG")
