"""A player that follows the strategies of a certificate (see `oanquan_env.search.certificates`), with NumPy alone.

From the certificate's position on it never does worse than the proved bounds, whatever the opponent does, in games that
end before the ply limit. The bounds do not hold in rounds of a match in which a field is pawned or sold.
"""

import functools

import numpy as np

from oanquan_env.arrays import Ints
from oanquan_env.board import Board
from oanquan_env.engine.core import Core
from oanquan_env.engine.keys import canonical_keys
from oanquan_env.engine.positions import Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import mirror_actions
from oanquan_env.players.policy import Policy
from oanquan_env.search.certificates import (
    Certificate,
    Strategy,
    beginnings,
    certificate_path,
    follow,
    read_certificate,
)

UNKNOWN = -1
"""In place of an action: the certificate does not know the position."""


class BookPolicy:
    """Plays the moves of a certificate, and as another player does in positions that it does not know.

    The strategies are followed to all their positions when each is first needed, which takes a second at most. Nobody
    checks the certificate's claims here; `oanquan_env.benchmark.verification.verify` does.
    """

    def __init__(self, certificate: Certificate, beyond: Policy) -> None:
        self.core = Core(certificate.rules)
        self.certificate = certificate
        self.beyond = beyond
        self._start = certificate.start()

    def choose(self, positions: Positions, rng: np.random.Generator) -> Ints:
        """See `Policy.choose`."""
        actions = self.known(positions)
        others = (actions == UNKNOWN).nonzero()[0]
        if others.size:
            actions[others] = self.beyond.choose(positions[others], rng)
        return actions

    def known(self, positions: Positions) -> Ints:
        """(N,) intp, the certificate's actions in N running positions, or UNKNOWN.

        A position is unknown, too, if the strategy's longest game from there passes the ply limit. The lower bound's
        strategy counts where as many plies were played as at the certificate's position, or an even number more, and
        elsewhere the upper bound's.
        """
        actions = np.full(len(positions), UNKNOWN, dtype=np.intp)
        keys = canonical_keys(self.core, positions)
        second = (positions.ply - self._start.ply[0]) % 2 == 1
        for rows, moves in (((~second).nonzero()[0], self._lower), (second.nonzero()[0], self._upper)):
            found = np.array([moves.get(key, (UNKNOWN, 0)) for key in keys[rows].tolist()], dtype=np.intp).reshape(
                -1, 2
            )
            in_time = positions.ply[rows] + 2 * found[:, 1] <= self.core.rules.max_plies
            actions[rows] = np.where(in_time, found[:, 0], UNKNOWN)
        own_image = (keys.view(np.uint64).reshape(-1, 2) == positions.sides_in_turn()).all(axis=1)
        mirrored = ~own_image & (actions != UNKNOWN)
        actions[mirrored] = mirror_actions(actions[mirrored], self.core.rules)
        return actions

    def follows(self, board: Board, seat: int) -> bool:
        """Whether a game is where the certificate's strategy has led `seat`, so that its bound holds.

        The bound counts leftovers by the rules: it does not hold in a match's round with pawned or sold fields.
        """
        before = board.copy()
        if before.history and before.mover != seat:
            move = before.pop()
            return bool(self.known(before.positions)[0] == move.action)
        if before.mover != seat:
            upper = self.certificate.upper
            if upper is None or canonical_keys(self.core, before.positions) != canonical_keys(self.core, self._start):
                return False
            return before.ply + 1 + 2 * int(upper.ranks.max(initial=0)) <= self.core.rules.max_plies
        return before.outcome is None and bool(self.known(before.positions)[0] != UNKNOWN)

    @functools.cached_property
    def _lower(self) -> dict[bytes, tuple[int, int]]:
        return self._moves(self.certificate.lower, True)

    @functools.cached_property
    def _upper(self) -> dict[bytes, tuple[int, int]]:
        return self._moves(self.certificate.upper, False)

    def _moves(self, strategy: Strategy | None, is_lower: bool) -> dict[bytes, tuple[int, int]]:
        """The action in each position of a strategy, and the most moves left to make there, by the position's key."""
        if strategy is None:
            return {}
        core, moves = self.certificate.core, strategy.moves.astype(np.intp)
        begin = beginnings(core, self._start, is_lower)
        graph = follow(core, begin, lambda done, keys: moves[done : done + len(keys)])
        return dict(zip(graph.numbers, zip(moves.tolist(), strategy.ranks.tolist(), strict=True), strict=True))


def with_book(beyond: Policy, rules: Rules) -> Policy:
    """`beyond` with the certificate of the rules that comes with the package; `beyond` itself where there is none."""
    path = certificate_path(rules)
    return BookPolicy(read_certificate(path), beyond) if path.is_file() else beyond
