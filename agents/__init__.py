"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from __future__ import annotations

from collections.abc import Callable

from agents.players.names import USAGE, PlayerName, UnknownAgentError, parse_name, usage
from agents.support.extras import MissingExtraError, needing_extras, say_what_commands_need
from oanquan_env import Core, Rules
from oanquan_env.players.value_net import read_value_net
from oanquan_env.policies import EpsilonPolicy, FullWidthPolicy, GreedyPolicy, Policy, RandomPolicy
from oanquan_env.rules import DEFAULT_PRESET, as_rules

__all__ = ["USAGE", "MissingExtraError", "UnknownAgentError", "make", "usage"]

say_what_commands_need()


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`; `USAGE` lists the names.

    Raises:
        UnknownAgentError: for a name or an option that does not exist.
        MissingExtraError: for a player that needs packages which are not installed.
        ValueError: what the player itself says of its files, options or the rules.
    """
    rules, parsed = as_rules(rules), parse_name(name)
    with needing_extras():
        player = _MAKERS[parsed.kind](parsed, rules)
    return player if parsed.epsilon is None else EpsilonPolicy(Core(rules), player, parsed.epsilon)


# The modules that the functions below import need numba or torch, which take a second.


def _minimax(name: PlayerName, rules: Rules) -> Policy:
    if not name.options:
        raise UnknownAgentError("minimax needs a limit, as in minimax:depth=6, minimax:nodes=20000 or minimax:ms=50")
    from agents.players.minimax import MinimaxPlayer
    from agents.search.deepening import Limits

    depth, nodes, ms = (name.options.get(limit) for limit in ("depth", "nodes", "ms"))
    net = read_value_net(name.folder, rules) if name.folder else None
    return MinimaxPlayer(Core(rules), Limits(depth=depth, nodes=nodes, milliseconds=ms), net=net)


def _full_width(name: PlayerName, rules: Rules) -> Policy:
    if "depth" not in name.options:
        raise UnknownAgentError(f"{name.kind} needs its depth, as in {name.kind}:depth=3")
    return FullWidthPolicy(Core(rules), name.options["depth"], "maxn" if name.kind == "maxn" else "paranoid")


def _mcts(name: PlayerName, rules: Rules) -> Policy:
    if "simulations" not in name.options:
        raise UnknownAgentError("mcts needs its number of simulations, as in mcts:simulations=400")
    from agents.search.mcts import Evaluator, MCTSPlayer, RandomPlayouts

    evaluator: Evaluator = RandomPlayouts(Core(rules))
    if name.folder:
        from agents.networks.agent_files import agent_folder
        from agents.players.net_evaluator import NetEvaluator
        from agents.players.network_player import PPOPlayer

        path, mirror_average = agent_folder(name.folder, rules), name.options.get("mirror_average")
        evaluator = NetEvaluator(PPOPlayer(path, rules, mirror_average=mirror_average))
    elif "mirror_average" in name.options:
        raise UnknownAgentError(f"mirror_average goes with net=FOLDER: it is the network's; got {name.text!r}")
    return MCTSPlayer(evaluator, name.options["simulations"])


def _ppo(name: PlayerName, rules: Rules) -> Policy:
    from agents.networks.agent_files import agent_folder
    from agents.players.network_player import PPOPlayer

    assert name.folder
    return PPOPlayer(agent_folder(name.folder, rules), rules, **name.options)


_MAKERS: dict[str, Callable[[PlayerName, Rules], Policy]] = {
    "random": lambda _, rules: RandomPolicy(Core(rules)),
    "greedy": lambda _, rules: GreedyPolicy(Core(rules)),
    "minimax": _minimax,
    "maxn": _full_width,
    "paranoid": _full_width,
    "mcts": _mcts,
    "ppo": _ppo,
}
