"""Players by name, those of the clone too: `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from dataclasses import replace
from typing import Any, cast

from agents.support.extras import needing_extras
from oanquan_env import Core, Rules
from oanquan_env.engine.rules import DEFAULT_PRESET
from oanquan_env.players import Policy, UnknownAgentError
from oanquan_env.players.full_width import Aim, check_depth
from oanquan_env.players.making import KINDS as OWN
from oanquan_env.players.making import make_of, net_of
from oanquan_env.players.names import Kind, PlayerName, listed


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`; `usage` lists the names.

    Raises `UnknownAgentError` for a name or an option that does not exist; `MissingExtraError` for a player that needs
    packages which are not installed; `ValueError` for files, options or rules that the player refuses.
    """
    with needing_extras():
        return make_of(name, rules, KINDS)


def usage() -> str:
    """One line for each player."""
    return listed(KINDS)


# The modules that the functions below import need numba or torch, which take a second.


def _minimax(name: PlayerName, rules: Rules) -> Policy:
    if not name.options:
        raise UnknownAgentError("minimax needs a limit, as in minimax:depth=6, minimax:nodes=20000 or minimax:ms=50")
    from agents.search.deepening import Search

    return _searching(name, Search(Core(rules), net=net_of(name, rules)))


def _full_width(name: PlayerName, rules: Rules) -> Policy:
    limits = name.options.keys() & {"depth", "nodes", "ms"}
    by_numpy = rules.players == 2 or rules.refill == "forfeit"
    if not limits or (by_numpy and limits == {"depth"}):
        return OWN[name.kind].make(name, rules)
    from agents.search.maxn import ManySearch

    if "depth" in limits:
        check_depth(name.options["depth"])
    return _searching(name, ManySearch(Core(rules), cast(Aim, name.kind), net=net_of(name, rules)))


def _searching(name: PlayerName, search: Any) -> Policy:
    from agents.players.search_player import SearchPlayer
    from agents.search.limits import Limits

    depth, nodes, ms = (name.options.get(limit) for limit in ("depth", "nodes", "ms"))
    return SearchPlayer(search, Limits(depth=depth, nodes=nodes, milliseconds=ms))


def _mcts(name: PlayerName, rules: Rules) -> Policy:
    if "simulations" not in name.options:
        raise UnknownAgentError("mcts needs its number of simulations, as in mcts:simulations=400")
    from agents.search.mcts import SEARCH_DEPTH, SEARCH_EXPLORATION, MCTSPlayer, RandomPlayouts, SearchedLeaves

    simulations = name.options["simulations"]
    depth = name.options.get("depth", SEARCH_DEPTH if rules.players > 2 else 0)
    if not depth:
        return MCTSPlayer(RandomPlayouts(Core(rules)), simulations)
    return MCTSPlayer(SearchedLeaves(Core(rules), depth), simulations, exploration=SEARCH_EXPLORATION)


def _ppo(name: PlayerName, rules: Rules) -> Policy:
    from agents.networks.agent_files import agent_folder
    from agents.players.network_player import PPOPlayer

    assert name.agent
    return PPOPlayer(agent_folder(name.agent, rules), rules, **name.options)


KINDS: dict[str, Kind] = {
    **OWN,
    "maxn": replace(OWN["maxn"], make=_full_width),
    "paranoid": replace(OWN["paranoid"], make=_full_width),
    "minimax": Kind(
        {
            "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
            "minimax:...,net=FILE": "with a value net at its leaves: a file, a run's folder, or `pretrained`",
        },
        _minimax,
        {"depth": int, "nodes": int, "ms": float, "net": str},
    ),
    "mcts": Kind(
        {
            "mcts:simulations=S": "Monte-Carlo tree search",
            "mcts:...,depth=D": "its leaves valued by maxn to D plies; 0: playouts, default for two players",
        },
        _mcts,
        {"simulations": int, "depth": int},
    ),
    "ppo": Kind(
        {
            "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder or `pretrained`; T > 0: draws moves",
            "ppo:...,mirror_average=no": "the network sees the position alone, not its mirror image beside it",
            "ppo:...,network=MODULE:NAME": "its network is a class of your own",
        },
        _ppo,
        {"temperature": float, "mirror_average": bool, "network": str},
        "agent",
        "ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained",
    ),
}
"""All players of the clone."""
