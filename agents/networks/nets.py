"""The networks: torch modules `(features, mask) -> (logits, values)`. Each class sets its features in `features_type`.

Shapes: B positions, P players, A actions, S board columns, D feature columns. A position has one value per player, in
the units of the reward, and the values sum to zero. A network returns the first P - 1 values in turn order from the
mover, omitting the last player; for two players, it returns only the mover's value. With an all-false mask, networks
that look ahead skip the computation of logits.
"""

import inspect
from typing import Any, ClassVar, Protocol, Self

import torch
from pydantic import Field, field_validator, model_validator
from torch import Tensor, nn

from agents.config import Strict, Whole, imported, validated
from agents.networks.features import AfterstateFeatures, FeatureEncoder, PlainFeatures
from agents.networks.layers import FORBIDDEN, POINTS_SCALE, CountTrunk, per_move, placed, start_small
from agents.networks.two_ply import TwoPlyNet
from oanquan_env import Core
from oanquan_env.errors import UsageError
from oanquan_env.files import one_line

SMALLEST_BOARD = 8  # board columns under the rules with the smallest board: six squares, two stones
MOST_WEIGHTS = 2**28  # maximum number of weights; with gradients and Adam's moments they take 4 GB


class NetworkConfig(Strict):
    """The class and the sizes of a network."""

    name: str = Field(
        "afterstates",
        description="`plain` reads the observation; `afterstates` looks at the position after each move, "
        "`two_ply` also at the position after each reply, both with the points of the next ply; or MODULE:NAME",
    )
    embed: Whole = Field(8, ge=1, le=65_536, description="size of the vector that encodes the count of one square")
    width: Whole = Field(128, ge=1, le=65_536, description="units per hidden layer")
    depth: Whole = Field(2, ge=1, le=64, description="number of hidden layers")
    leaf_width: Whole = Field(64, ge=1, le=65_536, description="units per hidden layer for the leaves of `two_ply`")
    leaf_depth: Whole = Field(2, ge=1, le=64, description="number of hidden layers for the leaves of `two_ply`")

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in NETWORKS and ":" not in name:
            raise ValueError(f"must be {', '.join(NETWORKS)} or MODULE:NAME")
        return name

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Self:
        if self.fewest_weights > MOST_WEIGHTS:
            raise ValueError(
                f"embed, width, depth, leaf_width and leaf_depth give a network of {self.fewest_weights:,} weights or "
                f"more; at most {MOST_WEIGHTS:,} are allowed"
            )
        return self

    @property
    def fewest_weights(self) -> int:
        """Lower bound on the number of weights under any rules, from the hidden layers and the smallest board."""
        trunks = [(self.width, self.depth), (self.leaf_width, self.leaf_depth)][: 1 + (self.name == "two_ply")]
        return sum(SMALLEST_BOARD * self.embed * width + (depth - 1) * width**2 for width, depth in trunks)


class UnknownOptions(NetworkConfig, extra="allow"):
    """A card's options for a custom network, not validated yet; `make_network` checks them with its `config_type`."""


def options_type(name: str) -> type[NetworkConfig]:
    """Return the class of a network's options; for MODULE:NAME, import the network and return its `config_type`."""
    own: type[NetworkConfig] = NetworkConfig
    if ":" in name:
        own = getattr(imported(name, "network.name"), "config_type", own)
        if not (isinstance(own, type) and issubclass(own, NetworkConfig)):
            raise UsageError(f"network.name: {name}.config_type must be a subclass of NetworkConfig; got {own!r}")
    return own


