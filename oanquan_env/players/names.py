"""The names of players, taken apart: `greedy:epsilon=0.1` is a kind and its options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from oanquan_env.files import one_line

OptionType: TypeAlias = type[int] | type[float] | type[str] | type[bool]
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
        kind: which kind of player.
        folder: where its trained agent or value net lies (what follows the kind, or its option `net`), None without
            one.
        options: its other options, each of its type.
        epsilon: probability of a random move; None if the name does not mention it.
    """

    text: str
    kind: str
    folder: str | None
    options: Mapping[str, Any]
    epsilon: float | None


@dataclass(frozen=True)
class Names:
    """The names that some players have.

    Attributes:
        usage: how each player is named, and what it does.
        options: the kinds of players, and the options of each; `epsilon` is an option of all.
        folders: kinds whose name begins with a place, and what such a name looks like.
    """

    usage: Mapping[str, str]
    options: Mapping[str, Mapping[str, OptionType]]
    folders: Mapping[str, str]

    def listed(self) -> str:
        """One line for each player."""
        return "\n".join(f"  {name:34} {text}" for name, text in self.usage.items())

    def parse(self, name: str) -> PlayerName:
        """Take a player's name apart.

        Raises:
            UnknownAgentError: for a kind or an option that does not exist, is given twice or has a value of another
                type.
            TypeError: for a name that is no text.
        """
        if not isinstance(name, str):
            raise TypeError(f"a player's name is a text, such as 'minimax:depth=6'; got {type(name).__name__}")
        kind, _, detail = name.partition(":")
        if kind not in self.options:
            close = difflib.get_close_matches(one_line(kind), self.options, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise UnknownAgentError(f"unknown player {one_line(repr(name))}{hint}; players are:\n{self.listed()}")
        folder = None
        if kind in self.folders:
            folder, _, detail = detail.partition(",")
            if not folder:
                raise UnknownAgentError(self.folders[kind])
        options = self._read_options(kind, detail)
        epsilon, net = options.pop("epsilon", None), options.pop("net", None)
        return PlayerName(name, kind, folder or net, options, epsilon)

    def _read_options(self, kind: str, detail: str) -> dict[str, Any]:
        """The options in `detail`, as in `depth=6,nodes=1000`, each read as its type."""
        types = {**self.options[kind], "epsilon": float}
        options: dict[str, Any] = {}
        for part in detail.split(",") if detail else []:
            key, sign, text = part.partition("=")
            if key not in types or not sign:
                known = ", ".join(f"{name}=…" for name in types)
                raise UnknownAgentError(f"{kind} has {known}; got {one_line(repr(part))}")
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
