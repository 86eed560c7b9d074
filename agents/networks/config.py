"""Which network learns, and how large it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from agents.support.strict_yaml import Strict, Whole
from oanquan_env.players.value_net import VALUE_NET_NAME
from oanquan_env.rewards import RewardName

MOST_UNITS, MOST_LAYERS = 65_536, 64
"""Largest network that a configuration or a card may ask for."""
SMALLEST_BOARD = 8
"""Columns that a network sees of the smallest board: six squares, two stones."""


class NetworkConfig(Strict):
    """Which network learns, and how large it is."""

    name: Literal["plain", "afterstates", "lookahead"] = Field(
        "afterstates",
        description="`plain`: the observation through an MLP; `afterstates`: looks at each move's result; "
        "`lookahead`: at replies' results too, with `net` at those of the best two",
    )
    embed: Whole = Field(8, ge=1, le=MOST_UNITS, description="numbers that stand for the count of one square")
    width: Whole = Field(128, ge=1, le=MOST_UNITS, description="units of a hidden layer")
    depth: Whole = Field(2, ge=1, le=MOST_LAYERS, description="hidden layers")
    leaf_width: Whole = Field(64, ge=1, le=MOST_UNITS, description="units of a hidden layer for `lookahead`'s leaves")
    leaf_depth: Whole = Field(2, ge=1, le=MOST_LAYERS, description="hidden layers for `lookahead`'s leaves")
    net: str | None = Field(
        None,
        description="value net whose short search guesses what moves are worth, for `lookahead` to correct, and that "
        "the teacher searches with: `pretrained`, a file or a folder, or none. An agent has it in its own folder",
    )
    policy_gradient: Literal["heads", "inverse_temperature"] = Field(
        "heads",
        description="what the policy's gradient of `lookahead` changes: `heads`, its inverse temperature and its "
        "correction of logits; or `inverse_temperature` alone, and moves rank as their values do",
    )

    def with_net_in(self, folder: Path) -> NetworkConfig:
        """The same; its value net, if it has one, is now the one in an agent's folder."""
        return self.model_copy(update={"net": str(folder / VALUE_NET_NAME)}) if self.net else self

    @property
    def fewest_weights(self) -> int:
        """Weights that the network has under the rules of the smallest board; a little more under others."""
        trunks = [(self.width, self.depth)]
        if self.name == "lookahead":
            trunks.append((self.leaf_width, self.leaf_depth))
        return sum(SMALLEST_BOARD * self.embed * width + (depth - 1) * width**2 for width, depth in trunks)


def check_reward(reward: RewardName, network: NetworkConfig) -> None:
    """Raises `ValueError` for a reward that a network cannot be trained on."""
    if reward != "margin" and network.name != "plain":
        raise ValueError(
            f"network.name must be plain with reward={reward}: {network.name} takes a move for worth the "
            "points that it wins less a value of what it leaves, and sees no scores"
        )
