"""Kinds of players, and their names: `greedy:epsilon=0.1` consists of a kind and an option."""

import difflib
import os
import re
import shutil
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UnknownAgentError
from oanquan_env.files import one_line
from oanquan_env.players.policy import Policy

OptionType: TypeAlias = type[int] | type[float] | type[str] | type[bool]
WANTED = {int: "a whole number", float: "a number", bool: "yes or no"}
FORMS = {
    int: re.compile(r"-?[0-9]{1,15}"),
    float: re.compile(r"-?([0-9]{1,12}(\.[0-9]{0,15})?|\.[0-9]{1,15})"),
    bool: re.compile(r"yes|no"),
    str: re.compile(r".*"),
}
"""The patterns of option values by type; numbers are decimal digits of limited length."""
LONGEST_PATH = 4096
"""Maximum length of a path in characters, as on Linux."""


@dataclass(frozen=True)
class PlayerName:
    """The parsed name of a player.

    Attributes:
        text: the name.
        kind: the name of the kind of player.
        agent: the trained agent (a path or `pretrained`), or None.
        net: the value net (a path, `pretrained` or `any`), or None.
        fallback: the name of the player for positions outside the book, or None.
        options: values of the other options, converted to their types.
        epsilon: probability of a random move; None if the name does not mention it.
    """

    text: str
    kind: str
    agent: str | None
    net: str | None
    fallback: str | None
    options: Mapping[str, Any]
    epsilon: float | None


@dataclass(frozen=True)
class Kind:
    """A kind of player.

    Attributes:
        usage: a dict that maps each form of a name to a description of the player.
        make: function that returns the player for a parsed name and rules.
        options: types of the options; all kinds also have `epsilon`.
        begins_with: what follows the colon: `agent` (a path or `pretrained`), `player` (the name of another player,
            which is the rest of the name), or None (only options).
        needs: the error message for a name that lacks this agent or player.
    """

    usage: Mapping[str, str]
    make: Callable[[PlayerName, Rules], Policy]
    options: Mapping[str, OptionType]
    begins_with: Literal["agent", "player"] | None = None
    needs: str = ""


Kinds: TypeAlias = Mapping[str, Kind]
EPSILON_USAGE = {"greedy:epsilon=E ...,epsilon=E": "plays as the named player, but a random move with probability E"}


def usages(kinds: Kinds) -> dict[str, str]:
    """Return a dict that maps each form of a player's name to a description, including the option `epsilon`."""
    return {form: text for kind in kinds.values() for form, text in kind.usage.items()} | EPSILON_USAGE


def listed(kinds: Kinds) -> str:
    """Return the `usages` as a string that fits the terminal, with a hanging indent for each form."""
    lines = textwrap.TextWrapper(shutil.get_terminal_size().columns, subsequent_indent=6 * " ", break_on_hyphens=False)
    return "\n".join(lines.fill(f"  {form:34} {text}") for form, text in usages(kinds).items())


def parse(name: str, kinds: Kinds) -> PlayerName:
    """Parse a player's name.

    Raises `UnknownAgentError` for an unknown kind or option, a missing agent or player, a repeated option, or a value
    of the wrong type, and `TypeError` if the name is not a string.
    """
    if not isinstance(name, str):
        raise TypeError(f"a player's name must be a string, such as 'minimax:depth=6'; got {type(name).__name__}")
    word, _, detail = name.partition(":")
    if word not in kinds:
        close = difflib.get_close_matches(one_line(word), kinds, n=1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise UnknownAgentError(f"unknown player {one_line(repr(name))}{meant}; the players are:\n{listed(kinds)}")
    kind, place, parts = kinds[word], None, detail.split(",") if detail else []
    if kind.begins_with:
        length = len(parts) if kind.begins_with == "player" else _path_length(parts)
        place, parts = ",".join(parts[:length]), parts[length:]
        if not place:
            raise UnknownAgentError(kind.needs)
    options = _read_options(word, kind, detail, parts)
    epsilon, net = options.pop("epsilon", None), options.pop("net", None)
    agent, fallback = (place if kind.begins_with == what else None for what in ("agent", "player"))
    return PlayerName(name, word, agent, net, fallback, options, epsilon)


def _path_length(parts: list[str]) -> int:
    """Return how many of the first parts, joined by commas, form the longest path that exists; 1 if none exists."""
    for length in range(len(parts), 1, -1) if sum(map(len, parts)) <= LONGEST_PATH else ():
        if os.path.exists(",".join(parts[:length])):
            return length
    return 1


def _read_options(word: str, kind: Kind, detail: str, parts: list[str]) -> dict[str, Any]:
    types = {**kind.options, "epsilon": float}
    options: dict[str, Any] = {}
    while parts:
        key, sign, text = parts[0].partition("=")
        if key not in types or not sign:
            forms = ", ".join(f"{name}=…" for name in types)
            missing = f"; there is no folder {one_line(repr(detail))}" if kind.begins_with == "agent" else ""
            raise UnknownAgentError(f"{word} has the options {forms}; got {one_line(repr(parts[0]))}{missing}")
        length = _path_length([text, *parts[1:]]) if types[key] is str else 1
        text, parts = ",".join([text, *parts[1:length]]), parts[length:]
        if key in options:
            raise UnknownAgentError(f"{word} has the option {key} twice in {one_line(repr(detail))}")
        if not FORMS[types[key]].fullmatch(text):
            raise UnknownAgentError(f"{key} of {word} must be {WANTED[types[key]]}; got {one_line(repr(text))}")
        options[key] = text == "yes" if types[key] is bool else types[key](text)
    return options
