"""Certificates: proofs of a position's value, given as strategies that anyone can follow to the end of every game.

A certificate claims bounds on the future margin of a position's mover, in points. The lower bound comes with a strategy
for the mover, which is the *prover* of that bound, and the upper bound with a strategy for the opponent. A strategy has
one move for each position that the prover can meet while following it. Positions are seen from the prover, scores are
omitted, and a position and its mirror image count as one (see `oanquan_env.engine.symmetry.canonical_sides`). A
strategy may contain several copies of a position with different moves, because the prover may have to win more points
there, or win them in fewer plies.

The file is an `.npz` archive without pickled objects:

    format                      1
    rules, position             strings
    lower, upper                the bounds, in points
    lower_moves, upper_moves    (N,) uint8, the prover's action in positions 0 .. N-1, on the canonical image
    lower_again, upper_again    (K, 2) uint32, edges that lead to a later copy of a position: the edge's number and the
                                index of the copy, from 1 (the first copy has index 0)

The positions are not stored, because they follow from the moves. A queue starts with the position itself or, if the
opponent is the prover, with the positions after each of its moves, in the order of actions. Positions are then taken
from the queue in turn: the prover's move is made, and the positions after each reply, in the order of actions, join the
end of the queue unless the game is over or they were queued before. A position's number is its index in the queue.
Each arrival at a position, and each end of a game, is an edge. Edges are numbered in the same order, beginning with the
arrivals at the first positions. The copies of a position count as different positions.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from oanquan_env.array_types import Bytes, Ints, Points
from oanquan_env.engine.core import Core
from oanquan_env.engine.notation import parse_position
from oanquan_env.engine.positions import SIDE_BYTES, Positions
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.symmetry import canonical_keys, rotate_seats
from oanquan_env.files import check_format, naming_damage, npz_bytes, read_arrays

LARGEST = 1 << 26
"""Maximum size of a decompressed certificate, in bytes."""
END = -1
"""Placeholder for a position's number if the game is over."""
CHUNK = 1 << 13
"""Number of positions expanded at once."""
MOST_MOVES = 500
"""Maximum number of moves that the prover makes in any game of a strategy."""
_FORMAT = 1
_PARTS = {"moves": "moves", "again": "later_copies"}
"""The arrays of a bound in the file, and the attributes of `Strategy` that they hold."""

