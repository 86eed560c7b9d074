"""Self-play games under many rule sets: a few hundred have games, and a few are played in each rollout."""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.games import Games, StartsConfig
from agents.support.workers import own_seed
from oanquan_env import Core, Rules

STAY = 5
"""Number of rollouts for which a rule set is played. With eight plies in each, most games end before."""
WAITING = 16
"""Number of rule sets that have games, for each rule set of a rollout. So a replay buffer holds many rule sets."""
FEW = 64
"""Number of start positions made at once for a rule set, which needs about as many while it is played."""


class Playing(NamedTuple):
    """A rule set that has games."""

    begun: int  # number of rule sets begun before it
    number: int
    games: Games
    played: int  # number of rollouts so far


class RuleSetGames:
    """Games under many rule sets, which take turns: each rollout plays `together` rule sets with N games in all.

    All rule sets are played once, in random order, before any is played again. The order and the starts depend only on
    the arguments, the worker, and the number of rule sets begun before.

    Attributes:
        begun: number of rule sets begun so far.
        waiting: the rule sets that have games, those of the next rollout first.
    """

    def __init__(self, rule_sets: Sequence[Rules], together: int, n: int, starts: StartsConfig, seed: int) -> None:
        self._rule_sets, self._starts, self._seed = rule_sets, starts, seed
        self._sizes = [len(part) for part in np.array_split(np.arange(n), together)]
        groups = min(WAITING, max(1, len(rule_sets) // together))
        self.begun = 0
        self.waiting = deque[Playing]()
        for group in range(groups):
            for size in self._sizes:
                self.waiting.append(self._begin(size)._replace(played=group % STAY))  # they end at different times

    @property
    def playing(self) -> list[Playing]:
        """The rule sets of the next rollout."""
        return [self.waiting[place] for place in range(len(self._sizes))]

    def take_turns(self) -> None:
        """Let the next rule sets play, after a rollout; new rule sets replace those that have played long enough."""
        for size in self._sizes:
            one = self.waiting.popleft()
            played = one.played + 1
            self.waiting.append(one._replace(played=played) if played < STAY else self._begin(size))

    def _begin(self, size: int) -> Playing:
        self.begun += 1
        return self._made(self.begun - 1, size)

    def _made(self, begun: int, size: int) -> Playing:
        passes, place = divmod(begun, len(self._rule_sets))
        order = np.random.default_rng([own_seed(self._seed), passes]).permutation(len(self._rule_sets))
        number = int(order[place])
        seed = int(np.random.SeedSequence([self._seed, begun]).generate_state(1)[0])
        return Playing(begun, number, Games(Core(self._rule_sets[number]), size, self._starts, seed, FEW), 0)

    def state_dict(self) -> dict[str, Any]:
        """Return the number of rule sets begun, and the state of each rule set that has games."""
        states = [(one.begun, one.played, one.games.state_dict()) for one in self.waiting]
        return {"begun": self.begun, "waiting": states}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state from `state_dict`. Raises `ValueError` unless it holds games of these rule sets."""
        if len(state["waiting"]) != len(self.waiting):
            raise ValueError("its number of rule sets differs")
        for place, (begun, played, games) in enumerate(state["waiting"]):
            one = self._made(int(begun), self._sizes[place % len(self._sizes)])
            one.games.load_state_dict(games)
            self.waiting[place] = one._replace(played=int(played))
        self.begun = int(state["begun"])
