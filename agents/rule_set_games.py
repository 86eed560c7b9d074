"""Self-play games under many rule sets, a few of them at a time."""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.self_play import SelfPlayGames, StartsConfig
from agents.workers import own_seed
from oanquan_env import Core, Rules
from oanquan_env.rule_sets import TRAIN, split
from oanquan_env.search.move_values import MoveValues

STAY = 5
"""Number of rollouts for which a rule set is played. With eight plies in each, most games end before."""
FEW = 64
"""Number of start positions made at once for a rule set, which needs about as many while it is played."""


class Played(NamedTuple):
    """A rule set that is being played: its number, its games, and the search that values their moves."""

    number: int
    games: SelfPlayGames
    search: MoveValues


def training_rule_sets(n: int, seed: int) -> list[Rules]:
    """Return `n` rule sets of the split `train`; a greater `n` with the same `seed` only adds rule sets."""
    numbers = np.random.default_rng(seed).permutation(TRAIN)[:n]
    return [split("train")[number] for number in np.sort(numbers).tolist()]


class RuleSetGames:
    """N games under a few rule sets at a time. After each rollout, new rule sets replace the oldest ones.

    All rule sets are played once, in random order, before any is played again. The order and the starts depend only on
    the arguments, the worker, and the number of rule sets begun before.

    Attributes:
        begun: number of rule sets begun so far.
        played: the rule sets that are being played, oldest first.
    """

    def __init__(
        self, rule_sets: Sequence[Rules], together: int, n: int, starts: StartsConfig, seed: int, depth: int
    ) -> None:
        self._rule_sets, self._starts, self._seed, self._depth = rule_sets, starts, seed, depth
        self._sizes = [len(part) for part in np.array_split(np.arange(n), together)]
        self.begun = 0
        self.played = deque[Played](maxlen=together)
        self._begin(together)

    def renew(self) -> None:
        """Replace the oldest rule sets by the next ones."""
        self._begin(max(1, len(self._sizes) // STAY))

    def _begin(self, count: int) -> None:
        for _ in range(count):
            passes, place = divmod(self.begun, len(self._rule_sets))
            order = np.random.default_rng([own_seed(self._seed), passes]).permutation(len(self._rule_sets))
            core = Core(self._rule_sets[order[place]])
            seed = int(np.random.SeedSequence([self._seed, self.begun]).generate_state(1)[0])
            games = SelfPlayGames(core, self._sizes[self.begun % len(self._sizes)], self._starts, seed, FEW)
            self.played.append(Played(int(order[place]), games, MoveValues(core, self._depth, threads=1)))
            self.begun += 1

    def state_dict(self) -> dict[str, Any]:
        """Return the number of rule sets begun, and the state of the games of each rule set that is being played."""
        return {"begun": self.begun, "games": [one.games.state_dict() for one in self.played]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state from `state_dict`. Raises `ValueError` unless it holds games of these rule sets."""
        if len(state["games"]) != len(self._sizes) or not len(self._sizes) <= state["begun"] < 2**40:
            raise ValueError("its number of rule sets differs")
        self.begun = int(state["begun"]) - len(self._sizes)
        self._begin(len(self._sizes))
        for one, games in zip(self.played, state["games"], strict=True):
            one.games.load_state_dict(games)
