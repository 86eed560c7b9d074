"""Who plays a seat: a person, a level for people such as `easy`, or any player by name."""

from typing import NamedTuple

import numpy as np

from oanquan_env.arrays import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UnavailableError, UnknownAgentError
from oanquan_env.players import EpsilonPolicy, Policy, as_policy

PERSON = "human"  # the name of a person


class Level(NamedTuple):
    """A strength for people: names of players, the best first, and the probability of a random move.

    One that `goes_on` ends no game while it has another move: see `GoingOn`.
    """

    players: tuple[str, ...]
    epsilon: float = 0.0
    goes_on: bool = False


LEVELS = {
    "beginner": Level(("greedy",), 0.7, goes_on=True),
    "easy": Level(("greedy",), 0.3),
    "medium": Level(("saver",)),
    "hard": Level(("minimax:depth=6,ms=200,net=pretrained", "minimax:depth=7,ms=200", "maxn:depth=5")),
    "perfect": Level(
        (
            "book:minimax:ms=1000,net=pretrained",
            "book:minimax:ms=1000",
            "book:maxn:ms=1000,net=pretrained",
            "book:maxn:ms=1000",
        )
    ),
}
"""The weakest first. No search is perfect; that of the last is as near as a second a move gets, and where a certificate
comes with the package its play from the set-up is proved to be."""


class GoingOn:
    """Another player that ends no game while it can go on.

    Where a move that it chose would end the game, it plays a random one of those that do not, if there is any.
    """

    def __init__(self, core: Core, policy: Policy) -> None:
        self.core = core
        self.policy = policy

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        choice = self.policy.choose(positions, rng)
        children, rows, actions = self.core.expand(positions)
        going_on = np.zeros((len(positions), self.core.rules.actions), dtype=np.bool_)
        going_on[rows, actions] = ~children.over
        for row in (going_on.any(axis=1) & ~going_on[np.arange(len(positions)), choice]).nonzero()[0]:
            choice[row] = rng.choice(going_on[row].nonzero()[0])
        return choice


def first_playing(names: tuple[str, ...], rules: Rules) -> tuple[str, Policy]:
    """Name and player of the first that is installed and plays `rules`; the last of them must.

    Raises `ValueError` for a player that is there, but damaged.
    """
    for name in names[:-1]:
        try:
            return name, as_policy(name, rules)
        except (ImportError, UnavailableError, UnknownAgentError):  # the last is of a wheel alone, without `agents`
            continue
    return names[-1], as_policy(names[-1], rules)


def player_at(level: Level, rules: Rules) -> Policy:
    """The player of a level."""
    core, policy = Core(rules), first_playing(level.players, rules)[1]
    if level.epsilon:
        policy = EpsilonPolicy(core, policy, level.epsilon)
    return GoingOn(core, policy) if level.goes_on else policy


def player_of(name: str, rules: Rules) -> Policy | None:
    """The level or player of that name; None for a person.

    Raises `ValueError` for a name that no player has, and for a player that is damaged; `ImportError` for a player, not
    a level, that needs a package that is not installed.
    """
    if name == PERSON:
        return None
    if name in LEVELS:
        return player_at(LEVELS[name], rules)
    try:
        return as_policy(name, rules)
    except UnknownAgentError as error:
        begin = "players are:\n"
        known = str(error).replace(begin, f"{begin}  {', '.join(LEVELS)}: levels for people\n")
        raise UnknownAgentError(known) from None
