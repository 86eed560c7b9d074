"""Players for a seat: a person, a level such as `easy`, or any player by name."""

from typing import NamedTuple

import numpy as np

from oanquan_env.array_types import Ints
from oanquan_env.engine.core import Core
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.errors import UnavailableError, UnknownAgentError
from oanquan_env.players import EpsilonPolicy, Policy, as_policy

PERSON = "human"  # the name of a person in a list of players


class Level(NamedTuple):
    """A playing strength: names of players, of which the first usable one plays, and the probability of a random move.

    If `goes_on` is True, the level does not end the game while it has another move; see `AvoidEnding`.
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
"""The levels, weakest first. `perfect` searches for a second per move, which does not always find the best move. If the
package has a certificate with equal bounds for the rules, this level is proved to play perfectly from the set-up."""


class AvoidEnding:
    """A player that plays the moves of another player, but does not end the game while it has another move.

    If the other player's move would end the game, it plays a random move that does not, if there is one.
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
    """Return the name and the policy of the first player in `names` that is installed and supports `rules`.

    Raises the error of the last name if none is usable, and `ValueError` for a player that is installed but damaged.
    """
    for name in names[:-1]:
        try:
            return name, as_policy(name, rules)
        except (ImportError, UnavailableError, UnknownAgentError):  # UnknownAgentError: a wheel lacks `agents`
            continue
    return names[-1], as_policy(names[-1], rules)


def player_at(level: Level, rules: Rules) -> Policy:
    """Return the player for `level` under `rules`; raise the errors of `first_playing`."""
    core, policy = Core(rules), first_playing(level.players, rules)[1]
    if level.epsilon:
        policy = EpsilonPolicy(core, policy, level.epsilon)
    return AvoidEnding(core, policy) if level.goes_on else policy


def player_of(name: str, rules: Rules) -> Policy | None:
    """Return the player for the name of a level or a player; None for a person.

    Raises `ValueError` for an unknown name or a damaged player, and `ImportError` if a player that is not a level
    needs a package that is not installed.
    """
    if name == PERSON:
        return None
    if name in LEVELS:
        return player_at(LEVELS[name], rules)
    try:
        return as_policy(name, rules)
    except UnknownAgentError as error:
        begin = "players are:\n"
        message = str(error).replace(begin, f"{begin}  {', '.join(LEVELS)}: levels for people\n")
        raise UnknownAgentError(message) from None
