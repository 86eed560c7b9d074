"""The VectorEnv without autoreset: the games that `reset_mask` names begin anew."""

from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from oanquan_env import Core, Positions
from oanquan_env.envs.vector import OAnQuanVectorEnv

RULES = "quan_non=20 max_plies=3"  # no stone is taken so soon: every game has three plies


def disabled(n: int = 3) -> OAnQuanVectorEnv:
    games = OAnQuanVectorEnv(n, RULES, opponent=None, autoreset_mode="Disabled")
    games.reset()
    return games


def first_legal(games: OAnQuanVectorEnv) -> Any:
    return games.action_masks().argmax(axis=1)


def test_positions_go_to_the_rows_of_the_mask() -> None:
    core = Core(RULES)
    starts = Positions.concatenate(core.expand(core.start()).positions[np.array([row])] for row in (0, 1, 2))
    games = disabled()
    options = {"reset_mask": np.array([True, False, True]), "position": starts}
    games.reset(options=options)
    assert list(options) == ["reset_mask", "position"]  # they are the caller's own
    assert games.positions.same(starts).tolist() == [True, False, True]


def test_a_step_of_games_that_are_over_is_refused_until_they_are_reset() -> None:
    games = disabled()
    for _ in range(2):
        games.step(first_legal(games))
    games.reset(options={"reset_mask": np.array([True, False, False])})
    games.step(first_legal(games))
    with pytest.raises(ResetNeeded, match=r"games \[1, 2\] are over: call reset"):
        games.step(first_legal(games))
    games.reset(options={"reset_mask": np.array([False, True, True])})
    games.step(first_legal(games))


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True, False, False], TypeError, "must be an array of bool"),
        (np.array([1, 0, 0]), TypeError, "must be an array of bool"),
        (np.array([True]), ValueError, r"must have shape \(3,\) and a True entry; got shape \(1,\)"),
        (np.zeros(3, dtype=bool), ValueError, "0 True"),
    ],
)
def test_masks_that_are_none_are_refused(mask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        disabled().reset(options={"reset_mask": mask})


def test_the_first_reset_is_of_all_games() -> None:
    games = OAnQuanVectorEnv(2, opponent=None, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="call reset\\(\\) without a reset_mask first"):
        games.reset(options={"reset_mask": np.array([True, False])})
