"""Which network learns, and how large it is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from agents.support.strict_yaml import Strict


class NetworkConfig(Strict):
    """Which network learns, and how large it is."""

    name: Literal["plain", "afterstates", "lookahead"] = Field(
        "afterstates",
        description="`plain`: the observation through an MLP; `afterstates`: looks at each move's result; "
        "`lookahead`: at each reply's result too",
    )
    embed: PositiveInt = Field(8, description="numbers that stand for the count of one square")
    width: PositiveInt = Field(128, description="units of a hidden layer")
    depth: PositiveInt = Field(2, description="hidden layers")
    leaf_width: PositiveInt = Field(64, description="units of a hidden layer of `lookahead`'s network for leaves")
    leaf_depth: PositiveInt = Field(2, description="hidden layers of `lookahead`'s network for leaves")
    policy_gradient: Literal["through", "heads", "inverse_temperature"] = Field(
        "through",
        description="what the policy's gradient of `lookahead` changes: `through` the values of moves too; `heads`: "
        "only the policy's inverse temperature and correction, which is three times as fast; `inverse_temperature`: "
        "that alone, nothing corrects the order that the values put moves in",
    )
