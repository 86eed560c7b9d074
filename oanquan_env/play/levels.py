"""Who plays a seat: a person, a level for people such as `easy`, or any player by name."""

from dataclasses import dataclass

from oanquan_env.engine.core import Core
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UnavailableError, UnknownAgentError
from oanquan_env.players import EpsilonPolicy, Policy
from oanquan_env.players import as_policy as make_policy

PERSON = "human"  # the name of a person


@dataclass(frozen=True)
class Level:
    """A strength for people."""

    # names of players, the best first: the first that is installed and plays the rules is taken
    players: tuple[str, ...]
    epsilon: float = 0.0  # probability of a random move


LEVELS = {
    "beginner": Level(("greedy",), 0.7),
    "easy": Level(("greedy",), 0.3),
    "medium": Level(("minimax:depth=2,ms=50,net=pretrained", "minimax:depth=3,ms=50", "maxn:depth=3"), 0.1),
    "hard": Level(("minimax:depth=6,ms=200,net=pretrained", "minimax:depth=7,ms=200", "maxn:depth=5")),
    "perfect": Level(
        (
            "book:minimax:ms=1000,net=pretrained",
            "book:minimax:ms=1000",
            "book:maxn:ms=1000,net=pretrained",
            "book:maxn:ms=1000",
            "book:maxn:depth=4,net=pretrained",
            "book:maxn:depth=7",
        )
    ),
}
"""The weakest first. No search is perfect; that of the last is as near as a second a move gets, and where a certificate
comes with the package its play from the set-up is proved to be."""


@dataclass(frozen=True)
class Seat:
    """Who sits on a seat."""

    name: str  # `PERSON`, a level or a player's name
    policy: Policy | None = None  # the player; None for a person


def first_playing(names: tuple[str, ...], rules: Rules) -> tuple[str, Policy]:
    """Name and player of the first that is installed and plays `rules`; the last of them must.

    Raises `ValueError` for a player that is there, but damaged.
    """
    for name in names[:-1]:
        try:
            return name, make_policy(name, rules)
        except (ImportError, UnavailableError, UnknownAgentError):  # the last is of a wheel alone, without `agents`
            continue
    return names[-1], make_policy(names[-1], rules)


def make_seat(name: str, rules: Rules) -> Seat:
    """The person, level or player of that name.

    Raises `ValueError` for a name that no player has, and for a player that is damaged; `ImportError` for a player, not
    a level, that needs a package that is not installed.
    """
    if name == PERSON:
        return Seat(name)
    if name not in LEVELS:
        try:
            return Seat(name, make_policy(name, rules))
        except UnknownAgentError as error:
            begin = "players are:\n"
            known = str(error).replace(begin, f"{begin}  {', '.join(LEVELS)}: levels for people\n")
            raise UnknownAgentError(known) from None
    level = LEVELS[name]
    policy = first_playing(level.players, rules)[1]
    return Seat(name, EpsilonPolicy(Core(rules), policy, level.epsilon) if level.epsilon else policy)
