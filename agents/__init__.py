"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("minimax:depth=8")`, `make("ppo:runs/quick")`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from oanquan_env import Core, Rules
from oanquan_env.policies import GreedyPolicy, Policy, RandomPolicy, SlippingPolicy
from oanquan_env.rules import DEFAULT_PRESET, as_rules

USAGE = {
    "random": "plays any legal move",
    "greedy": "plays the move that wins the most points at once",
    "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
    "mcts:simulations=S[,net=FOLDER]": "Monte-Carlo tree search; with a trained agent's priors and values",
    "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder, or `pretrained`; T > 0 draws its moves",
    "ppo:FOLDER,search=D|nodes=N|ms=T": "a trained agent that chooses among the best moves of alpha-beta",
    "...FOLDER,...,slack=P": "it chooses among moves P points worse too, where the search is not deep",
    "...FOLDER...,images=1": "the network sees the position alone, not its mirror image beside it",
    "ANY,slips=S": "any of them, playing a random move with probability S",
}
"""How each player is named, and what it does."""
_SLIPS = re.compile(r"(?:(?<=:)|,)slips=([^,]*)")


class UnknownAgentError(ValueError):
    """A name or an option that no player has; lists those that exist."""


def make(name: str, rules: Rules | str = DEFAULT_PRESET) -> Policy:
    """The player of that name for `rules`; `USAGE` lists the names.

    Raises:
        UnknownAgentError: for a name or an option that does not exist.
        ValueError: what the player itself says of its files, options or the rules.
    """
    rules = as_rules(rules)
    kind, _, detail = name.partition(":")
    if kind not in _MAKERS:
        close = difflib.get_close_matches(kind, _MAKERS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UnknownAgentError(f"unknown player {name!r}{hint}; players are:\n{usage()}")
    slips = _SLIPS.findall(name)
    if not slips:
        return _MAKERS[kind](detail, rules)
    share = read_options(kind, ",".join(f"slips={text}" for text in slips), {"slips": float})["slips"]
    steady = make(_SLIPS.sub("", name).replace(":,", ":").rstrip(":"), rules)
    return SlippingPolicy(Core(rules), steady, share)


def usage() -> str:
    """One line for each player."""
    return "\n".join(f"  {name:34} {text}" for name, text in USAGE.items())


def read_options(kind: str, detail: str, types: Mapping[str, type[int] | type[float] | type[str]]) -> dict[str, Any]:
    """The options in `detail`, as in `depth=6,nodes=1000`, each read as its type in `types`.

    Raises:
        UnknownAgentError: for an option that is not among `types`, is given twice or has a value of another type.
    """
    options: dict[str, Any] = {}
    for part in detail.split(",") if detail else []:
        key, sign, text = part.partition("=")
        if key not in types or not sign:
            exist = f"has {', '.join(f'{name}=…' for name in types)}" if types else "has no options"
            raise UnknownAgentError(f"{kind} {exist}; got {part!r}")
        if key in options:
            raise UnknownAgentError(f"{kind} has {key} twice in {detail!r}")
        try:
            options[key] = types[key](text)
        except ValueError:
            number = "a whole number" if types[key] is int else "a number"
            raise UnknownAgentError(f"{key} of {kind} must be {number}; got {text!r}") from None
    return options


def _random(detail: str, rules: Rules) -> Policy:
    read_options("random", detail, {})
    return RandomPolicy(Core(rules))


def _greedy(detail: str, rules: Rules) -> Policy:
    read_options("greedy", detail, {})
    return GreedyPolicy(Core(rules))


def _minimax(detail: str, rules: Rules) -> Policy:
    options = read_options("minimax", detail, {"depth": int, "nodes": int, "ms": float})
    if not options:
        raise UnknownAgentError("minimax needs a limit, as in minimax:depth=6, minimax:nodes=20000 or minimax:ms=50")
    from agents.players.minimax import MinimaxPlayer  # these modules import numba or torch, which takes a second
    from agents.search.deepening import Limits

    limits = Limits(depth=options.get("depth"), nodes=options.get("nodes"), milliseconds=options.get("ms"))
    return MinimaxPlayer(Core(rules), limits)


def _mcts(detail: str, rules: Rules) -> Policy:
    options = read_options("mcts", detail, {"simulations": int, "net": str, "images": int})
    if "simulations" not in options:
        raise UnknownAgentError("mcts needs its number of simulations, as in mcts:simulations=400")
    from agents.search.mcts import Evaluator, MCTSPlayer, RandomPlayouts

    evaluator: Evaluator
    if "net" in options:
        from agents.networks.agent_files import agent_folder
        from agents.players.net_evaluator import NetEvaluator
        from agents.players.network_player import PPOPlayer

        evaluator = NetEvaluator(PPOPlayer(agent_folder(options["net"], rules), rules, images=options.get("images")))
    elif "images" in options:
        raise UnknownAgentError(f"images goes with net=FOLDER: without a network mcts sees none; got {detail!r}")
    else:
        evaluator = RandomPlayouts(Core(rules))
    return MCTSPlayer(evaluator, options["simulations"])


def _ppo(detail: str, rules: Rules) -> Policy:
    folder, _, rest = detail.partition(",")
    if not folder:
        raise UnknownAgentError("ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained")
    types = {"temperature": float, "images": int, "search": int, "nodes": int, "ms": float, "slack": int}
    options = read_options("ppo", rest, types)
    from agents.networks.agent_files import agent_folder
    from agents.players.network_player import PPOPlayer

    path = agent_folder(folder, rules)
    if not options.keys() & {"search", "nodes", "ms"}:
        if "slack" in options:
            raise UnknownAgentError(f"slack of ppo goes with search, nodes or ms, as it is the search's; got {rest!r}")
        return PPOPlayer(path, rules, **options)
    if "temperature" in options:
        raise UnknownAgentError(f"ppo draws no moves where it searches: temperature goes with none of {rest!r}")
    from agents.players.ppo_search import PPOSearchPlayer
    from agents.search.deepening import Limits

    limits = Limits(depth=options.get("search"), nodes=options.get("nodes"), milliseconds=options.get("ms"))
    player = PPOPlayer(path, rules, images=options.get("images"))
    return PPOSearchPlayer(player, limits, slack=options.get("slack", 0))


_MAKERS: dict[str, Callable[[str, Rules], Policy]] = {
    "random": _random,
    "greedy": _greedy,
    "minimax": _minimax,
    "mcts": _mcts,
    "ppo": _ppo,
}
