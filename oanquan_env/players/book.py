"""A player that follows the strategies of a certificate (see `oanquan_env.proofs.certificates`), using only NumPy.

From the certificate's position on, it never does worse than the proved bounds, whatever the opponent plays, if the game
ends before the ply limit. The bounds do not hold in a round of a match in which a field is pawned or sold.
"""

import functools
from typing import NamedTuple

import numpy as np

from oanquan_env.array_types import Ints
from oanquan_env.engine.core import Core, relative_points
from oanquan_env.engine.positions import SIDE_BYTES, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import canonical_keys, mirror_actions
from oanquan_env.players.policy import Policy
from oanquan_env.proofs.certificates import (
    Certificate,
    Strategy,
    beginnings,
    certificate_path,
    follow,
    read_certificate,
)

UNKNOWN = -1
"""The action that `BookPolicy.known` returns for positions that are not in the certificate."""


class BookPolicy:
    """A player that follows a certificate, and lets another player move in positions outside the certificate.

    Each strategy is expanded to all its positions when it is first used, which takes at most a second. This class does
    not check the claims of the certificate; `oanquan_env.proofs.certificate_checking.verify` checks them.
    """

    def __init__(self, certificate: Certificate, fallback: Policy) -> None:
        self.core = Core(certificate.rules)
        self.certificate = certificate
        self.fallback = fallback
        self._start = certificate.start()

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        actions = self.known(positions)
        others = (actions == UNKNOWN).nonzero()[0]
        if others.size:
            actions[others] = self.fallback.choose(positions[others], rng)
        return actions

    def known(self, positions: Positions) -> Ints:
        """Return (N,) intp, the certificate's actions in N running positions, or UNKNOWN.

        A position is also unknown if following the strategy from there could exceed the ply limit. The strategy for the
        lower bound is used an even number of plies after the certificate's position, and the strategy for the upper
        bound after an odd number. If a position has several entries, the lead in points decides which one is used.
        """
        actions = np.full(len(positions), UNKNOWN, dtype=np.intp)
        keys, each = canonical_keys(self.core, positions), np.arange(len(positions))
        leads = relative_points(positions.scores)[each, positions.mover]
        for row, (key, lead, ply) in enumerate(zip(keys.tolist(), leads.tolist(), positions.ply.tolist(), strict=True)):
            strategy = self.upper if (ply - self._start.ply[0]) % 2 else self.lower
            if strategy is not None and key in strategy.entries:
                entry = strategy.entry(key, lead)
                if ply + 2 * entry.rank <= self.core.rules.max_plies:
                    actions[row] = entry.action
        own_image = (keys.view(np.uint64).reshape(-1, 2) == positions.sides_in_turn()).all(axis=1)
        mirrored = ~own_image & (actions != UNKNOWN)
        actions[mirrored] = mirror_actions(actions[mirrored], self.core.rules)
        return actions

    @functools.cached_property
    def lower(self) -> "Followed | None":
        """The strategy of the player to move in the certificate's position, for the lower bound; it may be None."""
        return self._followed(self.certificate.lower, True)

    @functools.cached_property
    def upper(self) -> "Followed | None":
        """The strategy of the player not to move in the certificate's position, for the upper bound; it may be None."""
        return self._followed(self.certificate.upper, False)

    def _followed(self, strategy: Strategy | None, is_lower: bool) -> "Followed | None":
        if strategy is None:
            return None
        core, moves = self.certificate.core, strategy.moves.astype(np.intp)
        begin = beginnings(core, self._start, is_lower)
        graph = follow(core, begin, strategy.later_copies, lambda done, keys: moves[done : done + len(keys)])
        ranks = graph.ranks()
        lead = relative_points(self._start.scores)[0, self._start.mover[0]]
        goal = strategy.bound + lead if is_lower else -strategy.bound - lead
        entries: dict[bytes, list[_Entry]] = {}
        columns = (column.tolist() for column in (moves, ranks, graph.values(ranks)))
        for key, *entry in zip(graph.numbers, *columns, strict=False):  # the last rank and value belong to END
            entries.setdefault(key[: 2 * SIDE_BYTES], []).append(_Entry(*entry))
        return Followed(goal, entries)


class _Entry(NamedTuple):
    """The strategy's move in a position, and the prover's maximum number of moves and minimum margin from there on."""

    action: int
    rank: int
    value: int


class Followed(NamedTuple):
    """An expanded strategy: the final lead in points that it guarantees its player, and entries by position key."""

    goal: float
    entries: dict[bytes, list[_Entry]]

    def entry(self, key: bytes, lead: float) -> _Entry:
        """Return the entry of the position `key` with the lowest rank among those that reach the goal from `lead`.

        This choice ensures that the rank decreases with each move of the strategy. If no entry reaches the goal, return
        the entry with the highest value.
        """
        entries = self.entries[key]
        enough = [entry for entry in entries if lead + entry.value >= self.goal]
        return min(enough, key=lambda entry: entry.rank) if enough else max(entries, key=lambda entry: entry.value)


def with_book(fallback: Policy, rules: Rules) -> Policy:
    """Return a `BookPolicy` with the package's certificate for `rules`; return `fallback` if the package has none."""
    path = certificate_path(rules)
    return BookPolicy(read_certificate(path), fallback) if path.is_file() else fallback