Choose: TypeAlias = Callable[[int, Sequence[bytes]], Ints]
"""Function that maps consecutive positions to the prover's actions, given the first one's number and all keys."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """One bound and the strategy that proves it.

    Attributes:
        bound: bound in points on the future margin of the mover of the certificate's position.
        moves: (N,) uint8, the prover's action in each position.
        later_copies: (K, 2) uint32, edges that lead to a later copy of a position, and the copy's index.
    """

    bound: int
    moves: Bytes
    later_copies: npt.NDArray[np.uint32]

    def __post_init__(self) -> None:
        if self.moves.dtype != np.uint8 or self.moves.shape != (len(self.moves),):
            raise ValueError("moves must be (N,) uint8")
        if self.later_copies.dtype != np.uint32 or self.later_copies.shape != (len(self.later_copies), 2):
            raise ValueError("again must be (K, 2) uint32")


@dataclass(frozen=True)
class Certificate:
    """The bounds claimed for a position. Raises `ValueError` if certificates do not support the rules.

    Attributes:
        rules: rules of the game.
        position: the position as text.
        lower, upper: strategies of the position's mover and of the opponent; None for a bound that is not claimed.
    """

    rules: Rules
    position: str
    lower: Strategy | None = None
    upper: Strategy | None = None

    def __post_init__(self) -> None:
        if self.rules.players != 2 or self.rules.refill == "forfeit":
            raise ValueError(f"a certificate needs rules with players=2 and refill=borrow; got '{self.rules}'")
        if not self.rules.first_move_captures_mandarin:
            raise ValueError("certificates leave out the ply, so they need first_move_captures_mandarin=True")

    @property
    def core(self) -> Core:
        """A core for these rules whose ply limit never applies, because `unpack` sets the ply to 0."""
        return Core(self.rules.replace(max_plies=1000))

    def start(self) -> Positions:
        """Return the position, a batch of one; raise `ValueError` if it is over or invalid under these rules."""
        position = parse_position(Core(self.rules), self.position)
        if position.over[0]:
            raise ValueError("the certificate's position is a finished game")
        return position

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the certificate in a file's bytes; raise `ValueError`, `KeyError` or `TypeError` if it is invalid."""
        data = read_arrays(content, LARGEST)
        check_format(data, _FORMAT)
        strategies = {
            name: Strategy(int(data[name]), *(data[f"{name}_{part}"] for part in _PARTS))
            for name in ("lower", "upper")
            if name in data
        }
        parts = [f"{name}_{part}" for name in strategies for part in _PARTS]
        if unknown := sorted(data.keys() - {"format", "rules", "position", *strategies, *parts}):
            raise ValueError(f"unknown array {unknown[0]!r}")
        return cls(Rules.parse(str(data["rules"])), str(data["position"]), **strategies)

    def to_bytes(self) -> bytes:
        """Return the content of a certificate's file."""
        arrays: dict[str, Any] = {"format": np.array(_FORMAT)}
        arrays |= {"rules": np.array(str(self.rules)), "position": np.array(self.position)}
        for name, strategy in (("lower", self.lower), ("upper", self.upper)):
            if strategy is not None:
                arrays[name] = np.array(strategy.bound)
                arrays |= {f"{name}_{part}": getattr(strategy, attribute) for part, attribute in _PARTS.items()}
        return npz_bytes(**arrays)


def read_certificate(path: Path) -> Certificate:
    """Read a certificate without running code from it or checking its claims. Raises `FileError` if it is damaged."""
    with naming_damage(path, "not a certificate"):
        return Certificate.from_bytes(path.read_bytes())


def certificate_path(rules: Rules) -> Path:
    """Return the path of the package's certificate for the set-up under `rules`; the file need not exist."""
    return Path(__file__).parents[1] / "play" / "web" / "data" / f"certificate-{rules.slug}.npz"  # the page reads it


# ---- following a strategy --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Graph:
    """All positions that can arise while a prover follows its strategy.

    Attributes:
        numbers: the number of each position by its key (see `oanquan_env.engine.symmetry`), in ascending order; the key
            of a later copy ends with its index.
        starts: numbers of the positions in which the prover first moves, or END.
        start_margins: the prover's lead in these positions, in points.
        parents: (E,) number of the position before each edge; an edge is a reply, or a move that ends the game.
        children: (E,) the number of the position after the reply, or END.
        margins: (E,) points by which the prover outscores its opponent in the move and the reply.
    """

    numbers: dict[bytes, int]
    starts: Ints
    start_margins: Points
    parents: Ints
    children: Ints
    margins: Points

    def ranks(self) -> Ints:
        """Return the (N + 1,) maximum number of moves that the prover makes from each position on; entry END is 0.

        Raises `ValueError` if a game may never end, or may need more than about `MOST_MOVES` moves.
        """
        ranks = np.zeros(len(self.numbers) + 1, dtype=np.intp)
        begins = np.searchsorted(self.parents, np.arange(len(self.numbers)))
        for _ in range(MOST_MOVES):
            before = ranks.copy()
            ranks[:-1] = 1 + np.maximum.reduceat(ranks[self.children], begins)
            if (ranks == before).all():
                return ranks
        raise ValueError(f"a game may last more than {MOST_MOVES} moves of the prover, or never end")

    def values(self, ranks: Ints) -> Points:
        """Return the (N + 1,) minimum margin in points that the prover gains from each position on; entry END is 0."""
        values = np.full(len(ranks), np.iinfo(np.int32).max, dtype=np.int32)
        values[END] = 0
        order = np.argsort(ranks[self.parents], kind="stable")
        firsts = np.unique(ranks[self.parents][order], return_index=True)[1]
        for edges in np.split(order, firsts[1:]):  # edges of one rank; lower ranks are done
            np.minimum.at(values, self.parents[edges], self.margins[edges] + values[self.children[edges]])
        return values


