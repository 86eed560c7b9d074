"""The opponents of N games: one player in all of them, or one of several drawn for each game."""

from typing import TypeAlias

import numpy as np

from oanquan_env.arrays import Ints, Mask
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.positions import Positions
from oanquan_env.players import Policy, as_policy, ask_players

Opponent: TypeAlias = object
"""All that `oanquan_env.players.as_policy` takes, a list of these, or None for the self-play view."""


class Opponents:
    """The players of `opponent`, one or a list, in N games; raises `ValueError` as `as_policy`, and for no player."""

    def __init__(self, opponent: Opponent, core: Core, n: int) -> None:
        self._core = core
        self._players = self._policies(opponent)
        self._first = 0  # of the players that new games draw from
        self._numbers = np.zeros(n, dtype=np.intp)  # the player of each game

    def _policies(self, opponent: Opponent) -> list[Policy]:
        several = list(opponent) if isinstance(opponent, list | tuple) else [opponent]
        if not several:
            raise ValueError("opponent must be a player, or a list of one player or more; got an empty list")
        return [as_policy(one, self._core) for one in several]

    @property
    def only(self) -> Policy | None:
        """The player of all games, if that is one."""
        return self._players[0] if len(self._players) == 1 else None

    def exchange(self, opponent: Opponent, over: Mask) -> None:
        """Take other players in games that begin from now on; games that are not `over` (N,) keep theirs."""
        players = self._policies(opponent)
        kept, self._numbers[~over] = np.unique(self._numbers[~over], return_inverse=True)
        self._players = [*(self._players[number] for number in kept), *players]
        self._first = len(kept)

    def draw(self, rows: Ints, rng: np.random.Generator) -> None:
        """Draw the players of the games in `rows`, each with the same probability."""
        if len(rows) == len(self._numbers):  # nobody plays on against former ones
            self._players, self._first = self._players[self._first :], 0
        count = len(self._players) - self._first
        self._numbers[rows] = self._first + (rng.integers(count, size=len(rows)) if count > 1 else 0)

    def choose(self, rows: Ints, positions: Positions, rng: np.random.Generator) -> Ints:
        """(M,) actions of the opponents in the games `rows`; raises `IllegalActionError`."""
        try:
            return ask_players(self._players, self._numbers[rows], positions, rng)
        except IllegalActionError as error:
            raise IllegalActionError(f"of the opponent: {error}") from None
