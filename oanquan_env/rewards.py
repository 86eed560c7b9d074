"""The rewards of a ply, the same in every environment and trainer. They sum to zero for any number of players."""

from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Points
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions

RewardName: TypeAlias = Literal["outcome", "margin", "mixed"]
REWARDS: tuple[str, ...] = get_args(RewardName)
Rewards: TypeAlias = npt.NDArray[np.float64]


def check_reward(name: str) -> RewardName:
    """Return `name`; raise `ValueError` if there is no such reward."""
    if name not in REWARDS:
        raise ValueError(f"reward must be one of {', '.join(REWARDS)}; got {name!r}")
    return cast(RewardName, name)


def ply_rewards(name: RewardName, core: Core, before: Points, positions: Positions) -> Rewards:
    """Return the (N, P) float64 rewards of the ply that led to `positions`.

    `outcome` pays only at the end: the winners share +1 and the losers -1; if all tie, it pays nothing. `margin` pays
    at each ply the change in a player's points minus the mean change of the others, refills and leftovers included,
    divided by the game's total points. `mixed` is the mean of both. `before` is (N, P) int32, the scores in points
    before the ply.
    """
    rewards = np.empty(positions.scores.shape)
    loops, rules, arrays = core.loops(positions)
    loops.earn(rules, arrays, REWARDS.index(name), before, rewards)
    return rewards


def game_rewards(name: RewardName, core: Core, positions: Positions) -> Rewards:
    """Return the (N, P) float64 total rewards of games that began with scores of zero."""
    return ply_rewards(name, core, np.zeros_like(positions.scores), positions)
