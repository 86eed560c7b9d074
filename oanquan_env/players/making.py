"""Players by name, those that need NumPy alone: `make("greedy")`, `make("maxn:depth=3")`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnknownAgentError
from oanquan_env.players.basic import EpsilonPolicy, GreedyPolicy, RandomPolicy
from oanquan_env.players.full_width import Aim, FullWidthPolicy
from oanquan_env.players.names import Kind, Kinds, OptionType, PlayerName, parse
from oanquan_env.players.policy import Policy

if TYPE_CHECKING:
    from oanquan_env.players.value_net import ValueNet


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`.

    `KINDS` holds those that come with the package and play with NumPy alone. Any name that `agents.make` knows will do
    where the package `agents` of the project's clone can be imported, and so will limits of nodes and time.

    Raises:
        ValueError: for an unknown name or option, saying which exist, and for what the player itself refuses.
        TypeError: for a name that is no text.
    """
    if isinstance(name, str) and name.partition(":")[0] in KINDS:
        kind, options = KINDS[name.partition(":")[0]], parse(name, KINDS).options
        if not kind.compiled & options.keys():
            return make_of(name, rules, KINDS)
    try:
        others = importlib.import_module("agents.players.make")  # another project's `agents` has no such module
    except ImportError as error:
        raise UnknownAgentError(
            f"unknown player {name!r}: without `agents` of the project's clone only {', '.join(KINDS)} exist ({error})"
        ) from error
    return cast(Policy, others.make(name, rules))


def make_of(name: str, rules: Rules | str, kinds: Kinds) -> Policy:
    """The player of a name of one of these kinds."""
    parsed, rules = parse(name, kinds), as_rules(rules)
    player = kinds[parsed.kind].make(parsed, rules)
    return player if parsed.epsilon is None else EpsilonPolicy(Core(rules), player, parsed.epsilon)


def net_of(name: PlayerName, rules: Rules) -> ValueNet | None:
    """The value net in a name, None without one."""
    if name.net is None:
        return None
    from oanquan_env.players.value_net import read_value_net  # what reads files is not needed by most

    return read_value_net(name.net, rules)


def _full_width(name: PlayerName, rules: Rules) -> Policy:
    if "depth" not in name.options:
        raise UnknownAgentError(f"{name.kind} needs its depth, as in {name.kind}:depth=3")
    return FullWidthPolicy(Core(rules), name.options["depth"], cast(Aim, name.kind), net=net_of(name, rules))


def _selective(name: PlayerName, rules: Rules) -> Policy:
    from oanquan_env.players.selective import SelectivePolicy

    net = net_of(name, rules)
    assert net
    return SelectivePolicy(Core(rules), net)


def _book(name: PlayerName, rules: Rules) -> Policy:
    from oanquan_env.players.book import with_book

    assert name.beyond
    return with_book(make(name.beyond, rules), rules)


_LIMITS: dict[str, OptionType] = {"depth": int, "nodes": int, "ms": float, "net": str}
_COMPILED = frozenset({"nodes", "ms"})

KINDS: dict[str, Kind] = {
    "random": Kind({"random": "plays any legal move"}, lambda _, rules: RandomPolicy(Core(rules)), {}),
    "greedy": Kind(
        {"greedy": "plays the move that wins the most points at once"}, lambda _, rules: GreedyPolicy(Core(rules)), {}
    ),
    "maxn": Kind(
        {
            "maxn:depth=D[,net=FILE]": "search to D plies, for 2 to 4 players, each doing its best for itself",
            "maxn:nodes=N|ms=T[,net=FILE]": "for 3 or 4 players, to N moves played or T milliseconds; in a clone",
        },
        _full_width,
        _LIMITS,
        compiled=_COMPILED,
    ),
    "paranoid": Kind(
        {"paranoid:...": "as maxn, with all others doing what is worst for the player who searches"},
        _full_width,
        _LIMITS,
        compiled=_COMPILED,
    ),
    "selective": Kind(
        {"selective:FILE": "selective search with a value net: a file, a run's folder, or `pretrained`; two players"},
        _selective,
        {},
        "net",
        "selective needs a value net: a file, a run's folder, or selective:pretrained",
    ),
    "book": Kind(
        {"book:PLAYER": "from the set-up the proved strategy, where the package has one; elsewhere as PLAYER"},
        _book,
        {},
        "player",
        "book needs a player for positions that it does not know, as in book:greedy or book:minimax:depth=8",
    ),
}
"""All players that need NumPy alone; `agents.players.make` adds those of the clone."""
