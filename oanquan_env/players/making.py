"""Make players by name, as in `make("minimax:depth=8")`, and load the kinds of players that packages register."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import DEFAULT_PRESET, Rules, as_rules
from oanquan_env.errors import UnknownAgentError
from oanquan_env.players.basic import EpsilonPolicy, GreedyPolicy, RandomPolicy, SaverPolicy
from oanquan_env.players.names import Kind, OptionType, PlayerName, listed, parse
from oanquan_env.players.policy import Policy
from oanquan_env.search.any_rules_net import read_net

GROUP = "oanquan.players"
"""The group of entry points for kinds of players. An entry point refers to a `Kind`; its name is the kind's name."""
_CLONE = Path(__file__).parents[2] / "agents" / "players" / "kind.py"


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """Return the player called `name` for `rules`; `usage` lists the names.

    Raises:
        ValueError: for an unknown name or option (the message lists the known ones), and for files, options or
            rules that the player does not accept.
        TypeError: if the name is not a string.
    """
    candidates = KINDS
    if isinstance(name, str) and name.partition(":")[0] not in KINDS:
        word = name.partition(":")[0]
        registered = entry_points(group=GROUP, name=word)
        candidates = {**KINDS, word: _load(next(iter(registered)))} if registered else kinds()
    parsed, rules = parse(name, candidates), as_rules(rules)
    player = candidates[parsed.kind].make(parsed, rules)
    return player if parsed.epsilon is None else EpsilonPolicy(Core(rules), player, parsed.epsilon)


def kinds() -> dict[str, Kind]:
    """Return all kinds of players: the kinds of this package, and the kinds of other packages that can be loaded."""
    all_kinds = dict(KINDS)
    for entry in entry_points(group=GROUP):
        try:
            all_kinds.setdefault(entry.name, _load(entry))
        except UnknownAgentError:  # raised only if this player is requested
            continue
    return all_kinds


def usage() -> str:
    """Return a text that lists the forms of players' names, such as `minimax:depth=N`, and what each player does."""
    return listed(kinds())


def _load(entry: EntryPoint) -> Kind:
    """Return the kind that an installed package registers; raise `UnknownAgentError` if it cannot be loaded."""
    own = entry.dist is not None and entry.dist.name == "oanquan"
    if own and not _CLONE.is_file():  # installed from a wheel: `agents` may be another package
        raise UnknownAgentError(f'{entry.name} needs a clone of the project, installed by: pip install -e ".[train]"')
    try:
        kind = entry.load()
    except (ImportError, AttributeError) as error:
        raise UnknownAgentError(f"{entry.name} cannot be loaded from {entry.value}: {error}") from error
    if not isinstance(kind, Kind):
        raise UnknownAgentError(f"{entry.name}: {entry.value} must be an oanquan_env.players.Kind, not {type(kind)}")
    return kind


# The functions below import modules that load Numba, or that most players do not need.


def _make_search(name: PlayerName, rules: Rules) -> Policy:
    if not name.options:
        word = name.kind
        raise UnknownAgentError(f"{word} needs a limit, as in {word}:depth=6, {word}:nodes=20000 or {word}:ms=50")
    from oanquan_env.players.search_player import SearchPlayer
    from oanquan_env.search.deepening import Search
    from oanquan_env.search.limits import Limits
    from oanquan_env.search.maxn import MaxnSearch

    depth, nodes, ms = (name.options.get(limit) for limit in ("depth", "nodes", "ms"))
    net = None if name.net is None else read_net(name.net, rules)
    search = (Search if name.kind == "minimax" else MaxnSearch)(Core(rules), net=net)
    return SearchPlayer(search, Limits(depth=depth, nodes=nodes, milliseconds=ms))


def _make_mcts(name: PlayerName, rules: Rules) -> Policy:
    if "simulations" not in name.options:
        raise UnknownAgentError("mcts needs its number of simulations, as in mcts:simulations=400")
    from oanquan_env.players.search_player import MCTSPlayer
    from oanquan_env.search.mcts import SEARCH_DEPTH, SEARCH_EXPLORATION, RandomPlayouts, SearchedLeaves

    simulations = name.options["simulations"]
    depth = name.options.get("depth", SEARCH_DEPTH if rules.players > 2 else 0)
    if not depth:
        return MCTSPlayer(RandomPlayouts(Core(rules)), simulations)
    return MCTSPlayer(SearchedLeaves(Core(rules), depth), simulations, exploration=SEARCH_EXPLORATION)


def _make_book(name: PlayerName, rules: Rules) -> Policy:
    from oanquan_env.players.book import with_book

    assert name.fallback
    return with_book(make(name.fallback, rules), rules)


_LIMITS: dict[str, OptionType] = {"depth": int, "nodes": int, "ms": float, "net": str}

KINDS: dict[str, Kind] = {
    "random": Kind({"random": "plays any legal move"}, lambda _, rules: RandomPolicy(Core(rules)), {}),
    "greedy": Kind(
        {"greedy": "plays the move that immediately wins the most points"},
        lambda _, rules: GreedyPolicy(Core(rules)),
        {},
    ),
    "saver": Kind(
        {"saver": "plays the move after which the next player can win the fewest points with one move"},
        lambda _, rules: SaverPolicy(Core(rules)),
        {},
    ),
    "maxn": Kind(
        {
            "maxn:depth=D|nodes=N|ms=T": "max^n to D plies, N moves played or T milliseconds a move; 2 to 4 players",
            "maxn:...,net=FILE": "with a value net at its leaves: a file, a run's folder, `pretrained`, or `any` for"
            " the net for any rules, which `pretrained` also names under most two-player rules without their own net",
        },
        _make_search,
        _LIMITS,
    ),
    "minimax": Kind(
        {
            "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
            "minimax:...,net=FILE": "with a value net at its leaves: a file, a run's folder, `pretrained`, or `any` for"
            " the net for any rules, which `pretrained` also names under most two-player rules without their own net",
        },
        _make_search,
        _LIMITS,
    ),
    "mcts": Kind(
        {
            "mcts:simulations=S": "Monte-Carlo tree search",
            "mcts:...,depth=D": "with maxn to D plies at its leaves; 0: playouts, the default for two players",
        },
        _make_mcts,
        {"simulations": int, "depth": int},
    ),
    "book": Kind(
        {"book:PLAYER": "the proved strategy from the set-up, if the package has one; else PLAYER"},
        _make_book,
        {},
        "player",
        "book needs a player for positions that it does not know, as in book:greedy or book:minimax:depth=8",
    ),
}
"""The kinds of players of this package; `kinds` adds the kinds of other packages."""
