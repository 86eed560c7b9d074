"""The opponents of N games: the same player in all games, or a list from which each game draws one player."""

import inspect
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Floats, Ints, Mask
from oanquan_env.engine.core import Core, IllegalActionError
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.step import GREEDY, NOBODY, OTHERS, RANDOM
from oanquan_env.errors import UsageError
from oanquan_env.observation import Encoder, Observation
from oanquan_env.players import GreedyPolicy, Policy, RandomPolicy, as_policy, ask_players
from oanquan_env.players.observed import Asked, Observed, choices

Opponent: TypeAlias = object
"""Anything that `oanquan_env.players.as_policy` accepts, or a list of such values, or None for the self-play view."""

_DRAW_RANGE = 1 << 30
"""With weights, a game draws an integer below this number, and each player has a share of these integers."""
_KINDS: dict[type, int] = {RandomPolicy: RANDOM, GreedyPolicy: GREEDY}


class ObservingOpponent:
    """A function of observations and masks that plays under many rule sets; `encoder` has its observations."""

    def __init__(self, function: Observed, encoder: Encoder) -> None:
        layout = getattr(function, "observation", "counts")
        if layout != encoder.observation:
            encoder = Encoder(encoder.core, layout, encoder.rule_sets, rules_visible=encoder.rules_visible)
        self.encoder, self._function = encoder, Asked(function, None)

    def choose(self, observations: Observation, masks: Mask, rng: np.random.Generator) -> Ints:
        """Return (M,) legal actions. Raises `IllegalActionError` as `Opponents.choose` does."""
        try:
            return choices(self._function, observations, masks, rng)[0]
        except IllegalActionError as error:
            raise _illegal(error) from None


def _for_many(opponent: object, encoder: Encoder) -> Any:
    """Return a player for many rule sets; for `random` and `greedy` it only says which of them plays."""
    if isinstance(opponent, str) and opponent in ("random", "greedy"):
        return as_policy(opponent, encoder.core)
    bound = inspect.isclass(opponent) or any(hasattr(opponent, name) for name in ("choose", "predict", "forward"))
    if bound or not callable(opponent):
        name = repr(opponent) if isinstance(opponent, str) else f"a {type(opponent).__name__}"
        raise UsageError(
            f"under a list of rule sets, an opponent is random, greedy or a function of observations and masks; {name} "
            "plays only one rule set"
        )
    return ObservingOpponent(opponent, encoder)


def _illegal(error: IllegalActionError) -> IllegalActionError:
    return IllegalActionError(f"the opponent's action is illegal: {error}")


class Opponents:
    """The opponents that games draw from, under the rules of one core, or for an `encoder` of many rule sets.

    Attributes:
        kind: NOBODY without players; RANDOM or GREEDY if the only player is random or greedy; otherwise OTHERS.
        first: index in the pool at which the list of opponents begins; former opponents in use come before it.
        count: number of opponents in the list.
        draw_range: number of integers from which `engine.step.begin` draws: `count`, or `_DRAW_RANGE` with weights.

    Raises `ValueError` in the same cases as `as_policy`, and for an empty list. Under many rule sets, an opponent is
    `random`, `greedy` or a function of observations and masks; other players raise `ValueError`.
    """

    def __init__(self, opponent: Opponent, core: Core, encoder: Encoder | None = None) -> None:
        self._core, self._encoder = core, encoder
        self._pool: list[Policy] = [] if opponent is None else self._policies(opponent)
        self._shares: Floats | None = None
        self.first = 0

    @property
    def count(self) -> int:
        """Number of opponents in the list, from which new games draw."""
        return len(self._pool) - self.first

    @property
    def draw_range(self) -> int:
        """Number of integers that a new game draws from: one for each player, or `_DRAW_RANGE` with weights."""
        return self.count if self._shares is None else _DRAW_RANGE

    @property
    def kind(self) -> int:
        """The kind of opponent, a number from `engine.step`."""
        if not self._pool:
            return NOBODY
        return _KINDS.get(type(self._pool[0]), OTHERS) if len(self._pool) == 1 else OTHERS

    def _policies(self, opponent: Opponent) -> list[Policy]:
        several = list(opponent) if isinstance(opponent, list | tuple) else [opponent]
        if not several:
            raise ValueError("opponent must be a player or a non-empty list of players; got an empty list")
        if self._encoder is not None:
            return [_for_many(player, self._encoder) for player in several]
        return [as_policy(player, self._core) for player in several]

    def exchange(self, opponent: Opponent, in_pool: Ints, running: Mask) -> None:
        """Replace the opponents that new games draw from.

        Games marked in `running` (N,) keep theirs. `in_pool` (N,), the index of each game's opponent, is updated.
        """
        players = self._policies(opponent)
        kept, in_pool[running] = np.unique(in_pool[running], return_inverse=True)
        self._pool = [*(self._pool[index] for index in kept), *players]
        self.first, self._shares = len(kept), None

    def set_weights(self, weights: npt.ArrayLike) -> None:
        """Draw the opponents of new games in proportion to the weights; see `OAnQuanEnv.set_opponent_weights`."""
        shares = np.asarray(weights, np.float64)
        if shares.shape != (self.count,) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
            raise UsageError(
                f"weights must be {self.count} finite numbers, one per opponent, not negative and not all 0; "
                f"got {weights!r}"
            )
        self._shares = None if self.count == 1 else np.cumsum(shares) / shares.sum()

    def draw(self, records: npt.NDArray[Any], rows: Ints) -> None:
        """If there are weights, convert the integers drawn by the new games in `rows` into indices of players."""
        if self._shares is not None:
            indices = np.searchsorted(self._shares, records["opponent_in_list"][rows] / _DRAW_RANGE, side="right")
            records["opponent_in_list"][rows] = indices
            records["opponent_in_pool"][rows] = self.first + indices

    def drop_unused(self, in_pool: Ints) -> None:
        """Remove former opponents if no game uses them, and update `in_pool` (N,), each game's index."""
        if self.first and (in_pool >= self.first).all():
            in_pool -= self.first
            self._pool, self.first = self._pool[self.first :], 0

    def of(self, in_pool: Ints) -> Iterator[tuple[int, ObservingOpponent | int]]:
        """Yield each index in `in_pool` once, with its player: an `ObservingOpponent`, RANDOM or GREEDY."""
        for index in np.unique(in_pool).tolist():
            player: Any = self._pool[index]
            yield index, _KINDS.get(type(player), player)

    def choose(self, in_pool: Ints, positions: Positions, rng: np.random.Generator) -> Ints:
        """Return (M,) actions in M positions; the opponent with the index `in_pool[m]` chooses in position m.

        Raises `IllegalActionError` for actions of the wrong shape or type, and for an illegal action.
        """
        try:
            actions = ask_players(self._pool, in_pool, positions, rng)
            self._core.check(positions, actions)
        except IllegalActionError as error:
            raise _illegal(error) from None
        return actions