def follow(
    core: Core,
    begin: Positions,
    later_copies: npt.NDArray[np.uint32],
    choose: Choose,
    advance: Callable[[int], None] | None = None,
) -> Graph:
    """Follow a strategy through all games from `begin`, and return the positions that arise.

    `later_copies` is as in `Strategy`; `advance` is called with the number of positions followed since the last call.
    Raises `IllegalActionError` if `choose` returns an illegal action.
    """
    numbers: dict[bytes, int] = {}
    copies, edge = {number: str(copy).encode() for number, copy in later_copies.tolist()}, itertools.count()

    def number(reached: Positions) -> Ints:
        indices, running = np.full(len(reached), END, dtype=np.intp), ~reached.over
        keys = canonical_keys(core, reached).tolist()
        keys = [key + copies.get(number, b"") for key, number in zip(keys, edge, strict=False)]
        indices[running] = [numbers.setdefault(key, len(numbers)) for key in itertools.compress(keys, running)]
        return indices

    starts, done = number(begin), 0
    edges: list[tuple[Ints, Ints, Points]] = [(starts[:0], starts[:0], begin.scores[:0, 0])]
    while done < len(numbers):
        keys = list(itertools.islice(numbers, done, done + CHUNK))
        positions = unpack(keys)
        core.play(positions, choose(done, keys))
        rows, reached = replies(core, positions)
        edges.append((done + rows, number(reached), margin(core, reached)))
        done += len(keys)
        if advance is not None:
            advance(len(keys))
    parents, children, margins = (np.concatenate(part) for part in zip(*edges, strict=True))
    return Graph(numbers, starts, margin(core, begin), parents, children, margins)


def beginnings(core: Core, start: Positions, is_lower: bool) -> Positions:
    """Return the positions where a bound's prover makes its first move. It is on side 0; scores count from `start`.

    For a lower bound this is `start`, a batch of one; for an upper bound, the positions after each move from `start`,
    where the game may be over.
    """
    begin = unpack(canonical_keys(core, start).tolist())
    return begin if is_lower else rotate_seats(core.expand(begin).positions)


def replies(core: Core, moved: Positions) -> tuple[Ints, Positions]:
    """Return (E,) rows of `moved`, ascending, and the positions after each reply; finished games appear once."""
    answered, rows, _ = core.expand(moved)
    over = moved.over.nonzero()[0]
    both = np.concatenate([over, rows])
    order = np.argsort(both, kind="stable")
    return both[order], Positions.concatenate([moved[over], answered])[order]


def margin(core: Core, positions: Positions) -> Points:
    """Return the (N,) lead of side 0 in points, including leftovers of finished games."""
    standings = core.standings(positions)
    return standings[:, 0] - standings[:, 1]


def unpack(keys: Sequence[bytes]) -> Positions:
    """Return the positions with these keys, ignoring copy indices; the mover is on side 0, scores and plies are 0."""
    n = len(keys)
    squares = (
        np.frombuffer(b"".join(key[: 2 * SIDE_BYTES] for key in keys), dtype=np.uint8).reshape(n, 2 * SIDE_BYTES).copy()
    )
    ply: npt.NDArray[np.int32] = np.zeros(n, dtype=np.int32)
    scores = np.zeros((n, 2), dtype=np.int32)
    return Positions(squares, scores, np.zeros(n, dtype=np.intp), ply, np.zeros(n, dtype=np.uint8))
