"""The names of players, taken apart: `ppo:runs/quick,nodes=20000` is a kind, a folder and options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agents.support.files import one_line
from agents.support.renamed import renamed

USAGE = {
    "random": "plays any legal move",
    "greedy": "plays the move that wins the most points at once",
    "minimax:depth=D|nodes=N|ms=T": "alpha-beta to D plies, N moves played or T milliseconds a move",
    "minimax:...,net=FILE": "with a value net at its horizon: a file, a run's folder, or `pretrained`",
    "maxn:depth=D": "full-width search to D plies for 2 to 4 players, each doing what is best for itself",
    "paranoid:depth=D": "the same, with all others doing what is worst for the player who searches",
    "mcts:simulations=S[,net=FOLDER]": "Monte-Carlo tree search; with a trained agent's priors and values",
    "ppo:FOLDER[,temperature=T]": "a trained agent: a run's folder, or `pretrained`; T > 0 draws its moves",
    "...FOLDER...,mirror_average=no": "the network sees the position alone, not its mirror image beside it",
    "greedy:epsilon=E ...,epsilon=E": "any of them, playing a random move with probability E",
}
"""How each player is named, and what it does."""
OptionType: TypeAlias = type[int] | type[float] | type[str] | type[bool]
OPTIONS: dict[str, dict[str, OptionType]] = {
    "random": {},
    "greedy": {},
    "minimax": {"depth": int, "nodes": int, "ms": float, "net": str},
    "maxn": {"depth": int},
    "paranoid": {"depth": int},
    "mcts": {"simulations": int, "net": str, "mirror_average": bool},
    "ppo": {"temperature": float, "mirror_average": bool},
}
"""The kinds of players, and the options of each; `epsilon` is an option of all."""
GONE = ("search", "nodes", "ms", "slack")
"""Options that `ppo` had."""
WANTED = {int: "a whole number", float: "a number", bool: "yes or no"}
FORMS = {
    int: re.compile(r"-?[0-9]{1,15}"),
    float: re.compile(r"-?([0-9]{1,12}(\.[0-9]{0,15})?|\.[0-9]{1,15})"),
    bool: re.compile(r"yes|no"),
    str: re.compile(r".*"),
}
"""How the value of an option of each type is written: plain decimal digits, no more than make sense."""


class UnknownAgentError(ValueError):
    """A name or an option that no player has; lists those that exist."""


@dataclass(frozen=True)
class PlayerName:
    """A player's name, taken apart.

    Attributes:
        text: the name.
        kind: which kind of player, a key of `OPTIONS`.
        folder: where its trained agent or value net lies (that of `ppo`, `net` of the others), None without one.
        options: its other options, each of its type.
        epsilon: probability of a random move; None if the name does not mention it.
    """

    text: str
    kind: str
    folder: str | None
    options: Mapping[str, Any]
    epsilon: float | None


def parse_name(name: str) -> PlayerName:
    """Take a player's name apart.

    Raises:
        UnknownAgentError: for a kind or an option that does not exist, is given twice or has a value of another type.
        TypeError: for a name that is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"a player's name is a text, such as 'minimax:depth=6'; got {type(name).__name__}")
    kind, _, detail = name.partition(":")
    if kind not in OPTIONS:
        close = difflib.get_close_matches(one_line(kind), OPTIONS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UnknownAgentError(f"unknown player {one_line(repr(name))}{hint}; players are:\n{usage()}")
    folder = None
    if kind == "ppo":
        folder, _, detail = detail.partition(",")
        if not folder:
            raise UnknownAgentError("ppo needs the folder of a trained agent, as in ppo:runs/quick, or ppo:pretrained")
    options = _read_options(kind, detail)
    epsilon, net = options.pop("epsilon", None), options.pop("net", None)
    return PlayerName(name, kind, folder or net, options, epsilon)


def usage() -> str:
    """One line for each player."""
    return "\n".join(f"  {name:34} {text}" for name, text in USAGE.items())


def _read_options(kind: str, detail: str) -> dict[str, Any]:
    """The options in `detail`, as in `depth=6,nodes=1000`, each read as its type."""
    types = {**OPTIONS[kind], "epsilon": float}
    options: dict[str, Any] = {}
    for part in detail.split(",") if detail else []:
        key, sign, text = part.partition("=")
        if key not in types or not sign:
            said = renamed(key) or f"{kind} has {', '.join(f'{name}=…' for name in types)}"
            if kind == "ppo" and key in GONE:
                said = "ppo does not search; a search that has learned is minimax:nodes=20000,net=pretrained"
            raise UnknownAgentError(f"{said}; got {one_line(repr(part))}")
        if key in options:
            raise UnknownAgentError(f"{kind} has {key} twice in {one_line(repr(detail))}")
        try:
            if not FORMS[types[key]].fullmatch(text):
                raise ValueError
            options[key] = {"yes": True, "no": False}[text] if types[key] is bool else types[key](text)
        except (KeyError, ValueError):
            raise UnknownAgentError(
                f"{key} of {kind} must be {WANTED[types[key]]}; got {one_line(repr(text))}"
            ) from None
    return options
