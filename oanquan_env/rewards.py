"""The rewards of a ply, the same in every environment and trainer. They sum to zero for any number of players."""

from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from oanquan_env.arrays import Points
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.positions import Positions

RewardName: TypeAlias = Literal["outcome", "margin", "mixed"]
REWARDS: tuple[str, ...] = get_args(RewardName)
Rewards: TypeAlias = npt.NDArray[np.float64]


def check_reward(name: str) -> RewardName:
    """`name` itself; raises `ValueError` where there is no such reward."""
    if name not in REWARDS:
        raise ValueError(f"reward must be one of {', '.join(REWARDS)}; got {name!r}")
    return cast(RewardName, name)


def ply_rewards(name: RewardName, core: Core, before: Points, positions: Positions) -> Rewards:
    """(N, P) float64 rewards of the ply that led to `positions`.

    `outcome` pays at the end only: the winners share +1 and the losers -1, nothing where all tie. `margin` pays at each
    ply the change of one's points less the mean change of the others', refills and leftovers included, in shares
    of the game's total. `mixed` pays half of each. `before` are the (N, P) standings before the ply, in points.
    """
    if name == "outcome":
        return _outcomes(core, positions)
    margins: Rewards = relative_points(core.standings(positions) - before) / core.rules.total
    return margins if name == "margin" else (margins + _outcomes(core, positions)) / 2


def game_rewards(name: RewardName, core: Core, positions: Positions) -> Rewards:
    """(N, P) float64 rewards that N games have paid since they began with scores of zero, the end included."""
    return ply_rewards(name, core, np.zeros_like(positions.scores), positions)


def _outcomes(core: Core, positions: Positions) -> Rewards:
    """(N, P) float64: winners of finished games share +1, losers -1; zero in running games and where all tie."""
    won = core.winners(positions)
    winners = won.sum(axis=1, keepdims=True)
    losers = won.shape[1] - winners
    decided = (winners > 0) & (losers > 0)
    shares = np.where(won, 1.0 / np.maximum(winners, 1), -1.0 / np.maximum(losers, 1))
    rewards: Rewards = shares * decided
    return rewards
