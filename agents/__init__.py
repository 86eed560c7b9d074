"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from __future__ import annotations

from agents.players.names import NAMES
from agents.support.extras import MissingExtraError, needing_extras, say_what_commands_need
from oanquan_env import Core, Rules
from oanquan_env.players import Policy, UnknownAgentError
from oanquan_env.players.making import MAKERS, make_parsed
from oanquan_env.players.names import PlayerName
from oanquan_env.players.value_net import read_value_net
from oanquan_env.rules import DEFAULT_PRESET, as_rules

__all__ = ["MissingExtraError", "UnknownAgentError", "make", "usage"]

say_what_commands_need()


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`; `usage` lists the names.

    Raises:
        UnknownAgentError: for a name or an option that does not exist.
        MissingExtraError: for a player that needs packages which are not installed.
        ValueError: what the player itself says of its files, options or the rules.
    """
    with needing_extras():
        return make_parsed(NAMES.parse(name), as_rules(rules), _MAKERS)


def usage() -> str:
    """One line for each player."""
    return NAMES.listed()


# The modules that the functions below import need numba or torch, which take a second.


def _minimax(name: PlayerName, rules: Rules) -> Policy:
    if not name.options:
        raise UnknownAgentError("minimax needs a limit, as in minimax:depth=6, minimax:nodes=20000 or minimax:ms=50")
    from agents.players.minimax import MinimaxPlayer
    from agents.search.deepening import Limits

    depth, nodes, ms = (name.options.get(limit) for limit in ("depth", "nodes", "ms"))
    net = read_value_net(name.folder, rules) if name.folder else None
    return MinimaxPlayer(Core(rules), Limits(depth=depth, nodes=nodes, milliseconds=ms), net=net)


def _mcts(name: PlayerName, rules: Rules) -> Policy:
    if "simulations" not in name.options:
        raise UnknownAgentError("mcts needs its number of simulations, as in mcts:simulations=400")
    from agents.search.mcts import SEARCH_DEPTH, SEARCH_EXPLORATION, MCTSPlayer, RandomPlayouts, SearchedLeaves

    depth = name.options.get("depth", SEARCH_DEPTH if rules.players > 2 or name.folder else 0)
    if not depth and name.folder:
        raise UnknownAgentError(f"a value net needs depth=1 or more; got {name.text!r}")
    simulations = name.options["simulations"]
    if not depth:
        return MCTSPlayer(RandomPlayouts(Core(rules)), simulations)
    net = read_value_net(name.folder, rules) if name.folder else None
    return MCTSPlayer(SearchedLeaves(Core(rules), depth, net=net), simulations, exploration=SEARCH_EXPLORATION)


def _ppo(name: PlayerName, rules: Rules) -> Policy:
    from agents.networks.agent_files import agent_folder
    from agents.players.network_player import PPOPlayer

    assert name.folder
    return PPOPlayer(agent_folder(name.folder, rules), rules, **name.options)


_MAKERS = {
    **MAKERS,
    "minimax": _minimax,
    "mcts": _mcts,
    "ppo": _ppo,
}
