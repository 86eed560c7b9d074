"""Players by name, those that need NumPy alone: `make("greedy")`, `make("maxn:depth=3")`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from oanquan_env.core import Core
from oanquan_env.players.basic import EpsilonPolicy, GreedyPolicy, RandomPolicy
from oanquan_env.players.full_width import Aim, FullWidthPolicy
from oanquan_env.players.names import Names, PlayerName, UnknownAgentError
from oanquan_env.players.policy import Policy
from oanquan_env.players.unavailable import UnavailableError
from oanquan_env.rules import DEFAULT_PRESET, Rules, as_rules

if TYPE_CHECKING:
    from oanquan_env.players.value_net import ValueNet

Maker: TypeAlias = Callable[[PlayerName, Rules], Policy]
"""Makes the player of a name for some rules."""
NAMES = Names(
    usage={
        "random": "plays any legal move",
        "greedy": "plays the move that wins the most points at once",
        "maxn:depth=D[,net=FILE]": "full-width search to D plies, for 2 to 4 players, each doing its best for itself",
        "paranoid:depth=D[,net=FILE]": "the same, with all others doing what is worst for the player who searches",
        "selective:FILE": "selective search with a value net: a file, a run's folder, or `pretrained`; two players",
    },
    options={
        "random": {},
        "greedy": {},
        "maxn": {"depth": int, "net": str},
        "paranoid": {"depth": int, "net": str},
        "selective": {},
    },
    folders={"selective": "selective needs a value net: a file, a run's folder, or selective:pretrained"},
)


class NoAgentsError(UnknownAgentError, UnavailableError):
    """No player of the package has that name, and the package `agents` is not here."""


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`.

    `NAMES` lists those that come with the package. Any name that `agents.make` knows will do where the package
    `agents` of the project's clone can be imported.

    Raises:
        ValueError: for an unknown name or option; says which exist. What the player itself says of its options or the
            rules.
        TypeError: for a name that is no text.
    """
    kind = name.partition(":")[0] if isinstance(name, str) else None
    if kind in MAKERS:
        return make_parsed(NAMES.parse(name), as_rules(rules), MAKERS)
    try:
        agents = importlib.import_module("agents")
    except ModuleNotFoundError as error:
        raise NoAgentsError(
            f"unknown player {name!r}: without the `agents` package of the project's clone only "
            f"{', '.join(NAMES.usage)} exist ({error})"
        ) from error
    return cast(Policy, agents.make(name, rules))


def make_parsed(name: PlayerName, rules: Rules, makers: Mapping[str, Maker]) -> Policy:
    """The player of a name, taken apart, by who makes its kind."""
    player = makers[name.kind](name, rules)
    return player if name.epsilon is None else EpsilonPolicy(Core(rules), player, name.epsilon)


def _full_width(name: PlayerName, rules: Rules) -> Policy:
    if "depth" not in name.options:
        raise UnknownAgentError(f"{name.kind} needs its depth, as in {name.kind}:depth=3")
    net = _value_net(name.folder, rules) if name.folder else None
    return FullWidthPolicy(Core(rules), name.options["depth"], cast(Aim, name.kind), net=net)


def _selective(name: PlayerName, rules: Rules) -> Policy:
    from oanquan_env.players.selective import SelectivePolicy

    assert name.folder
    return SelectivePolicy(Core(rules), _value_net(name.folder, rules))


def _value_net(folder: str, rules: Rules) -> ValueNet:
    from oanquan_env.players.value_net import read_value_net  # what reads files is not needed by most

    return read_value_net(folder, rules)


MAKERS: dict[str, Maker] = {
    "random": lambda _, rules: RandomPolicy(Core(rules)),
    "greedy": lambda _, rules: GreedyPolicy(Core(rules)),
    "maxn": _full_width,
    "paranoid": _full_width,
    "selective": _selective,
}
"""Who makes each kind of player; `agents` adds to them."""
