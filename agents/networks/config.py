"""Which network learns, and how large it is."""

from typing import Literal

from pydantic import Field

from agents.support.strict_yaml import Strict, Whole
from oanquan_env.rewards import RewardName

MOST_UNITS, MOST_LAYERS = 65_536, 64
"""Largest network that a configuration or a card may ask for."""
SMALLEST_BOARD = 8
"""Columns that a network sees of the smallest board: six squares, two stones."""


class NetworkConfig(Strict):
    """Which network learns, and how large it is."""

    name: Literal["plain", "afterstates", "two_ply"] = Field(
        "afterstates",
        description="`plain`: the observation through an MLP; `afterstates`: looks at each move's result; "
        "`two_ply`: at the results of replies too; both at the points that the next ply wins",
    )
    embed: Whole = Field(8, ge=1, le=MOST_UNITS, description="numbers that stand for the count of one square")
    width: Whole = Field(128, ge=1, le=MOST_UNITS, description="units of a hidden layer")
    depth: Whole = Field(2, ge=1, le=MOST_LAYERS, description="hidden layers")
    leaf_width: Whole = Field(64, ge=1, le=MOST_UNITS, description="units of a hidden layer for `two_ply`'s leaves")
    leaf_depth: Whole = Field(2, ge=1, le=MOST_LAYERS, description="hidden layers for `two_ply`'s leaves")

    @property
    def fewest_weights(self) -> int:
        """Weights that the network has under the rules of the smallest board; a little more under others."""
        trunks = [(self.width, self.depth)]
        if self.name == "two_ply":
            trunks.append((self.leaf_width, self.leaf_depth))
        return sum(SMALLEST_BOARD * self.embed * width + (depth - 1) * width**2 for width, depth in trunks)


def check_reward(reward: RewardName, network: NetworkConfig) -> None:
    """Raises `ValueError` for a reward that a network cannot be trained on."""
    if reward != "margin" and network.name != "plain":
        raise ValueError(
            f"network.name must be plain with reward={reward}: {network.name} takes a move for worth the "
            "points that it wins less a value of what it leaves, and sees no scores"
        )
