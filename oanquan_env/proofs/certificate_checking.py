"""Check certificates: `verify(read_certificate(path))`, or `python -m oanquan_env verify FILE`.

The check uses the rules (`oanquan_env.engine.core`) and `follow`, which plays a strategy against every reply, but no
part of the search that found the strategy. `oanquan_env.proofs.certificates` defines certificates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oanquan_env.array_types import Ints
from oanquan_env.engine.positions import Positions
from oanquan_env.errors import UsageError
from oanquan_env.progress import ProgressLine
from oanquan_env.proofs.bounds import Bounds
from oanquan_env.proofs.certificates import Certificate, Strategy, beginnings, follow


class UnprovedError(UsageError):
    """Raised if a certificate's strategy does not prove its bound; the message says why."""


@dataclass(frozen=True)
class Proved:
    """A verified bound.

    Attributes:
        bound: bound in points on the future margin of the position's mover.
        positions: number of positions in the strategy, with mirror images counted once.
        replies: number of replies to the strategy's moves; a move that ends the game counts as one reply.
        plies: maximum plies to the end of the game.
    """

    bound: int
    positions: int
    replies: int
    plies: int


@dataclass(frozen=True)
class Verified:
    """The verified bounds of a certificate.

    Attributes:
        certificate: the certificate that was checked.
        lower, upper: proved bounds on the future margin of the mover; None if the certificate does not claim the bound.
    """

    certificate: Certificate
    lower: Proved | None
    upper: Proved | None

    @property
    def bounds(self) -> Bounds:
        """Both bounds; a bound that is not claimed is infinite."""
        lower = -math.inf if self.lower is None else self.lower.bound
        return Bounds(lower, math.inf if self.upper is None else self.upper.bound)

    def __str__(self) -> str:
        lines = [f"rules     {self.certificate.rules}", f"position  {self.certificate.position}"]
        for words, proved in (("at least", self.lower), ("at most", self.upper)):
            if proved is not None:
                lines.append(
                    f"proved    {words} {proved.bound:+d} for the mover: {proved.positions:,} positions, "
                    f"{proved.replies:,} replies, at most {proved.plies} plies"
                )
        return "\n".join(lines)


def verify(certificate: Certificate, progress: ProgressLine | None = None) -> Verified:
    """Check everything that a certificate claims, and return the verified bounds.

    Raises `UnprovedError` if a strategy does not prove its bound or the certificate claims no bound, and `ValueError`
    if the position is invalid under the certificate's rules.
    """
    progress = progress or ProgressLine(shown=False)
    start = certificate.start()
    proved = {}
    try:
        for name, strategy in (("lower", certificate.lower), ("upper", certificate.upper)):
            if strategy is not None:
                progress.begin(f"positions, {name} bound", len(strategy.moves))
                proved[name] = _check(certificate, start, strategy, name == "lower", progress)
    finally:
        progress.end()
    if not proved:
        raise UnprovedError("the certificate claims no bound")
    return Verified(certificate, proved.get("lower"), proved.get("upper"))


def _check(
    certificate: Certificate, start: Positions, strategy: Strategy, lower: bool, progress: ProgressLine
) -> Proved:
    """Check the mover's strategy if `lower` is True, otherwise the opponent's; raise `UnprovedError` if it fails."""
    name, length = "lower" if lower else "upper", len(strategy.moves)

    def moves(begin: int, keys: Sequence[bytes]) -> Ints:
        if begin + len(keys) > length:
            raise UnprovedError(f"{name} bound: {length:,} moves are too few: a reply leads to one more position")
        return strategy.moves[begin : begin + len(keys)].astype(np.intp)

    core = certificate.core
    try:
        graph = follow(core, beginnings(core, start, lower), strategy.later_copies, moves, progress.advance)
    except UnprovedError:
        raise
    except ValueError as error:
        raise UnprovedError(f"{name} bound: a move cannot be played: {error}") from None
    if len(graph.numbers) != length:
        raise UnprovedError(f"{name} bound: the strategy has {length:,} moves for {len(graph.numbers):,} positions")
    try:
        ranks = graph.ranks()
    except ValueError as error:
        raise UnprovedError(f"{name} bound: {error}") from None
    plies = 2 * int(ranks[graph.starts].max()) + (not lower)
    if start.ply[0] + plies > certificate.rules.max_plies:
        raise UnprovedError(f"{name} bound: a game of {plies} more plies exceeds the ply limit")
    value = int((graph.start_margins + graph.values(ranks)[graph.starts]).min())
    promised = strategy.bound if lower else -strategy.bound
    if value < promised:
        raise UnprovedError(f"{name} bound: the strategy gets {value:+d} for its player, not {promised:+d}")
    return Proved(strategy.bound, length, len(graph.parents), plies)