class Net(Protocol):
    """A network: a `torch.nn.Module` constructed from a feature encoder and a configuration."""

    features_type: type[FeatureEncoder]
    config_type: type[NetworkConfig]  # needed only for additional options

    def __call__(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map features (B, D) and legal mask (B, A) to logits (B, A), `FORBIDDEN` if illegal, and values (B, P-1).

        A network may also have the methods `look_ahead` and `decide`, as `TwoPlyNet` has them: `collect` then stores
        what the first returns, and PPO calls the second on it.
        """


def make_network(core: Core, config: NetworkConfig) -> tuple[FeatureEncoder, nn.Module]:
    """Return a feature encoder and an untrained network. Raises `ValueError` for an unknown class or option."""
    kind: Any = NETWORKS.get(config.name) or imported(config.name, "network.name")
    own = options_type(config.name)
    if type(config) is not own:  # for example `UnknownOptions` of a card
        config = validated(own, config.model_dump(), "network")
    features: FeatureEncoder = getattr(kind, "features_type", PlainFeatures)(core)
    try:
        inspect.signature(kind).bind(features, config)
    except TypeError:
        raise UsageError(f"network.name: {config.name} must be constructed from (features, config)") from None
    network: nn.Module = kind(features, config)
    if config.name not in NETWORKS:
        _check_outputs(features, network, config.name)
    return features, network


def _check_outputs(features: FeatureEncoder, network: nn.Module, name: str) -> None:
    """Call a custom network on two positions; raise `UsageError` unless it returns what a `Net` returns."""
    rules, training = features.core.rules, network.training
    mask, faults = torch.zeros(2, rules.actions, dtype=torch.bool), list[str]()
    mask[:, 0] = True
    try:
        with torch.no_grad():
            logits, values = network.eval()(torch.from_numpy(features.encode(features.core.start(2))), mask)
        shapes = tuple(logits.shape), tuple(values.shape)
        if shapes != ((2, rules.actions), (2, rules.players - 1)):
            faults.append(f"the shapes are {shapes[0]} and {shapes[1]}")
        elif (logits[:, 1:] != FORBIDDEN).any():
            faults.append("illegal actions have other logits")
        if not (torch.isfinite(logits).all() and torch.isfinite(values).all()):
            faults.append("some numbers are not finite")
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        faults.append(one_line(error))
    network.train(training)
    if faults:
        raise UsageError(
            f"network.name: {name} must map int16 features (B, {features.size}) and masks (B, {rules.actions}) to "
            f"finite logits (B, {rules.actions}), agents.networks.layers.FORBIDDEN for illegal actions, and values "
            f"(B, {rules.players - 1}); for B = 2, {', and '.join(faults)}"
        )


# ---- networks --------------------------------------------------------------------------------------------------------


class PlainNet(nn.Module):
    """A network with one trunk, which maps the environment's observation to logits and values."""

    features_type: ClassVar = PlainFeatures

    def __init__(self, features: PlainFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.board, self.points = slice(0, features.layout["stones"].stop), features.layout["scores"]
        self.trunk = CountTrunk(rules, rules.players, embed=config.embed, width=config.width, depth=config.depth)
        self.policy = nn.Linear(config.width, rules.actions)
        self.value = nn.Linear(config.width, rules.players - 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `Net`."""
        hidden = self.trunk(features[:, self.board], features[:, self.points] / POINTS_SCALE)
        return self.policy(hidden).masked_fill(~mask, FORBIDDEN), self.value(hidden)


class AfterstateNet(nn.Module):
    """A network with one trunk for positions and for the positions after each move (afterstates).

    V(position) is a linear function of the trunk's output. Q(move) = points won - the sum of the others' V(afterstate);
    V of a finished game is zero. The logit of a move is Q times a learned inverse temperature, plus a learned
    correction from the afterstate's hidden layer.
    """

    features_type: ClassVar = AfterstateFeatures

    def __init__(self, features: AfterstateFeatures, config: NetworkConfig) -> None:
        super().__init__()
        rules = features.core.rules
        self.layout, self.actions = features.layout, rules.actions
        self.per_point = features.per_point
        self.reward_scale = 1.0 / rules.total
        self.trunk = CountTrunk(rules, rules.actions, embed=config.embed, width=config.width, depth=config.depth)
        self.value = nn.Linear(config.width, rules.players - 1)
        self.correction = nn.Linear(config.width, 1)
        self.log_inverse_temperature = nn.Parameter(torch.tensor(3.0))
        start_small(self.value, self.correction)

    def forward(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `Net`."""
        legal = mask.flatten().nonzero()[:, 0]  # the trunk evaluates only legal moves
        board, gains, status, after, replies = (features[:, part] for part in self.layout.values())
        gains = gains[:, : self.actions]  # the mover's
        boards = torch.cat([board, per_move(after, self.actions)[legal]])
        next_gains = torch.cat([gains, per_move(replies, self.actions)[legal]]) / (POINTS_SCALE * self.per_point)
        hidden = self.trunk(boards, next_gains)
        values, of_moves = self.value(hidden).tensor_split([len(mask)])
        won = gains.flatten()[legal].float() * (self.reward_scale / self.per_point)
        move_values = won - of_moves.sum(dim=1) * (status.flatten()[legal] == AfterstateFeatures.GOES_ON)
        scores = move_values * self.log_inverse_temperature.exp() + self.correction(hidden[len(mask) :])[:, 0]
        return placed(scores, legal, mask.shape), values


NETWORKS = {"plain": PlainNet, "afterstates": AfterstateNet, "two_ply": TwoPlyNet}
