"""Players of Ô Ăn Quan by name: `make("greedy")`, `make("ppo:runs/quick")`."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from oanquan_env import Core, Rules
from oanquan_env.policies import GreedyPolicy, Policy, RandomPolicy
from oanquan_env.rules import DEFAULT_PRESET, as_rules

USAGE = {
    "random": "plays any legal move",
    "greedy": "plays the move that wins the most points at once",
    "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder; T > 0 draws its moves instead of playing the best",
}
"""How each player is named, and what it does."""


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
    makers: dict[str, Callable[[str, Rules], Policy]] = {"random": _random, "greedy": _greedy, "ppo": _ppo}
    if kind not in makers:
        close = difflib.get_close_matches(kind, makers, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UnknownAgentError(f"unknown player {name!r}{hint}; players are:\n{usage()}")
    return makers[kind](detail, rules)


def usage() -> str:
    """One line for each player."""
    return "\n".join(f"  {name:28} {text}" for name, text in USAGE.items())


def _random(detail: str, rules: Rules) -> Policy:
    _no_options("random", detail)
    return RandomPolicy(Core(rules))


def _greedy(detail: str, rules: Rules) -> Policy:
    _no_options("greedy", detail)
    return GreedyPolicy(Core(rules))


def _ppo(detail: str, rules: Rules) -> Policy:
    folder, *options = detail.split(",")
    if not folder:
        raise UnknownAgentError("ppo needs the folder of a trained agent, as in ppo:runs/quick")
    temperature = 0.0
    for option in options:
        key, _, value = option.partition("=")
        if key != "temperature":
            raise UnknownAgentError(f"ppo has no option {option!r}; it has temperature=T")
        try:
            temperature = float(value)
        except ValueError:
            raise UnknownAgentError(f"temperature must be a number; got {value!r}") from None
    from agents.ppo import PPOPlayer  # torch takes a second to import

    return PPOPlayer(Path(folder), rules, temperature=temperature)


def _no_options(kind: str, detail: str) -> None:
    if detail:
        raise UnknownAgentError(f"{kind} has no options; got {detail!r}")
